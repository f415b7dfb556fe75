/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel of a recording of perf: which one it was, and where.
 */
#ifndef KIPT_PERF_KERNEL_H
#define KIPT_PERF_KERNEL_H

#include "perf_file.h"

#define PERF_KERNEL_SYMBOL	32

/* What recordings call the kernel. */
#define PERF_KERNEL_NAME	"[kernel.kallsyms]"

/**
 * struct perf_kernel - a kernel as it ran
 * @symbol: a symbol of it, "_text" or "_stext"; "" if perf does not say where it
 *	was
 * @address: of @symbol while it ran
 * @has_id: its build id is in its event
 * @id: the build id
 */
struct perf_kernel {
	char symbol[PERF_KERNEL_SYMBOL];
	u64 address;
	bool has_id;
	struct build_id id;
};

/**
 * perf_kernel_take() - look at one event
 * @kernel: all zero before the first event
 * @event: any event
 */
void perf_kernel_take(struct perf_kernel *kernel,
		      const struct perf_event *event);

/**
 * perf_kernel_moved() - how far a kernel is from where its file has it
 * @kernel: all events were looked at
 * @file: where they were from
 * @path: vmlinux
 * @bias: filled: what is to be added to addresses of @path
 *
 * Return: true, or false after a sentence: @path is of another kernel, or the
 * recording does not say where the kernel was.
 */
bool perf_kernel_moved(const struct perf_kernel *kernel,
		       const struct perf_file *file, const char *path,
		       u64 *bias);

#endif /* KIPT_PERF_KERNEL_H */
