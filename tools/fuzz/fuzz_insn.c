// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: instructions from any bytes in any mode. The first byte
 * chooses the mode. A length must lie within the bytes given, more bytes must
 * not change what was decoded, and fewer must not be enough.
 */
#include <stdlib.h>

#include "../../kmod/decode/code/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kipt_insn insn, again;
	u32 mode, len;

	if (!size)
		return 0;
	mode = 1 + data[0] % 3;
	len = size - 1 < 32 ? (u32)size - 1 : 32;
	if (kipt_insn_decode(&insn, mode, 0x401000, data + 1, len) != KIPT_OK)
		return 0;
	if (!insn.len || insn.len > len || insn.len > KIPT_INSN_MAX_LEN)
		abort();
	if (kipt_insn_decode(&again, mode, 0x401000, data + 1, insn.len) !=
		    KIPT_OK ||
	    again.len != insn.len || again.class != insn.class ||
	    again.target != insn.target)
		abort();
	if (kipt_insn_decode(&again, mode, 0x401000, data + 1, insn.len - 1U) ==
	    KIPT_OK)
		abort();
	return 0;
}
