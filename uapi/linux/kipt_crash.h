/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What the module leaves in memory for the reader of a dump of a machine that
 * died: pages that describe themselves and point to each other and to the trace
 * by physical address. Nothing else of the dump is needed to find them.
 *
 * Each page is 4096 bytes, starts at a multiple of that, and begins with struct
 * kipt_crash_page. The first is of kind HEADER; where the machine dies the
 * log names its address ("crash header at 0x..."). From there @next leads through one page of kind
 * CPU for each CPU, and 0 ends the chain; @more leads from a CPU to pages of
 * kind REGIONS, and from the last of these to one of kind LOGS. Should one be
 * damaged, the others are found by their magic and the same @id.
 *
 * A snapshot of a program that a signal killed has one page of kind CPU, and
 * next in the chain one of kind SIGNAL; from there @more leads through pages of
 * kind MAPS.
 *
 * All members are little-endian. Checksums are CRC-32 as zlib's crc32() makes it.
 * What is known while the machine runs has one checksum, what is written at the
 * crash has another, so that the one is good if the other was never written.
 */
#ifndef _UAPI_LINUX_KIPT_CRASH_H
#define _UAPI_LINUX_KIPT_CRASH_H

#include <linux/types.h>

#define KIPT_CRASH_MAGIC	"kipt crash page"	/* 16 bytes with its 0 */
/* In snapshots of a machine that survived; checksums are made with the other. */
#define KIPT_CRASH_SNAPSHOT_MAGIC	"kipt crash snap"
#define KIPT_CRASH_VERSION	1
#define KIPT_CRASH_PAGE_BYTES	4096
#define KIPT_CRASH_COOKIE	64

enum kipt_crash_kind {
	KIPT_CRASH_HEADER = 1,
	KIPT_CRASH_CPU,
	KIPT_CRASH_REGIONS,
	KIPT_CRASH_SIGNAL,
	KIPT_CRASH_MAPS,
	KIPT_CRASH_LOGS = 7,
};

/**
 * struct kipt_crash_page - what each page begins with
 * @magic: KIPT_CRASH_MAGIC
 * @version: KIPT_CRASH_VERSION; a reader refuses a higher one than its own
 * @kind: enum kipt_crash_kind
 * @size: bytes of the page that its checksum covers, from its begin on
 * @crc: of the first @size bytes, with this member as 0
 * @number: of pages of kind CPU and LOGS the CPU; of REGIONS from 0; of HEADER 0
 * @id: the same in all pages that belong together, a random number
 * @next: physical address of the next page of the chain, or 0
 * @more: of a CPU, and of REGIONS: the next page of kind REGIONS, or that of
 *	kind LOGS, or 0
 */
struct kipt_crash_page {
	__u8  magic[16];
	__u16 version;
	__u16 kind;
	__u32 size;
	__u32 crc;
	__u32 number;
	__u64 id;
	__u64 next;
	__u64 more;
};

/**
 * struct kipt_crash_layout - where the kernel that died has what it has
 * @module: address of struct module of this module, a member of the list of all
 * @module_list: offset of its list_head
 * @module_name: offset of its name, 56 bytes
 * @module_text: offset of the address of its text
 * @module_text_size: offset of the bytes of its text, a __u32
 * @module_kallsyms: offset of the pointer to its struct mod_kallsyms
 * @kallsyms_symtab: offsets in that: of the pointer to Elf64_Sym entries,
 * @kallsyms_count: of their number, a __u32,
 * @kallsyms_strtab: of the pointer to their names
 * @task_comm: offset of the name in struct task_struct, 16 bytes
 * @task_pid: offset of the thread's number, a __u32
 * @task_tgid: offset of the process's number, a __u32
 * @pad: 0
 * @vmcoreinfo: physical address of the ELF note of that name
 * @direct_map: virtual address of physical address 0
 */
struct kipt_crash_layout {
	__u64 module;
	__u32 module_list;
	__u32 module_name;
	__u32 module_text;
	__u32 module_text_size;
	__u32 module_kallsyms;
	__u32 kallsyms_symtab;
	__u32 kallsyms_count;
	__u32 kallsyms_strtab;
	__u32 task_comm;
	__u32 task_pid;
	__u32 task_tgid;
	__u32 pad;
	__u64 vmcoreinfo;
	__u64 direct_map;
};

