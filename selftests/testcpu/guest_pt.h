/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PT of the CPU this program runs on, driven by hand through the msr device,
 * with a huge page as output buffer. For the case tests inside the test
 * machine: needs root and the msr module. One user per program.
 */
#ifndef TESTCPU_GUEST_PT_H
#define TESTCPU_GUEST_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../kmod/hw/rtit_regs.h"

/* The page holds tables in its first part, trace in the second. */
#define GUEST_PAGE	(2u << 20)
#define GUEST_TRACE	(1u << 20)

extern uint8_t *guest_page;
extern uint64_t guest_page_pa;
extern int guest_cpu;

/** guest_open - pin to @cpu and get a buffer; Return: false with a reason */
bool guest_open(int cpu, const char **why);

/** guest_rdmsr - false on #GP */
bool guest_rdmsr(uint32_t msr, uint64_t *value);

/** guest_wrmsr - false on #GP */
bool guest_wrmsr(uint32_t msr, uint64_t value);

/** guest_wrmsr_on - the same on another CPU */
bool guest_wrmsr_on(int cpu, uint32_t msr, uint64_t value);

/** guest_output - single range of 1 MiB, empty; @psb: start with a PSB+ */
bool guest_output(bool psb);

/** guest_run - set TraceEn, call @fn, clear TraceEn
 * @ctl: IA32_RTIT_CTL beside TraceEn
 * @fn: what to trace; entered by an indirect call
 */
void guest_run(uint64_t ctl, void (*fn)(void));

/** guest_packets - what guest_run() left, as text */
const char *guest_packets(void);

/** guest_list - name the packets in the first @len bytes of the trace */
void guest_list(size_t len);

/** guest_trace_length - bytes in the single range */
size_t guest_trace_length(void);

/* Labels in guest_run()'s path: after the system call that switches tracing on, at its
 * call and after that. */
extern const char guest_after_on[], guest_call[], guest_after_call[];

/** kernel_symbol - address from /proc/kallsyms, 0 if there is none */
uint64_t kernel_symbol(const char *name);

/** packets_match - compare with a pattern: words, where a '*' inside a word
 * matches anything up to the word's end or the next character, and a word
 * "..." for any number of words, "~" for any number that leave tracing on: none
 * is TIP.PGE, TIP.PGD or TraceStop */
bool packets_match(const char *pattern, const char *packets);

#endif /* TESTCPU_GUEST_PT_H */
