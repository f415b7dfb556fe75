// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace output to memory (Intel SDM Vol. 3C, "Single-Range Output", "Table of
 * Physical Addresses", "ToPA Errors"). Owns struct pt_output. Advances
 * eagerly: the entry after a region is looked at when the region is full. Runs
 * on the vCPU's thread while TraceEn is 1.
 */
#include "topa_model.h"

#include <string.h>

#define TOPA_INDEX_MAX	(RTIT_MASK_PTRS_INDEX >> RTIT_MASK_PTRS_INDEX_SHIFT)
#define TOPA_ENTRY_RESERVED (1ULL << 1 | 1ULL << 3 | 1ULL << 5 | 3ULL << 10)
#define PAGE_OFFSET_BITS	0xfffULL

static bool read_entry(const struct pt_output *out, uint64_t table,
		       uint32_t index, uint64_t *entry)
{
	uint8_t raw[8];
	uint64_t v = 0;

	if (!out->mem.read(out->mem.ctx, table + 8ULL * index, raw, 8))
		return false;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | raw[i];
	*entry = v;
	return true;
}

static uint64_t entry_base(const struct pt_output *out, uint64_t entry)
{
	return entry & ((1ULL << out->caps->maxphyaddr) - 1) &
	       ~PAGE_OFFSET_BITS;
}

static uint64_t entry_size(uint64_t entry)
{
	return 1ULL << (TOPA_REGION_SHIFT +
			((entry & TOPA_SIZE) >> TOPA_SIZE_SHIFT));
}

/* Errors of one entry wherever it is met ("ToPA Table Entry Format"). */
static bool entry_ok(const struct pt_output *out, uint64_t entry,
		     uint32_t index)
{
	uint64_t reserved = TOPA_ENTRY_RESERVED |
			    ~0ULL << out->caps->maxphyaddr;

	if (entry & reserved)
		return false;
	if (!(entry & TOPA_END))
		return (entry_base(out, entry) & (entry_size(entry) - 1)) == 0;
	return index != 0 && !(entry & (TOPA_INT | TOPA_STOP));
}

/*
 * Without multiple-entry support a table is one region and an END entry that
 * leads back to it.
 */
static bool single_entry_ok(const struct pt_output *out)
{
	uint64_t end;

	if (out->caps->ecx & RTIT_CAP_TOPA_MULTI)
		return true;
	return out->index == 0 && read_entry(out, out->table, 1, &end) &&
	       (end & TOPA_END) && entry_ok(out, end, 1) &&
	       entry_base(out, end) == out->table;
}

/*
 * Make the entry at the index current, following at most one END: the entry
 * an END leads to is number 0, where END is an error.
 */
static unsigned int load_entry(struct pt_output *out)
{
	uint64_t entry;

	if (!read_entry(out, out->table, out->index, &entry) ||
	    !entry_ok(out, entry, out->index))
		return PT_OUT_ERROR;
	if (entry & TOPA_END) {
		out->table = entry_base(out, entry);
		out->index = 0;
		if (!read_entry(out, out->table, 0, &entry) ||
		    !entry_ok(out, entry, 0))
			return PT_OUT_ERROR;
	}
	if (!single_entry_ok(out))
		return PT_OUT_ERROR;
	out->entry = entry;
	out->region_base = entry_base(out, entry);
	out->region_size = entry_size(entry);
	out->pmi_sent = false;
	return 0;
}

static unsigned int start_topa(struct pt_output *out, const struct pt_msrs *m)
{
	unsigned int error;

	out->table = m->output_base;
	out->index = (m->mask_ptrs & RTIT_MASK_PTRS_INDEX) >>
		     RTIT_MASK_PTRS_INDEX_SHIFT;
	out->offset = m->mask_ptrs >> RTIT_MASK_PTRS_OFFSET_SHIFT;
	if (out->table & PAGE_OFFSET_BITS)
		return PT_OUT_ERROR;
	error = load_entry(out);
	if (error)
		return error;
	/* A STOP leaves such an offset, and a restored one is no error. */
	if (m->status & RTIT_STATUS_STOPPED)
		return 0;
	return out->offset >= out->region_size ? PT_OUT_ERROR : 0;
}