/**
 * enum kipt_crash_hook - where the module saw first what happened
 * @KIPT_CRASH_HOOK_OOPS: oops_enter(), or a BUG() or an overflow of the stack
 *	before the kernel reports it
 * @KIPT_CRASH_HOOK_PANIC: panic() or vpanic()
 * @KIPT_CRASH_HOOK_KEXEC: __crash_kexec()
 * @KIPT_CRASH_HOOK_DIE: the die notifiers
 * @KIPT_CRASH_HOOK_NOTIFIER: the panic notifiers: all other CPUs have stopped
 * @KIPT_CRASH_HOOK_WARN: a warning: the machine means to survive
 * @KIPT_CRASH_HOOK_LOCKUP: the kernel was about to report a lockup of a CPU or
 *	a stall of RCU, whether a panic follows or not
 * @KIPT_CRASH_HOOK_HUNG: the kernel was about to report a task that hangs, likewise
 * @KIPT_CRASH_HOOK_REPORT: the kernel was about to report another error, likewise
 * @KIPT_CRASH_HOOK_SIGNAL: a signal killed a program, in snapshots only
 *
 * The machine dies of PANIC, KEXEC and NOTIFIER. It may survive OOPS, DIE and those from
 * WARN to REPORT: sysctls decide, and of an oops where it was; what it survives leaves a
 * snapshot. Dumps and snapshots have these numbers: a new one goes to the end.
 */
enum kipt_crash_hook {
	KIPT_CRASH_HOOK_OOPS = 1,
	KIPT_CRASH_HOOK_PANIC,
	KIPT_CRASH_HOOK_KEXEC,
	KIPT_CRASH_HOOK_DIE,
	KIPT_CRASH_HOOK_NOTIFIER,
	KIPT_CRASH_HOOK_WARN,
	KIPT_CRASH_HOOK_LOCKUP,
	KIPT_CRASH_HOOK_HUNG,
	KIPT_CRASH_HOOK_REPORT,
	KIPT_CRASH_HOOK_SIGNAL,
};

/**
 * struct kipt_crash_event - the crash; @crc and @hook are 0 before it
 * @crc: of what follows
 * @hook: enum kipt_crash_hook
 * @cpu: the first one there
 * @asked: CPUs that were sent an NMI
 * @answered: of these, those that stopped in time
 * @faulted: @ip is of an instruction that faulted, not of a caller
 * @tsc: when the first CPU was there
 * @ip: instruction that faulted, 0 in a call of NULL; or the call of panic(),
 *	of a report and of a warning with a text the call of what prints it, the
 *	address after it if that was no plain call; or 0 if not known
 * @trap: vector of the exception; ~0 if there was none
 * @pad: 0
 */
struct kipt_crash_event {
	__u32 crc;
	__u32 hook;
	__u32 cpu;
	__u32 asked;
	__u32 answered;
	__u32 faulted;
	__u64 tsc;
	__u64 ip;
	__u32 trap;
	__u32 pad;
};

/**
 * struct kipt_crash_anchor - sets the header apart from one that a program has made up
 * @id: @page.id of the header
 * @address: its physical address
 */
struct kipt_crash_anchor {
	__u64 id;
	__u64 address;
};

/**
 * struct kipt_crash_header - the page of kind HEADER
 * @page: what each page begins with; @page.size is the offset of @event
 * @nr_cpus: how many pages of kind CPU there are
 * @tsc_khz: of the clock that all times are in
 * @release: of the kernel, as uname -r
 * @kipt: version of the module
 * @anchor: virtual address of struct kipt_crash_anchor, in the memory of modules,
 *	where nobody but the kernel can write
 * @slots: virtual address of the first struct kipt_crash_slot; 0 in a snapshot
 * @nr_slots: how many there are
 * @slot_bytes: from one to the next
 * @pad: 0
 * @layout: see there
 * @event: what is written at the crash
 */
struct kipt_crash_header {
	struct kipt_crash_page page;
	__u32 nr_cpus;
	__u32 tsc_khz;
	__u8  release[72];
	__u8  kipt[24];
	__u64 anchor;
	__u64 slots;
	__u32 nr_slots;
	__u32 slot_bytes;
	__u8  pad[16];
	struct kipt_crash_layout layout;
	struct kipt_crash_event event;
};

