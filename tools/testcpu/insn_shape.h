/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of an x86 instruction that the test CPU looks at: prefixes,
 * opcode, ModRM, memory operand. The length is known beforehand (QEMU gives
 * it), so nothing here needs a full decoder, and nothing is shared with
 * kmod/decode, which is tested against it. Pure functions, any thread.
 */
#ifndef TESTCPU_INSN_SHAPE_H
#define TESTCPU_INSN_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define INSN_MAX	15

/**
 * enum insn_mode - size of the code
 *
 * The values are the width in bits.
 */
enum insn_mode {
	INSN_MODE_16 = 16,
	INSN_MODE_32 = 32,
	INSN_MODE_64 = 64,
};

/**
 * struct insn_shape - prefixes, opcode and ModRM of one instruction
 * @mode: code size
 * @len: length in bytes
 * @rex: REX prefix, 0 when there is none
 * @segment: segment prefix byte, 0 when there is none
 * @lock: LOCK prefix
 * @repne: F2 prefix
 * @rep: F3 prefix
 * @operand: 66 prefix
 * @address: 67 prefix
 * @two_byte: the opcode is of the 0F map
 * @vex: VEX, EVEX, XOP or REX2 encoded; no other member below is set
 * @opcode: opcode byte
 * @tail: offset of the byte after the opcode: ModRM or immediate
 */
struct insn_shape {
	enum insn_mode mode;
	uint8_t len;
	uint8_t rex;
	uint8_t segment;
	bool lock;
	bool repne;
	bool rep;
	bool operand;
	bool address;
	bool two_byte;
	bool vex;
	uint8_t opcode;
	uint8_t tail;
};

/**
 * insn_shape_parse - take an instruction apart
 * @shape: filled on success
 * @bytes: the instruction
 * @len: its length, 1 to INSN_MAX
 * @mode: code size
 *
 * Return: false when the bytes end before the opcode.
 */
bool insn_shape_parse(struct insn_shape *shape, const uint8_t *bytes,
		      unsigned int len, enum insn_mode mode);

/**
 * struct insn_operand - a ModRM operand
 * @is_register: a register, @base is its number
 * @base: base register, -1 none, INSN_RIP for the instruction pointer
 * @index: index register, -1 none
 * @scale: 1, 2, 4 or 8
 * @end: offset of the byte after ModRM, SIB and displacement
 * @displacement: signed
 * @segment: segment prefix byte that counts, 0 for the default segment
 * @width: address size in bits
 */
struct insn_operand {
	bool is_register;
	int8_t base;
	int8_t index;
	uint8_t scale;
	uint8_t segment;
	uint8_t width;
	uint8_t end;
	int64_t displacement;
};

#define INSN_RIP	16

/**
 * insn_operand_parse - the r/m operand
 * @operand: filled on success
 * @shape: of the instruction, which has a ModRM byte at @tail
 * @bytes: the instruction
 *
 * Return: false when the bytes end early.
 */
bool insn_operand_parse(struct insn_operand *operand,
			const struct insn_shape *shape, const uint8_t *bytes);

/**
 * insn_operand_address - offset of a memory operand in its segment
 * @operand: not a register
 * @next: address after the instruction
 * @reg: gives the value of general register 0 to 15
 * @ctx: for @reg
 */
uint64_t insn_operand_address(const struct insn_operand *operand,
			      uint64_t next,
			      uint64_t (*reg)(void *ctx, unsigned int n),
			      void *ctx);

#endif /* TESTCPU_INSN_SHAPE_H */
