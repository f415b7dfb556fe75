// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of perf of the kernel, see perf_sideband.h. Rings are emptied when
 * they are a quarter full, or ten times a second.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../kernel/session_words.h"
#include "../perf/perf_bytes.h"
#include "../perf/perf_write.h"
#include "open_files.h"
#include "perf_sideband.h"

#define ONLINE		"/sys/devices/system/cpu/online"
/* It is there where perf is. */
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define WAIT_MS		100
/* Of each CPU; where memory may not be locked, less. */
#define RING_MOST	(512ULL << 10)
#define RING_LEAST	(16ULL << 10)
/* The kernel writes the clock of a page in between two equal odd numbers. */
#define CLOCK_TRIES	1000

static int event_open(struct perf_event_attr *attr, u32 cpu)
{
	return syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr attr_all(bool more)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_WRITE_SAMPLE,
		.exclude_kernel = 1,
		.mmap = 1,
		.comm = 1,
		.task = 1,
		.watermark = 1,
		.sample_id_all = 1,
		.mmap2 = 1,
		.comm_exec = 1,
		.context_switch = more,
		.ksymbol = more,
		.bpf_event = more,
		.text_poke = more,
		.build_id = 1,
	};
}

/* Leave out what came to the kernel last; false if nothing is left to leave. */
static bool attr_reduce(struct perf_event_attr *attr)
{
	if (attr->build_id)
		attr->build_id = 0;
	else if (attr->text_poke)
		attr->text_poke = 0;
	else if (attr->bpf_event)
		attr->bpf_event = 0;
	else if (attr->ksymbol)
		attr->ksymbol = 0;
	else if (attr->context_switch)
		attr->context_switch = 0;
	else
		return false;
	return true;
}

/* What the kernel takes is found on the first CPU; a descriptor or a negative errno. */
static int attr_open(struct sideband *sideband, u32 cpu)
{
	int fd;

	do {
		fd = event_open(&sideband->attr, cpu);
		if (fd >= 0)
			return fd;
	} while (errno == EINVAL && !sideband->count &&
		 attr_reduce(&sideband->attr));
	return -errno;
}

static bool refused(const struct sideband *sideband, int err, u32 cpu)
{
	const char *instead = sideband->maps_only ? "" :
		"; without a name that ends in .data, kipt record needs no perf";

	if (err == EACCES || err == EPERM)
		say_errno(err, "perf may not follow all processes on CPU %u: CAP_PERFMON, root or sysctl kernel.perf_event_paranoid=-1 allows it%s",
			  cpu, instead);
	else if (err == EMFILE)
		say_errno(err, "perf needs an open file for each CPU, and there is none left for CPU %u: ulimit -n, as root, allows more",
			  cpu);
	else if (access(PARANOID, F_OK))
		say_errno(err, "this kernel has no perf (CONFIG_PERF_EVENTS)%s",
			  instead);
	else
		say_errno(err, "perf cannot follow processes on CPU %u", cpu);
	return false;
}

/* Whoever may not lock so much memory gets smaller rings, each read in time. */
static bool ring_open(struct sideband *sideband, struct sideband_ring *ring)
{
	u64 page = sysconf(_SC_PAGESIZE);
	int err = EPERM;

	for (ring->bytes = RING_MOST; ring->bytes >= RING_LEAST && err == EPERM;
	     ring->bytes /= 2) {
		sideband->attr.wakeup_watermark = ring->bytes / 4;
		ring->fd = attr_open(sideband, ring->cpu);
		if (ring->fd < 0)
			return refused(sideband, -ring->fd, ring->cpu);
		ring->page = mmap(NULL, page + ring->bytes,
				  PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
				  0);
		if (ring->page != MAP_FAILED)
			return true;
		err = errno;
		close(ring->fd);
	}
	say_errno(err, "cannot map events of perf of CPU %u; sysctl kernel.perf_event_mlock_kb says how much memory they may have",
		  ring->cpu);
	return false;
}