/**
 * struct kipt_crash_slot - something that the machine survived, if @id is not 0
 * @id: number of the snapshot
 * @missed: events before it, since the one before, of which nothing is kept
 * @time: nanoseconds since 1970
 * @event: what happened; its @crc is not set
 * @areas: virtual address of the first struct kipt_crash_area, or 0
 *
 * In the memory of the kernel that died, see @slots of struct kipt_crash_header.
 */
struct kipt_crash_slot {
	__u32 id;
	__u32 missed;
	__u64 time;
	struct kipt_crash_event event;
	__u64 areas;
};

/**
 * struct kipt_crash_area - what one CPU copied
 * @next: virtual address of the next one of the slot, or 0
 * @data: virtual address of a page of kind CPU, @trace bytes of trace, a page of
 *	kind LOGS and its switches, as in a snapshot; no page is sealed, and no
 *	address in them is set
 * @size: bytes of all that
 * @trace: bytes of trace that there is room for
 * @cpu: of which CPU
 * @id: of the snapshot that it belongs to; another than its slot's: to none
 */
struct kipt_crash_area {
	__u64 next;
	__u64 data;
	__u64 size;
	__u64 trace;
	__u32 cpu;
	__u32 id;
};

/**
 * struct kipt_crash_region - a block of a CPU's trace
 * @address: physical
 * @size: bytes
 */
struct kipt_crash_region {
	__u64 address;
	__u64 size;
};

/**
 * enum kipt_crash_state - what is known of a CPU's trace
 * @KIPT_CRASH_NOT_TRACED: it has not been started, or was stopped before the
 *	crash, or its tracing ended by itself before: @head and @tail are of that run
 * @KIPT_CRASH_RUNNING: it traced and did not answer: registers are not known,
 *	the end is to be looked for in the trace
 * @KIPT_CRASH_STOPPED: it stopped for the crash, registers are as they were then
 * @KIPT_CRASH_LOST: its registers did not point into the buffer
 */
enum kipt_crash_state {
	KIPT_CRASH_NOT_TRACED = 0,
	KIPT_CRASH_RUNNING,
	KIPT_CRASH_STOPPED,
	KIPT_CRASH_LOST,
};

/**
 * struct kipt_crash_stop - how a CPU's trace ended; changes while it runs
 * @crc: of what follows; wrong in a machine that died while it was written
 * @state: enum kipt_crash_state
 * @head: see struct kipt_trace_result: bytes written, to the end
 * @tail: the oldest byte that is there; byte n is at n % size
 * @ctl: IA32_RTIT_CTL as tracing stopped; so are the next three
 * @status: IA32_RTIT_STATUS
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @tsc: when it stopped
 * @cr3: its page table then
 * @ip: where the NMI or the hook met it
 * @task: address of its struct task_struct
 * @pid: thread
 * @tgid: process
 * @comm: name
 */
struct kipt_crash_stop {
	__u32 crc;
	__u32 state;
	__u64 head;
	__u64 tail;
	__u64 ctl;
	__u64 status;
	__u64 base;
	__u64 mask_ptrs;
	__u64 tsc;
	__u64 cr3;
	__u64 ip;
	__u64 task;
	__u32 pid;
	__u32 tgid;
	__u8  comm[16];
};

/**
 * struct kipt_crash_cpu - the page of kind CPU
 * @page: what each page begins with; @page.size covers all but @stop: the
 *	checksum is of the @page.size bytes with @page.crc and @stop as 0
 * @apic_id: of the CPU
 * @session: number of the session
 * @ctl: IA32_RTIT_CTL that it is programmed with
 * @leaf0_ebx: CPUID.(EAX=14H,ECX=0):EBX
 * @leaf0_ecx: CPUID.(EAX=14H,ECX=0):ECX
 * @leaf1_eax: CPUID.(EAX=14H,ECX=1):EAX
 * @leaf1_ebx: CPUID.(EAX=14H,ECX=1):EBX
 * @tsc_den: CPUID.15H:EAX
 * @tsc_num: CPUID.15H:EBX
 * @crystal_hz: CPUID.15H:ECX
 * @max_nonturbo_ratio: MSR_PLATFORM_INFO[15:8]
 * @size: bytes of the buffer
 * @started: TSC of the start; times of the trace lie after it
 * @cookie: is at the end of the buffer as long as the ring was not written
 *	round
 * @nr_regions: of the whole buffer
 * @nr_here: of these, how many are in this page; the rest in REGIONS pages
 * @stop: how it ended
 * @regions: @nr_here of them, in the order in which they are written
 */
