// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserves perf's intel_pt PMU. A disabled event writes no MSR, yet the PMU
 * is exclusive, so it makes perf_event_open() say EBUSY for others; it also
 * takes part in perf's own exclusion of PT and LBR, and keeps perf's PMI
 * handler awake. Owns the events, one a CPU. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "../lib/refuse.h"
#include "reserve.h"

#define PMU_NAME	"intel_pt"

/**
 * struct slot - the reservation of a CPU
 * @event: perf's, or NULL
 * @puts: counts how often it was put, also because the CPU went away
 */
struct slot {
	struct perf_event *event;
	u32 puts;
};

/* Guards the slots. A CPU hotplug callback takes it. */
static DEFINE_MUTEX(slots_lock);
static DEFINE_PER_CPU(struct slot, slots);

static enum { PMU_UNKNOWN, PMU_ABSENT, PMU_PRESENT } found;
static u32 pmu_type;

static struct perf_event *make_event(unsigned int cpu, u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return event;
	if (event->pmu && event->pmu->type == type)
		return event;
	perf_event_release_kernel(event);
	return ERR_PTR(-ENODEV);
}

/* The data of a device on perf's bus is its PMU, which says the same. */
static void look_at_pmu(struct device *dev)
{
	struct pmu *pmu = dev_get_drvdata(dev);

	if (!pmu || pmu->dev != dev)
		return;
	pmu_type = pmu->type;
	found = PMU_PRESENT;
}

/* PMUs are devices of one bus: there no mount namespace hides their names. */
static void look_on_bus(const struct pmu *witness)
{
	struct device *dev;

	if (!witness || !witness->dev || !witness->dev->bus)
		return;
	dev = bus_find_device_by_name(witness->dev->bus, NULL, PMU_NAME);
	if (dev)
		look_at_pmu(dev);
	else
		found = PMU_ABSENT;
	put_device(dev);
}

/*
 * By an event that counts nothing, of a PMU that every kernel with perf has. Of a CPU:
 * the first event of a task has the kernel patch its scheduler, and patch it back
 * a second after the last one is gone (perf_sched_events), in the midst of traces.
 */
static void look_for_pmu(void)
{
	struct perf_event *witness = ERR_PTR(-ENODEV);
	unsigned int cpu;

	/* One that goes offline has none. */
	for_each_online_cpu(cpu) {
		witness = make_event(cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		if (!IS_ERR(witness))
			break;
	}
	if (IS_ERR(witness))
		return;
	look_on_bus(witness->pmu);
	perf_event_release_kernel(witness);
}

void kipt_reserve_init(void)
{
	look_for_pmu();
	if (found == PMU_ABSENT)
		pr_info("perf has no intel_pt PMU (Intel PT was on at boot, or has no ToPA): nothing to keep off\n");
	else if (found == PMU_UNKNOWN)
		pr_warn("cannot find out whether perf has an intel_pt PMU: no CPU can be traced\n");
}

static int explain(unsigned int cpu, int err, struct kipt_refusal *refusal)
{
	if (err == -EBUSY)
		return kipt_refuse(refusal, NULL, err,
				   "CPU %u: perf uses Intel PT there, follows a task with it on any CPU, or uses LBR where that excludes it; end that first",
				   cpu);
	if (err == -ENXIO)
		return kipt_refuse(refusal, NULL, err, "CPU %u is offline; online CPUs: %*pbl",
				   cpu, cpumask_pr_args(cpu_online_mask));
	return kipt_refuse(refusal, NULL, err,
			   "CPU %u: perf's intel_pt PMU cannot be reserved (error %d)", cpu, -err);
}

static u32 puts_of(unsigned int cpu, bool *reserved)
{
	struct slot *slot = per_cpu_ptr(&slots, cpu);
	u32 puts;

	mutex_lock(&slots_lock);
	*reserved = slot->event;
	puts = slot->puts;
	mutex_unlock(&slots_lock);
	return puts;
}

/* Return: false if the CPU went away since, and with it the event's worth. */
static bool keep_event(unsigned int cpu, struct perf_event *event, u32 puts)
{
	struct slot *slot = per_cpu_ptr(&slots, cpu);
	bool keep;

	cpus_read_lock();
	mutex_lock(&slots_lock);
	keep = cpu_online(cpu) && slot->puts == puts && !slot->event;
	if (keep)
		slot->event = event;
	mutex_unlock(&slots_lock);
	cpus_read_unlock();
	return keep;
}

int kipt_reserve_get(unsigned int cpu, struct kipt_refusal *refusal)
{
	struct perf_event *event;
	bool reserved;
	u32 puts;

	might_sleep();
	if (found == PMU_ABSENT)
		return 0;
	if (found == PMU_UNKNOWN)
		return kipt_refuse(refusal, NULL, -ENODEV,
				   "nothing shows whether perf has an intel_pt PMU, so perf might use Intel PT on CPU %u",
				   cpu);
	puts = puts_of(cpu, &reserved);
	if (reserved)
		return 0;
	if (!cpu_online(cpu))
		return explain(cpu, -ENXIO, refusal);
	event = make_event(cpu, pmu_type, 0);
	if (IS_ERR(event))
		return explain(cpu, PTR_ERR(event), refusal);
	if (keep_event(cpu, event, puts))
		return 0;
	perf_event_release_kernel(event);
	return explain(cpu, -ENXIO, refusal);
}

bool kipt_reserve_held(unsigned int cpu)
{
	bool held;

	if (found == PMU_ABSENT)
		return true;
	mutex_lock(&slots_lock);
	held = per_cpu(slots, cpu).event;
	mutex_unlock(&slots_lock);
	return held;
}

void kipt_reserve_put(unsigned int cpu)
{
	struct slot *slot = per_cpu_ptr(&slots, cpu);
	struct perf_event *event;

	mutex_lock(&slots_lock);
	event = slot->event;
	slot->event = NULL;
	slot->puts++;
	mutex_unlock(&slots_lock);
	if (event)
		perf_event_release_kernel(event);
}
