// SPDX-License-Identifier: GPL-2.0-only
/*
 * Status codes in words, for whoever shows them to people. Any context.
 */
#include "status.h"
#include "port.h"

static const char *const names[KIPT_STATUS_MAX + 1] = {
	[KIPT_OK] = "ok",
	[KIPT_END] = "end of the trace",
	[KIPT_TRUNCATED] = "a packet is cut off",
	[KIPT_BAD_OPCODE] = "no packet starts with this byte",
	[KIPT_BAD_PACKET] = "packet payload is malformed",
	[KIPT_NO_PSB] = "no PSB found",
	[KIPT_BAD_CONTEXT] = "packet is not allowed here",
	[KIPT_NO_CODE] = "no code at this address",
	[KIPT_BAD_INSN] = "bytes at this address are no instruction",
	[KIPT_TNT_AT_OTHER] = "a branch outcome where the code has no conditional branch",
	[KIPT_TIP_AT_OTHER] = "a branch target where the code has no indirect branch",
	[KIPT_NOT_REACHED] = "the code does not lead to the address the trace names",
	[KIPT_BAD_RET] = "compressed return without a matching call",
	[KIPT_BAD_IP] = "address is missing or not canonical",
	[KIPT_LOOP] = "endless loop without trace",
	[KIPT_STOPPED] = "stopped by the receiver",
	[KIPT_NO_MEMORY] = "not enough memory",
	[KIPT_PAUSED] = "paused, there is more",
	[KIPT_HIDDEN] = "an overflow hid the mode or the address space",
};

const char *kipt_status_name(enum kipt_status status)
{
	u32 number = (u32)status;

	if (number > KIPT_STATUS_MAX)
		return "unknown status";
	return names[number];
}
