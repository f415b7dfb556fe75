/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between which instructions the plugin counts: two NOPs that do nothing on
 * any CPU and that no compiler makes, for their displacement. Shared by the
 * module, which executes them, and the plugin, which knows them by their bytes.
 */
#ifndef BENCH_KERNEL_MARKS_H
#define BENCH_KERNEL_MARKS_H

/* 0F 1F /0 with a displacement of four bytes: NOPL disp32(%rax). */
#define BENCH_MARK_BYTES	0x0f, 0x1f, 0x80
#define BENCH_MARK_LEN		7
#define BENCH_MARK_BEGIN	0x6b697062
#define BENCH_MARK_END		0x6b697065

#endif /* BENCH_KERNEL_MARKS_H */
