/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test must leave as it was: free memory, the kernel's log, interrupt
 * counts, and PT itself off. Read from the guest's own files.
 */
#ifndef KIPT_MACHINE_STATE_H
#define KIPT_MACHINE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Free memory in KiB, after caches that can be dropped were dropped. */
long machine_free_kib(void);

/*
 * Complaints in the kernel's log: warnings, bugs, stalls, unchecked MSR
 * accesses, unknown NMIs. Each new one is printed.
 */
int machine_complaints(bool print);

/* Sum over all CPUs of one line of /proc/interrupts, such as "NMI"; -1: none. */
long machine_interrupts(const char *name);

/* Why MSRs of a CPU cannot be read; NULL: they can. */
const char *machine_no_msr(int cpu);

#define MSR_IA32_RTIT_CTL	0x570

/* IA32_RTIT_CTL of a CPU, through /dev/cpu/N/msr. False: cannot be read. */
bool machine_rtit_ctl(int cpu, uint64_t *value);

/* Any MSR of a CPU, likewise. False: it cannot be read or written. */
bool machine_msr_read(int cpu, uint32_t msr, uint64_t *value);
bool machine_msr_write(int cpu, uint32_t msr, uint64_t value);

/* A parameter of the module; ~0: it cannot be read. */
uint64_t machine_parameter(const char *name);

/* Why there is no file to load the module from; NULL: there is. */
const char *machine_no_module_file(void);

/*
 * Load the module of KIPT_MODULE, or kipt.ko of this folder, and remove it. Return: 0 or a negative errno.
 */
int machine_load(const char *parameters);
int machine_unload(void);

#endif /* KIPT_MACHINE_STATE_H */
