/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's barriers, by the compiler's. */
#ifndef KIPT_SHIM_BARRIER_H
#define KIPT_SHIM_BARRIER_H

/* Each pairs with what the file that is tested says. */
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
/* As above. */
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/* As above. */
#define smp_store_release(p, value) \
	__atomic_store_n(p, value, __ATOMIC_RELEASE)
/* As above. */
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif /* KIPT_SHIM_BARRIER_H */
