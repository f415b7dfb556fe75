/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes traces that Perfetto reads: protocol buffers, a Trace of TracePackets, of which
 * only what is needed here. What is on which track, and when, the caller decides.
 */
#ifndef KIPT_PERFETTO_H
#define KIPT_PERFETTO_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/* Bytes of a name, with its 0; longer ones are cut. */
#define PERFETTO_NAME_MAX	512U

/**
 * enum perfetto_kind - what is on a track
 * @PERFETTO_PLAIN: slices, of no thread
 * @PERFETTO_PROCESS: nothing; it names a process
 * @PERFETTO_THREAD: slices of a thread
 * @PERFETTO_COUNTER: values
 */
enum perfetto_kind {
	PERFETTO_PLAIN,
	PERFETTO_PROCESS,
	PERFETTO_THREAD,
	PERFETTO_COUNTER,
};

/**
 * struct perfetto_track - a track
 * @kind: what is on it
 * @uuid: its number, not 0
 * @parent: number of the track that it belongs to; 0: none
 * @name: of it, of the process or of the thread; "": none
 * @pid, @tid: of the process or thread
 */
struct perfetto_track {
	enum perfetto_kind kind;
	u64 uuid, parent;
	const char *name;
	u32 pid, tid;
};

/* As the schema numbers them. */
enum perfetto_type {
	PERFETTO_BEGIN = 1,
	PERFETTO_END,
	PERFETTO_INSTANT,
	PERFETTO_VALUE,
};

/* Categories of slices; 0: none. */
enum perfetto_category {
	PERFETTO_CALL = 1,	/* a call */
	PERFETTO_SEEN,		/* was there when it came into view */
	PERFETTO_GOES_ON,	/* began on another track */
	PERFETTO_LOST,		/* something is missing */
	PERFETTO_INLINED,	/* calls that code of an inlined function makes */
};

/**
 * struct perfetto_event - something on a track
 * @type: what it is
 * @time: nanoseconds
 * @track: number of a track that was written
 * @category: enum perfetto_category
 * @number: of its name, with which it may come again; 0: of a name that does not
 * @name: needed the first time that @number comes, else NULL
 * @flow: number of the flow that begins here, or ends if @flow_ends; 0: none
 * @value: with PERFETTO_VALUE
 */
struct perfetto_event {
	enum perfetto_type type;
	u64 time;
	u64 track;
	u32 category;
	u64 number;
	const char *name;
	u64 flow;
	bool flow_ends;
	u64 value;
};

struct perfetto;

/**
 * perfetto_create() - make a file
 * @path: its name; "-": standard output
 *
 * A file that is there keeps what it has until the first track is written.
 *
 * Return: the caller's until perfetto_close(); NULL after a sentence.
 */
struct perfetto *perfetto_create(const char *path);

/**
 * perfetto_track() - write a track, before its events
 * @perfetto: the file
 * @track: the track
 */
void perfetto_track(struct perfetto *perfetto, const struct perfetto_track *track);

/**
 * perfetto_event() - write an event
 * @perfetto: the file
 * @event: not earlier than the one before on its track
 */
void perfetto_event(struct perfetto *perfetto, const struct perfetto_event *event);

/**
 * perfetto_close() - finish the file
 * @perfetto: may be NULL
 * @whole: what was written is all there is, be it nothing; otherwise nothing written
 *	leaves things as they were
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool perfetto_close(struct perfetto *perfetto, bool whole);

#endif /* KIPT_PERFETTO_H */
