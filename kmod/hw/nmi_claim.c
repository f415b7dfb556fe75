// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which NMIs are ours, see nmi_claim.h. In NMI context: no locks, no printing, only
 * MSRs of the CPU itself and per-CPU data.
 */
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/tsc.h>

#include "../shared/tsc_age.h"
#include "hw.h"
#include "nmi_claim.h"

/*
 * How long an NMI may be on its way: that of a PMI, and one that was sent. Both take
 * microseconds, but a CPU may be a thread of a hypervisor, which runs it when it likes.
 */
#define PMI_MS		1000
#define SENT_MS		10000
/* And one that was on its way when another came: it follows at once, or is merged. */
#define BEHIND_MS	10

/*
 * How many NMIs of ours may still come, until when, in TSC ticks: those of PMIs that a
 * stop took off the register, and those that were sent. They may find nothing left to
 * do, and have to be claimed all the same, or the kernel reports NMIs of unknown
 * origin. Each NMI that comes takes one off. Should it have been another's, ours is
 * right after it, unclaimed: then the kernel looks for whoever is not served yet.
 */
static DEFINE_PER_CPU(atomic_t, awaited);
static DEFINE_PER_CPU(u64, awaited_until);
/* A PMI masked LVTPC; its NMI, here or on its way, is to undo that. */
static DEFINE_PER_CPU(bool, masked);

static u64 ticks_of(unsigned int ms)
{
	return (u64)ms * tsc_khz;
}

static u64 time_in(unsigned int ms)
{
	return rdtsc() + ticks_of(ms);
}

/* Nobody awaits one for longer: that was before the machine slept and the TSC went back. */
static bool is_over(u64 until)
{
	u64 left = until - rdtsc();

	return !left || left > ticks_of(SENT_MS + KIPT_TSC_SKEW_MS);
}

/* Others add, this CPU takes off. */
bool kipt_nmi_take_local(void)
{
	atomic_t *count = this_cpu_ptr(&awaited);
	u64 *until = this_cpu_ptr(&awaited_until);
	int seen = atomic_read(count);
	u64 limit = READ_ONCE(*until);

	if (is_over(limit)) {
		/* Unless another was sent meanwhile. */
		atomic_cmpxchg(count, seen, 0);
		return false;
	}
	if (!atomic_add_unless(count, -1, 0))
		return false;
	cmpxchg(until, limit, time_in(BEHIND_MS));
	return true;
}

static void await_nmi(unsigned int cpu, unsigned int ms)
{
	WRITE_ONCE(per_cpu(awaited_until, cpu), time_in(ms));
	atomic_inc(&per_cpu(awaited, cpu));
}

bool kipt_nmi_pmi_local(void)
{
	if (!kipt_hw_pmi_ack_local())
		return false;
	this_cpu_write(masked, true);
	return true;
}

void kipt_nmi_unmask_local(void)
{
	if (!this_cpu_read(masked))
		return;
	this_cpu_write(masked, false);
	kipt_hw_pmi_unmask_local();
}

void kipt_nmi_stopped_local(void)
{
	if (kipt_nmi_pmi_local())
		await_nmi(smp_processor_id(), PMI_MS);
}

void kipt_nmi_send(unsigned int cpu)
{
	unsigned long flags;

	/* So that it follows at once, and no other NMI is taken for it. */
	local_irq_save(flags);
	await_nmi(cpu, SENT_MS);
	kipt_hw_send_nmi(cpu);
	local_irq_restore(flags);
}