static unsigned int start_range(struct pt_output *out, const struct pt_msrs *m)
{
	uint64_t mask = m->mask_ptrs & 0xffffffffULL;

	out->region_base = m->output_base;
	out->region_size = mask + 1;
	out->offset = m->mask_ptrs >> RTIT_MASK_PTRS_OFFSET_SHIFT;
	if (mask & (mask + 1))
		return PT_OUT_ERROR;
	if ((out->region_base & mask) || out->offset > mask)
		return PT_OUT_ERROR;
	return 0;
}

unsigned int pt_output_start(struct pt_output *out, const struct pt_msrs *m)
{
	out->fabric = m->ctl & RTIT_CTL_FABRICEN;
	out->topa = !out->fabric && (m->ctl & RTIT_CTL_TOPA);
	out->stopped = false;
	if (out->fabric)
		return 0;
	return out->topa ? start_topa(out, m) : start_range(out, m);
}

/* The region is full. What follows depends on its entry. */
static unsigned int finish_region(struct pt_output *out)
{
	unsigned int what = 0;

	if (!out->topa) {
		out->offset = 0;
		return 0;
	}
	if ((out->entry & TOPA_INT) && !out->pmi_sent)
		what |= PT_OUT_PMI;
	if (out->entry & TOPA_STOP) {
		out->stopped = true;
		return what | PT_OUT_STOPPED;
	}
	out->offset = 0;
	out->index = out->index == TOPA_INDEX_MAX ? 0 : out->index + 1;
	return what | load_entry(out);
}

/*
 * A CPU with one region per table raises the interrupt before the region is
 * full, so that software can act before it is overwritten.
 */
static bool early_pmi(const struct pt_output *out)
{
	return out->topa && !out->pmi_sent && out->pmi_skid &&
	       (out->entry & TOPA_INT) &&
	       !(out->caps->ecx & RTIT_CAP_TOPA_MULTI) &&
	       out->offset + out->pmi_skid >= out->region_size;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

unsigned int pt_output_write(struct pt_output *out, const uint8_t *buf,
			     size_t len)
{
	unsigned int what = 0;

	if (out->fabric)
		return 0;
	while (len && !out->stopped) {
		uint64_t n = min_u64(len, out->region_size - out->offset);

		out->mem.write(out->mem.ctx, out->region_base + out->offset,
			       buf, n);
		buf += n;
		len -= n;
		out->offset += n;
		if (early_pmi(out)) {
			out->pmi_sent = true;
			what |= PT_OUT_PMI;
		}
		if (out->offset == out->region_size)
			what |= finish_region(out);
		if (what & PT_OUT_ERROR)
			return what;
	}
	return what;
}

uint64_t pt_output_room(const struct pt_output *out)
{
	uint64_t left;

	if (out->fabric)
		return UINT64_MAX;
	left = out->region_size - out->offset;
	if (!(out->caps->ecx & RTIT_CAP_TOPA_MULTI) && !out->pmi_sent &&
	    left > out->pmi_skid)
		left -= out->pmi_skid;
	return left ? left : 1;
}

void pt_output_save(const struct pt_output *out, struct pt_msrs *m)
{
	if (out->fabric)
		return;
	m->mask_ptrs &= 0xffffffffULL;
	m->mask_ptrs |= (out->offset - (out->stopped ? out->stop_short : 0)) <<
			RTIT_MASK_PTRS_OFFSET_SHIFT;
	if (!out->topa)
		return;
	m->output_base = out->table;
	m->mask_ptrs &= ~RTIT_MASK_PTRS_INDEX;
	m->mask_ptrs |= (uint64_t)out->index << RTIT_MASK_PTRS_INDEX_SHIFT;
}
