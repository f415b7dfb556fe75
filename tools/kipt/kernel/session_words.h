/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel is asked for and what it answers, as plain structs: the
 * only thing that verbs, transport and printers have in common.
 */
#ifndef KIPT_SESSION_WORDS_H
#define KIPT_SESSION_WORDS_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../../../kmod/hw/rtit_features.h"
#include "../../../uapi/linux/kipt.h"
#include "../filter/address_range.h"

#define KIPT_CPUS_TEXT	(KIPT_CPUS_LEN + 1)
#define KIPT_CPUS_MAX	4096
#define KIPT_KINDS_MAX	8

/**
 * struct kipt_caps - what CPUs of one kind can do
 * @cpus: these CPUs, "": not known
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
 * struct kipt_limits - bounds of the module
 * @size_min, @size_max: bytes of a buffer
 * @memory: bytes all sessions, fetches and files may use together
 * @spaces: address spaces a session knows
 * @switches: task switches a CPU's log holds
 * @patches: patches of kernel text the log holds
 * @arena: bytes of working memory of a reader of a fetch
 * @processes: processes a session follows at a time
 */
struct kipt_limits {
	u64 size_min, size_max;
	u64 memory;
	u32 spaces, switches, patches;
	u64 arena;
	u32 processes;
};

/**
 * struct kipt_info - reply to get-info
 * @kind_count: entries of @kind
 * @kind: capabilities of each kind of CPU
 * @caps: what all kinds share
 * @version: of the module
 * @abi: of the netlink interface
 * @record_version: of struct kipt_record
 * @limits: bounds
 * @online: CPUs that have PT
 * @has_use: this process may trace: @busy, @memory and @latch are known
 * @busy: CPUs a session holds
 * @memory: bytes in use
 * @latch: enum kipt_stop_cause, why nothing can be started, or 0
 * @absent: parts that it was built without, KIPT_PART_*
 */
struct kipt_info {
	u32 kind_count;
	struct kipt_caps kind[KIPT_KINDS_MAX];
	struct kipt_caps caps;
	char version[32];
	u32 abi;
	u32 record_version;
	struct kipt_limits limits;
	char online[KIPT_CPUS_TEXT];
	bool has_use;
	char busy[KIPT_CPUS_TEXT];
	u64 memory;
	u32 latch;
	u32 absent;
};

/**
 * struct kipt_cpu - one CPU of a session
 * @id: its number
 * @state: enum kipt_state
 * @cause: enum kipt_stop_cause, why it stopped, or 0
 * @size: bytes of its buffer
 * @head: trace bytes written in this run
 * @tail: of these, the oldest that is there
 * @status: IA32_RTIT_STATUS at the last stop
 * @blocks, @block_min, @block_max: memory blocks of the buffer, their bytes
 * @pmis: ToPA PMIs taken
 */
struct kipt_cpu {
	u32 id;
	u32 state;
	u32 cause;
	u64 size;
	u64 head;
	u64 tail;
	u64 status;
	u32 blocks, block_min, block_max;
	u64 pmis;
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
 * @cause: enum kipt_stop_cause, why its last run ended, or 0
 * @generation: number of starts
 * @uid: of who made it
 * @memory: bytes it uses
 * @memory_total: while it is made, bytes it will use
 * @spaces_lost: address spaces it had to forget
 * @switches_lost: task switches its logs had no room for
 * @processes: with @pid, processes it follows that live
 * @processes_lost: those it should have followed and did not
 * @print_branches: of an armed one, lines that are printed at a crash
 * @print_cpus: of each other CPU
 * @print_user: and branches of user code
 * @snapshots: of an armed one, events of which it keeps traces at a time
 * @snapshots_size: bytes of memory for that
 * @hooks_lost: of an armed one, what keeps it from seeing a crash; "": nothing
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
	u32 cause;
	u64 generation;
	u32 uid;
	u64 memory, memory_total;
	u64 spaces_lost, switches_lost;
	u32 processes;
	u64 processes_lost;
	u32 print_branches;
	u32 print_cpus;
	u32 print_user;
	u32 snapshots;
	u64 snapshots_size;
	char hooks_lost[256];
	u32 cpu_count;
	struct kipt_cpu *cpu;
};

/**
 * struct kipt_piece - one message of a fetch
 * @fetch: number of the fetch
 * @total: trace bytes it has to decode
 * @done: of these, decoded so far
 * @in_chunk: what follows is known
 * @cpu: whose trace it is
 * @chunk: number of the chunk
 * @from: its first byte in the trace of the CPU
 * @to: the byte after it
 * @lost: trace bytes of the CPU that were overwritten
 * @end: the chunk is complete
 * @records: what it carries; valid during the callback
 * @count: how many
 */
struct kipt_piece {
	u32 fetch;
	u64 total;
	u64 done;
	bool in_chunk;
	u32 cpu;
	u64 chunk;
	u64 from;
	u64 to;
	u64 lost;
	bool end;
	const struct kipt_record *records;
	u32 count;
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
 * session_cause_name() - why tracing ended, in words
 * @cause: enum kipt_stop_cause
 *
 * Return: a constant string.
 */
const char *session_cause_name(u32 cause);

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

/**
 * struct kipt_snapshot - the traces before what the machine survived
 * @id: its number
 * @time: nanoseconds since 1970
 * @hook: enum kipt_crash_hook
 * @cpu: where it happened
 * @ip: the instruction, 0: not known
 * @has_trap: @trap is known
 * @trap: vector of the exception
 * @pid: thread on that CPU, 0: not known
 * @comm: its name
 * @cpus: whose trace there is
 * @signal: what killed a program; 0: none was killed
 * @process: whose thread @pid is
 * @uid: its user
 * @file: what @ip is in, "": not known
 * @file_offset: where
 * @missed: events before it, since the snapshot before, of which nothing is kept
 * @size: bytes of @data
 * @data: pages and trace, see uapi/linux/kipt_crash.h; NULL in a list
 * @got: bytes of @data that came
 */
struct kipt_snapshot {
	u32 id;
	u64 time;
	u32 hook, cpu;
	u64 ip;
	bool has_trap;
	u32 trap;
	u32 pid;
	char comm[16];
	u32 cpus;
	u32 missed;
	u32 signal;
	u32 process;
	u32 uid;
	char file[216];
	u64 file_offset;
	u64 size;
	u8 *data;
	u64 got;
};

#endif /* KIPT_SESSION_WORDS_H */
