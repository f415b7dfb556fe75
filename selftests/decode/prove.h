/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What path_prove.c and graph_prove.c have in common: records that are collected, and the end
 * of the program where two ways to decode differ. User space.
 */
#ifndef DECODE_PROVE_H
#define DECODE_PROVE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/flow_state.h"

/* A packet has up to 47 outcomes, each behind KIPT_NODE_REACH blocks. */
#define PROVE_RECORDS	4096U

/**
 * struct prove_list - records
 * @count: how many there are
 * @at: they
 */
struct prove_list {
	u32 count;
	struct kipt_record at[PROVE_RECORDS];
};

/**
 * prove_differs() - print what differs, and end the program
 * @format: as of vprintf()
 * @arguments: its arguments
 */
static inline __attribute__((noreturn, format(printf, 1, 0)))
void prove_differs(const char *format, va_list arguments)
{
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	abort();
}

/* A kipt_sink.emit: @ctx is a struct prove_list. */
static inline bool prove_collect(void *ctx, const struct kipt_record *records, u32 n)
{
	struct prove_list *list = ctx;

	if (n > PROVE_RECORDS - list->count) {
		fputs("a packet made too many records\n", stderr);
		abort();
	}
	memcpy(&list->at[list->count], records, n * sizeof(*records));
	list->count += n;
	return true;
}

/**
 * prove_collect_from() - let a flow give its records to a list from now on
 * @flow: what it has told and not given is dropped
 * @list: empty afterwards
 */
static inline void prove_collect_from(struct kipt_flow *flow, struct prove_list *list)
{
	list->count = 0;
	flow->output.count = 0;
	flow->output.sink = (struct kipt_sink){ .emit = prove_collect, .ctx = list };
}

#endif /* DECODE_PROVE_H */
