/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in a PSB+: the status report that decoding can start from. The
 * only reader of it, in the flow and outside. Pure functions over bytes, any
 * context.
 */
#ifndef KIPT_DECODE_PSB_H
#define KIPT_DECODE_PSB_H

#include "clock.h"
#include "../status.h"

/**
 * struct kipt_psb - what a PSB+ says
 * @offset: of the PSB
 * @end: offset after it
 * @status: KIPT_OK, or why it is no good
 * @bad: offset of what is no good
 * @complete: PSBEND was seen
 * @overflow: OVF ended it, @end is there
 * @has_ip: tracing is on, at @ip
 * @ip: address
 * @last_ip: IP compression after it
 * @has_pip: @pip is valid
 * @pip: PIP packet
 * @has_mode: @mode is valid
 * @mode: MODE.Exec bits
 * @has_tsx: @tsx is valid
 * @tsx: MODE.TSX bits
 * @has_tsc: @tsc is valid
 * @tsc: of the last TSC packet, 56 bits
 * @has_vmcs: @vmcs is valid
 * @vmcs: VMCS base
 */
struct kipt_psb {
	u64 offset;
	u64 end;
	enum kipt_status status;
	u64 bad;
	bool complete;
	bool overflow;
	bool has_ip;
	u64 ip;
	u64 last_ip;
	bool has_pip;
	struct kipt_packet pip;
	bool has_mode;
	u8 mode;
	bool has_tsx;
	u8 tsx;
	bool has_tsc;
	u64 tsc;
	bool has_vmcs;
	u64 vmcs;
};

/**
 * kipt_psb_read() - read a PSB+
 * @psb: filled
 * @data: trace
 * @offset: of a PSB in it
 * @end: of the segment: the next PSB, or the trace's size
 * @clock: gets the packets; may be NULL
 */
void kipt_psb_read(struct kipt_psb *psb, const u8 *data, u64 offset, u64 end,
		   struct kipt_clock *clock);

/**
 * kipt_psb_tsc() - the time of a PSB+
 * @data: trace
 * @size: its bytes
 * @offset: of a PSB in it
 * @tsc: written: value of its TSC packet, 56 bits
 *
 * Return: false if it has none.
 */
bool kipt_psb_tsc(const u8 *data, u64 size, u64 offset, u64 *tsc);

#endif /* KIPT_DECODE_PSB_H */
