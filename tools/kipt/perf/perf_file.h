/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The container that perf record writes: attributes of its events, build ids,
 * and a stream of events, in a file or as it was written to a pipe. Knows the
 * frame of events, not what they say. Nothing in the file is believed.
 */
#ifndef KIPT_PERF_FILE_H
#define KIPT_PERF_FILE_H

#include <stdbool.h>
#include <time.h>

#include "../symbols/build_id.h"

/* Types of events: those of the kernel, then those that perf adds. */
enum {
	PERF_EVENT_MMAP = 1,
	PERF_EVENT_LOST = 2,
	PERF_EVENT_COMM = 3,
	PERF_EVENT_EXIT = 4,
	PERF_EVENT_FORK = 7,
	PERF_EVENT_SAMPLE = 9,
	PERF_EVENT_MMAP2 = 10,
	PERF_EVENT_AUX = 11,
	PERF_EVENT_ITRACE_START = 12,
	PERF_EVENT_SWITCH = 14,
	PERF_EVENT_SWITCH_CPU_WIDE = 15,
	PERF_EVENT_KSYMBOL = 17,
	PERF_EVENT_BPF = 18,
	PERF_EVENT_TEXT_POKE = 20,
	PERF_EVENT_HEADER_ATTR = 64,
	PERF_EVENT_TRACING_DATA = 66,
	PERF_EVENT_BUILD_ID = 67,
	PERF_EVENT_FINISHED_ROUND = 68,
	PERF_EVENT_ID_INDEX = 69,
	PERF_EVENT_AUXTRACE_INFO = 70,
	PERF_EVENT_AUXTRACE = 71,
	PERF_EVENT_TIME_CONV = 79,
	PERF_EVENT_HEADER_FEATURE = 80,
	PERF_EVENT_COMPRESSED = 81,
	PERF_EVENT_COMPRESSED2 = 83,
};

/* Bits of @sample_type. */
#define PERF_SAMPLE_BIT_IP		(1ULL << 0)
#define PERF_SAMPLE_BIT_TID		(1ULL << 1)
#define PERF_SAMPLE_BIT_TIME		(1ULL << 2)
#define PERF_SAMPLE_BIT_ID		(1ULL << 6)
#define PERF_SAMPLE_BIT_CPU		(1ULL << 7)
#define PERF_SAMPLE_BIT_STREAM		(1ULL << 9)
#define PERF_SAMPLE_BIT_IDENTIFIER	(1ULL << 16)
#define PERF_SAMPLE_BIT_AUX		(1ULL << 20)

/**
 * struct perf_attr - one event that was recorded
 * @type: the number of its PMU
 * @config: its configuration
 * @sample_type: PERF_SAMPLE_BIT_*
 * @flags: further bits, as struct perf_event_attr has them after read_format
 * @read_format: what a sample has of counters
 * @branch_type: what a sample has of branches
 * @regs_user, @regs_intr: bits of the registers that a sample has
 * @name: as perf calls it; NULL: the recording does not say
 */
struct perf_attr {
	u32 type;
	u64 config;
	u64 sample_type;
	u64 flags;
	u64 read_format;
	u64 branch_type;
	u64 regs_user, regs_intr;
	char *name;
};

#define PERF_ATTR_EXCLUDE_USER		(1ULL << 4)
#define PERF_ATTR_EXCLUDE_KERNEL	(1ULL << 5)
#define PERF_ATTR_SAMPLE_ID_ALL		(1ULL << 18)
#define PERF_ATTR_TEXT_POKE		(1ULL << 33)

/* The number of the list of BPF programs, in a file or an event of a pipe. */
#define PERF_FEATURE_BPF		25

/**
 * struct perf_event - one event of the stream
 * @type: PERF_EVENT_*, or any other
 * @misc: bits whose meaning depends on @type
 * @bytes: what comes after its header; valid until the next event
 * @size: bytes there
 * @at: where bytes that belong to it follow in the file
 * @follow: how many
 */
struct perf_event {
	u32 type;
	u16 misc;
	const u8 *bytes;
	u32 size;
	u64 at;
	u64 follow;
};

/* Of @misc: where code ran, or what was mapped; an MMAP2 that has a build id. */
#define PERF_MISC_CPU_MODE	7
#define PERF_MISC_KERNEL	1
#define PERF_MISC_USER		2
#define PERF_MISC_GUEST_KERNEL	4
#define PERF_MISC_MMAP_ID	(1U << 14)
/* Its process ids and addresses are those of a virtual machine? */
static inline bool perf_misc_is_guest(u16 misc)
{
	return (misc & PERF_MISC_CPU_MODE) >= PERF_MISC_GUEST_KERNEL;
}

/* Where MMAP and MMAP2 have the name of the file, and the latter its build id or inode. */
#define PERF_MMAP_NAME		32
#define PERF_MMAP2_NAME		64
#define PERF_MMAP2_ID		32

