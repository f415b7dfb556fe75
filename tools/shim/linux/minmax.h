/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's smaller and larger of two. */
#ifndef KIPT_SHIM_MINMAX_H
#define KIPT_SHIM_MINMAX_H

#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))

#endif /* KIPT_SHIM_MINMAX_H */
