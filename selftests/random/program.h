/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A random program: regions of x86 code that a CPU could run, in one or more
 * address spaces, and what each instruction does to the flow. Owns the bytes
 * and the list of instructions; which way branches go is walk.c's. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_PROGRAM_H
#define KIPT_SELFTESTS_RANDOM_PROGRAM_H

#include <stdio.h>

#include "rng.h"

#define PROGRAM_REGIONS		12
#define PROGRAM_REGION_BYTES	640
#define PROGRAM_INSNS		3000
#define PROGRAM_SPACES		3

/* What an instruction does to the flow. */
enum insn_kind {
	INSN_PLAIN = 0,
	INSN_COND,
	INSN_JUMP,
	INSN_CALL,
	INSN_JUMP_IND,
	INSN_CALL_IND,
	INSN_RET,
	INSN_SYSCALL,
	INSN_SYSRET,
	INSN_IRET,
	INSN_FAR,
	INSN_VMENTRY,
	INSN_INT,
	INSN_MOV_CR3,
	INSN_PTWRITE,
	INSN_XBEGIN,
	INSN_XEND,
	INSN_XABORT,
	INSN_WRMSR,
	INSN_MWAIT,
};

/**
 * struct insn - one instruction
 * @ip: address
 * @target: number of the instruction a direct branch goes to, or XBEGIN's
 *	fallback; -1: none
 * @next: number of the instruction after it, -1: there is none
 * @region: number of its region
 * @len: bytes
 * @kind: enum insn_kind
 * @operand: PTWRITE: bytes written; direct branches: bytes of the displacement
 * @habit: COND: how it likes to go
 */
struct insn {
	u64 ip;
	s32 target;
	s32 next;
	u16 region;
	u8 len;
	u8 kind;
	u8 operand;
	u8 habit;
};

/**
 * struct region - contiguous code of one mode
 * @base: first address
 * @size: bytes
 * @first: number of its first instruction
 * @count: its instructions; they are neighbours in the list, by address
 * @mode: enum kipt_exec_kind
 * @kernel: runs at CPL 0, in the high half, in all address spaces
 * @space: user: the address space it is in
 * @bytes: the code
 */
struct region {
	u64 base;
	u32 size;
	s32 first;
	s32 count;
	u8 mode;
	bool kernel;
	u8 space;
	u8 bytes[PROGRAM_REGION_BYTES];
};

/**
 * struct program - regions and their instructions
 * @regions: the regions
 * @nr_regions: how many
 * @insns: all instructions
 * @nr_insns: how many
 * @spaces: number of address spaces
 */
struct program {
	struct region regions[PROGRAM_REGIONS];
	u32 nr_regions;
	struct insn insns[PROGRAM_INSNS];
	s32 nr_insns;
	u8 spaces;
};

/**
 * program_spaces() - how many address spaces program_make() gives a program
 * @rng: random numbers, as they are before it
 *
 * Takes a fraction of the time that the program takes.
 */
u8 program_spaces(struct rng rng);

/**
 * program_make() - a random program
 * @program: filled
 * @rng: random numbers
 */
void program_make(struct program *program, struct rng *rng);

/**
 * program_read() - code bytes, as a decoder asks for them
 * @program: the program
 * @space: address space of low addresses
 * @ip: address
 * @buf: filled
 * @len: bytes wanted
 *
 * Return: bytes there are, 0: none.
 */
u32 program_read(const struct program *program, u64 space, u64 ip, u8 *buf,
		 u32 len);

/**
 * program_show() - print all instructions
 * @program: the program
 * @file: where to
 */
void program_show(const struct program *program, FILE *file);

#endif /* KIPT_SELFTESTS_RANDOM_PROGRAM_H */
