/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel is asked for and what it answers, as plain structs: the
 * only thing that verbs, transport and printers have in common.
 */
#ifndef KIPT_SESSION_H
#define KIPT_SESSION_H

#include <stdbool.h>

#include "../../kmod/decode/port.h"
#include "../../kmod/rtit_features.h"
#include "../../uapi/linux/kipt.h"
#include "range.h"

#define KIPT_CPUS_TEXT	256
#define KIPT_CPUS_MAX	4096
#define KIPT_KINDS_MAX	8

/**
 * struct kipt_caps - what CPUs of one kind can do
 * @cpus: these CPUs, "": not told
 * @leaf0_eax, @leaf0_ebx, @leaf0_ecx: CPUID.(EAX=14H,ECX=0)
 * @leaf1_eax, @leaf1_ebx: CPUID.(EAX=14H,ECX=1)
 * @tsc_den, @tsc_num, @crystal_hz: CPUID.15H EAX, EBX, ECX
 * @tsc_khz: frequency of the TSC, 0: unknown
 * @max_nonturbo_ratio: MSR_PLATFORM_INFO[15:8], 0: unknown
 * @family, @model, @stepping: of the CPU
 * @core_type: CPUID.1AH:EAX[31:24], 0 in machines with one kind of core
 * @vmx_pt: PT may be on in VMX operation
 * @ctl_allowed: bits of IA32_RTIT_CTL a session may set
 * @values: what leaf 14H.1 allows, by caps_settle()
 */
struct kipt_caps {
	char cpus[KIPT_CPUS_TEXT];
	u32 leaf0_eax, leaf0_ebx, leaf0_ecx;
	u32 leaf1_eax, leaf1_ebx;
	u32 tsc_den, tsc_num, crystal_hz;
	u32 tsc_khz;
	u32 max_nonturbo_ratio;
	u32 family, model, stepping;
	u32 core_type;
	u32 vmx_pt;
	u64 ctl_allowed;
	struct rtit_values values;
};

/**
 * struct kipt_info - reply to get-info
 * @kind_count: entries of @kind
 * @kind: capabilities of each kind of CPU
 * @caps: what all kinds share
 * @version: of the module
 * @abi: of the netlink interface
 * @record_version: of struct kipt_record
 * @size_min, @size_max: bytes of a buffer
 * @max_mms: address spaces kept by keep-mm
 * @online: CPUs that have PT
 * @busy: CPUs a session holds
 */
struct kipt_info {
	u32 kind_count;
	struct kipt_caps kind[KIPT_KINDS_MAX];
	struct kipt_caps caps;
	char version[32];
	u32 abi;
	u32 record_version;
	u64 size_min, size_max;
	u32 max_mms;
	char online[KIPT_CPUS_TEXT];
	char busy[KIPT_CPUS_TEXT];
};

/**
 * struct kipt_cpu - one CPU of a session
 * @id: its number
 * @state: enum kipt_state
 * @size: bytes of its buffer
 * @bytes: trace bytes in it
 * @head: offset of the next byte
 * @wrapped: older trace was overwritten
 * @status: IA32_RTIT_STATUS at the last stop
 * @blocks, @block_min, @block_max: memory blocks of the buffer, their bytes
 * @pmis: ToPA PMIs taken
 * @offline: it went offline while traced
 * @records: decoded so far by the last fetch
 */
struct kipt_cpu {
	u32 id;
	u32 state;
	u64 size;
	u64 bytes;
	u64 head;
	u32 wrapped;
	u64 status;
	u32 blocks, block_min, block_max;
	u64 pmis;
	u32 offline;
	u64 records;
};

/**
 * struct kipt_session - a session as asked for or as reported
 * @id: its number, given by the kernel
 * @cpus: CPU list
 * @mode: enum kipt_mode
 * @size: bytes per CPU
 * @ctl: fields of IA32_RTIT_CTL
 * @flags: KIPT_SESSION_FLAGS_*
 * @filter: address ranges
 * @filter_count: how many
 * @pid: process that is traced, 0: all are
 * @cr3: address space whose user code is traced, 0: all are
 * @state: enum kipt_state
 * @cpu_count: entries of @cpu
 * @cpu: one for each CPU; owned, session_free()
 */
struct kipt_session {
	u32 id;
	char cpus[KIPT_CPUS_TEXT];
	u32 mode;
	u64 size;
	u64 ctl;
	u32 flags;
	struct kipt_range filter[KIPT_FILTERS_MAX];
	u32 filter_count;
	u32 pid;
	u64 cr3;
	u32 state;
	u32 cpu_count;
	struct kipt_cpu *cpu;
};

/**
 * struct kipt_batch - one "records" message
 * @id: the session
 * @cpu: whose records; valid if @has_cpu
 * @seq: number of the message in its fetch
 * @records: what it carries; valid during the callback
 * @count: how many
 * @lost: records dropped so far
 * @trace_done: trace bytes decoded so far
 * @has_cpu: @cpu is there
 * @last: this is the last message; @done and @total are there
 * @done: 0 or the errno that ended the fetch
 * @total: records of the whole fetch
 */
struct kipt_batch {
	u32 id;
	u32 cpu;
	u64 seq;
	const struct kipt_record *records;
	u32 count;
	u64 lost;
	u64 trace_done;
	bool has_cpu;
	bool last;
	u32 done;
	u64 total;
};

/**
 * session_free() - free what a reported session owns
 * @session: may be all zero
 */
void session_free(struct kipt_session *session);

/**
 * session_state_name() - a state in a word
 * @state: enum kipt_state
 *
 * Return: a constant string.
 */
const char *session_state_name(u32 state);

/**
 * session_mode_name() - a mode in a word
 * @mode: enum kipt_mode
 *
 * Return: a constant string.
 */
const char *session_mode_name(u32 mode);

/**
 * session_mode_parse() - a mode from its word
 * @text: "ring" or "once"
 *
 * Return: enum kipt_mode, or 0 if it is none.
 */
u32 session_mode_parse(const char *text);

#endif /* KIPT_SESSION_H */
