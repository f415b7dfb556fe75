/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's smaller and larger of two, and what is between them. */
#ifndef KIPT_SHIM_MINMAX_H
#define KIPT_SHIM_MINMAX_H

#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define clamp(value, least, most) \
	min_t(__typeof__(value), max_t(__typeof__(value), value, least), most)

#endif /* KIPT_SHIM_MINMAX_H */
