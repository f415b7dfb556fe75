/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's powers of two, of 32 bits. */
#ifndef KIPT_SHIM_LOG2_H
#define KIPT_SHIM_LOG2_H

#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
/* Of what is not 0. */
#define rounddown_pow_of_two(n)	(1U << (31 - __builtin_clz((unsigned int)(n))))

#endif /* KIPT_SHIM_LOG2_H */
