/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code bytes for the decoder: kernel and module text as it is now, user code
 * from the memory of the tasks. Addresses come from trace bytes and are not
 * trusted. Process context; several workers share one cache.
 */
#ifndef KIPT_CODE_BYTES_H
#define KIPT_CODE_BYTES_H

#include "decode/flow.h"

struct kipt_code_bytes;
struct kipt_sideband;

/**
 * struct kipt_code_reader - one decoder's way to code bytes
 * @bytes: the cache, shared
 * @unnamed: address space of user code before the trace names one
 * @text_at: kernel text is read as it was before this patch
 * @text_unsure: kernel text was patched, from @text_first to before this
 *	patch, around the time that is decoded
 * @text_first: see @text_unsure
 * @offsets: addresses in the trace are offsets in code segments (no LIP)
 */
struct kipt_code_reader {
	struct kipt_code_bytes *bytes;
	u64 unnamed;
	u64 text_at;
	u64 text_first;
	u64 text_unsure;
	bool offsets;
};

/**
 * kipt_code_bytes_create() - an empty cache
 * @sideband: who knows the address spaces; outlives the cache
 *
 * Return: NULL without memory.
 */
struct kipt_code_bytes *
kipt_code_bytes_create(struct kipt_sideband *sideband);

/**
 * kipt_code_bytes_destroy() - free a cache
 * @bytes: no reader uses it; may be NULL
 */
void kipt_code_bytes_destroy(struct kipt_code_bytes *bytes);

/**
 * kipt_code_bytes_callbacks() - what to give to kipt_flow_init()
 * @reader: the context of the callbacks
 * @code: filled in
 */
void kipt_code_bytes_callbacks(struct kipt_code_reader *reader,
			       struct kipt_code *code);

#endif /* KIPT_CODE_BYTES_H */
