/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an instruction is, in words.
 */
#ifndef KIPT_DISASM_H
#define KIPT_DISASM_H

#include <stddef.h>

#include "../../../kmod/decode/port.h"

/* More than the text of any instruction. */
#define DISASM_ROOM	192

/**
 * struct disasm - an instruction
 * @text: in syntax of Intel; its bytes where they are no instruction that is known
 * @target: where it goes, or what it names relative to itself
 * @has_target: it says @target
 * @branches: @target is code it may go to
 */
struct disasm {
	char text[DISASM_ROOM];
	u64 target;
	bool has_target;
	bool branches;
};

/**
 * disasm_there() - can instructions be disassembled
 *
 * Return: false if kipt was built without Zydis.
 */
bool disasm_there(void);

/**
 * disasm() - disassemble an instruction
 * @insn: filled
 * @mode: enum kipt_exec_kind
 * @ip: its address
 * @bytes: all of it
 * @size: how many, 1 to 15
 */
void disasm(struct disasm *insn, u32 mode, u64 ip, const u8 *bytes, u32 size);

#endif /* KIPT_DISASM_H */
