/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where trace bytes go: single range and tables of physical addresses (Intel
 * SDM Vol. 3C, "Trace Output"). Owns the position while tracing is on; the
 * registers it comes from and returns to belong to msr_model, the raising of
 * the interrupt to the caller. Memory is reached through two callbacks, so
 * that tests run without a machine. One owner thread per struct.
 */
#ifndef TESTCPU_TOPA_MODEL_H
#define TESTCPU_TOPA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msr_model.h"

/**
 * struct pt_memory - physical memory
 * @ctx: handed to the callbacks
 * @read: copy @len bytes at @pa to @buf; false when nothing is there
 * @write: copy @len bytes from @buf to @pa; false when nothing is there, in
 *	which case the bytes are lost, as on a bus
 */
struct pt_memory {
	void *ctx;
	bool (*read)(void *ctx, uint64_t pa, void *buf, size_t len);
	bool (*write)(void *ctx, uint64_t pa, const void *buf, size_t len);
};

/* What happened during an output operation; a set of bits. */
#define PT_OUT_PMI	(1u << 0)
#define PT_OUT_STOPPED	(1u << 1)
#define PT_OUT_ERROR	(1u << 2)

/**
 * struct pt_output - position of the output
 * @mem: physical memory
 * @caps: CPU model
 * @topa: ToPA, or else single range
 * @fabric: bytes leave the machine; nothing is stored
 * @table: ToPA table base
 * @index: entry in the table
 * @entry: the entry at @index; never an END entry
 * @region_base: physical address of the current region
 * @region_size: its size in bytes
 * @offset: next byte; at most @region_size, equal only after STOP
 * @pmi_skid: raise the interrupt this many bytes before a region that is the
 *	only one of its table is full
 * @stop_short: what OutputOffset lacks of the region size after a STOP
 * @pmi_sent: that early interrupt was raised for the current pass
 * @stopped: a STOP region is full
 */
struct pt_output {
	struct pt_memory mem;
	const struct testcpu_caps *caps;
	bool topa;
	bool fabric;
	uint64_t table;
	uint32_t index;
	uint64_t entry;
	uint64_t region_base;
	uint64_t region_size;
	uint64_t offset;
	uint32_t pmi_skid;
	uint32_t stop_short;
	bool pmi_sent;
	bool stopped;
};

/**
 * pt_output_start - load the position from the registers
 * @out: @mem, @caps and @pmi_skid set by the caller
 * @m: registers, TraceEn just set
 *
 * Return: 0 or PT_OUT_ERROR, an operational error.
 */
unsigned int pt_output_start(struct pt_output *out, const struct pt_msrs *m);

/**
 * pt_output_write - append bytes to the trace
 *
 * Bytes after a STOP or an error are lost.
 *
 * Return: PT_OUT_* bits of what happened.
 */
unsigned int pt_output_write(struct pt_output *out, const uint8_t *buf,
			     size_t len);

/** pt_output_room - bytes until something may happen; at least 1 */
uint64_t pt_output_room(const struct pt_output *out);

/** pt_output_save - write the position back to the registers */
void pt_output_save(const struct pt_output *out, struct pt_msrs *m);

#endif /* TESTCPU_TOPA_MODEL_H */
