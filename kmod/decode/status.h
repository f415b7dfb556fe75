/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder core's own result codes. They are not errnos: whoever calls
 * the core maps them at its own boundary. They travel in GAP records, so
 * numbers are never reused.
 */
#ifndef KIPT_DECODE_STATUS_H
#define KIPT_DECODE_STATUS_H

/*
 * How a decoding step ended, and that in words: X(status, words) each, KIPT_ before the status. A
 * new one is the last: their numbers are in records. Less plain are
 *
 *  END		at a packet boundary
 *  TRUNCATED	the input ends inside a packet, or a PSB begins there
 *  BAD_RET	a RET whose outcome is 0, or without a CALL before it
 *  LOOP	step_limit blocks, or one address twice, without a packet
 *  STOPPED	the sink returned false
 *  NO_MEMORY	the arena is too small
 *  PAUSED	kipt_flow_pause() was called, or a slice is used up
 */
#define KIPT_STATUSES(X) \
	X(OK, "ok") \
	X(END, "end of the trace") \
	X(TRUNCATED, "a packet is cut off") \
	X(BAD_OPCODE, "no packet starts with this byte") \
	X(BAD_PACKET, "packet payload is malformed") \
	X(NO_PSB, "no PSB found") \
	X(BAD_CONTEXT, "packet is not allowed here") \
	X(NO_CODE, "no code at this address") \
	X(BAD_INSN, "bytes at this address are no instruction") \
	X(TNT_AT_OTHER, "a branch outcome where the code has no conditional branch") \
	X(TIP_AT_OTHER, "a branch target where the code has no indirect branch") \
	X(NOT_REACHED, "the code does not lead to the address the trace names") \
	X(BAD_RET, "compressed return without a matching call") \
	X(BAD_IP, "address is missing or not canonical") \
	X(LOOP, "endless loop without trace") \
	X(STOPPED, "stopped by the receiver") \
	X(NO_MEMORY, "not enough memory") \
	X(PAUSED, "paused, there is more") \
	X(HIDDEN, "an overflow hid the mode or the address space")

#define KIPT_STATUS(status, words)	KIPT_##status,

enum kipt_status {
	KIPT_STATUSES(KIPT_STATUS)

	__KIPT_STATUS_MAX,
	KIPT_STATUS_MAX = __KIPT_STATUS_MAX - 1
};

/**
 * kipt_status_name() - a status in words, for messages to people
 * @status: any value, also one out of range
 *
 * Context: any. Return: a constant string, "unknown status" if out of range.
 */
const char *kipt_status_name(enum kipt_status status);

#endif /* KIPT_DECODE_STATUS_H */
