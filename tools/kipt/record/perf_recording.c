// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a session as a recording of perf, see perf_recording.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../kernel/raw_device.h"
#include "../offline/save_dir.h"
#include "../symbols/kernel_text.h"
#include "perf_recording.h"

#define NAME_END	".data"
/* Fields of IA32_RTIT_CTL that the PMU of Intel PT has in its configuration. */
#define CONFIG_FIELDS	(RTIT_CTL_CYCEN | RTIT_CTL_PWREVTEN |		\
			 RTIT_CTL_FUPONPTW | RTIT_CTL_MTCEN |		\
			 RTIT_CTL_TSCEN | RTIT_CTL_DISRETC |		\
			 RTIT_CTL_PTWEN | RTIT_CTL_BRANCHEN |		\
			 RTIT_CTL_MTCFREQ | RTIT_CTL_CYCTHRESH |	\
			 RTIT_CTL_PSBFREQ | RTIT_CTL_EVENTEN |		\
			 RTIT_CTL_DISTNT)
/* Switches of each CPU, each with the task that comes next. */
#define SWITCHES_CPU	3

bool perf_recording_is(const char *path)
{
	size_t length = path ? strlen(path) : 0, end = strlen(NAME_END);

	return length > end && !strcmp(path + length - end, NAME_END);
}

static bool interrupted(const struct perf_recording *recording)
{
	if (!progress_interrupted())
		return false;
	say_error("interrupted: there is no recording, and %s is as it was",
		  recording->place.path);
	return true;
}

static bool events_take(void *ctx, const u8 *bytes, u64 size)
{
	struct perf_recording *recording = ctx;

	return perf_writer_bytes(&recording->writer, bytes, size);
}

/* Numbers for the event that traces are those the kernel gave no other. */
static bool ids_make(struct perf_recording *recording)
{
	const struct sideband *sideband = &recording->sideband;
	u32 count = sideband->count, i;
	u64 *ids = calloc(count, 2 * sizeof(*ids));
	u64 most = 0;

	if (!ids) {
		say_errno(ENOMEM, "cannot record for perf");
		return false;
	}
	for (i = 0; i < count; i++) {
		ids[count + i] = sideband->rings[i].id;
		if (ids[count + i] > most)
			most = ids[count + i];
	}
	for (i = 0; i < count; i++)
		ids[i] = most + 1 + i;
	recording->ids = ids;
	return true;
}

static void info_make(struct perf_recording *recording,
		      const struct kipt_caps *caps)
{
	const struct sideband *sideband = &recording->sideband;

	recording->info = (struct perf_pt_info){
		.pmu = perf_running_pmu(),
		.clock = sideband->clock,
		.switches = sideband->attr.context_switch ? SWITCHES_CPU : 0,
		.tsc_num = caps->tsc_num,
		.tsc_den = caps->tsc_den,
		.max_nonturbo = caps->max_nonturbo_ratio,
	};
}

/* Of the event that traces. */
static u64 id_of(const struct perf_recording *recording,
		 const struct sideband_ring *ring)
{
	return ring ? recording->ids[ring - recording->sideband.rings] : 0;
}

/*
 * Who ran on each CPU when all began is known only when the first event of the CPU came,
 * and perf takes no event after later ones: there is room for these at the begin.
 */
static bool starts_write(struct perf_recording *recording)
{
	const struct sideband *sideband = &recording->sideband;
	struct perf_stamp stamp = { .time = sideband->begun };
	bool ok = true;
	u32 i;

	for (i = 0; i < sideband->count && ok; i++) {
		const struct sideband_ring *ring = &sideband->rings[i];
		struct perf_body start = { 0 };
		/* An idle CPU has no event. */
		bool known = ring->seen && ring->first.pid != ~0U;

		stamp.cpu = ring->cpu;
		stamp.pid = known ? ring->first.pid : 0;
		stamp.tid = known ? ring->first.tid : 0;
		perf_put32(&start, stamp.pid);
		perf_put32(&start, stamp.tid);
		ok = perf_writer_stamped(&recording->writer,
					 PERF_EVENT_ITRACE_START, 0, &start,
					 &stamp, id_of(recording, ring));
	}
	return ok;
}

