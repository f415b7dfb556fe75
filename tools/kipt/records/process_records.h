/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of the records of a CPU that traced kernel and all programs, those of the user
 * code of one program: as if nothing else had been traced.
 */
#ifndef KIPT_PROCESS_RECORDS_H
#define KIPT_PROCESS_RECORDS_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../../../uapi/linux/kipt_record.h"

/**
 * struct own_records - records on their way
 * @is_own: whether an address space is the program's
 * @give: where its records go; false ends it
 * @ctx: first argument of both
 * @tid: its thread
 * @pid: its process
 * @inside: the address space is the program's
 * @edges: so is that of the EDGE records
 * @pending: a SYNC record whose address space is not known yet
 *
 * The first five are set, the rest is zero at first.
 */
struct own_records {
	bool (*is_own)(void *ctx, u64 cr3);
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	u32 tid;
	u32 pid;
	bool inside;
	bool edges;
	struct kipt_record pending;
};

/**
 * own_records_take() - records
 * @own: where to
 * @records: what, in order; none of them packed
 * @count: how many
 *
 * What leaves the program's code for the kernel becomes a DISABLE, what returns
 * to it an ENABLE.
 *
 * Return: what @give returned last; true if it was not called.
 */
bool own_records_take(struct own_records *own,
		      const struct kipt_record *records, u32 count);

#endif /* KIPT_PROCESS_RECORDS_H */
