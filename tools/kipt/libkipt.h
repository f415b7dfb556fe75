/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes Intel PT for a program: what perf recorded, or a raw trace with the code it
 * ran. `pkg-config --cflags --libs kipt` says how to build with it.
 *
 *	struct libkipt *trace = libkipt_create();
 *
 *	if (!trace || !libkipt_decode(trace, "perf.data", take, &mine))
 *		puts(trace ? libkipt_error(trace) : "no memory");
 *	libkipt_destroy(trace);
 *
 * Nothing is printed, no signal is handled and nothing ends the process. All is done
 * by the thread that calls. Several threads may each use a handle of their own at a
 * time. What handles share: the 2 GiB of code that are loaded at most, the five
 * seconds that the servers of DEBUGINFOD_URLS have in all, and the environment, from
 * which DEBUGINFOD_URLS is taken away once no server is to be asked any more.
 */
#ifndef LIBKIPT_H
#define LIBKIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct libkipt - a trace that is to be decoded, and what was said of it */
struct libkipt;

/**
 * enum libkipt_type - what a record says
 * @LIBKIPT_BRANCH: a taken branch that is none of the next two went from @from to @to
 * @LIBKIPT_CALL: a near call did
 * @LIBKIPT_EVENT: an interrupt or exception, or an exit of a virtual machine, did
 * @LIBKIPT_BEGIN: what the CPU executes is known from @from on, if it has that
 * @LIBKIPT_END: tracing was left at @from
 * @LIBKIPT_GAP: something is missing, and nothing is known of how control went
 * @LIBKIPT_SWITCH: the CPU, task or process is another from here on
 * @LIBKIPT_OTHER: anything else that the trace has, such as "ptwrite" and "power",
 *	at @from, if it has that, with @value and @aux
 *
 * Readers leave out types they do not know.
 */
enum libkipt_type {
	LIBKIPT_BRANCH = 1,
	LIBKIPT_CALL,
	LIBKIPT_EVENT,
	LIBKIPT_BEGIN,
	LIBKIPT_END,
	LIBKIPT_GAP,
	LIBKIPT_SWITCH,
	LIBKIPT_OTHER,
};

/**
 * struct libkipt_record - one thing that happened
 * @type: what
 * @kind: a constant word: of BRANCH, CALL, EVENT, BEGIN, END and GAP their kind, else
 *	their type, as 'kipt decode --json' has them
 * @has_from: @from is known
 * @has_to: @to is known
 * @from: address
 * @to: address
 * @value, @aux: of OTHER and GAP, as linux/kipt_record.h has them
 * @instructions: executed since the BRANCH, CALL, EVENT, BEGIN or END before, this
 *	branch included; of these and END
 * @cpu: which CPU, of a raw trace that of its name cpuN.pt, else 0; UINT32_MAX: the trace is of a
 *	thread, and nobody knows on which CPUs it ran
 * @pid: which process; 0: not known
 * @tid: which task; 0: not known
 * @tsc: the time-stamp counter, as far as the trace shows; 0: not known
 */
struct libkipt_record {
	enum libkipt_type type;
	const char *kind;
	bool has_from, has_to;
	uint64_t from, to;
	uint64_t value;
	uint32_t aux;
	uint32_t instructions;
	uint32_t cpu, pid, tid;
	uint64_t tsc;
};

/**
 * struct libkipt_place - an address in words
 * @symbol: function, or NULL
 * @offset: from its start; without @symbol from the start of the file, or the
 *	address if it is not known of which
 * @object: short name of the file or module, "kernel" or "unknown"
 */
struct libkipt_place {
	const char *symbol;
	uint64_t offset;
	const char *object;
};

/**
 * libkipt_create() - a trace of which nothing is known yet
 *
 * Return: the caller's until libkipt_destroy(); NULL without memory.
 */
struct libkipt *libkipt_create(void);

