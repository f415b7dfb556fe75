// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that the module claims and those it leaves to others: at each moment
 * before and after one of its own may come, on each CPU, with the PMI of a
 * trace and without. Time is what the test says it is. User space.
 */
#include <string.h>

#include "kernel.h"
#include "../../kmod/crash/crash.h"
#include "../../kmod/hw/hw.h"
#include "../../kmod/nmi.h"
#include "../../kmod/hw/nmi_claim.h"
#include "../../kmod/trace/trace.h"
#include "../decode/ktap.h"

#define MS		((u64)TSC_KHZ)
#define HANDLERS	4

u64 now;
unsigned int here;
int pinned;
void (*meanwhile)(void);

static struct ktap ktap;
static struct pt_regs regs;

/* ---- what the kernel and the rest of the module do ---- */

/**
 * struct handler - one that is registered
 * @name: whose, NULL: none
 * @run: what an NMI calls
 * @flags: as it was registered
 */
static struct handler {
	const char *name;
	nmi_handler_t run;
	unsigned long flags;
} handlers[HANDLERS];

/* As often as this, registering still works. */
static int may_register = HANDLERS;

int register_nmi_handler(unsigned int type, nmi_handler_t handler,
			 unsigned long flags, const char *name)
{
	int i;

	if (type != NMI_LOCAL || !may_register)
		return -12;
	may_register--;
	for (i = 0; handlers[i].name; i++)
		;
	handlers[i] = (struct handler){ name, handler, flags };
	return 0;
}

void unregister_nmi_handler(unsigned int type, const char *name)
{
	int i;

	for (i = 0; i < HANDLERS; i++)
		if (handlers[i].name && !strcmp(handlers[i].name, name))
			handlers[i].name = NULL;
}

/**
 * struct cpu - state of a CPU, and which functions were called on it
 * @trace: attached to it, or NULL
 * @pending: its status register has a ToPA PMI
 * @masked: LVTPC lets no PMI through
 * @pmis: calls of kipt_trace_pmi_local() with its trace
 * @looks: calls of kipt_trace_nmi_local() with its trace
 * @dies: calls of kipt_crash_nmi_local(), in the right order
 * @late: calls of kipt_trace_look_local() with its trace, after those and the unmasking
 */
static struct cpu {
	struct kipt_trace *trace;
	bool pending;
	bool masked;
	int pmis;
	int looks;
	int dies;
	int late;
} cpus[CPUS];

static struct kipt_trace traces[CPUS];

struct kipt_trace *kipt_trace_here(void)
{
	return cpus[here].trace;
}

bool kipt_hw_pmi_ack_local(void)
{
	bool was = cpus[here].pending;

	cpus[here].pending = false;
	return was;
}

void kipt_hw_pmi_unmask_local(void)
{
	cpus[here].masked = false;
}

void kipt_trace_pmi_local(struct kipt_trace *trace)
{
	cpus[here].pmis += trace == cpus[here].trace;
}

void kipt_trace_nmi_local(struct kipt_trace *trace)
{
	cpus[here].looks += trace == cpus[here].trace;
}

void kipt_trace_look_local(struct kipt_trace *trace)
{
	const struct cpu *cpu = &cpus[here];

	cpus[here].late += trace == cpu->trace && cpu->looks > cpu->late &&
			   !(cpu->pmis && cpu->masked);
}

/* A crash stops the trace before it is asked to look. */
void kipt_crash_nmi_local(const struct pt_regs *at)
{
	cpus[here].dies += at == &regs && cpus[here].looks == cpus[here].dies;
}

/* An NMI on a CPU. Return: how many the module claims that it is. */
static int nmi(unsigned int cpu)
{
	unsigned int before = here;
	int claimed = 0;
	int pass, i;

	here = cpu;
	for (pass = 1; pass >= 0; pass--)
		for (i = 0; i < HANDLERS; i++)
			if (handlers[i].name &&
			    !!(handlers[i].flags & NMI_FLAG_FIRST) == pass)
				claimed += handlers[i].run(NMI_LOCAL, &regs);
	here = before;
	return claimed;
}

