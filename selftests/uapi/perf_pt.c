// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bare client of perf's intel_pt PMU. Knows nothing of kipt.
 */
#include "perf_pt.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE		4096UL
#define AUX_SIZE	(4 * PAGE)

uint32_t perf_pt_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/intel_pt/type", "r");
	unsigned int type = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%u", &type) != 1)
		type = 0;
	fclose(f);
	return type;
}

static int map(struct perf_pt *perf)
{
	struct perf_event_mmap_page *page;

	perf->page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  perf->fd, 0);
	if (perf->page == MAP_FAILED)
		return -errno;
	page = perf->page;
	page->aux_offset = 2 * PAGE;
	page->aux_size = AUX_SIZE;
	perf->aux_size = AUX_SIZE;
	perf->aux = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 perf->fd, 2 * PAGE);
	return perf->aux == MAP_FAILED ? -errno : 0;
}

int perf_pt_open(struct perf_pt *perf, uint32_t type, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.disabled = 1,
	};
	int err;

	perf->page = MAP_FAILED;
	perf->aux = MAP_FAILED;
	perf->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
				PERF_FLAG_FD_CLOEXEC);
	if (perf->fd < 0)
		return -errno;
	err = map(perf);
	if (err)
		perf_pt_close(perf);
	return err;
}

void perf_pt_close(struct perf_pt *perf)
{
	if (perf->aux != MAP_FAILED)
		munmap(perf->aux, perf->aux_size);
	if (perf->page != MAP_FAILED)
		munmap(perf->page, 2 * PAGE);
	close(perf->fd);
}

int perf_pt_enable(struct perf_pt *perf)
{
	return ioctl(perf->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int perf_pt_disable(struct perf_pt *perf)
{
	return ioctl(perf->fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

uint64_t perf_pt_head(const struct perf_pt *perf)
{
	const struct perf_event_mmap_page *page = perf->page;

	return __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
}
