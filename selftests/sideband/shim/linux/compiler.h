/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's marks of accesses that race, for two threads of a test. */
#ifndef KIPT_SHIM_COMPILER_H
#define KIPT_SHIM_COMPILER_H

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
/* Races are what the test is for. */
#define data_race(expression)	(expression)

#endif /* KIPT_SHIM_COMPILER_H */
