/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's atomics, by the compiler's. */
#ifndef KIPT_SHIM_ATOMIC_H
#define KIPT_SHIM_ATOMIC_H

#include <linux/types.h>

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;

#define atomic_inc_return(v) \
	__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic64_read(v)	__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic64_set(v, i) \
	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)

static inline s64 atomic64_cmpxchg(atomic64_t *v, s64 old, s64 new)
{
	__atomic_compare_exchange_n(&v->counter, &old, new, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

#endif /* KIPT_SHIM_ATOMIC_H */
