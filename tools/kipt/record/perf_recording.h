/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording for perf: what its sideband says while a session traces, and
 * the trace of the session, in one file; with the kernel's code, in a folder, if the
 * kernel is traced. Or only what processes map meanwhile, for code_images.h.
 */
#ifndef KIPT_PERF_RECORDING_H
#define KIPT_PERF_RECORDING_H

#include "../kernel/session_words.h"
#include "../perf/perf_running.h"
#include "perf_place.h"
#include "perf_sideband.h"

/**
 * struct perf_recording - such a recording
 * @place: where it is made
 * @writer: its file
 * @sideband: what the kernel's perf says
 * @info: how Intel PT traces
 * @ids: numbers of the event that traces and of the sideband's, one for each CPU that
 *	is online, in this order; owned
 * @starts_at: where the file says who ran when it began
 * @indexes: how many CPUs have their trace in the file
 * @maps: of perf_recording_maps(): the file, as long as it is not complete; or NULL
 * @before: the name of what was @maps before, as long as it may come back; owned; or NULL
 */
struct perf_recording {
	struct perf_place place;
	struct perf_writer writer;
	struct sideband sideband;
	struct perf_pt_info info;
	u64 *ids;
	u64 starts_at;
	u32 indexes;
	const char *maps;
	char *before;
};

/**
 * perf_recording_is() - whether a file that is to be written is one
 * @path: its name, or NULL
 *
 * Return: true if it ends in ".data".
 */
bool perf_recording_is(const char *path);

/**
 * perf_recording_begin() - record what is there, and from now on what processes map
 * @recording: all zero; perf_recording_end() or perf_recording_drop() frees it
 * @path: of the recording; must live as long
 * @caps: of the CPUs that are traced
 * @kernel: kernel code is traced, and kept if /proc/kcore may be read
 *
 * A thread writes what comes, on the CPUs its caller may run on.
 *
 * Return: true, or false after a sentence, with nothing left: perf is not allowed, the
 * file cannot be made or written, or there is no thread to be had.
 */
bool perf_recording_begin(struct perf_recording *recording, const char *path,
			  const struct kipt_caps *caps, bool kernel);

/**
 * perf_recording_kernel() - copy the kernel's code, after it was patched for the trace
 * @recording: was begun
 *
 * What is patched from here on is recorded as events.
 *
 * Return: true, or false after a sentence: it cannot be read or written, or Ctrl-C.
 */
bool perf_recording_kernel(struct perf_recording *recording);

/**
 * perf_recording_maps() - record what processes map, and nothing else
 * @recording: as for perf_recording_begin()
 * @path: of the recording, which is locked (flock) until it is complete; takes the
 *	place of a recording, which is back if this one is dropped before
 *	perf_recording_maps_run(). Must live as long. NULL: it is in memory
 * @caps: of the CPUs
 *
 * Return: as perf_recording_begin(); false after a sentence too where the clock of perf
 * does not follow the TSC.
 */
bool perf_recording_maps(struct perf_recording *recording, const char *path,
			 const struct kipt_caps *caps);

/**
 * perf_recording_maps_run() - what the recording takes the place of is not needed any more
 * @recording: perf_recording_maps() began it
 */
void perf_recording_maps_run(struct perf_recording *recording);

/**
 * perf_recording_maps_end() - complete such a recording
 * @recording: perf_recording_maps() began it; freed
 *
 * Return: a file descriptor of it if it is in memory, else 0; -1 after a sentence.
 */
int perf_recording_maps_end(struct perf_recording *recording);

/**
 * perf_recording_end() - add the trace, and complete the file
 * @recording: was begun; freed
 * @session: as reported by the kernel, stopped
 *
 * Return: true, or false after a sentence, Ctrl-C too: what had its name before is
 * there as it was, unless only traces of some CPUs could not be read: the rest is kept.
 */
bool perf_recording_end(struct perf_recording *recording,
			const struct kipt_session *session);

/**
 * perf_recording_drop() - give it up
 * @recording: freed, and what there is of it removed; may be all zero
 */
void perf_recording_drop(struct perf_recording *recording);

#endif /* KIPT_PERF_RECORDING_H */
