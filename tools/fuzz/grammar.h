/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Input that is more often valid than noise is: packets of every kind, small
 * programs, and the trace a CPU could have sent while it ran one. For the
 * mutators of the fuzz targets: nothing here checks the decoder, so the
 * decoder's own tables may be used. User space.
 */
#ifndef KIPT_FUZZ_GRAMMAR_H
#define KIPT_FUZZ_GRAMMAR_H

#include "../../kmod/decode/port.h"

/* The program is at both addresses, its second half at the kernel's, with
 * copies of it after it: what is cached of all of them fills small memories.
 */
#define PROGRAM_BYTES	256
#define PROGRAM_COPIES	16
#define PROGRAM_USER	0x401000ULL
#define PROGRAM_KERNEL	0xffffffff81000000ULL

/**
 * struct random - a sequence of random numbers
 * @state: its seed, any value
 */
struct random {
	u64 state;
};

/**
 * random_below() - the next number
 * @random: the sequence
 * @bound: more than any result; not 0
 *
 * Return: 0..@bound - 1.
 */
u32 random_below(struct random *random, u32 bound);

/**
 * grammar_offset() - which byte of a program is at an address
 * @ip: the address
 * @left: set to the bytes of the program from there on
 *
 * Return: offset in the program, or PROGRAM_BYTES if there is nothing.
 */
u32 grammar_offset(u64 ip, u32 *left);

/**
 * grammar_program() - make a program
 * @code: PROGRAM_BYTES bytes, filled
 * @random: random numbers
 */
void grammar_program(u8 *code, struct random *random);

/**
 * grammar_walk() - what a CPU sends that runs a program
 * @code: the program, any bytes
 * @trace: where to; starts after a PSB+ with a FUP to PROGRAM_USER
 * @max: bytes that fit there
 * @random: random numbers
 *
 * Return: bytes of @trace.
 */
u32 grammar_walk(const u8 *code, u8 *trace, u32 max, struct random *random);

/**
 * grammar_mutate() - change a trace by whole packets
 * @trace: packets
 * @size: bytes of them
 * @max: bytes that fit there
 * @random: random numbers
 *
 * Return: bytes of @trace then.
 */
u32 grammar_mutate(u8 *trace, u32 size, u32 max, struct random *random);

#endif /* KIPT_FUZZ_GRAMMAR_H */