/* Events of CPUs that go meanwhile are those they had. */
static void ring_add(void *ctx, u32 cpu)
{
	struct sideband *sideband = ctx;
	struct sideband_ring *rings, *ring;

	if (sideband->failed)
		return;
	rings = list_room(sideband->rings, sideband->count, sizeof(*rings));
	sideband->failed = true;
	if (!rings) {
		say_errno(ENOMEM, "cannot follow processes");
		return;
	}
	sideband->rings = rings;
	ring = &rings[sideband->count];
	*ring = (struct sideband_ring){ .cpu = cpu };
	if (!ring_open(sideband, ring))
		return;
	sideband->count++;
	sideband->failed = ioctl(ring->fd, PERF_EVENT_IOC_ID, &ring->id);
	if (sideband->failed)
		say_errno(errno, "cannot follow processes on CPU %u", cpu);
}

static bool online_read(char *list, size_t size)
{
	FILE *file = fopen(ONLINE, "re");
	bool ok = file && fgets(list, size, file);

	if (ok)
		list[strcspn(list, "\n")] = 0;
	else
		say_errno(errno, "cannot read " ONLINE);
	if (file)
		fclose(file);
	return ok;
}

/* All zero if the clock of perf does not follow the TSC. */
static void clock_read(struct perf_clock *clock,
		       const volatile struct perf_event_mmap_page *page)
{
	bool has = false;
	u32 before, i;

	for (i = 0; i < CLOCK_TRIES; i++) {
		before = page->lock;
		atomic_thread_fence(memory_order_acquire);
		has = page->cap_user_time_zero;
		*clock = (struct perf_clock){ page->time_shift, page->time_mult,
					      page->time_zero };
		atomic_thread_fence(memory_order_acquire);
		if (page->lock == before && !(before & 1))
			break;
	}
	if (!has || i == CLOCK_TRIES)
		*clock = (struct perf_clock){ 0 };
}

static u64 time_now(const struct perf_clock *clock)
{
	u64 tsc = __builtin_ia32_rdtsc();

	return clock->mult ? clock->zero +
		(u64)((unsigned __int128)tsc * clock->mult >> clock->shift) : 0;
}

/*
 * Whoever runs on a CPU is known when another takes turns with it. A task that
 * keeps its CPU for itself is made to by this one, which goes to each for a
 * moment, if it may.
 */