/**
 * libkipt_destroy() - free it
 * @trace: may be NULL; not from its own callback
 */
void libkipt_destroy(struct libkipt *trace);

/**
 * libkipt_image() - code of a file
 * @trace: not decoded yet
 * @file: "FILE" or "FILE@ADDR", as 'kipt decode --image' takes it
 *
 * Return: true, or false: libkipt_error() says why.
 */
bool libkipt_image(struct libkipt *trace, const char *file);

/**
 * libkipt_pages() - code of a dump of pages
 * @trace: not decoded yet
 * @name: path without .addr and .dump, as 'kipt decode --pages' takes it
 *
 * Return: true, or false: libkipt_error() says why.
 */
bool libkipt_pages(struct libkipt *trace, const char *name);

/**
 * libkipt_dir() - code, mappings, symbols and clocks of a raw trace
 * @trace: not decoded yet
 * @dir: folder that 'kipt record --save' made
 *
 * Return: true, or false: libkipt_error() says why.
 */
bool libkipt_dir(struct libkipt *trace, const char *dir);

/**
 * libkipt_maps() - which file of a raw trace is mapped where
 * @trace: not decoded yet
 * @file: as 'kipt decode --maps' takes it; must live until the trace is decoded
 */
void libkipt_maps(struct libkipt *trace, const char *file);

/**
 * libkipt_symfs() - a perf.data is of another machine
 * @trace: not decoded yet
 * @dir: absolute path of a folder with its files; must live until the trace is
 *	decoded
 */
void libkipt_symfs(struct libkipt *trace, const char *dir);

/**
 * libkipt_vmlinux() - code and symbols of the kernel of a perf.data
 * @trace: not decoded yet
 * @file: has the build id of that kernel; must live until the trace is decoded
 */
void libkipt_vmlinux(struct libkipt *trace, const char *file);

/**
 * typedef libkipt_take - gets each record in the order of the trace of a CPU or
 *	task, one CPU or task after the other
 * @ctx: what libkipt_decode() got
 * @trace: for libkipt_name()
 * @record: valid until it returns
 *
 * Return: true, or false: it wants no more.
 */
typedef bool libkipt_take(void *ctx, struct libkipt *trace,
			  const struct libkipt_record *record);

/**
 * libkipt_decode() - decode it, once
 * @trace: not decoded yet
 * @path: perf.data, the folder that 'perf record --kcore' makes, or a raw trace
 * @take: called for each record
 * @ctx: its first argument
 *
 * Return: true when all was decoded, with gaps or without, or @take wanted no more.
 * False: libkipt_error() says why; what came until then holds.
 */
bool libkipt_decode(struct libkipt *trace, const char *path,
		    libkipt_take *take, void *ctx);

/**
 * libkipt_name() - an address in words
 * @trace: is being decoded: callbacks only
 * @pid: process, as in the record that is given
 * @address: of that record
 * @place: filled; its strings are valid until @take returns
 *
 * C++ and Rust have the names that their symbols have.
 */
void libkipt_name(struct libkipt *trace, uint32_t pid, uint64_t address,
		  struct libkipt_place *place);

/**
 * libkipt_tsc_khz() - the unit of struct libkipt_record.tsc
 * @trace: is being decoded, or was
 *
 * Return: ticks in a millisecond, 0: not known.
 */
uint32_t libkipt_tsc_khz(const struct libkipt *trace);

/**
 * libkipt_error() - why something failed
 * @trace: any
 *
 * Return: a sentence, valid until the next call with @trace; "" if nothing did.
 */
const char *libkipt_error(const struct libkipt *trace);

/**
 * libkipt_notes() - what a person should know of a trace, such as files that are
 *	missing
 * @trace: any
 *
 * Return: sentences, each with a newline, valid until the next call with @trace.
 */
const char *libkipt_notes(const struct libkipt *trace);

#ifdef __cplusplus
}
#endif

#endif /* LIBKIPT_H */
