/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder core's own result codes. They are not errnos: whoever calls
 * the core maps them at its own boundary. They travel in GAP records, so
 * numbers are never reused.
 */
#ifndef KIPT_DECODE_STATUS_H
#define KIPT_DECODE_STATUS_H

/**
 * enum kipt_status - how a decoding step ended
 * @KIPT_OK: done
 * @KIPT_END: the input ends here, at a packet boundary
 * @KIPT_TRUNCATED: the input, or what is before a PSB, ends inside a packet
 * @KIPT_BAD_OPCODE: no packet starts with this byte
 * @KIPT_BAD_PACKET: the packet's payload breaks its format
 * @KIPT_NO_PSB: no PSB in the input
 * @KIPT_BAD_CONTEXT: a legal packet where none of its kind may be
 * @KIPT_NO_CODE: no code bytes at the address
 * @KIPT_BAD_INSN: the bytes at the address are no instruction
 * @KIPT_TNT_AT_OTHER: TNT bits are left and the flow needs none here
 * @KIPT_TIP_AT_OTHER: a TIP came and no branch in the flow needs one
 * @KIPT_NOT_REACHED: the address the trace names is not reached by the flow
 * @KIPT_BAD_RET: a compressed RET with result 0 or no CALL before it
 * @KIPT_BAD_IP: an address is missing or not canonical
 * @KIPT_LOOP: the step bound was reached without using any packet
 * @KIPT_STOPPED: the sink asked to stop
 * @KIPT_NO_MEMORY: the arena is too small
 * @KIPT_PAUSED: the sink asked for a pause, or a slice is used up: there is more
 * @KIPT_HIDDEN: an overflow hid the mode of the code at the address, or whose it is
 */
enum kipt_status {
	KIPT_OK = 0,
	KIPT_END,
	KIPT_TRUNCATED,
	KIPT_BAD_OPCODE,
	KIPT_BAD_PACKET,
	KIPT_NO_PSB,
	KIPT_BAD_CONTEXT,
	KIPT_NO_CODE,
	KIPT_BAD_INSN,
	KIPT_TNT_AT_OTHER,
	KIPT_TIP_AT_OTHER,
	KIPT_NOT_REACHED,
	KIPT_BAD_RET,
	KIPT_BAD_IP,
	KIPT_LOOP,
	KIPT_STOPPED,
	KIPT_NO_MEMORY,
	KIPT_PAUSED,
	KIPT_HIDDEN,

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
