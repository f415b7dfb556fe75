/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a recording as perf record does: the frame of the file and of its
 * events. What the events say is their caller's.
 */
#ifndef KIPT_PERF_WRITE_H
#define KIPT_PERF_WRITE_H

#include <linux/perf_event.h>
#include <stdio.h>

#include "perf_file.h"

/* What each event that is not a sample says at its end of who made it. */
#define PERF_WRITE_SAMPLE	(PERF_SAMPLE_IP | PERF_SAMPLE_BIT_TID |	\
				 PERF_SAMPLE_BIT_TIME | PERF_SAMPLE_BIT_CPU | \
				 PERF_SAMPLE_BIT_IDENTIFIER)

/* Bytes of that. */
#define PERF_STAMP_BYTES	32

/* Bytes of an event of type PERF_EVENT_AUXTRACE. */
#define PERF_WRITE_TRACE_HEAD	48

/* Bytes of what an event says that is written here: a path and some numbers. */
#define PERF_BODY_BYTES		(4096 + 512)

/**
 * struct perf_body - what an event says, while it is put together
 * @size: bytes so far, at most PERF_BODY_BYTES
 * @bytes: they
 */
struct perf_body {
	u32 size;
	u8 bytes[PERF_BODY_BYTES];
};

/**
 * struct perf_write_attr - an event that was recorded
 * @attr: how; at least PERF_ATTR_SIZE_VER5 bytes of it are meaningful
 * @name: as perf is to show it
 * @ids: its numbers, one for each CPU; the caller's
 * @id_count: how many
 */
struct perf_write_attr {
	struct perf_event_attr attr;
	const char *name;
	const u64 *ids;
	u32 id_count;
};

/**
 * struct perf_writer - a recording that is being made
 * @path: its name in sentences; the caller's
 * @out: the file
 * @at: bytes written
 * @traces: where events of type PERF_EVENT_AUXTRACE are; owned
 * @trace_count: how many
 * @failed: something could not be written, and a sentence said so
 */
struct perf_writer {
	const char *path;
	FILE *out;
	u64 at;
	u64 *traces;
	size_t trace_count;
	bool failed;
};

/**
 * perf_put32() - add a number of 32 bits
 * @body: where to; what it has no room for is left out
 * @number: which
 */
void perf_put32(struct perf_body *body, u32 number);

/**
 * perf_put64() - add a number of 64 bits
 * @body: where to; what it has no room for is left out
 * @number: which
 */
void perf_put64(struct perf_body *body, u64 number);

/**
 * perf_put_text() - add a text, its end and zeros up to a multiple of 8 bytes
 * @body: where to; has room for short ones
 * @text: what; "//toolong" where that leaves no room for the stamp
 */
void perf_put_text(struct perf_body *body, const char *text);

/**
 * perf_writer_open() - begin a recording
 * @writer: filled; perf_writer_close() or perf_writer_drop() frees it
 * @path: of the recording, for sentences; must live as long
 * @file: where it is written: it is made, for its owner alone; nothing may be there.
 *	NULL: in memory
 *
 * Return: true, or false after a sentence: the file cannot be made.
 */
bool perf_writer_open(struct perf_writer *writer, const char *path,
		      const char *file);

/**
 * perf_writer_bytes() - add bytes as they are: whole events, or what follows one
 * @writer: where to
 * @bytes: they
 * @size: how many
 *
 * Return: true, or false after a sentence: the file cannot be written.
 */
bool perf_writer_bytes(struct perf_writer *writer, const void *bytes, u64 size);

/**
 * perf_writer_seek() - write elsewhere from now on
 * @writer: where to
 * @at: bytes that are before that place; there must be as many
 *
 * Return: true, or false after a sentence: it is no regular file, or cannot be written.
 */
bool perf_writer_seek(struct perf_writer *writer, u64 at);

/**
 * perf_writer_event() - add an event that does not say who made it
 * @writer: where to
 * @type: PERF_EVENT_*, from PERF_EVENT_HEADER_ATTR on
 * @body: what it says
 *
 * Return: true, or false after a sentence.
 */
bool perf_writer_event(struct perf_writer *writer, u32 type,
		       const struct perf_body *body);

/**
 * perf_writer_stamped() - add an event that says who made it
 * @writer: where to
 * @type: PERF_EVENT_*, below PERF_EVENT_HEADER_ATTR
 * @misc: bits of its header
 * @body: what it says; the stamp is added to it
 * @stamp: who, when and where
 * @id: number of the event that was recorded; 0: of the first
 *
 * Return: true, or false after a sentence.
 */
bool perf_writer_stamped(struct perf_writer *writer, u32 type, u16 misc,
			 struct perf_body *body, const struct perf_stamp *stamp,
			 u64 id);

/**
 * perf_writer_trace() - add the trace of a CPU; its bytes follow with
 *	perf_writer_bytes(), and zeros up to a multiple of 8
 * @writer: where to
 * @cpu: which
 * @index: of the CPU among those that are traced
 * @offset: of the first byte in all that was traced on the CPU
 * @size: bytes that follow, of trace
 *
 * Return: true, or false after a sentence.
 */
bool perf_writer_trace(struct perf_writer *writer, u32 cpu, u32 index,
		       u64 offset, u64 size);

/**
 * perf_writer_pad() - add zeros up to a multiple of 8
 * @writer: where to
 *
 * Return: true, or false after a sentence.
 */
bool perf_writer_pad(struct perf_writer *writer);

/**
 * perf_writer_close() - complete the recording
 * @writer: all its events are there; freed
 * @attrs: what was recorded
 * @count: how many, at least 1
 *
 * Adds what is known of this machine: name, kernel and its build id, CPUs.
 *
 * Return: true, or false after a sentence: the file could not be written.
 */
bool perf_writer_close(struct perf_writer *writer,
		       const struct perf_write_attr *attrs, u32 count);

/**
 * perf_writer_drop() - give a recording up
 * @writer: freed, and its file closed as it is; may be all zero
 */
void perf_writer_drop(struct perf_writer *writer);

#endif /* KIPT_PERF_WRITE_H */
