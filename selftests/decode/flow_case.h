/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow test's file, read: code, packets, the records expected; and the
 * decoder run over it. See flows/README.md for the format. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_FLOW_CASE_H
#define KIPT_SELFTESTS_DECODE_FLOW_CASE_H

#include "../../kmod/decode/flow.h"
#include "record_list.h"

#define CODE_MAX	64
#define PACKETS_MAX	65536
#define TEXT_MAX	65536

/**
 * struct piece - code at an address
 * @ip: address
 * @len: bytes
 * @bytes: the code
 */
struct piece {
	u64 ip;
	u32 len;
	u8 bytes[256];
};

/**
 * struct flow_case - one test file
 * @config: what it sets
 * @changed: address of code that is said to have been changed, or 0
 * @pieces: code
 * @piece_count: how many
 * @packets: the trace
 * @size: its bytes
 * @unseen: bits of each byte that change no record if they are flipped
 * @expected: text of the records
 * @expected_len: its bytes
 */
struct flow_case {
	struct kipt_flow_config config;
	u64 changed;
	struct piece pieces[CODE_MAX];
	u32 piece_count;
	u8 packets[PACKETS_MAX];
	u64 size;
	u8 unseen[PACKETS_MAX];
	char expected[TEXT_MAX];
	size_t expected_len;
};

/**
 * flow_case_read() - read a test file
 * @test: filled
 * @path: the file
 *
 * Return: false after a message on stdout.
 */
bool flow_case_read(struct flow_case *test, const char *path);

/**
 * flow_case_open() - make a flow for a test
 * @test: what it decodes; must outlive the flow
 * @output: KIPT_FLOW_*, instead of what the file says
 * @list: where records are appended
 *
 * Return: the flow, for flow_case_close(). Ends the program if there is none.
 */
struct kipt_flow *flow_case_open(struct flow_case *test, u32 output,
				 struct record_list *list);

/**
 * flow_case_close() - the end of flow_case_open()
 * @flow: the flow
 */
void flow_case_close(struct kipt_flow *flow);

/**
 * flow_case_run() - decode a part of a test's packets
 * @flow: made for it
 * @test: the test
 * @size: bytes of the packets that are there; nothing after them is readable
 * @from: as in kipt_flow_run()
 * @to: as in kipt_flow_run()
 */
void flow_case_run(struct kipt_flow *flow, const struct flow_case *test,
		   u64 size, u64 from, u64 to);

/**
 * flow_case_decode() - decode a part of a test's packets by a flow of its own
 * @test: the test
 * @output: KIPT_FLOW_*
 * @size: as in flow_case_run()
 * @from: as in kipt_flow_run()
 * @to: as in kipt_flow_run()
 * @list: where records are appended
 */
void flow_case_decode(struct flow_case *test, u32 output, u64 size, u64 from,
		      u64 to, struct record_list *list);

#endif /* KIPT_SELFTESTS_DECODE_FLOW_CASE_H */
