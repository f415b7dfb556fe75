// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which capture of a death is on, see capture.h.
 */
#include <linux/percpu.h>

#include "capture.h"

static u32 number;
/* The last capture that the CPU has paused for. */
static DEFINE_PER_CPU(u32, done);

u32 kipt_capture_number(void)
{
	return READ_ONCE(number);
}

bool kipt_capture_begin(u32 capture)
{
	return !cmpxchg(&number, 0, capture);
}

void kipt_capture_end(u32 capture)
{
	cmpxchg(&number, capture, 0);
}

bool kipt_capture_stopped(unsigned int cpu)
{
	/* Pairs with smp_store_release() in kipt_capture_stop_local(). */
	return smp_load_acquire(per_cpu_ptr(&done, cpu)) == READ_ONCE(number);
}

void kipt_capture_stop_local(u32 capture)
{
	/* Pairs with smp_load_acquire() in kipt_capture_stopped(). */
	smp_store_release(this_cpu_ptr(&done), capture);
}
