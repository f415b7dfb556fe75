/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's intel_pt PMU from a test: one event on one CPU with an AUX buffer.
 * Not for use by two threads at once.
 */
#ifndef PERF_PT_H
#define PERF_PT_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct perf_pt - an event
 * @fd: perf's
 * @page: the page that is shared with the kernel
 * @aux: the trace
 * @aux_size: its bytes
 */
struct perf_pt {
	int fd;
	void *page;
	unsigned char *aux;
	size_t aux_size;
};

/* The PMU's number; 0: there is no such PMU, or no sysfs. */
uint32_t perf_pt_type(void);

/* Make an event that does not trace yet. Return: 0 or a negative errno. */
int perf_pt_open(struct perf_pt *perf, uint32_t type, int cpu);

void perf_pt_close(struct perf_pt *perf);

/* Return: 0 or a negative errno. */
int perf_pt_enable(struct perf_pt *perf);
int perf_pt_disable(struct perf_pt *perf);

/* Bytes of trace so far. */
uint64_t perf_pt_head(const struct perf_pt *perf);

#endif /* PERF_PT_H */