/* What a CPU does with the NMI that is sent to it: nothing yet, or all. */
static bool is_sent_at_once;
static int was_claimed;
static bool was_pinned;
static unsigned int sent_to;

void kipt_hw_send_nmi(unsigned int cpu)
{
	sent_to = cpu;
	was_pinned = pinned == 1;
	if (is_sent_at_once)
		was_claimed = nmi(cpu);
}

/* ---- tests ---- */

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "pmi_%s", name);
}

/* Long after all that was, and nothing is left to unmask; CPU 0 has a trace. */
static void begin(void)
{
	unsigned int cpu;

	now += 100000 * MS;
	for (cpu = 0; cpu < CPUS; cpu++)
		nmi(cpu);
	here = 0;
	pinned = 0;
	is_sent_at_once = false;
	memset(cpus, 0, sizeof(cpus));
	cpus[0].trace = &traces[0];
	traces[0].owns_pmis = true;
}

/* A PMI, up to its NMI. */
static void pmi(unsigned int cpu)
{
	cpus[cpu].pending = true;
	cpus[cpu].masked = true;
}

static void stop_with_pmi(void)
{
	begin();
	pmi(0);
	kipt_nmi_stopped_local();
}

static void test_registered(void)
{
	bool ok;

	may_register = 0;
	check("init_fails_if_nothing_registers",
	      kipt_nmi_init() == -12 && !handlers[0].name);
	may_register = 1;
	check("init_undoes_what_it_registered",
	      kipt_nmi_init() == -12 && !handlers[0].name && !handlers[1].name);
	may_register = HANDLERS;
	ok = !kipt_nmi_init() && handlers[0].name && handlers[1].name;
	/* Perf is between the two. */
	check("one_handler_is_first_and_one_is_not",
	      ok && handlers[0].flags + handlers[1].flags == NMI_FLAG_FIRST);
	kipt_nmi_uninit();
	check("uninit_takes_both_away", !handlers[0].name && !handlers[1].name);
	kipt_nmi_init();
}

static void test_foreign(void)
{
	begin();
	check("nmi_of_another_is_left", !nmi(0) && !nmi(1) && !nmi(2));
	check("each_nmi_looks_at_trace_and_crash",
	      cpus[0].looks == 1 && cpus[0].dies == 1 && cpus[1].dies == 1 &&
	      !cpus[1].looks);
	/* perf's may have acknowledged a PMI that came amid it. */
	check("each_nmi_looks_for_a_pmi_after_perf", cpus[0].late == 1 && !cpus[1].late);
	pmi(0);
	traces[0].owns_pmis = false;
	check("pmi_of_perf_stays_for_perf",
	      !nmi(0) && cpus[0].pending && cpus[0].masked && !cpus[0].pmis &&
	      cpus[0].late == 1);
	begin();
	pmi(1);
	check("pmi_without_a_trace_stays",
	      !nmi(1) && cpus[1].pending && cpus[1].masked);
}

static void test_pmi(void)
{
	begin();
	pmi(0);
	check("pmi_is_claimed_and_handled", nmi(0) && cpus[0].pmis == 1 &&
	      cpus[0].looks == 1 && cpus[0].dies == 1 && cpus[0].late == 1);
	check("pmi_is_acknowledged_and_unmasked",
	      !cpus[0].pending && !cpus[0].masked);
	cpus[0].masked = true;
	check("pmi_is_unmasked_once", !nmi(0) && cpus[0].masked);
}

static void test_stop(void)
{
	stop_with_pmi();
	check("stop_acknowledges_the_pmi", !cpus[0].pending);
	check("nmi_of_a_stopped_pmi_is_claimed", nmi(0) == 1);
	check("late_nmi_unmasks_after_a_stop", !cpus[0].masked);
	check("nmi_right_after_it_is_left", !nmi(0));
	stop_with_pmi();
	here = 1;
	check("stop_on_one_cpu_awaits_none_on_another", !nmi(1));
	begin();
	kipt_nmi_stopped_local();
	cpus[0].masked = true;
	check("stop_without_pmi_expects_nothing", !nmi(0) && cpus[0].masked);
}

