/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From executed blocks and discontinuities to the transfers the trace model
 * wants. A block is known to begin, and whether the last instruction of the
 * one before it began; what that instruction did follows from where the next
 * block is. Knows nothing of QEMU, so that tests can drive it. One thread
 * per struct flow.
 */
#ifndef TESTCPU_FLOW_TRACK_H
#define TESTCPU_FLOW_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "branch_class.h"
#include "trace_model.h"

/**
 * struct flow_block - straight-line code as it was translated
 *
 * Made by the translating thread, classified by the first that executes it;
 * two may do so at once and write the same. Addresses are those at
 * translation; a block may execute elsewhere, see struct flow.
 *
 * @start: address of the first instruction
 * @last: address of the last
 * @next: address after the last
 * @insns: number of instructions
 * @end: class of the last instruction, valid when @classified
 * @classified: set last, with release order
 * @len: length of the last instruction
 * @bytes: the last instruction
 */
struct flow_block {
	uint64_t start;
	uint64_t last;
	uint64_t next;
	uint32_t insns;
	struct branch_info end;
	bool classified;
	uint8_t len;
	uint8_t bytes[INSN_MAX];
};

/**
 * struct flow_ops - what the tracker asks the machine
 * @context: fill CPL, code size, CR3 as they are now
 * @interrupted: the same as they were at @ip, where an event that has just
 *	been taken interrupted
 * @flags: RFLAGS now
 * @count: RCX now
 * @vector: vector of the event whose handler is at @handler, or -1
 * @fault_address: CR2 now
 */
struct flow_ops {
	void (*context)(void *ctx, struct pt_context *state);
	void (*interrupted)(void *ctx, uint64_t ip, struct pt_context *state);
	uint64_t (*flags)(void *ctx);
	uint64_t (*count)(void *ctx);
	int (*vector)(void *ctx, uint64_t handler);
	uint64_t (*fault_address)(void *ctx);
};

/**
 * struct flow - the flow of one vCPU
 * @pt: its PT
 * @ops: questions to the machine
 * @ctx: for @ops
 * @cur: the block that executes; NULL when the past is unknown
 * @shift: what to add to the addresses of @cur
 * @dormant: blocks are not reported while out of context; a far transfer or an
 *	event ends this
 * @unexplained: arrivals that no class explains; 0 in a right world
 * @last_odd_from: the last of them
 * @last_odd_to: the last of them
 */
struct flow {
	struct pt_cpu *pt;
	const struct flow_ops *ops;
	void *ctx;
	struct flow_block *cur;
	uint64_t shift;
	bool dormant;
	uint64_t unexplained;
	uint64_t last_odd_from;
	uint64_t last_odd_to;
};

/** flow_forget - tracing begins here: what came before does not count */
void flow_forget(struct flow *f);

/**
 * flow_arrive - a block is about to execute
 * @f: the flow
 * @b: the block
 * @ip: its address now
 * @reached: the block whose last instruction was the last of its kind to
 *	begin; NULL if none began since the previous arrival
 */
void flow_arrive(struct flow *f, struct flow_block *b, uint64_t ip,
		 struct flow_block *reached);

/**
 * flow_fault_source - the instruction that an exception is of
 * @f: the flow
 * @from: where the machine met it
 * @reached: as for flow_arrive()
 *
 * Return: the indirect branch or RET that led to @from, where @from is no
 * canonical address; @from otherwise.
 */
uint64_t flow_fault_source(const struct flow *f, uint64_t from,
			   const struct flow_block *reached);

/**
 * flow_event - an interrupt or exception was taken
 * @f: the flow
 * @kind: TRUTH_INTERRUPT or TRUTH_EXCEPTION
 * @from: the next instruction (interrupt) or the faulting one (exception)
 * @handler: the first instruction of its handler, not executed yet; the
 *	machine's state is that of the handler
 * @reached: as for flow_arrive()
 */
void flow_event(struct flow *f, uint8_t kind, uint64_t from, uint64_t handler,
		struct flow_block *reached);

/**
 * flow_expected - where a direct branch or fall-through may arrive
 *
 * Return: true when @ip is the end or the target of the current block, which
 * needs no look at the CPU's own instruction pointer.
 */
bool flow_expected(const struct flow *f, const struct flow_block *reached,
		   uint64_t ip);

#endif /* TESTCPU_FLOW_TRACK_H */