struct kipt_crash_cpu {
	struct kipt_crash_page page;
	__u32 apic_id;
	__u32 session;
	__u64 ctl;
	__u32 leaf0_ebx;
	__u32 leaf0_ecx;
	__u32 leaf1_eax;
	__u32 leaf1_ebx;
	__u32 tsc_den;
	__u32 tsc_num;
	__u32 crystal_hz;
	__u32 max_nonturbo_ratio;
	__u64 size;
	__u64 started;
	__u8  cookie[KIPT_CRASH_COOKIE];
	__u32 nr_regions;
	__u32 nr_here;
	struct kipt_crash_stop stop;
	struct kipt_crash_region regions[];
};

#define KIPT_CRASH_REGIONS_HERE \
	((KIPT_CRASH_PAGE_BYTES - sizeof(struct kipt_crash_cpu)) / \
	 sizeof(struct kipt_crash_region))

/**
 * struct kipt_crash_regions - a page of kind REGIONS
 * @page: what each page begins with
 * @nr_here: how many are in this page
 * @pad: 0
 * @regions: they
 */
struct kipt_crash_regions {
	struct kipt_crash_page page;
	__u32 nr_here;
	__u32 pad;
	struct kipt_crash_region regions[];
};

/**
 * struct kipt_crash_signal - the page of kind SIGNAL
 * @page: what each page begins with; @page.more: the first page of kind MAPS, or 0
 * @tsc: when the signal was about to kill
 * @ip: the instruction that faulted, or the one after the system call that did
 *	not return
 * @sp: stack pointer
 * @address: si_addr, 0 if a process sent the signal
 * @cr3: the page table, as PIP packets name it while the kernel runs, without
 *	the low 12 bits
 * @cr3_user: the same while user code runs
 * @tid: thread
 * @pid: its process
 * @uid: real user id, as the initial user namespace has it
 * @signal: number of the signal
 * @code: si_code
 * @is_32bit: the thread was in 32-bit code
 * @maps_lost: executable mappings, at most, that are left out; ~0: another thread was
 *	changing them, and all are left out
 * @pad: 0
 * @comm: name of the thread
 */
struct kipt_crash_signal {
	struct kipt_crash_page page;
	__u64 tsc;
	__u64 ip;
	__u64 sp;
	__u64 address;
	__u64 cr3;
	__u64 cr3_user;
	__u32 tid;
	__u32 pid;
	__u32 uid;
	__u32 signal;
	__s32 code;
	__u32 is_32bit;
	__u32 maps_lost;
	__u32 pad;
	__u8  comm[16];
};

#define KIPT_CRASH_PATH_BYTES	184
#define KIPT_CRASH_ID_BYTES	20

/**
 * struct kipt_crash_map - an executable mapping, or a part of one
 * @start: first address
 * @end: last address + 1
 * @offset: of @start in the file
 * @pad0: 0
 * @dev: device of the file, as stat() encodes it, in 32 bits; 0: no file
 * @build_id_bytes: of @build_id; 0: the file has none, or it was not in memory
 * @changed: it was written to in this process's memory: what ran is in no file
 * @pad: 0
 * @path: of the file as its process sees it, or a name such as "[vdso]", or
 *	empty; a long one begins with "..." and has its end
 * @inode: number of the file
 * @build_id: @build_id_bytes of it
 * @pad2: 0
 */
struct kipt_crash_map {
	__u64 start;
	__u64 end;
	__u64 offset;
	__u64 pad0;
	__u32 dev;
	__u8  build_id_bytes;
	__u8  changed;
	__u16 pad;
	__u8  path[KIPT_CRASH_PATH_BYTES];
	__u64 inode;
	__u8  build_id[KIPT_CRASH_ID_BYTES];
	__u32 pad2;
};

