/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's barriers, by the compiler's. */
#ifndef KIPT_SHIM_BARRIER_H
#define KIPT_SHIM_BARRIER_H

/* Each pairs with what the file that is tested says. */
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
/* What else happens at that moment, where a test says so. */
void shim_at_rmb(void) __attribute__((weak));
/* As above. */
#define smp_rmb() \
	do { \
		__atomic_thread_fence(__ATOMIC_ACQUIRE); \
		if (shim_at_rmb) \
			shim_at_rmb(); \
	} while (0)
/* As above. */
#define smp_store_release(p, value) \
	__atomic_store_n(p, value, __ATOMIC_RELEASE)
/* As above. */
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif /* KIPT_SHIM_BARRIER_H */
