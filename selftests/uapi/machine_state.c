// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the guest's memory, log, interrupt and MSR state. Knows no test.
 */
#include "machine_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "undo.h"

#define PAGE_LISTS	"/proc/sys/vm/percpu_pagelist_high_fraction"

static void write_knob(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s was not written\n", path);
	close(fd);
}

static char usual_lists[32];

static void put_back_lists(void *arg)
{
	(void)arg;
	write_knob(PAGE_LISTS, usual_lists);
}

/*
 * Each CPU keeps freed pages on lists of its own, an eighth of all memory if
 * it likes: make those short, until this process ends.
 */
static void settle_memory(void)
{
	int fd = usual_lists[0] ? -1 : open(PAGE_LISTS, O_RDONLY | O_CLOEXEC);

	sync();
	if (fd >= 0 && read(fd, usual_lists, sizeof(usual_lists) - 1) > 0)
		undo_begin(put_back_lists, NULL, -1);
	if (fd >= 0)
		close(fd);
	write_knob(PAGE_LISTS, "100000");
	write_knob("/proc/sys/vm/drop_caches", "3");
}

long machine_free_kib(void)
{
	FILE *f;
	char line[256];
	long kib = -1;

	settle_memory();
	f = fopen("/proc/meminfo", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static bool is_complaint(const char *line)
{
	static const char *const words[] = {
		";WARNING: ", "BUG:", "Call Trace", "unchecked MSR",
		"rcu: INFO", "soft lockup", "hung task", "NMI received",
		"Oops", "kernel tried to", "refcount_t", "Bad page",
	};
	unsigned int i;

	/* A kernel has races of its own: tools/vm/console_check judges them. */
	if (strstr(line, "BUG: KCSAN:"))
		return false;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Each read of /dev/kmsg gives one record of the log, from its start. */
int machine_complaints(bool print)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), count = 0;
	char line[8192];
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		if (!is_complaint(line))
			continue;
		count++;
		if (print)
			printf("# log: %s", line);
	}
	close(fd);
	return count;
}

long machine_interrupts(const char *name)
{
	FILE *f = fopen("/proc/interrupts", "r");
	size_t len = strlen(name);
	char line[4096];
	long sum = -1;

	while (f && fgets(line, sizeof(line), f)) {
		char *at = line + strspn(line, " "), *end;

		if (strncmp(at, name, len) || at[len] != ':')
			continue;
		sum = 0;
		for (at += len + 1;; at = end) {
			long n = strtol(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
		break;
	}
	if (f)
		fclose(f);
	return sum;
}

static int open_msr(int cpu, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	return open(path, flags | O_CLOEXEC);
}

bool machine_msr_read(int cpu, uint32_t msr, uint64_t *value)
{
	int fd = open_msr(cpu, O_RDONLY);
	bool ok;

	if (fd < 0)
		return false;
	ok = pread(fd, value, sizeof(*value), msr) == sizeof(*value);
	close(fd);
	return ok;
}

bool machine_msr_write(int cpu, uint32_t msr, uint64_t value)
{
	int fd = open_msr(cpu, O_WRONLY);
	bool ok;

	if (fd < 0)
		return false;
	ok = pwrite(fd, &value, sizeof(value), msr) == sizeof(value);
	close(fd);
	return ok;
}

const char *machine_no_msr(int cpu)
{
	static char reason[64];
	int fd = open_msr(cpu, O_RDONLY);

	snprintf(reason, sizeof(reason), "/dev/cpu/%d/msr cannot be read", cpu);
	if (fd < 0)
		return reason;
	close(fd);
	return NULL;
}

bool machine_rtit_ctl(int cpu, uint64_t *value)
{
	return machine_msr_read(cpu, MSR_IA32_RTIT_CTL, value);
}

uint64_t machine_parameter(const char *name)
{
	char path[128], text[64];
	uint64_t value = ~0ULL;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/kipt/parameters/%s", name);
	file = fopen(path, "r");
	if (!file)
		return value;
	if (fgets(text, sizeof(text), file))
		value = strtoull(text, NULL, 10);
	fclose(file);
	return value;
}

/* Tests run in their folder, which the module may be installed in. */
static const char *module_file(void)
{
	const char *path = getenv("KIPT_MODULE");

	return path ? path : "kipt.ko";
}

const char *machine_no_module_file(void)
{
	return access(module_file(), R_OK) ?
	       "there is no file of the module: KIPT_MODULE names none, and kipt.ko is not here" :
	       NULL;
}

int machine_load(const char *parameters)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = (int)syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int machine_unload(void)
{
	return syscall(SYS_delete_module, "kipt", O_NONBLOCK) ? -errno : 0;
}
