// SPDX-License-Identifier: GPL-2.0-only
/*
 * What disasm.c is where there is no Zydis.
 */
#include <string.h>

#include "disasm.h"

bool disasm_there(void)
{
	return false;
}

void disasm(struct disasm *insn, u32 mode, u64 ip, const u8 *bytes, u32 size)
{
	(void)mode;
	(void)ip;
	(void)bytes;
	(void)size;
	memset(insn, 0, sizeof(*insn));
}
