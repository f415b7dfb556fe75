// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actor that only looks: the kernel patches its text for many that do not
 * know it, the first and the last session and CPUs that come online among
 * them. The kernel reports each patch to perf, and perf to this actor. An event
 * hears of the patches that its CPU makes.
 */
#include "actors.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX	64
#define PAGE		4096UL
#define DATA_PAGES	16UL
#define LOOK_MS		5
/* The module trusts no text that is patched within this time, see kmod/shared/text_view.h. */
#define NEAR_MS		50

/**
 * struct ear - the event of one CPU
 * @fd: it, or -1
 * @enabled: nanoseconds for which it was enabled at the last look
 * @page: what it shares with the kernel
 */
struct ear {
	int fd;
	uint64_t enabled;
	struct perf_event_mmap_page *page;
};

static void ear_close(struct ear *ear)
{
	if (ear->page)
		munmap(ear->page, (1 + DATA_PAGES) * PAGE);
	if (ear->fd >= 0)
		close(ear->fd);
	ear->page = NULL;
	ear->fd = -1;
}

/* It hears nothing where it cannot be opened, and is tried again then. */
static void ear_open(struct ear *ear, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.text_poke = 1,
	};

	ear->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			       PERF_FLAG_FD_CLOEXEC);
	ear->enabled = 0;
	if (ear->fd < 0)
		return;
	ear->page = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED, ear->fd, 0);
	if (ear->page != MAP_FAILED)
		return;
	ear->page = NULL;
	ear_close(ear);
}

/*
 * The kernel disables the event of a CPU that goes offline, for good: it is off if its
 * time has not gone on since the last look.
 */
static bool ear_is_off(struct ear *ear)
{
	struct { uint64_t value, enabled; } count;
	uint64_t before = ear->enabled;

	if (read(ear->fd, &count, sizeof(count)) != sizeof(count))
		return true;
	ear->enabled = count.enabled;
	return count.enabled <= before;
}

/* Return: bytes that came since the last look. */
static uint64_t ear_listen(struct ear *ear)
{
	uint64_t head, came;

	head = __atomic_load_n(&ear->page->data_head, __ATOMIC_ACQUIRE);
	came = head - ear->page->data_tail;
	__atomic_store_n(&ear->page->data_tail, head, __ATOMIC_RELEASE);
	return came;
}

static bool is_offline(unsigned int cpu)
{
	char path[64], state = '1';
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/online", cpu);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fread(&state, 1, 1, file) != 1)
		state = '1';
	fclose(file);
	return state == '0';
}

/* Ticks of the TSC in a time. */
static uint64_t ticks(unsigned int ms)
{
	struct timespec rest = { .tv_nsec = 20 * 1000 * 1000 }, begin, end;
	uint64_t tsc, ns;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	tsc = trail_now();
	nanosleep(&rest, NULL);
	tsc = trail_now() - tsc;
	clock_gettime(CLOCK_MONOTONIC, &end);
	ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000 +
	     (uint64_t)end.tv_nsec - (uint64_t)begin.tv_nsec;
	return (uint64_t)((double)tsc / (double)ns * 1e6 * ms);
}

/*
 * An event whose CPU was offline stays off when that is back, so it is made anew. Return:
 * whether the CPU may have made a patch since the last look.
 */
static bool look(struct ear *ear, unsigned int cpu)
{
	bool was_open = ear->fd >= 0;

	if (is_offline(cpu)) {
		ear_close(ear);
		return was_open;
	}
	if (was_open && !ear_is_off(ear))
		return ear_listen(ear) != 0;
	ear_close(ear);
	ear_open(ear, cpu);
	return true;
}

int actor_witness(struct actor *actor)
{
	unsigned int cpus = actor->cpus < CPUS_MAX ? actor->cpus : CPUS_MAX;
	uint64_t near = ticks(NEAR_MS), last = trail_now(), now;
	struct ear ears[CPUS_MAX];
	unsigned int cpu;
	bool poked;

	for (cpu = 0; cpu < cpus; cpu++)
		ears[cpu] = (struct ear){ .fd = -1 };
	while (!atomic_load(actor->end)) {
		now = trail_now();
		poked = false;
		for (cpu = 0; cpu < cpus; cpu++)
			poked |= look(&ears[cpu], cpu);
		if (poked)
			trail_line(&actor->trail, last - near, 0,
				   "text poked until=%" PRIu64,
				   trail_now() + near);
		last = now;
		usleep(LOOK_MS * 1000);
	}
	for (cpu = 0; cpu < cpus; cpu++)
		ear_close(&ears[cpu]);
	return 0;
}