/**
 * struct perf_stamp - who made an event, when and where
 * @size: bytes that say so, at the end of the event
 * @has: PERF_SAMPLE_BIT_* of what is known
 * @pid, @tid: task
 * @cpu: CPU
 * @time: in the clock of perf
 */
struct perf_stamp {
	u32 size;
	u64 has;
	u32 pid, tid;
	u32 cpu;
	u64 time;
};

/**
 * struct perf_build_id - the build id of a file, as a list in the file has it
 * @name: path of the file
 * @id: its build id
 */
struct perf_build_id {
	char *name;
	struct build_id id;
};

struct perf_file;

/**
 * perf_file_is() - is this a recording of perf
 * @path: any path
 *
 * Return: true for a file that begins like one, of any byte order, and for a
 * folder that has such a file named "data" in it.
 */
bool perf_file_is(const char *path);

/**
 * perf_file_open() - open a recording
 * @path: a file, or a folder that perf record --kcore made
 *
 * Return: the caller's until perf_file_close(); NULL after a sentence.
 */
struct perf_file *perf_file_open(const char *path);

/**
 * perf_file_close() - free it
 * @file: may be NULL
 */
void perf_file_close(struct perf_file *file);

/**
 * perf_file_events() - go through the stream
 * @file: the recording
 * @take: gets each event, decompressed ones too; false ends it
 * @ctx: its first argument
 *
 * Attributes and build ids that are in the stream are taken on the way. Where
 * the file was cut or makes no sense a sentence says so, and what came before
 * was given.
 *
 * Return: true if all of the stream was gone through.
 */
bool perf_file_events(struct perf_file *file,
		      bool (*take)(void *ctx, const struct perf_event *event),
		      void *ctx);

/**
 * perf_file_stamp() - who made an event
 * @file: the recording
 * @event: any event but samples
 * @stamp: filled; all zero if the event does not say
 */
void perf_file_stamp(const struct perf_file *file,
		     const struct perf_event *event, struct perf_stamp *stamp);

/**
 * perf_mmap_build_id() - the build id of a file that was mapped
 * @event: of type PERF_EVENT_MMAP2, with PERF_MISC_MMAP_ID and not shorter than
 *	PERF_MMAP2_NAME
 * @id: filled on success
 *
 * Return: false if it is none.
 */
bool perf_mmap_build_id(const struct perf_event *event, struct build_id *id);

/**
 * perf_file_read() - copy bytes of the file
 * @file: the recording
 * @at: offset
 * @bytes: filled
 * @size: how many
 *
 * Return: true, or false after a sentence: it cannot be read, or is shorter
 * than it was.
 */
bool perf_file_read(const struct perf_file *file, u64 at, u8 *bytes, u64 size);

/**
 * perf_file_attr() - an attribute
 * @file: the recording
 * @index: which, from 0 on
 *
 * Return: it, or NULL if there are not so many.
 */
const struct perf_attr *perf_file_attr(const struct perf_file *file,
				       size_t index);

/**
 * perf_file_attr_of() - the attribute of a sample
 * @file: the recording
 * @event: of type PERF_EVENT_SAMPLE
 *
 * Return: it; NULL if nobody knows: there is none, or events that were recorded
 * differently do not say which they are.
 */
const struct perf_attr *perf_file_attr_of(const struct perf_file *file,
					  const struct perf_event *event);

/**
 * perf_file_build_id() - look for the build id of a file
 * @file: the recording; all of its stream was gone through
 * @name: the file's path
 *
 * Return: the build id, or NULL if none was recorded.
 */
const struct build_id *perf_file_build_id(const struct perf_file *file,
					  const char *name);

/**
 * perf_file_bpf() - where a file lists BPF programs
 * @file: the recording
 * @at: offset in the file
 * @size: bytes, all in the file
 *
 * Return: false if it does not; that of a pipe has an event.
 */
bool perf_file_bpf(const struct perf_file *file, u64 *at, u64 *size);

/**
 * perf_file_begun() - when perf made the file
 * @file: the recording
 * @lasted: nanoseconds that it is of
 * @begun: filled
 *
 * Return: true, or false if it cannot have been made when the recording began:
 * it is a copy, or its file system does not say when.
 */
bool perf_file_begun(const struct perf_file *file, u64 lasted,
		     struct timespec *begun);

/**
 * perf_file_path() - its name
 * @file: the recording
 *
 * Return: as it was given to perf_file_open().
 */
const char *perf_file_path(const struct perf_file *file);

/**
 * perf_file_bad() - is something of it missing
 * @file: the recording
 *
 * Return: true if it was cut or makes no sense, and a sentence said so.
 */
bool perf_file_bad(const struct perf_file *file);

/**
 * perf_file_size() - how large the file is
 * @file: the file; of a folder, the one with the events
 *
 * Return: bytes.
 */
u64 perf_file_size(const struct perf_file *file);

/**
 * perf_file_folder() - is it a folder
 * @file: the recording
 *
 * Return: true if it is; copies of the kernel may be in it.
 */
bool perf_file_folder(const struct perf_file *file);

#endif /* KIPT_PERF_FILE_H */
