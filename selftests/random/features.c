// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of features. Where a peer and the manual differ the manual
 * decides: such programs are compared with the truth, which the walker makes by
 * the manual, and what the peer says of them is only counted. User space.
 */
#include "features.h"

/* The sections named are of the Intel SDM, Vol. 3C, chapter 33. */
const struct feature features[WALK_BITS] = {
	{ .name = "ret-mismatch", .libipt =
	  "pops its stack at compressed RETs only, the CPU at each RET ('Indirect Transfer Compression for Returns')" },
	{ .name = "deferred-tip" },
	{ .name = "event-trace",
	  .libipt = "does not know CFE and EVD ('Event Trace')" },
	{ .name = "pebs-blocks",
	  .libipt = "does not know BBP, BIP, BEP ('PEBS Output to PT')" },
	{ .name = "vmx" },
	{ .name = "overflow" },
	{ .name = "overflow-psb", .libipt =
	  "takes the FUP after OVF, PSB+ for an event ('Overflow (OVF) Packet')",
	  .perf = "takes the FUP after OVF, PSB+ for an event ('Overflow (OVF) Packet')" },
	{ .name = "tsx" },
	{ .name = "power" },
	{ .name = "tracestop" },
	{ .name = "cut-front" },
	{ .name = "cr3-filter" },
	{ .name = "ptwrite" },
	{ .name = "off-side" },
	{ .name = "cyc" },
	{ .name = "mnt" },
	{ .name = "pgd-outcome", .libipt =
	  "does not bind a TIP.PGD to a conditional branch or compressed RET ('Packet Generation Scenarios', 7e, 7f)" },
	{ .name = "pgd-mov-cr3", .libipt =
	  "ends at a MOV CR3 with every TIP.PGD without an IP, with none that has one ('Packet Generation Scenarios')" },
	{ .name = "lost-mov-cr3", .libipt =
	  "looks after an OVF for the MOV CR3 of a PIP before it ('Overflow (OVF) Packet')" },
	{ .name = "cbr-inside", .libipt =
	  "does not expect a CBR between MODE.Exec and TIP ('MODE.Exec Packet')" },
	{ .name = "short-ip-at-psb", .perf =
	  "keeps LastIP at a PSB ('IP Compression')" },
	{ .name = "far", .perf =
	  "keeps return addresses of far CALLs for near RETs ('Indirect Transfer Compression for Returns')" },
	{ .name = "tsc-inside", .perf =
	  "does not expect a TSC between FUP and TIP ('TSC Packet')" },
	{ .name = "trig",
	  .libipt = "does not know TRIG ('Trigger Tracing')",
	  .perf = "does not know TRIG ('Trigger Tracing')" },
	{ .name = "time-before-claimed-fup", .perf =
	  "does not expect MTC or CBR between EXSTOP and its FUP ('EXSTOP Packet')" },
	{ .name = "ptw-without-fup", .perf =
	  "does not look for the PTWRITE of a PTW without a FUP ('PTWRITE Packet')" },
	{ .name = "ptw-again", .perf =
	  "does not go round a loop for a PTWRITE it is at ('PTWRITE Packet')" },
	{ .name = "vmcs" },
	{ .name = "deep-calls" },
	{ .name = "interrupt-flag" },
};

u32 features_libipt(void)
{
	u32 bits = 0, i;

	for (i = 0; i < WALK_BITS; i++) {
		if (!features[i].libipt)
			bits |= 1U << i;
	}
	return bits;
}

u32 features_perf(void)
{
	u32 bits = 0, i;

	for (i = 0; i < WALK_BITS; i++) {
		if (!features[i].perf)
			bits |= 1U << i;
	}
	return bits;
}
