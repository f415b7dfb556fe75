/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's marks of accesses that race. */
#ifndef KIPT_SHIM_COMPILER_H
#define KIPT_SHIM_COMPILER_H

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
/* Of two threads of a test, or none. */
#define data_race(expression)	(expression)

#endif /* KIPT_SHIM_COMPILER_H */
