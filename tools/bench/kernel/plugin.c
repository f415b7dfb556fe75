// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU that counts the instructions a vCPU executes between two
 * marks (marks.h), and the nanoseconds of CPU time its thread takes for them,
 * and writes both to a file, a line for each pair of marks, in the order in
 * which they were executed. Runs in QEMU's vCPU threads.
 *
 * Blocks are counted as a whole where they are entered. The block that has a
 * mark ends soon after it (the module has calls around it), so what a mark costs
 * in precision is some instructions for each pair of marks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../testcpu/qemu_plugin_abi.h"
#include "marks.h"

/* Not used by the test CPU, so it is not in its header. */
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
	struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
	qemu_plugin_u64 entry, uint64_t imm);

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 7;

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info, int argc,
					   char **argv);

struct counter {
	uint64_t executed;
	uint64_t begun;
	uint64_t begun_ns;
};

static struct qemu_plugin_scoreboard *counters;
static FILE *out;

/* Of the calling thread: what else the machine does is not in it. */
static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void begin(unsigned int vcpu, void *userdata)
{
	struct counter *counter = qemu_plugin_scoreboard_find(counters, vcpu);

	(void)userdata;
	counter->begun = counter->executed;
	counter->begun_ns = thread_ns();
}

static void end(unsigned int vcpu, void *userdata)
{
	struct counter *counter = qemu_plugin_scoreboard_find(counters, vcpu);

	(void)userdata;
	fprintf(out, "%llu %llu\n",
		(unsigned long long)(counter->executed - counter->begun),
		(unsigned long long)(thread_ns() - counter->begun_ns));
	fflush(out);
}

/* The displacement of a mark; 0: it is none. */
static uint32_t mark_of(const struct qemu_plugin_insn *insn)
{
	static const uint8_t opcode[] = { BENCH_MARK_BYTES };
	uint8_t bytes[BENCH_MARK_LEN];
	uint32_t mark;

	if (qemu_plugin_insn_size(insn) != sizeof(bytes) ||
	    qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) !=
	    sizeof(bytes) || memcmp(bytes, opcode, sizeof(opcode)))
		return 0;
	memcpy(&mark, bytes + sizeof(opcode), sizeof(mark));
	return mark;
}

static void translated(struct qemu_plugin_tb *tb, void *userdata)
{
	qemu_plugin_u64 executed = { .score = counters, .offset = 0 };
	size_t i, count = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;
	uint32_t mark;

	(void)userdata;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb,
		QEMU_PLUGIN_INLINE_ADD_U64, executed, count);
	for (i = 0; i < count; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		mark = mark_of(insn);
		if (mark == BENCH_MARK_BEGIN || mark == BENCH_MARK_END)
			qemu_plugin_register_vcpu_insn_exec_cb(insn,
				mark == BENCH_MARK_BEGIN ? begin : end,
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	(void)info;
	if (argc == 1 && !strncmp(argv[0], "out=", 4))
		out = fopen(argv[0] + 4, "we");
	if (!out) {
		fprintf(stderr, "insn counter: out=FILE is needed, a file that can be written\n");
		return -1;
	}
	counters = qemu_plugin_scoreboard_new(sizeof(struct counter));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	return 0;
}