static void test_awaited(void)
{
	stop_with_pmi();
	now += 1000 * MS - 1;
	check("nmi_of_a_pmi_comes_within_a_second", nmi(0));
	check("nmi_of_a_pmi_comes_once", !nmi(0));
	stop_with_pmi();
	now += 1000 * MS;
	check("nmi_of_a_pmi_does_not_come_later", !nmi(0));
	now -= MS;
	check("what_did_not_come_is_forgotten", !nmi(0));
	stop_with_pmi();
	pmi(0);
	kipt_nmi_stopped_local();
	check("as_many_are_claimed_as_are_awaited",
	      nmi(0) == 1 && nmi(0) == 1 && !nmi(0));
	stop_with_pmi();
	pmi(0);
	check("pmi_may_have_merged_with_what_was_awaited",
	      nmi(0) == 2 && !nmi(0));
	stop_with_pmi();
	pmi(0);
	kipt_nmi_stopped_local();
	nmi(0);
	now += 10 * MS - 1;
	check("another_follows_at_once", nmi(0) == 1);
	stop_with_pmi();
	pmi(0);
	kipt_nmi_stopped_local();
	nmi(0);
	now += 10 * MS;
	check("another_that_does_not_is_merged", !nmi(0));
}

static void send_to_0(void)
{
	unsigned int was = here;

	here = 1;
	now += 1;
	kipt_nmi_send(0);
	here = was;
}

/* Another CPU sends an NMI while this one handles perf's. */
static void test_sent_meanwhile(void)
{
	begin();
	now += 60000 * MS;
	meanwhile = send_to_0;
	check("nmi_of_another_meanwhile_is_left", !nmi(0));
	check("sent_nmi_is_claimed_after_one_of_another", nmi(0) == 1);
}

static void test_sent(void)
{
	begin();
	is_sent_at_once = true;
	kipt_nmi_send(2);
	check("sent_nmi_is_claimed_at_once", sent_to == 2 && was_claimed);
	check("sender_stays_on_its_cpu_meanwhile", was_pinned && !pinned);
	begin();
	kipt_nmi_send(2);
	check("sent_nmi_is_not_the_sender_s", !nmi(0));
	check("sent_nmi_is_claimed_once", nmi(2) == 1 && !nmi(2));
	begin();
	kipt_nmi_send(2);
	now += 10000 * MS - 1;
	check("sent_nmi_comes_within_ten_seconds", nmi(2) == 1);
	begin();
	pmi(0);
	kipt_nmi_send(0);
	check("sent_nmi_may_have_merged_with_a_pmi", nmi(0) == 2 && !nmi(0));
	begin();
	kipt_nmi_send(2);
	now += 10000 * MS;
	check("sent_nmi_does_not_come_later", !nmi(2));
}

/* The TSC of a machine that has slept is younger, that of another CPU a little. */
static void test_slept(void)
{
	u64 was;

	stop_with_pmi();
	kipt_nmi_send(2);
	was = now;
	now = MS;
	check("nmi_awaited_before_a_sleep_is_not_after_it", !nmi(0) && !nmi(2));
	now = was;
	check("what_was_awaited_before_a_sleep_is_forgotten", !nmi(0) && !nmi(2));
	stop_with_pmi();
	kipt_nmi_send(2);
	now -= 1000 * MS;
	check("tscs_of_cpus_may_differ", nmi(0) == 1 && nmi(2) == 1);
}

int main(void)
{
	ktap_start();
	test_registered();
	test_foreign();
	test_pmi();
	test_stop();
	test_awaited();
	test_sent();
	test_sent_meanwhile();
	test_slept();
	return ktap_end(&ktap);
}
