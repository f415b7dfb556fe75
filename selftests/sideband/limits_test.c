// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters of the module, also such as no one should give it: it takes the nearest
 * value that is allowed, a power of two where tables and rings have masks, and logs a
 * line if that is not the value given. User space.
 */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/lib/limits.h"
#include "../decode/ktap.h"

#define MACHINE	(4ULL << 30)

extern uint *const param_memory_limit;
extern uint *const param_spaces;
extern uint *const param_switches;
extern uint *const param_patches;
extern uint *const param_fetch_memory;
extern uint *const param_processes;
extern uint *const param_user_snapshots;
extern uint *const param_user_snapshots_all;
extern uint *const param_user_snapshot_trace;
extern uint *const param_snapshots;
extern uint *const param_snapshot_trace;

static struct ktap ktap;
/* What the module logged about the last parameters. */
static char said[4096];

void printk_warned(const char *format, ...)
{
	size_t len = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + len, sizeof(said) - len, format, args);
	va_end(args);
}

unsigned long totalram_pages(void)
{
	return MACHINE / PAGE_SIZE;
}

static u64 memory(void)
{
	return kipt_limits()->memory;
}

static u64 spaces(void)
{
	return kipt_limits()->spaces;
}

static u64 switches(void)
{
	return kipt_limits()->switches;
}

static u64 patches(void)
{
	return kipt_limits()->patches;
}

static u64 arena(void)
{
	return kipt_limits()->arena;
}

static u64 processes(void)
{
	return kipt_limits()->processes;
}

static u64 user_snapshots(void)
{
	return kipt_limits()->user_snapshots;
}

static u64 user_snapshots_all(void)
{
	return kipt_limits()->user_snapshots_all;
}

static u64 user_snapshot_trace(void)
{
	return kipt_limits()->user_snapshot_trace;
}

static u64 snapshots(void)
{
	return kipt_limits()->snapshots;
}

static u64 snapshot_trace(void)
{
	return kipt_limits()->snapshot_trace;
}

/**
 * struct parameter - one of them, and what it may be
 * @name: as in a sentence about it
 * @given: where the module reads it
 * @taken: what the module made of it
 * @unit: @taken is in these
 * @least: that may be given
 * @most: that may be given
 * @power: only powers of two are taken
 */
static const struct parameter {
	const char *name;
	uint *const *given;
	u64 (*taken)(void);
	u64 unit;
	u64 least;
	u64 most;
	bool power;
} parameters[] = {
	{ "memory_limit", &param_memory_limit, memory, 1 << 20, 1, 4096, false },
	{ "spaces", &param_spaces, spaces, 1, 16, 1 << 20, true },
	{ "switches", &param_switches, switches, 1, 256, 1 << 24, true },
	{ "patches", &param_patches, patches, 1, 256, 1 << 20, true },
	{ "fetch_memory", &param_fetch_memory, arena, 1 << 10, 256, 1 << 20,
	  false },
	{ "processes", &param_processes, processes, 1, 1, 1 << 20, false },
	{ "user_snapshots", &param_user_snapshots, user_snapshots, 1, 0, 64,
	  false },
	{ "user_snapshots_all", &param_user_snapshots_all, user_snapshots_all,
	  1, 0, 64, false },
	{ "user_snapshot_trace", &param_user_snapshot_trace,
	  user_snapshot_trace, 1 << 10, 64, 4096, false },
	{ "snapshots", &param_snapshots, snapshots, 1, 0, 64, false },
	{ "snapshot_trace", &param_snapshot_trace, snapshot_trace, 1 << 10, 64,
	  1024, false },
};

#define PARAMETERS	(sizeof(parameters) / sizeof(parameters[0]))

static u64 nearest(const struct parameter *parameter, u64 value)
{
	u64 power = 1;

	if (value < parameter->least)
		value = parameter->least;
	if (value > parameter->most)
		value = parameter->most;
	while (parameter->power && 2 * power <= value)
		power *= 2;
	return parameter->power ? power : value;
}

static bool is_logged(const struct parameter *parameter)
{
	char begin[64];

	snprintf(begin, sizeof(begin), "kipt: parameter %s: ", parameter->name);
	return strstr(said, begin);
}

/* One is given, the others are as they come. */
static bool is_taken(const struct parameter *parameter, u64 value)
{
	uint before = **parameter->given;
	u64 wanted = nearest(parameter, value);
	bool right;

	said[0] = 0;
	**parameter->given = (uint)value;
	kipt_limits_init();
	right = parameter->taken() == wanted * parameter->unit &&
		is_logged(parameter) == (wanted != value);
	if (!right)
		printf("# %s=%llu: %llu is taken; %s", parameter->name,
		       (unsigned long long)value,
		       (unsigned long long)parameter->taken(), said);
	**parameter->given = before;
	return right;
}

static void parameter_is_bounded(const struct parameter *parameter)
{
	const u64 values[] = {
		parameter->least, parameter->least + 1, parameter->most - 1,
		parameter->most, parameter->most + 1, 63, 64, 65, 300, 511,
		512, 513, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	};
	bool right = true;
	size_t i;

	/* A limit of 0 is none. */
	if (parameter->given != &param_memory_limit)
		right &= is_taken(parameter, 0);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		right &= is_taken(parameter, values[i]);
	ktap_result(&ktap, right, "limits_%s", parameter->name);
}

static void units_are_those_of_parameters(void)
{
	uint before = *param_memory_limit;

	said[0] = 0;
	*param_memory_limit = 131072;
	kipt_limits_init();
	*param_memory_limit = before;
	ktap_result(&ktap, strstr(said, "memory_limit: 131072 MiB is out of range, 4096 MiB is taken"),
		    "limits_log_has_the_unit");
}

static void nobody_gives_any(void)
{
	said[0] = 0;
	kipt_limits_init();
	ktap_result(&ktap, !said[0] && memory() == MACHINE / 4,
		    "limits_memory_is_a_quarter_of_the_machine");
	ktap_result(&ktap, !said[0] && spaces() == 16384 &&
		    switches() == 65536 && patches() == 32768, "limits_defaults_are_as_documented");
}

int main(void)
{
	size_t i;

	ktap_start();
	nobody_gives_any();
	units_are_those_of_parameters();
	for (i = 0; i < PARAMETERS; i++)
		parameter_is_bounded(&parameters[i]);
	return ktap_end(&ktap);
}
