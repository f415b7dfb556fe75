/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which call led to a hook, and whether it prints the report of an event.
 */
#ifndef KIPT_CRASH_CALLS_H
#define KIPT_CRASH_CALLS_H

#include <linux/types.h>

/**
 * kipt_crash_call_before() - the call that an address comes after
 * @function: its first instruction
 * @next: a return address
 *
 * Context: any, NMI included.
 *
 * Return: the address of the CALL, or @next if that of @function is not before it.
 */
u64 kipt_crash_call_before(u64 function, unsigned long next);

/**
 * kipt_crash_read_format() - the beginning of a format of printk(), without its level
 * @address: where it is
 * @bytes: memory of the caller
 * @size: of @bytes, 3 or more
 *
 * Context: any, NMI included.
 *
 * Return: a string in @bytes; NULL if there is no such memory.
 */
const char *kipt_crash_read_format(u64 address, char *bytes, size_t size);

/**
 * kipt_crash_call_of_printk() - the call of _printk() that prints a report
 * @words: the report begins with
 *
 * What the call returns to is on the stack, in the frame of a function that this one was
 * called by. A line of the log may come from a program, by its name or by /dev/kmsg; the format
 * cannot.
 *
 * Context: any, NMI included.
 *
 * Return: the address of the CALL; 0 if there is none.
 */
u64 kipt_crash_call_of_printk(const char *words);

#endif /* KIPT_CRASH_CALLS_H */