static bool starts_again(struct perf_recording *recording)
{
	u64 end = recording->writer.at;

	return perf_writer_seek(&recording->writer, recording->starts_at) &&
	       starts_write(recording) &&
	       perf_writer_seek(&recording->writer, end);
}

/* There may be many processes, and rings are soon full. */
static void events_read(void *ctx)
{
	struct perf_recording *recording = ctx;

	sideband_read(&recording->sideband);
}

/* The head and what is there already. */
static bool file_begin(struct perf_recording *recording, const char *path)
{
	struct perf_writer *writer = &recording->writer;

	if (!perf_writer_open(writer, path, recording->place.data) ||
	    !perf_running_info(writer, &recording->info) ||
	    !perf_running_kernel(writer) ||
	    !perf_running_processes(writer, events_read, recording))
		return false;
	recording->starts_at = writer->at;
	return starts_write(recording) && !interrupted(recording);
}

bool perf_recording_begin(struct perf_recording *recording, const char *path,
			  const struct kipt_caps *caps, bool kernel)
{
	bool readable = kernel && kcore_allowed();

	if (kernel && !readable)
		say_note("code of the kernel is not in %s, only root may read it (/proc/kcore: %s): perf and kipt need it to decode what the kernel did; --ctl -OS leaves that out",
			 path, say_errno_name(errno));
	recording->sideband.take = events_take;
	recording->sideband.ctx = recording;
	if (!perf_place_make(&recording->place, path, readable))
		return false;
	if (sideband_open(&recording->sideband)) {
		info_make(recording, caps);
		if (!recording->info.clock.mult)
			say_note("the clock of perf does not follow the TSC here: %s has no times that perf can use, and code of several processes on one CPU is missing",
				 path);
		if (ids_make(recording) && file_begin(recording, path) &&
		    sideband_start(&recording->sideband))
			return true;
	}
	perf_recording_drop(recording);
	return false;
}

static bool file_close(struct perf_recording *recording, u64 ctl)
{
	const struct sideband *sideband = &recording->sideband;
	struct perf_write_attr attrs[] = {
		{ .name = "intel_pt//", .ids = recording->ids },
		{ .name = "dummy:u", .ids = recording->ids + sideband->count },
	};

	attrs[0].attr = (struct perf_event_attr){
		.type = recording->info.pmu,
		.config = (ctl & CONFIG_FIELDS) | PERF_PT_ON,
		.sample_period = 1,
		.sample_type = PERF_WRITE_SAMPLE,
		.exclude_kernel = !(ctl & RTIT_CTL_OS),
		.exclude_user = !(ctl & RTIT_CTL_USER),
		.sample_id_all = 1,
	};
	attrs[1].attr = sideband->attr;
	attrs[0].id_count = attrs[1].id_count = sideband->count;
	return perf_writer_close(&recording->writer, attrs, 2);
}

/* Renames the recording at @path, which before_restore() brings back. */
static bool before_keep(struct perf_recording *recording, const char *path)
{
	char *before;
	int fd;

	if (asprintf(&before, "%s.XXXXXX", path) < 0)
		return false;
	fd = mkstemp(before);
	recording->before = before;
	if (fd >= 0 && !close(fd) && !rename(path, before))
		return true;
	say_errno(errno, "cannot replace %s", path);
	if (fd >= 0)
		unlink(before);
	free(before);
	recording->before = NULL;
	return false;
}

static void before_restore(struct perf_recording *recording, const char *path)
{
	if (recording->before && rename(recording->before, path))
		say_errno(errno, "what was %s before is %s", path, recording->before);
	free(recording->before);
	recording->before = NULL;
}

/* Nobody is to read it before it is complete: whoever takes the lock waits for that. */
static bool maps_file_open(struct perf_recording *recording, const char *path)
{
	if (path && perf_file_is(path) && !before_keep(recording, path))
		return false;
	if (!perf_writer_open(&recording->writer, path ? path : "memory", path)) {
		before_restore(recording, path);
		return false;
	}
	recording->maps = path;
	if (!path || !flock(fileno(recording->writer.out), LOCK_EX))
		return true;
	say_errno(errno, "cannot lock %s", path);
	return false;
}

static bool maps_begin(struct perf_recording *recording, const char *path)
{
	return ids_make(recording) && maps_file_open(recording, path) &&
	       perf_running_info(&recording->writer, &recording->info) &&
	       perf_running_processes(&recording->writer, events_read,
				      recording) &&
	       sideband_start(&recording->sideband);
}

