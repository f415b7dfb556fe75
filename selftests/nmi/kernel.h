/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the kernel as kmod/nmi.c needs in user space: CPUs that are
 * numbers, a TSC that does not move until the test sets it, and NMI handlers
 * that the test calls. Each header the file asks for is this one.
 */
#ifndef KIPT_NMI_KERNEL_H
#define KIPT_NMI_KERNEL_H

#include <assert.h>

#include "../../kmod/decode/port.h"

#define CPUS		3U
/* So fast that ten seconds do not fit in 32 bits. */
#define TSC_KHZ		3000000U

/* The TSC, and the CPU that everything runs on now. */
extern u64 now;
extern unsigned int here;
/* How often interrupts were turned off and not on again. */
extern int pinned;

static const unsigned int tsc_khz = TSC_KHZ;

/* What another CPU does while this one reads the clock, once; or NULL. */
extern void (*meanwhile)(void);

static inline u64 rdtsc(void)
{
	void (*happens)(void) = meanwhile;
	u64 read = now;

	meanwhile = NULL;
	if (happens)
		happens();
	return read;
}

#define BUILD_BUG_ON(wrong)	static_assert(!(wrong), #wrong)
#define NOKPROBE_SYMBOL(name)	extern int kipt_nokprobe_##name
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name[CPUS]
#define per_cpu(name, cpu)		((name)[cpu])
#define this_cpu_ptr(pointer)		(&(*(pointer))[here])
#define this_cpu_read(name)		((name)[here])
#define this_cpu_write(name, value)	((name)[here] = (value))

static inline unsigned int smp_processor_id(void)
{
	return here;
}

#define local_irq_save(flags)		((flags) = (unsigned long)pinned++)
#define local_irq_restore(flags)	(pinned = (int)(flags))

/* What the structs of traces are made of. */
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef struct { int unused; } spinlock_t;
struct irq_work { int unused; };
struct pt_regs { int unused; };
struct cpumask { int unused; };

static inline int atomic_read(const atomic_t *number)
{
	return number->counter;
}

#define cmpxchg(place, old, value) \
	__sync_val_compare_and_swap(place, old, value)

static inline int atomic_cmpxchg(atomic_t *number, int old, int value)
{
	return cmpxchg(&number->counter, old, value);
}

static inline void atomic_inc(atomic_t *number)
{
	number->counter++;
}

static inline bool atomic_add_unless(atomic_t *number, int more, int unless)
{
	if (number->counter == unless)
		return false;
	number->counter += more;
	return true;
}

#define NMI_LOCAL	0U
#define NMI_DONE	0
#define NMI_HANDLED	1
#define NMI_FLAG_FIRST	1UL

typedef int (*nmi_handler_t)(unsigned int type, struct pt_regs *regs);

int register_nmi_handler(unsigned int type, nmi_handler_t handler,
			 unsigned long flags, const char *name);
void unregister_nmi_handler(unsigned int type, const char *name);

#endif /* KIPT_NMI_KERNEL_H */
