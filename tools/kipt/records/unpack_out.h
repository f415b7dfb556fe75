/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain records on their way out, and the instructions that none has counted: what
 * unpack.c, unpack_nodes.c and unpack_paths.c share.
 */
#ifndef KIPT_UNPACK_OUT_H
#define KIPT_UNPACK_OUT_H

#include <errno.h>
#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../cli/messages.h"
#include "record_state.h"

#define UNPACK_BUFFER	1024

/**
 * struct unpack_out - plain records on their way out
 * @left: instructions for which no plain record came yet
 * @take: gets the records
 * @ctx: its first argument
 * @refused: it has returned false
 * @used: records in @buffer
 * @buffer: they
 */
struct unpack_out {
	u64 left;
	bool (*take)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	bool refused;
	u32 used;
	struct kipt_record buffer[UNPACK_BUFFER];
};

/**
 * unpack_broken() - say that packed records make no sense
 * @what: which rule they break
 *
 * Return: false.
 */
static inline bool unpack_broken(const char *what)
{
	say_error("packed records make no sense: %s", what);
	return false;
}

/**
 * unpack_no_memory() - say that there is none
 *
 * Return: false.
 */
static inline bool unpack_no_memory(void)
{
	say_errno(ENOMEM, "cannot keep what packed records say");
	return false;
}

/**
 * unpack_flush() - give away what waits
 * @out: is empty afterwards
 *
 * Return: false if nobody wants any more.
 */
static inline bool unpack_flush(struct unpack_out *out)
{
	if (out->used && !out->take(out->ctx, out->buffer, out->used))
		out->refused = true;
	out->used = 0;
	return !out->refused;
}

/**
 * unpack_put() - put a plain record out
 * @out: what is left goes to the record, if it counts
 * @r: copied
 *
 * Return: false if nobody wants any more.
 */
static inline bool unpack_put(struct unpack_out *out, const struct kipt_record *r)
{
	struct kipt_record *copy;

	if (out->used == UNPACK_BUFFER && !unpack_flush(out))
		return false;
	copy = &out->buffer[out->used++];
	*copy = *r;
	if (kipt_record_counts_insns(r)) {
		copy->aux = insns_add(r->aux, out->left);
		out->left = 0;
	} else if (record_drops_insns(r)) {
		out->left = 0;
	}
	return true;
}

#endif /* KIPT_UNPACK_OUT_H */
