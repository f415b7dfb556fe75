/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose user code a trace is of, written into the trace. A trace of user code
 * alone does not say when another process runs: PIP packets are put in, where
 * tracing begins for another, with a made-up CR3. A trace of the kernel, too,
 * has PIP packets: their CR3 is replaced by one that says whose it was then, and more are
 * put in where a process goes on with other mappings.
 */
#ifndef KIPT_PERF_LABEL_H
#define KIPT_PERF_LABEL_H

#include "../../../kmod/decode/flow.h"
#include "perf_maps.h"

/* A made-up CR3 is an index + 1, shifted by this. */
#define PERF_LABEL_SHIFT	12

/**
 * struct perf_owner - an address space that the trace says was loaded
 * @cr3: as the trace has it
 * @space: whose; PERF_NO_SPACE: nobody knows
 */
struct perf_owner {
	u64 cr3;
	u32 space;
};

struct perf_label;

/**
 * perf_label_create() - begin with the trace of a queue
 * @config: how to read its times; must live as long
 * @turns: who ran; must live as long
 * @count: how many, at least 1
 *
 * Return: the caller's until perf_label_destroy(), or NULL after a sentence: no memory.
 */
struct perf_label *perf_label_create(const struct kipt_flow_config *config,
				     const struct perf_turn *turns, size_t count);

/**
 * perf_label_destroy() - free it, with the owners
 * @label: may be NULL
 */
void perf_label_destroy(struct perf_label *label);

/**
 * perf_label_owners() - whose page tables there were so far
 * @label: the trace
 * @count: how many
 *
 * Return: a list, until the next stretch.
 */
const struct perf_owner *perf_label_owners(const struct perf_label *label, size_t *count);

/**
 * perf_label_guests() - whether PIPs of guests were seen so far
 * @label: the trace
 *
 * Return: true: a trace without other PIPs is one of guests, and not of user code.
 */
bool perf_label_guests(const struct perf_label *label);

/**
 * perf_label_insert() - put PIP packets into the next stretch of a trace of user code
 * @label: the trace
 * @trace: the stretch, changed; a made-up CR3 is the index of a turn + 1, shifted
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_label_insert(struct perf_label *label, struct perf_trace *trace);

/**
 * perf_label_replace() - replace the CR3s of the next stretch of a trace that has some
 * @label: the trace
 * @trace: the stretch; its PIP packets get made-up CR3s, the index of an owner + 1, shifted;
 *	where user code runs after its process changed its mappings, a PIP is put in
 *
 * The kernel uses a page table again for another process: a CR3 alone does not
 * say whose it is. The time does, of the next packet that has one. Where several page
 * tables were loaded until then, and after the last time of a part, an owner may have no
 * space.
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_label_replace(struct perf_label *label, struct perf_trace *trace);

/**
 * perf_label_place() - where a byte was before the trace got labels
 * @trace: the stretch
 * @offset: offset in its bytes, with labels
 *
 * Return: its offset without.
 */
u64 perf_label_place(const struct perf_trace *trace, u64 offset);

#endif /* KIPT_PERF_LABEL_H */