/**
 * struct kipt_crash_maps - a page of kind MAPS
 * @page: what each page begins with
 * @nr_here: how many are in this page
 * @pad: 0
 * @maps: they
 */
struct kipt_crash_maps {
	struct kipt_crash_page page;
	__u32 nr_here;
	__u32 pad;
	struct kipt_crash_map maps[];
};

/**
 * struct kipt_crash_switch - a thread began to run on a CPU
 * @tsc: when, 64 bits
 * @space: physical address of its page table; 0 for a kernel thread
 * @id: for the module only: number of its address space, see space_table.h; 0: a kernel
 *	thread, an address space nobody has noted, or a process that is not followed
 * @tid: thread
 * @tgid: process
 */
struct kipt_crash_switch {
	__u64 tsc;
	__u64 space;
	__u64 id;
	__u32 tid;
	__u32 tgid;
};

#define KIPT_CRASH_PATCH_BYTES	16
#define KIPT_CRASH_PATCH_KNOWN	(1U << 31)

/**
 * struct kipt_crash_patch - kernel text that was changed
 * @tsc: when, a little before it was done
 * @address: first address
 * @older: for the module only: number, plus 1, of the entry before this one that lies
 *	in its first page, and of that in its last
 * @len: bytes, with KIPT_CRASH_PATCH_KNOWN if @before has them
 * @before: what was there before
 */
struct kipt_crash_patch {
	__u64 tsc;
	__u64 address;
	__u64 older[2];
	__u32 len;
	__u8  before[KIPT_CRASH_PATCH_BYTES];
};

/**
 * struct kipt_crash_ring - a log of the module's, written round
 * @entries: address of the entries; number i is at i % @nr
 * @written: address of a __u64, how many were written so far; the oldest of a
 *	full ring may be half overwritten
 * @nr: how many there is room for, a power of two
 * @size: bytes of one
 */
struct kipt_crash_ring {
	__u64 entries;
	__u64 written;
	__u32 nr;
	__u32 size;
};

/**
 * struct kipt_crash_filter - an address range that a session traces, or ends at
 * @begin: first address
 * @last: last address
 * @stop: tracing stops there
 * @pad: 0
 */
struct kipt_crash_filter {
	__u64 begin;
	__u64 last;
	__u32 stop;
	__u32 pad;
};

#define KIPT_CRASH_FILTERS	4

/**
 * struct kipt_crash_logs - the page of kind LOGS: what the module noted of a CPU
 *	beside its trace, of kernel text, and of the session
 * @page: what each page begins with; @page.size is the size of this
 * @space_mask: bits of a CR3 value that name an address space as @space of a
 *	switch does
 * @switches: entries are struct kipt_crash_switch, since the CPU's trace was
 *	started
 * @patches: entries are struct kipt_crash_patch, of all CPUs; @entries is 0
 *	where they are not there
 * @patches_start: address of a __u64, number of the oldest patch ever logged
 * @patches_first: address of a __u64, number of the first patch since the
 *	session was started
 * @patches_missed: address of a __u64: what text was before the patch of this
 *	number is not known
 * @patches_unseen: addresses of two __u64: if their sum is not that at
 *	@patches_unseen_count, text was patched unseen after all patches
 * @patches_unseen_count: see @patches_unseen
 * @init_task: address of the first struct task_struct
 * @task_tasks: offset in it of the list_head of all processes
 * @nr_filters: of @filters
 * @filters: address ranges of the session; CPUs with erratum SKL014 do not say
 *	where a branch went that left them
 *
 * Addresses are virtual, those of the kernel, which are looked up in its page
 * table; in a snapshot they are offsets in it, as its physical ones are, or 0.
 */
struct kipt_crash_logs {
	struct kipt_crash_page page;
	__u64 space_mask;
	struct kipt_crash_ring switches;
	struct kipt_crash_ring patches;
	__u64 patches_start;
	__u64 patches_first;
	__u64 patches_missed;
	__u64 patches_unseen[2];
	__u64 patches_unseen_count;
	__u64 init_task;
	__u32 task_tasks;
	__u32 nr_filters;
	struct kipt_crash_filter filters[KIPT_CRASH_FILTERS];
};

#endif /* _UAPI_LINUX_KIPT_CRASH_H */
