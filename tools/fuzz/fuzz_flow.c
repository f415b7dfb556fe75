// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: flow from any packets over any code. The first 256 bytes
 * are code at 401000, in every address space; the rest are packets. A PSB+ is
 * put in front, so that the input need not guess one. The records must be
 * well formed, and decoding PSB by PSB must give the same ones.
 */
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/sync.h"

#define CODE_IP		0x401000ULL
#define CODE_SIZE	256
#define TRACE_MAX	4096

static const u8 head[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
};

static u8 code_bytes[CODE_SIZE];

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u64 offset = ip - CODE_IP;

	(void)ctx;
	(void)space;
	if (offset >= CODE_SIZE)
		return 0;
	if (len > CODE_SIZE - offset)
		len = (u32)(CODE_SIZE - offset);
	memcpy(buf, code_bytes + offset, len);
	return len;
}

static u64 name_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return cr3 + nr;
}

static bool is_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	(void)ctx;
	(void)space;
	return ip & len & 1;
}

static bool add(void *ctx, const struct kipt_record *record, u32 n)
{
	u64 *hash = ctx, words[3];
	u32 i;

	for (i = 0; i < n; i++) {
		if (!record[i].type || record[i].type > KIPT_RECORD_TYPE_MAX)
			abort();
		memcpy(words, &record[i], sizeof(words));
		*hash = (*hash ^ words[0]) * 1099511628211ULL;
		*hash = (*hash ^ words[1]) * 1099511628211ULL;
		*hash = (*hash ^ words[2]) * 1099511628211ULL;
	}
	return true;
}

/* Returns the hash of the records. */
static u64 decode(const u8 *trace, u64 size, u32 output, bool parts)
{
	static u64 arena[8192] __attribute__((aligned(64)));
	struct kipt_flow_config config = { .output = output, .memory = 64 << 10,
					   .step_limit = 4096, .tsc_num = 84,
					   .tsc_den = 2, .mtc_freq = 3,
					   .max_nonturbo_ratio = 20 };
	struct kipt_code code = { .read = read_code, .space = name_space,
				  .changed = is_changed };
	u64 hash = 1469598103934665603ULL, from = 0, to;
	struct kipt_sink sink = { .emit = add, .ctx = &hash };
	struct kipt_flow *flow;

	while (from < size) {
		to = parts ? kipt_sync_next(trace, size, from + 1) : size;
		flow = kipt_flow_init(arena, sizeof(arena), &config, &code,
				      &sink);
		if (!flow)
			abort();
		kipt_flow_run(flow, trace, size, from, to);
		from = to;
	}
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 len;
	u8 *trace;
	u32 output;

	if (size < CODE_SIZE + 1)
		return 0;
	memcpy(code_bytes, data, CODE_SIZE);
	output = data[CODE_SIZE] & 0xf;
	len = size - CODE_SIZE - 1;
	if (len > TRACE_MAX)
		len = TRACE_MAX;
	trace = malloc(sizeof(head) + len);
	if (!trace)
		return 0;
	memcpy(trace, head, sizeof(head));
	memcpy(trace + sizeof(head), data + CODE_SIZE + 1, len);
	len += sizeof(head);
	if (decode(trace, len, output, false) !=
	    decode(trace, len, output, true))
		abort();
	free(trace);
	return 0;
}