bool perf_recording_maps(struct perf_recording *recording, const char *path,
			 const struct kipt_caps *caps)
{
	recording->sideband.take = events_take;
	recording->sideband.ctx = recording;
	recording->sideband.maps_only = true;
	if (!sideband_open(&recording->sideband))
		return false;
	info_make(recording, caps);
	if (!recording->sideband.clock.mult)
		say_error("the clock of perf does not follow the TSC here: it cannot say when programs map what");
	else if (maps_begin(recording, path))
		return true;
	perf_recording_drop(recording);
	return false;
}

void perf_recording_maps_run(struct perf_recording *recording)
{
	if (recording->before)
		unlink(recording->before);
	free(recording->before);
	recording->before = NULL;
}

int perf_recording_maps_end(struct perf_recording *recording)
{
	int fd = recording->maps ? 0 : dup(fileno(recording->writer.out));
	bool ok = sideband_stop(&recording->sideband) &&
		  file_close(recording, 0);

	if (ok)
		recording->maps = NULL;
	perf_recording_drop(recording);
	if (ok && fd >= 0)
		return fd;
	if (fd > 0)
		close(fd);
	return -1;
}

bool perf_recording_kernel(struct perf_recording *recording)
{
	bool ok = !recording->place.kcore || save_kcore(recording->place.kcore);

	return !interrupted(recording) && ok;
}

/* The trace of a CPU: how much there is, and the bytes. It is of no time for perf. */
static bool trace_begin(void *ctx, u32 cpu, u64 offset, u64 size)
{
	struct perf_recording *recording = ctx;
	const struct sideband_ring *ring =
		sideband_ring_of(&recording->sideband, cpu);
	struct perf_stamp stamp = { .cpu = cpu };
	struct perf_body aux = { 0 };

	perf_put64(&aux, offset);
	perf_put64(&aux, size);
	perf_put64(&aux, 0);
	return perf_writer_stamped(&recording->writer, PERF_EVENT_AUX, 0, &aux,
				   &stamp, id_of(recording, ring)) &&
	       perf_writer_trace(&recording->writer, cpu, recording->indexes++,
				 offset, size);
}

/* Another MiB or less. */
static bool trace_take(void *ctx, const u8 *bytes, u64 size)
{
	return !progress_interrupted() && events_take(ctx, bytes, size);
}

static bool trace_end(void *ctx, u32 cpu)
{
	struct perf_recording *recording = ctx;

	(void)cpu;
	return perf_writer_pad(&recording->writer);
}

/*
 * A CPU whose trace cannot be read keeps no other from being taken; @whole is false then.
 * False if nothing is worth keeping.
 */
static bool traces_write(struct perf_recording *recording,
			 const struct kipt_session *session, bool *whole)
{
	const struct raw_taker taker = { trace_begin, trace_take, trace_end,
					 recording };
	u32 i;

	for (i = 0; i < session->cpu_count; i++) {
		u32 cpu = session->cpu[i].id;

		if (raw_take(session, cpu, &taker))
			continue;
		if (recording->writer.failed || interrupted(recording))
			return false;
		say_note("%s has no trace of CPU %u", recording->place.path,
			 cpu);
		*whole = false;
	}
	return recording->indexes;
}

bool perf_recording_end(struct perf_recording *recording,
			const struct kipt_session *session)
{
	const char *path = recording->place.path;
	bool ok, whole = true;

	ok = sideband_stop(&recording->sideband) && starts_again(recording) &&
	     traces_write(recording, session, &whole) &&
	     file_close(recording, session->ctl) && !interrupted(recording) &&
	     perf_place_settle(&recording->place);
	if (ok && recording->sideband.lost)
		say_note("perf lost %llu events: who ran, and what code a process had, may be wrong in %s from there on",
			 (unsigned long long)recording->sideband.lost, path);
	perf_recording_drop(recording);
	return ok && whole;
}

void perf_recording_drop(struct perf_recording *recording)
{
	sideband_close(&recording->sideband);
	perf_writer_drop(&recording->writer);
	perf_place_drop(&recording->place);
	if (recording->maps)
		unlink(recording->maps);
	before_restore(recording, recording->maps);
	recording->maps = NULL;
	free(recording->ids);
	recording->ids = NULL;
}
