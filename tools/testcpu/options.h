/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of the test CPU, as given on QEMU's command line. Owns parsing and
 * the help text. Filled once before any vCPU runs, read only afterwards.
 */
#ifndef TESTCPU_OPTIONS_H
#define TESTCPU_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "caps.h"
#include "trace_model.h"

#define TESTCPU_KINDS_MAX	8

/**
 * struct testcpu_kind - a CPU model of some vCPUs
 * @first: the first of them
 * @last: the last
 * @caps: the model
 */
struct testcpu_kind {
	unsigned int first;
	unsigned int last;
	struct testcpu_caps caps;
};

/**
 * struct testcpu_options - all options
 * @caps: CPU model of the vCPUs that @kinds does not name; its clock is the
 *	machine's
 * @num_kinds: entries of @kinds, at most TESTCPU_KINDS_MAX
 * @kinds: other models; the last that names a vCPU counts
 * @tsc_start: the TSC when the machine starts
 * @tsc_started: @tsc_start was given; otherwise the TSC is the host's clock
 * @pt: freedoms of packet generation
 * @truth_mode: TRUTH_LOG_OFF, TRUTH_FULL or TRUTH_HASH
 * @truth_dir: folder of the truth files
 * @truth_clock: each transfer in them has its time
 * @insn_count: count the instructions of each vCPU, for CPUID_INSN_COUNT_LEAF
 * @mwait: enumerate MWAIT C-states, so that the guest idles with MWAIT
 * @check_ip: compare every block's address with the CPU's, for debugging
 * @help: help was asked for
 */
struct testcpu_options {
	struct testcpu_caps caps;
	unsigned int num_kinds;
	struct testcpu_kind kinds[TESTCPU_KINDS_MAX];
	uint64_t tsc_start;
	bool tsc_started;
	struct pt_options pt;
	int truth_mode;
	char truth_dir[1024];
	bool truth_clock;
	bool insn_count;
	bool mwait;
	bool check_ip;
	bool help;
};

/** testcpu_options_init - the defaults */
void testcpu_options_init(struct testcpu_options *o);

/**
 * testcpu_options_parse - take one key=value
 * @o: options so far
 * @arg: the argument
 * @why: receives a sentence when it is refused
 * @size: of @why
 */
bool testcpu_options_parse(struct testcpu_options *o, const char *arg,
			   char *why, size_t size);

/**
 * testcpu_options_settle - after the last argument
 * @o: the options; what follows from several of them is filled in
 */
void testcpu_options_settle(struct testcpu_options *o);

/** testcpu_options_caps - the CPU model of vCPU @index */
const struct testcpu_caps *
testcpu_options_caps(const struct testcpu_options *o, unsigned int index);

/** testcpu_options_hybrid - whether vCPUs have cores of different types */
bool testcpu_options_hybrid(const struct testcpu_options *o);

/** testcpu_options_help - what can be given, one option a line */
const char *testcpu_options_help(void);

#endif /* TESTCPU_OPTIONS_H */
