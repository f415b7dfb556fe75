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

/**
 * struct testcpu_options - all options
 * @caps: CPU model
 * @pt: freedoms of packet generation
 * @truth_mode: TRUTH_LOG_OFF, TRUTH_FULL or TRUTH_HASH
 * @truth_dir: folder of the truth files
 * @mwait: enumerate MWAIT C-states, so that the guest idles with MWAIT
 * @check_ip: compare every block's address with the CPU's, for debugging
 * @help: help was asked for
 */
struct testcpu_options {
	struct testcpu_caps caps;
	struct pt_options pt;
	int truth_mode;
	char truth_dir[1024];
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

/** testcpu_options_help - what can be given, one option a line */
const char *testcpu_options_help(void);

#endif /* TESTCPU_OPTIONS_H */
