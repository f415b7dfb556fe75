/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that a recording of perf has code of, found on this machine: by
 * build id, so that no other version of a file is taken for it. What the trace
 * needs of them is read into memory once: a file that is cut or overwritten
 * meanwhile gives no wrong code.
 */
#ifndef KIPT_PERF_CODE_H
#define KIPT_PERF_CODE_H

#include <sys/stat.h>
#include <time.h>

#include "../symbols/build_id.h"

/**
 * enum perf_code_state - the bytes of a file
 * @PERF_CODE_UNREAD: nobody needed them yet
 * @PERF_CODE_THERE: they are in memory
 * @PERF_CODE_MISSING: they cannot be had
 */
enum perf_code_state {
	PERF_CODE_UNREAD,
	PERF_CODE_THERE,
	PERF_CODE_MISSING,
};

/**
 * struct perf_code - a file
 * @path: as the recording names it, in whatever bytes
 * @shown: the same for a terminal
 * @has_id: its build id was recorded
 * @id: the build id
 * @has_inode: its device and inode were recorded
 * @device: major and minor number, as the kernel gives them of mappings, or stat()
 * @inode: number
 * @generation: of the inode, which is used again for another file; 0: unknown
 * @low, @high: what is mapped of it, as offsets; @high is after the last byte
 * @local: where it was found; "" for code of this process; NULL: it was not
 * @found: what fstat() said of it then
 * @bytes: of it from @low on, NULL until they are needed
 * @size: how many
 * @state: enum perf_code_state; the others are set before it
 * @served: it came from a server, which does not know what it is called
 * @tried: the file of a copy that was not taken, for a sentence; or NULL
 * @why: why it was not found, or NULL
 * @replaced: another file had the same path, and no build id either
 * @is_twin: of processes that ran before the recording; another mapping had the same
 *	inode and a generation, and the list of build ids says what that was in the end
 * @next: the next file
 */
struct perf_code {
	char *path;
	char *shown;
	bool has_id;
	struct build_id id;
	bool has_inode;
	u64 device;
	u64 inode;
	u32 generation;
	u64 low, high;
	char *local;
	struct stat found;
	const u8 *bytes;
	u64 size;
	u32 state;
	bool served;
	char *tried;
	const char *why;
	bool replaced, is_twin;
	struct perf_code *next;
};

/**
 * struct perf_codes - all files
 * @first: head of the list
 * @tree: the same by path, as tsearch() makes it
 * @held: memory that they take
 */
struct perf_codes {
	struct perf_code *first;
	void *tree;
	u64 held;
};

/**
 * perf_codes_get() - a file of the list
 * @codes: the list; a file that is not in it is added
 * @like: its path, build id and inode, as far as they were recorded
 *
 * Return: it, owned by the list; NULL after a sentence.
 */
struct perf_code *perf_codes_get(struct perf_codes *codes,
				 const struct perf_code *like);

/**
 * perf_codes_mark() - find out which files have replaced each other
 * @codes: the list, complete
 */
void perf_codes_mark(struct perf_codes *codes);

/**
 * perf_codes_find() - look for all files on this machine
 * @codes: the list
 * @begun: when the recording began, in seconds and nanoseconds of the clock of
 *	files; NULL: nobody knows
 * @symfs: folder with a copy of the files of the machine that was recorded, or
 *	NULL
 *
 * Where: at their path, or with @symfs at their path in that folder only, and in
 * the folder of build ids that perf keeps (~/.debug, or $PERF_BUILDID_DIR). Servers
 * of debug files (debug_server.h) are asked later, for what the trace needs. A
 * file without a build id must be the same inode, and unchanged since @begun; in
 * a copy it must be the only one of that path, and as long as what was mapped.
 */
void perf_codes_find(struct perf_codes *codes, const struct timespec *begun,
		     const char *symfs);

/**
 * perf_code_open() - open the file that was found
 * @code: was looked for
 *
 * Return: the caller's descriptor of it; negative: there is none, or it was changed or
 * replaced since.
 */
int perf_code_open(const struct perf_code *code);

/**
 * perf_code_read() - code at an offset in a file
 * @code: was looked for; several threads may read at a time
 * @offset: where
 * @bytes: filled
 * @size: how many
 *
 * Return: how many there are, up to @size; 0: none, or the file was not found,
 * which perf_codes_missing() will say.
 */
u32 perf_code_read(struct perf_code *code, u64 offset, u8 *bytes, u32 size);

/**
 * perf_codes_name() - what a file was called where it ran
 * @codes: the list
 * @local: where it is
 *
 * A server and a folder of build ids have it by other names. Return: the path that the recording
 * has for it, for a terminal, of several the one that was mapped first; NULL if it has none.
 */
const char *perf_codes_name(const struct perf_codes *codes, const char *local);

/**
 * perf_codes_missing() - say what the trace needed and is not there
 * @codes: the list, after the trace was decoded
 *
 * Return: false if it needed nothing that is not there.
 */
bool perf_codes_missing(const struct perf_codes *codes);

/**
 * perf_codes_free() - free it
 * @codes: may be empty
 */
void perf_codes_free(struct perf_codes *codes);

#endif /* KIPT_PERF_CODE_H */
