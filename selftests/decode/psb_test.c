// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a PSB+ says, read by the one reader that the flow, its clock, the module
 * and the tool have: however many PADs are in it, up to an OVF, and not into the
 * PSB after it ("Packet Stream Boundary (PSB) Packet"). User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/psb.h"
#include "../../kmod/decode/packet/sync.h"
#include "ktap.h"

#define TSC	0x02030405060708ULL
#define PADS	100000

/**
 * struct trace - bytes that are being put together
 * @bytes: they
 * @size: how many
 */
struct trace {
	u8 bytes[4 * PADS];
	u64 size;
};

static void add(struct trace *trace, const char *hex)
{
	for (; hex[0] && hex[1]; hex += 2)
		trace->bytes[trace->size++] =
			(u8)strtoul((char[]){ hex[0], hex[1], 0 }, NULL, 16);
}

static void add_psb(struct trace *trace)
{
	add(trace, "02820282028202820282028202820282");
}

static void add_pads(struct trace *trace)
{
	memset(trace->bytes + trace->size, 0, PADS);
	trace->size += PADS;
}

static void read_first(const struct trace *trace, struct kipt_psb *psb)
{
	kipt_psb_read(psb, trace->bytes, 0,
		      kipt_sync_next(trace->bytes, trace->size, 16), NULL);
}

static bool has_time(const struct trace *trace)
{
	u64 tsc;

	return kipt_psb_tsc(trace->bytes, trace->size, 0, &tsc) && tsc == TSC;
}

static bool pads_everywhere(struct trace *trace)
{
	struct kipt_psb psb;

	add_psb(trace);
	add_pads(trace);
	add(trace, "1908070605040302");
	add_pads(trace);
	add(trace, "99025d00104000");
	add_pads(trace);
	add(trace, "0223");
	read_first(trace, &psb);
	return psb.status == KIPT_OK && psb.complete && psb.has_tsc &&
	       psb.tsc == TSC && psb.has_mode && psb.mode == 2 &&
	       psb.has_ip && psb.ip == 0x401000 && psb.end == trace->size &&
	       has_time(trace);
}

/* BDM70: a FUP though tracing is off, as the TIP.PGE shows. */
static bool pads_before_the_pge(struct trace *trace)
{
	struct kipt_psb psb;

	add_psb(trace);
	add(trace, "99015d001040000223");
	add_pads(trace);
	add(trace, "5100104000");
	read_first(trace, &psb);
	return psb.status == KIPT_OK && psb.complete && !psb.has_ip &&
	       psb.last_ip == 0x401000;
}

static bool ends_at_an_overflow(struct trace *trace)
{
	struct kipt_psb psb;

	add_psb(trace);
	add(trace, "99015d00104000");
	add_pads(trace);
	add(trace, "02f31908070605040302");
	read_first(trace, &psb);
	return psb.status == KIPT_OK && psb.overflow && !psb.complete &&
	       psb.has_ip && !psb.has_tsc && psb.end == psb.bad &&
	       trace->bytes[psb.end] == 0x02 &&
	       trace->bytes[psb.end + 1] == 0xf3 && !has_time(trace);
}

static bool keeps_what_was_before_an_overflow(struct trace *trace)
{
	add_psb(trace);
	add(trace, "1908070605040302");
	add_pads(trace);
	add(trace, "02f3");
	return has_time(trace);
}

/* The header of a TSC, cut off: the PSB after it is not its payload. */
static bool ends_at_the_next_psb(struct trace *trace)
{
	struct kipt_psb psb;

	add_psb(trace);
	add(trace, "190807");
	add_psb(trace);
	add(trace, "19ffffffffffffff0223");
	read_first(trace, &psb);
	return psb.status == KIPT_TRUNCATED && !psb.has_tsc &&
	       !has_time(trace);
}

static bool ends_with_the_trace(struct trace *trace)
{
	struct kipt_psb psb;

	add_psb(trace);
	add_pads(trace);
	read_first(trace, &psb);
	return psb.status == KIPT_END && !psb.complete && !has_time(trace);
}

int main(void)
{
	static const struct {
		const char *name;
		bool (*check)(struct trace *trace);
	} tests[] = {
		{ "psb+ with pads everywhere", pads_everywhere },
		{ "psb+ with pads before a tip.pge", pads_before_the_pge },
		{ "psb+ ends at an overflow", ends_at_an_overflow },
		{ "psb+ keeps what was before an overflow",
		  keeps_what_was_before_an_overflow },
		{ "psb+ ends at the next psb", ends_at_the_next_psb },
		{ "psb+ ends with the trace", ends_with_the_trace },
	};
	static struct trace trace;
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		trace.size = 0;
		ktap_result(&ktap, tests[i].check(&trace), "%s",
			    tests[i].name);
	}
	return ktap_end(&ktap);
}
