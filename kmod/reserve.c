// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserves perf's intel_pt PMU. A disabled event writes no MSR, yet the PMU
 * is exclusive, so it makes perf_event_open() say EBUSY for others; it also
 * takes part in perf's own exclusion of PT and LBR, and keeps perf's PMI
 * handler awake. Process context.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "reserve.h"

/* The number is given out at boot, and only sysfs tells it. */
#define TYPE_PATH	"/sys/bus/event_source/devices/intel_pt/type"

/* Return: the PMU's type, or 0 if there is no such PMU. */
static u32 read_type(void)
{
	struct file *file;
	char text[16];
	loff_t pos = 0;
	ssize_t n;
	u32 type;

	file = filp_open(TYPE_PATH, O_RDONLY, 0);
	if (IS_ERR(file))
		return 0;
	n = kernel_read(file, text, sizeof(text) - 1, &pos);
	filp_close(file, NULL);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return kstrtou32(strim(text), 10, &type) ? 0 : type;
}

int kipt_reserve_get(unsigned int cpu, struct perf_event **event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *made;

	*event = NULL;
	attr.type = read_type();
	if (!attr.type)
		return 0;
	made = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(made))
		return PTR_ERR(made);
	*event = made;
	return 0;
}

void kipt_reserve_put(struct perf_event *event)
{
	if (event)
		perf_event_release_kernel(event);
}