static void cpus_visit(const struct sideband *sideband)
{
	char name[16] = "";
	cpu_set_t *before = CPU_ALLOC(KIPT_CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(KIPT_CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(KIPT_CPUS_MAX);
	u32 i;

	prctl(PR_GET_NAME, name);
	if (before && set && !sched_getaffinity(0, size, before)) {
		for (i = 0; i < sideband->count; i++) {
			CPU_ZERO_S(size, set);
			CPU_SET_S(sideband->rings[i].cpu, size, set);
			sched_setaffinity(0, size, set);
			/* An event, whatever is recorded. */
			prctl(PR_SET_NAME, name);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(set);
}

bool sideband_open(struct sideband *sideband)
{
	char list[4096];

	sideband->copy = malloc(RING_MOST);
	if (!sideband->copy) {
		say_errno(ENOMEM, "cannot follow processes");
		return false;
	}
	sideband->attr = attr_all(!sideband->maps_only);
	open_files_raise();
	if (online_read(list, sizeof(list)) &&
	    args_cpus(list, ring_add, sideband) && sideband->count &&
	    !sideband->failed) {
		clock_read(&sideband->clock, sideband->rings[0].page);
		sideband->begun = time_now(&sideband->clock);
		if (!sideband->maps_only)
			cpus_visit(sideband);
		return true;
	}
	sideband_close(sideband);
	return false;
}

/* Whole events lie there: the kernel shows none before it is written. */
static bool events_look(struct sideband *sideband, struct sideband_ring *ring,
			const u8 *bytes, u64 size)
{
	struct perf_event_header header;
	const u8 *stamp;
	u64 at;

	for (at = 0; at < size; at += header.size) {
		if (size - at < sizeof(header))
			return false;
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			return false;
		if (header.type == PERF_RECORD_LOST && header.size >= 24)
			sideband->lost += get64(bytes + at + 16);
		if (ring->seen || header.size < sizeof(header) + PERF_STAMP_BYTES)
			continue;
		stamp = bytes + at + header.size - PERF_STAMP_BYTES;
		ring->seen = true;
		ring->first = (struct perf_stamp){
			.pid = get32(stamp),
			.tid = get32(stamp + 4),
			.time = get64(stamp + 8),
			.cpu = get32(stamp + 16),
		};
	}
	return true;
}

static void ring_empty(struct sideband *sideband, struct sideband_ring *ring)
{
	u64 tail = ring->page->data_tail, begin, first, size;
	const u8 *events = (const u8 *)ring->page + sysconf(_SC_PAGESIZE);

	size = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - tail;
	if (!size || sideband->failed)
		return;
	if (size > ring->bytes)
		size = ring->bytes;
	begin = tail & (ring->bytes - 1);
	first = ring->bytes - begin < size ? ring->bytes - begin : size;
	memcpy(sideband->copy, events + begin, first);
	memcpy(sideband->copy + first, events, size - first);
	__atomic_store_n(&ring->page->data_tail, tail + size, __ATOMIC_RELEASE);
	if (!events_look(sideband, ring, sideband->copy, size)) {
		say_error("an event of perf of CPU %u makes no sense",
			  ring->cpu);
		sideband->failed = true;
		return;
	}
	sideband->taken = true;
	sideband->failed = !sideband->take(sideband->ctx, sideband->copy, size);
}

void sideband_read(struct sideband *sideband)
{
	u32 i;

	for (i = 0; i < sideband->count; i++)
		ring_empty(sideband, &sideband->rings[i]);
}

/*
 * What comes when all were emptied is later than what came the time before: perf need
 * not keep all there is to put it in order.
 */
static void rings_empty(struct sideband *sideband)
{
	static const struct perf_event_header round = {
		.type = PERF_EVENT_FINISHED_ROUND,
		.size = sizeof(round),
	};

	sideband->taken = false;
	sideband_read(sideband);
	if (sideband->taken && !sideband->failed)
		sideband->failed = !sideband->take(sideband->ctx,
						   (const u8 *)&round,
						   sizeof(round));
}

static void *rings_read(void *ctx)
{
	struct sideband *sideband = ctx;
	struct pollfd *polls = calloc(sideband->count, sizeof(*polls));
	sigset_t all;
	u32 i;

	/* They are for whoever waits for the command. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (i = 0; i < sideband->count && polls; i++)
		polls[i] = (struct pollfd){ .fd = sideband->rings[i].fd,
					    .events = POLLIN };
	while (!sideband->stopping && !sideband->failed) {
		poll(polls, polls ? sideband->count : 0, WAIT_MS);
		rings_empty(sideband);
		/* One whose CPU is gone would wake this thread at once, always. */
		for (i = 0; i < sideband->count && polls; i++) {
			if (polls[i].revents & ~POLLIN)
				polls[i].fd = -1;
		}
	}
	free(polls);
	return NULL;
}

bool sideband_start(struct sideband *sideband)
{
	int err = pthread_create(&sideband->thread, NULL, rings_read, sideband);

	sideband->running = !err;
	if (err)
		say_errno(err, "cannot start a thread");
	return !err;
}

bool sideband_stop(struct sideband *sideband)
{
	u32 i;

	sideband->stopping = true;
	if (sideband->running)
		pthread_join(sideband->thread, NULL);
	sideband->running = false;
	/* How many events a ring had no room for, the next one that it has says. */
	rings_empty(sideband);
	cpus_visit(sideband);
	for (i = 0; i < sideband->count; i++)
		ioctl(sideband->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	rings_empty(sideband);
	return !sideband->failed;
}

void sideband_close(struct sideband *sideband)
{
	u64 page = sysconf(_SC_PAGESIZE);
	u32 i;

	sideband->stopping = true;
	if (sideband->running)
		pthread_join(sideband->thread, NULL);
	for (i = 0; i < sideband->count; i++) {
		struct sideband_ring *ring = &sideband->rings[i];

		munmap(ring->page, page + ring->bytes);
		close(ring->fd);
	}
	free(sideband->rings);
	free(sideband->copy);
	memset(sideband, 0, sizeof(*sideband));
}

const struct sideband_ring *sideband_ring_of(const struct sideband *sideband,
					     u32 cpu)
{
	u32 i;

	for (i = 0; i < sideband->count; i++) {
		if (sideband->rings[i].cpu == cpu)
			return &sideband->rings[i];
	}
	return NULL;
}
