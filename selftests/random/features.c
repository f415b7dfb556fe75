// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of features. Where libipt and the manual differ the manual
 * decides: such programs are held against the truth only, which the walker
 * makes by the manual, and what libipt says of them is counted. User space.
 */
#include "features.h"

/* The sections named are of the Intel SDM, Vol. 3C, chapter 33. */
const struct feature features[WALK_BITS] = {
	{ "ret-mismatch",
	  "pops its stack at compressed RETs only, the CPU at each RET ('Indirect Transfer Compression for Returns')" },
	{ "deferred-tip",
	  "takes no TIP while outcomes are left ('Deferred TIPs')" },
	{ "event-trace", "does not know CFE and EVD ('Event Trace')" },
	{ "pebs-blocks", "does not know BBP, BIP, BEP ('PEBS Output to PT')" },
	{ "vmx", NULL },
	{ "overflow", NULL },
	{ "overflow-psb",
	  "takes the FUP behind OVF, PSB+ for an event ('Overflow (OVF) Packet')" },
	{ "tsx", NULL },
	{ "power", NULL },
	{ "tracestop", NULL },
	{ "cut-front",
	  "starts where it is told, it does not look for a PSB" },
	{ "cr3-filter", NULL },
	{ "ptwrite", NULL },
	{ "off-side",
	  "wants an IP for EXSTOP while packets are off ('Power Event Tracing')" },
	{ "cyc", NULL },
	{ "mnt", NULL },
	{ "pgd-outcome",
	  "does not bind a TIP.PGD to a conditional branch or compressed RET ('Packet Generation Scenarios', 7e, 7f)" },
	{ "pgd-mov-cr3",
	  "ends at a MOV CR3 with every TIP.PGD without an IP, with none that has one ('Packet Generation Scenarios')" },
	{ "lost-mov-cr3",
	  "looks behind an OVF for the MOV CR3 of a PIP before it ('Overflow (OVF) Packet')" },
	{ "cbr-inside",
	  "does not expect a CBR between MODE.Exec and TIP ('MODE.Exec Packet')" },
};

u32 features_peer(void)
{
	u32 bits = 0, i;

	for (i = 0; i < WALK_BITS; i++) {
		if (!features[i].differs)
			bits |= 1U << i;
	}
	return bits;
}
