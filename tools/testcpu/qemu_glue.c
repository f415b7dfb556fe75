// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test CPU as a plugin of an unmodified QEMU 11.1: the only file that
 * knows QEMU. Owns the instrumentation and one struct vcpu per vCPU; what an
 * instruction means for tracing is flow_track's and trace_model's business.
 *
 * Contexts: install runs once on the main thread; translation callbacks on any
 * vCPU thread (they share the arena lock); every other callback on the thread
 * of its vCPU and on data of that vCPU only, except flush and exit, which run
 * while no vCPU executes, and reset, which sets @reset_due of the others.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpuid_model.h"
#include "flow_track.h"
#include "insn_shape.h"
#include "options.h"
#include "qemu_plugin_abi.h"
#include "system_tables.h"

#define MAX_VCPUS	256

/* Registers of the local APIC in xAPIC mode. */
#define APIC_LVT_PC	0xfee00340ULL
#define APIC_ICR_LOW	0xfee00300ULL
#define APIC_IRR	0xfee00200ULL
#define LVT_MASKED	(1u << 16)
#define LVT_MODE_NMI	(4u << 8)
#define ICR_SELF	(1u << 18)

#define VECTOR_SS	12
#define VECTOR_GP	13
#define VECTOR_PF	14

#define OPCODE_INT3	0xcc
#define OPCODE_RET_IMM	0xc2
#define OPCODE_PAUSE	"\xf3\x90"

#define MSR_TSC		0x10
/*
 * The LVT entry by its number in x2APIC mode. A CPU in xAPIC mode has no such
 * MSR; this one does, so that tests can look at what the APIC is set to.
 */
#define MSR_LVT_PC	0x834
/* QEMU refuses it while the APIC is in xAPIC mode: our way to a #GP. */
#define MSR_THAT_FAULTS	0x800

#define RESET_VECTOR	0xfffffff0ULL
#define EFER_LMA	(1ULL << 10)
#define CR0_PE		(1ULL << 0)
#define CR0_PG		(1ULL << 31)
#define CR4_PAE		(1ULL << 5)
#define CR4_LA57	(1ULL << 12)
#define EFLAGS_IF	(1ULL << 9)
#define EFLAGS_VM	(1ULL << 17)

/* Bytes that MONITOR watches; the bit of ECX that lets masked interrupts end MWAIT. */
#define MONITOR_LINE	64
#define MWAIT_EXT_MASKED	1u

/* Longest stay in MWAIT, and how often it looks. */
#define MWAIT_MAX_NS	2000000ULL
#define MWAIT_POLL_NS	100000ULL

/* How long a vCPU that spins gives its host CPU away, and after how many PAUSEs. */
#define PAUSE_NAP_NS	20000
#define PAUSES_PER_NAP	128

int qemu_plugin_version QEMU_PLUGIN_EXPORT = 7;

enum reg {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI,
	REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
	REG_R15, REG_RIP, REG_EFLAGS, REG_CS, REG_FS_BASE, REG_GS_BASE,
	REG_CR0, REG_CR2, REG_CR3, REG_CR4, REG_EFER, NUM_REGS
};

static const char * const reg_names[NUM_REGS] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip", "eflags", "cs",
	"fs_base", "gs_base", "cr0", "cr2", "cr3", "cr4", "efer",
};

/**
 * struct slot - what generated code looks at, one per vCPU
 * @active: blocks call on_block() while this is not 0
 * @reached: the struct flow_block whose last instruction began last
 * @watch_if: STI, CLI and POPF call on_if() while this is not 0
 * @insns: instructions that began to execute, if they are counted
 */
struct slot {
	uint64_t active;
	uint64_t reached;
	uint64_t watch_if;
	uint64_t insns;
};

/**
 * enum fixup - what to do to the registers before the next instruction
 */
enum fixup {
	FIX_NONE,
	FIX_CPUID,
	FIX_TSC,
};

/**
 * struct vcpu - one vCPU
 * @index: QEMU's number
 * @pt: its PT
 * @flow: its flow
 * @kept: copy of the block that @flow.cur means, when the code cache is
 *	emptied
 * @regs: register handles
 * @bytes: for register and memory access
 * @fix: pending register change
 * @cpuid: the CPUID whose answer FIX_CPUID amends
 * @exception: an exception is about to be delivered
 * @gp_pending: a WRMSR or RDMSR that must fault is executing
 * @gp_rcx: RCX to put back when it has
 * @global_status: IA32_PERF_GLOBAL_STATUS
 * @gdt: base of the GDT, 0 unknown
 * @idt: base of the IDT, 0 unknown
 * @ldt: base of the LDT, 0 none
 * @monitor_armed: by a MONITOR, for the next MWAIT
 * @monitored: address of the line that it watches
 * @line: what was there then
 * @pauses: PAUSEs executed
 * @fault_vector: the fault that a PTWRITE must end in, 0 none
 * @fault_code: its error code
 * @fault_address: where, for a page fault
 * @redirect: address to go on at instead of the next block; 0 none
 * @env: QEMU's state of the vCPU, NULL until needed
 * @back: where the code of the block goes on that called on_site()
 * @reset_due: the machine was reset, and all else here is of before; set by the
 *	thread of another vCPU
 * @odd_ips: blocks that did not execute where they were translated
 */
struct vcpu {
	unsigned int index;
	struct pt_cpu pt;
	struct flow flow;
	struct flow_block kept;
	struct qemu_plugin_register *regs[NUM_REGS];
	GByteArray *bytes;
	enum fixup fix;
	struct cpuid_query cpuid;
	bool exception;
	bool gp_pending;
	uint64_t gp_rcx;
	uint64_t global_status;
	uint64_t gdt;
	uint64_t idt;
	uint64_t ldt;
	bool monitor_armed;
	uint64_t monitored;
	uint8_t line[MONITOR_LINE];
	uint32_t pauses;
	uint8_t fault_vector;
	uint32_t fault_code;
	uint64_t fault_address;
	uint64_t redirect;
	void *env;
	uintptr_t back;
	bool reset_due;
	uint64_t odd_ips;
};

/**
 * struct site - an instruction with a callback of its own
 * @ip: its address at translation
 * @class: enum branch_class
 * @len: length
 * @bytes: the instruction
 */
struct site {
	uint64_t ip;
	uint8_t class;
	uint8_t len;
	uint8_t bytes[INSN_MAX];
};

static struct testcpu_options options;
static struct vcpu *vcpus[MAX_VCPUS];
static struct qemu_plugin_scoreboard *slots;
static qemu_plugin_u64 slot_active;
static qemu_plugin_u64 slot_reached;
static qemu_plugin_u64 slot_watch_if;
static qemu_plugin_u64 slot_insns;

/* ---- memory that lives as long as the code cache ---- */

#define ARENA_CHUNK	(1u << 20)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	uint8_t data[];
};

static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena_chunk *arena;

static void *arena_get(size_t size)
{
	void *p = NULL;

	size = (size + 15) & ~(size_t)15;
	pthread_mutex_lock(&arena_lock);
	if (!arena || arena->used + size > ARENA_CHUNK) {
		struct arena_chunk *chunk = malloc(sizeof(*chunk) +
						   ARENA_CHUNK);

		if (chunk) {
			chunk->next = arena;
			chunk->used = 0;
			arena = chunk;
		}
	}
	if (arena && arena->used + size <= ARENA_CHUNK) {
		p = arena->data + arena->used;
		arena->used += size;
	}
	pthread_mutex_unlock(&arena_lock);
	if (!p) {
		fprintf(stderr, "testcpu: out of memory\n");
		exit(1);
	}
	return p;
}

static void arena_empty(void)
{
	while (arena) {
		struct arena_chunk *next = arena->next;

		free(arena);
		arena = next;
	}
}

/* ---- registers and memory of the vCPU that calls ---- */

static struct slot *slot_of(const struct vcpu *v)
{
	return qemu_plugin_scoreboard_find(slots, v->index);
}

static uint64_t get_reg(struct vcpu *v, enum reg reg)
{
	uint64_t value = 0;

	g_byte_array_set_size(v->bytes, 0);
	if (!qemu_plugin_read_register(v->regs[reg], v->bytes))
		return 0;
	memcpy(&value, v->bytes->data, v->bytes->len < 8 ? v->bytes->len : 8);
	return value;
}

static void set_reg(struct vcpu *v, enum reg reg, uint64_t value)
{
	g_byte_array_set_size(v->bytes, 8);
	memcpy(v->bytes->data, &value, 8);
	qemu_plugin_write_register(v->regs[reg], v->bytes);
}

static bool read_virtual(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct vcpu *v = ctx;

	g_byte_array_set_size(v->bytes, 0);
	if (!qemu_plugin_read_memory_vaddr(va, v->bytes, len) ||
	    v->bytes->len < len)
		return false;
	memcpy(buf, v->bytes->data, len);
	return true;
}

static bool write_virtual(struct vcpu *v, uint64_t va, const void *buf,
			  size_t len)
{
	g_byte_array_set_size(v->bytes, (unsigned int)len);
	memcpy(v->bytes->data, buf, len);
	return qemu_plugin_write_memory_vaddr(va, v->bytes);
}

static bool read_physical(void *ctx, uint64_t pa, void *buf, size_t len)
{
	struct vcpu *v = ctx;

	g_byte_array_set_size(v->bytes, 0);
	if (qemu_plugin_read_memory_hwaddr(pa, v->bytes, len) ||
	    v->bytes->len < len)
		return false;
	memcpy(buf, v->bytes->data, len);
	return true;
}

static bool write_physical(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	struct vcpu *v = ctx;

	g_byte_array_set_size(v->bytes, (unsigned int)len);
	memcpy(v->bytes->data, buf, len);
	return qemu_plugin_write_memory_hwaddr(pa, v->bytes) == 0;
}

static uint32_t read_apic(struct vcpu *v, uint64_t reg)
{
	uint32_t value = LVT_MASKED;

	read_physical(v, reg, &value, sizeof(value));
	return value;
}

static void write_apic(struct vcpu *v, uint64_t reg, uint32_t value)
{
	write_physical(v, reg, &value, sizeof(value));
}

/* ---- clock: one for all vCPUs, so that packets and guest agree ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* The host's time when the machine started. */
static uint64_t started_ns;

#define NS_PER_SECOND	1000000000ULL

/* A division of 128 bits takes as long as reading the clock. */
static uint64_t ticks_of(uint64_t ns)
{
	uint64_t hz = options.caps.tsc_hz, part = ns % NS_PER_SECOND;

	if (hz > UINT64_MAX / NS_PER_SECOND)
		return (uint64_t)((unsigned __int128)ns * hz / NS_PER_SECOND);
	return ns / NS_PER_SECOND * hz + part * hz / NS_PER_SECOND;
}

static uint64_t tsc_now(void *ctx)
{
	uint64_t ns = now_ns();

	(void)ctx;
	if (options.tsc_started)
		ns -= started_ns;
	return options.tsc_start + ticks_of(ns);
}

/* ---- architectural state ---- */

/* Bits of a segment selector. */
#define SELECTOR_LDT	4
#define SELECTOR_INDEX	0xfff8

/*
 * Segment registers hold what the descriptor was when they were loaded; here
 * it is what it is now. Systems do not change that of code that runs.
 */
static bool read_descriptor(struct vcpu *v, uint64_t selector,
			    uint64_t *descriptor)
{
	uint64_t table = selector & SELECTOR_LDT ? v->ldt : v->gdt;

	return table && read_virtual(v, table + (selector & SELECTOR_INDEX),
				     descriptor, sizeof(*descriptor));
}

static void mode_of_selector(struct vcpu *v, uint64_t cs, uint64_t efer,
			     struct pt_context *state)
{
	bool lma = efer & EFER_LMA;
	struct code_segment code;
	uint64_t descriptor;

	state->cs_base = 0;
	/* A table not seen yet: user code is 32-bit. */
	if (!read_descriptor(v, cs, &descriptor)) {
		state->mode.lma = lma && !(cs & SELECTOR_LDT) && cs != 0x23;
		state->mode.csd = !state->mode.lma;
		return;
	}
	code = descriptor_code(descriptor, lma);
	state->mode.lma = code.lma;
	state->mode.csd = code.csd;
	state->cs_base = code.base;
}

/*
 * Base of the code segment. Only an LDT is known to hold code segments with
 * one, and most programs have no LDT.
 */
static uint32_t code_base(struct vcpu *v)
{
	uint64_t descriptor;
	uint64_t cs;

	if (!v->ldt)
		return 0;
	cs = get_reg(v, REG_CS);
	if (!(cs & SELECTOR_LDT) || !read_descriptor(v, cs, &descriptor))
		return 0;
	return descriptor_code(descriptor, true).base;
}

/* Linear address of the instruction that executes. */
static uint64_t current_ip(struct vcpu *v)
{
	uint32_t base = code_base(v);
	uint64_t ip = get_reg(v, REG_RIP);

	return base ? (uint32_t)(ip + base) : ip;
}

extern __thread void *current_cpu __attribute__((weak));
extern bool cpu_restore_state(void *cpu, uintptr_t host_pc)
	__attribute__((weak));

/*
 * Of which instruction the flags are is known to QEMU's translation of a block,
 * and not to the CPU's state as long as the block runs. Who leaves a block in
 * its middle has to put that right, as QEMU does where an instruction faults:
 * an interrupt that comes next would push flags made of stale parts, TF, DF
 * and IOPL among them, and return to them. A QEMU that does not export the
 * symbol leaves them so.
 */
static void settle_flags(struct vcpu *v)
{
	/* In the call, not after it: there the next instruction may begin. */
	if (cpu_restore_state && &current_cpu)
		cpu_restore_state(current_cpu, v->back - 1);
}

/* Go on at a linear address of the current code segment. */
static void go_to(struct vcpu *v, uint64_t ip)
{
	uint32_t base = code_base(v);

	settle_flags(v);
	qemu_plugin_set_pc(base ? (uint32_t)(ip - base) : ip);
}

static void get_context(void *ctx, struct pt_context *state)
{
	struct vcpu *v = ctx;
	uint64_t efer = get_reg(v, REG_EFER);
	uint64_t cs = get_reg(v, REG_CS);

	state->cr3 = get_reg(v, REG_CR3);
	state->cpl = cs & 3;
	if (efer & EFER_LMA) {
		state->pae = false;
	} else {
		uint64_t cr0 = get_reg(v, REG_CR0);

		state->pae = (cr0 & CR0_PG) &&
			     (get_reg(v, REG_CR4) & CR4_PAE);
		if (!(cr0 & CR0_PE))
			state->cpl = 0;
	}
	mode_of_selector(v, cs, efer, state);
	if (v->pt.msrs.ctl & RTIT_CTL_EVENTEN)
		state->mode.intf = get_reg(v, REG_EFLAGS) & EFLAGS_IF;
}

/* The CS that an event pushed lies above the IP, and maybe an error code. */
static void get_interrupted(void *ctx, uint64_t ip, struct pt_context *state)
{
	struct vcpu *v = ctx;
	uint64_t frame[4];

	get_context(v, state);
	if (!read_virtual(v, get_reg(v, REG_RSP), frame, sizeof(frame)))
		return;
	for (int i = 0; i < 2; i++) {
		struct pt_context before = *state;
		uint64_t pushed;

		mode_of_selector(v, frame[i + 1] & 0xffff,
				 get_reg(v, REG_EFER), &before);
		pushed = before.cs_base ? (uint32_t)(ip - before.cs_base) : ip;
		if (frame[i] != pushed)
			continue;
		before.cpl = frame[i + 1] & 3;
		before.mode.intf = frame[i + 2] & EFLAGS_IF;
		*state = before;
		return;
	}
}

/*
 * Arithmetic flags are lazy in QEMU and the register interface does not work
 * them out. QEMU's own helper does; it wants the CPU's state, which is found
 * once by looking for the general registers after the CPU object. A QEMU that
 * does not export the two symbols leaves the flags as they were last stored:
 * only the TNT bit of a branch to the next instruction depends on them.
 */
extern uint64_t helper_read_eflags(void *env) __attribute__((weak));

#define CPU_OBJECT_MAX	32768

static void *find_env(struct vcpu *v)
{
	uint64_t regs[16];
	uint64_t any = 0;
	char *cpu = current_cpu;

	for (unsigned int r = 0; r < 16; r++)
		any |= regs[r] = get_reg(v, REG_RAX + r);
	for (size_t at = 0; any && at < CPU_OBJECT_MAX; at += 8)
		if (memcmp(cpu + at, regs, sizeof(regs)) == 0)
			return cpu + at;
	return NULL;
}

static uint64_t get_flags(void *ctx)
{
	struct vcpu *v = ctx;

	if (!v->env && helper_read_eflags && &current_cpu)
		v->env = find_env(v);
	if (v->env)
		return helper_read_eflags(v->env);
	return get_reg(v, REG_EFLAGS);
}

static uint64_t get_count(void *ctx)
{
	return get_reg(ctx, REG_RCX);
}

static uint64_t get_fault_address(void *ctx)
{
	return get_reg(ctx, REG_CR2);
}

/*
 * QEMU does not say which vector it delivered; the handler shows it, wherever the
 * system has one handler per vector. Needed for Event Trace and to know an NMI
 * that ends a sleep; not looked up otherwise.
 */
static int get_vector(void *ctx, uint64_t handler)
{
	struct vcpu *v = ctx;

	if (!v->idt || (!v->pt.sleeping &&
			!(v->pt.msrs.ctl & RTIT_CTL_EVENTEN)))
		return -1;
	return gate_find(read_virtual, v, v->idt, handler);
}

static const struct flow_ops flow_ops = {
	.context = get_context,
	.interrupted = get_interrupted,
	.flags = get_flags,
	.count = get_count,
	.vector = get_vector,
	.fault_address = get_fault_address,
};

/* ---- ToPA PMI ("ToPA PMI") ---- */

static void deliver_pmi(struct vcpu *v)
{
	uint32_t lvt;

	v->pt.pmi = false;
	v->global_status |= RTIT_GLOBAL_TOPA_PMI;
	lvt = read_apic(v, APIC_LVT_PC);
	if (lvt & LVT_MASKED)
		return;
	write_apic(v, APIC_LVT_PC, lvt | LVT_MASKED);
	if ((lvt & 0x700) == LVT_MODE_NMI)
		write_apic(v, APIC_ICR_LOW, ICR_SELF | LVT_MODE_NMI);
	else
		write_apic(v, APIC_ICR_LOW, ICR_SELF | (lvt & 0xff));
}

/*
 * Outside its context a vCPU makes no packets but clock ones, and counts the
 * cycles of the next CYC; without those its blocks need not report until a far
 * transfer, an event or MOV CR3, whose code sets the switch itself.
 */
static void update_active(struct vcpu *v, struct slot *slot)
{
	bool tracing = pt_cpu_tracing(&v->pt);

	v->flow.dormant = tracing && !v->pt.context_en &&
			  !v->pt.overflow && !v->pt.sleeping &&
			  !(v->pt.msrs.ctl & (RTIT_CTL_MTCEN | RTIT_CTL_CYCEN));
	slot->active = (tracing && !v->flow.dormant) || v->fix || v->redirect;
	slot->watch_if = tracing && (v->pt.msrs.ctl & RTIT_CTL_EVENTEN);
}

/* ---- reset ---- */

static void reset_vcpu(struct vcpu *v)
{
	struct slot *slot = slot_of(v);

	__atomic_store_n(&v->reset_due, false, __ATOMIC_RELAXED);
	pt_cpu_warm_reset(&v->pt);
	flow_forget(&v->flow);
	slot->reached = 0;
	v->fix = FIX_NONE;
	v->exception = false;
	v->gp_pending = false;
	v->fault_vector = 0;
	v->redirect = 0;
	v->monitor_armed = false;
	v->global_status = 0;
	v->gdt = 0;
	v->idt = 0;
	v->ldt = 0;
	update_active(v, slot);
}

/*
 * The vCPU whose callback this is. A reset of the machine that it has not met
 * yet comes first: nothing of before counts.
 */
static struct vcpu *enter(unsigned int index)
{
	struct vcpu *v = vcpus[index];

	if (__atomic_load_n(&v->reset_due, __ATOMIC_ACQUIRE))
		reset_vcpu(v);
	return v;
}

/* ---- registers that change without an instruction ---- */

static const struct testcpu_caps *caps_of(const struct vcpu *v)
{
	return v->pt.msrs.caps;
}

static struct cpuid_regs get_cpuid_regs(struct vcpu *v)
{
	return (struct cpuid_regs){
		.eax = (uint32_t)get_reg(v, REG_RAX),
		.ebx = (uint32_t)get_reg(v, REG_RBX),
		.ecx = (uint32_t)get_reg(v, REG_RCX),
		.edx = (uint32_t)get_reg(v, REG_RDX),
	};
}

static void set_cpuid_regs(struct vcpu *v, const struct cpuid_regs *regs)
{
	set_reg(v, REG_RAX, regs->eax);
	set_reg(v, REG_RBX, regs->ebx);
	set_reg(v, REG_RCX, regs->ecx);
	set_reg(v, REG_RDX, regs->edx);
}

static void run_fixup(struct vcpu *v)
{
	enum fixup fix = v->fix;
	struct cpuid_regs regs;
	uint64_t tsc;

	v->fix = FIX_NONE;
	switch (fix) {
	case FIX_NONE:
		return;
	case FIX_CPUID:
		regs = get_cpuid_regs(v);
		cpuid_amend(&v->cpuid, &regs);
		set_cpuid_regs(v, &regs);
		return;
	case FIX_TSC:
		tsc = tsc_now(NULL);
		set_reg(v, REG_RAX, (uint32_t)tsc);
		set_reg(v, REG_RDX, tsc >> 32);
		return;
	}
}

static void want_fixup(struct vcpu *v, enum fixup fix)
{
	v->fix = fix;
	slot_of(v)->active = 1;
}

static void on_after(unsigned int index, void *userdata)
{
	(void)userdata;
	run_fixup(enter(index));
}

/* ---- instructions carried out here ---- */

/*
 * A translation is shared by all mappings of its page, so an instruction may
 * execute at another address than it was translated at. RIP then holds the
 * address of some instruction of the block, up to this one; blocks do not
 * leave the page they begin in.
 */
static uint64_t site_ip(struct vcpu *v, const struct site *site)
{
	uint64_t page = ~0xfffULL;

	return (current_ip(v) & page) | (site->ip & ~page);
}

static void skip(struct vcpu *v, const struct site *site)
{
	go_to(v, site_ip(v, site) + site->len);
}

/*
 * Linux takes the crystal for the clock of the local APIC's timer, as it is on
 * CPUs whose leaf 15H has it. QEMU's runs at 1 GHz, so the crystal is kept back until
 * the system has set its timer up: until a program asks.
 */
static bool crystal_may_be_shown(struct vcpu *v)
{
	static bool shown;

	if (get_reg(v, REG_CS) & 3)
		__atomic_store_n(&shown, true, __ATOMIC_RELAXED);
	return __atomic_load_n(&shown, __ATOMIC_RELAXED);
}

static void on_cpuid(struct vcpu *v, const struct site *site)
{
	struct cpuid_regs regs;

	v->cpuid = (struct cpuid_query){
		.options = &options,
		.caps = caps_of(v),
		.leaf = (uint32_t)get_reg(v, REG_RAX),
		.subleaf = (uint32_t)get_reg(v, REG_RCX),
		.show_crystal = crystal_may_be_shown(v),
		.insns = slot_of(v)->insns,
	};
	switch (cpuid_answer(&v->cpuid, &regs)) {
	case CPUID_FROM_QEMU:
		return;
	case CPUID_AMENDED:
		want_fixup(v, FIX_CPUID);
		return;
	case CPUID_FROM_MODEL:
		set_cpuid_regs(v, &regs);
		skip(v, site);
		return;
	}
}

/* The instruction shall fault: let QEMU see a register that it refuses. */
static void raise_gp(struct vcpu *v)
{
	v->gp_pending = true;
	v->gp_rcx = get_reg(v, REG_RCX);
	set_reg(v, REG_RCX, MSR_THAT_FAULTS);
}

static enum pt_msr_result read_msr(struct vcpu *v, uint32_t msr,
				   uint64_t *value)
{
	switch (msr) {
	case MSR_TSC:
		*value = tsc_now(NULL);
		return PT_MSR_OK;
	case RTIT_PLATFORM_INFO:
		*value = (uint64_t)options.pt.cbr << 8;
		return PT_MSR_OK;
	case RTIT_PERF_GLOBAL_STATUS:
		*value = v->global_status;
		return PT_MSR_OK;
	case MSR_LVT_PC:
		*value = read_apic(v, APIC_LVT_PC);
		return PT_MSR_OK;
	}
	return pt_rdmsr(&v->pt, msr, value);
}

static void on_rdmsr(struct vcpu *v, const struct site *site)
{
	uint32_t msr = (uint32_t)get_reg(v, REG_RCX);
	uint64_t value;

	if (get_reg(v, REG_CS) & 3)
		return;
	switch (read_msr(v, msr, &value)) {
	case PT_MSR_NOT_OURS:
		return;
	case PT_MSR_GP:
		raise_gp(v);
		return;
	case PT_MSR_OK:
		set_reg(v, REG_RAX, (uint32_t)value);
		set_reg(v, REG_RDX, value >> 32);
		skip(v, site);
		return;
	}
}

static enum pt_msr_result write_msr(struct vcpu *v, uint32_t msr,
				    uint64_t value, const struct site *site)
{
	bool was_on = v->pt.msrs.ctl & RTIT_CTL_TRACEEN;
	enum pt_msr_result result;
	uint64_t ip;

	switch (msr) {
	case RTIT_PERF_GLOBAL_STATUS_RESET:
		v->global_status &= ~value;
		return PT_MSR_OK;
	case RTIT_PERF_GLOBAL_STATUS_SET:
		v->global_status |= value & RTIT_GLOBAL_TOPA_PMI;
		return PT_MSR_OK;
	case MSR_LVT_PC:
		write_apic(v, APIC_LVT_PC, (uint32_t)value);
		return PT_MSR_OK;
	}
	if (!pt_msr_is_ours(msr))
		return PT_MSR_NOT_OURS;
	ip = site_ip(v, site);
	if (!was_on) {
		get_context(v, &v->pt.ctx);
		v->pt.msrs.la57 = get_reg(v, REG_CR4) & CR4_LA57;
	}
	result = pt_wrmsr(&v->pt, msr, value, ip, ip + site->len);
	if (was_on != !!(v->pt.msrs.ctl & RTIT_CTL_TRACEEN)) {
		flow_forget(&v->flow);
		update_active(v, slot_of(v));
	}
	if (v->pt.pmi)
		deliver_pmi(v);
	return result;
}

static void on_wrmsr(struct vcpu *v, const struct site *site)
{
	uint32_t msr = (uint32_t)get_reg(v, REG_RCX);
	uint64_t value = (uint32_t)get_reg(v, REG_RAX) |
			 get_reg(v, REG_RDX) << 32;

	if (get_reg(v, REG_CS) & 3)
		return;
	switch (write_msr(v, msr, value, site)) {
	case PT_MSR_NOT_OURS:
		return;
	case PT_MSR_GP:
		raise_gp(v);
		return;
	case PT_MSR_OK:
		skip(v, site);
		return;
	}
}

static uint64_t operand_reg(void *ctx, unsigned int n)
{
	return get_reg(ctx, REG_RAX + n);
}

static enum insn_mode current_mode(struct vcpu *v)
{
	struct pt_context state = { .cpl = 0 };

	get_context(v, &state);
	return state.mode.lma ? INSN_MODE_64 :
	       state.mode.csd ? INSN_MODE_32 : INSN_MODE_16;
}

/* Linear address of a memory operand; @next: after the instruction. */
static uint64_t operand_linear(struct vcpu *v, const struct insn_operand *op,
			       uint64_t next)
{
	uint64_t linear = insn_operand_address(op, next, operand_reg, v);

	if (op->segment == 0x64)
		linear += get_reg(v, REG_FS_BASE);
	if (op->segment == 0x65)
		linear += get_reg(v, REG_GS_BASE);
	return linear;
}

/* ---- faults of PTWRITE's operand; QEMU knows an invalid opcode only ---- */

/* An operand of the stack segment, which only SS by default can be in 64-bit mode. */
static bool is_of_stack(const struct insn_operand *op)
{
	return !op->segment && (op->base == REG_RSP - REG_RAX ||
				op->base == REG_RBP - REG_RAX);
}

/*
 * Checks both ends of the operand; false when a fault is due instead. Physical
 * memory that is not there reads as ones.
 */
static bool load_operand(struct vcpu *v, const struct insn_operand *op,
			 uint64_t va, unsigned int size, uint64_t *value)
{
	bool la57 = get_reg(v, REG_CR4) & CR4_LA57;
	bool user = get_reg(v, REG_CS) & 3;
	uint64_t cr3 = get_reg(v, REG_CR3);
	uint32_t code = 0;

	for (unsigned int at = 0; at < size; at += size - 1) {
		bool canonical = address_is_canonical(va + at, la57);

		if (canonical && paging_may_load(read_physical, v, cr3, la57,
						 va + at, user, &code))
			continue;
		v->fault_vector = canonical ? VECTOR_PF :
				  is_of_stack(op) ? VECTOR_SS : VECTOR_GP;
		v->fault_address = va + at;
		v->fault_code = canonical ? code : 0;
		return false;
	}
	*value = ~0ULL;
	read_virtual(v, va, value, size);
	return true;
}

/*
 * The invalid opcode exception has been delivered: make it the fault that is
 * due. The two differ in the error code, CR2 and the handler; the frame is the
 * same. Returns the handler, which the next block is made to begin with.
 */
static uint64_t turn_into_fault(struct vcpu *v, uint64_t handler)
{
	uint64_t rsp = get_reg(v, REG_RSP) - 8;
	uint8_t vector = v->fault_vector;
	uint64_t code = v->fault_code;
	uint64_t gate[2];

	v->fault_vector = 0;
	if (!v->idt ||
	    !read_virtual(v, v->idt + sizeof(gate) * vector, gate, sizeof(gate)))
		return handler;
	if (!write_virtual(v, rsp, &code, sizeof(code)))
		return handler;
	set_reg(v, REG_RSP, rsp);
	if (vector == VECTOR_PF)
		set_reg(v, REG_CR2, v->fault_address);
	v->redirect = gate_target(gate);
	return v->redirect;
}

/*
 * QEMU gave up after the opcode, so the rest of the instruction is read from
 * memory, up to the end of the page if the next one is not there.
 */
static bool fetch_insn(struct vcpu *v, uint64_t ip, uint8_t *bytes,
		       unsigned int *len)
{
	*len = INSN_MAX;
	if (read_virtual(v, ip, bytes, *len))
		return true;
	*len = 4096 - (ip & 0xfff);
	return *len < INSN_MAX && read_virtual(v, ip, bytes, *len);
}

static void on_ptwrite(struct vcpu *v, const struct site *site)
{
	uint64_t ip = site_ip(v, site);
	uint8_t bytes[INSN_MAX];
	struct insn_operand op;
	struct insn_shape shape;
	unsigned int size;
	unsigned int len;
	uint64_t value;

	if (!(caps_of(v)->ebx & RTIT_CAP_PTWRITE) ||
	    !fetch_insn(v, ip, bytes, &len) ||
	    !insn_shape_parse(&shape, bytes, len, current_mode(v)) ||
	    !insn_operand_parse(&op, &shape, bytes))
		return;
	size = shape.rex & 8 ? 8 : 4;
	if (op.is_register)
		value = get_reg(v, REG_RAX + (unsigned int)op.base);
	else if (!load_operand(v, &op, operand_linear(v, &op, ip + op.end),
			       size, &value))
		return;
	pt_ptwrite(&v->pt, ip, ip + op.end, value, size);
	if (v->pt.pmi)
		deliver_pmi(v);
	go_to(v, ip + op.end);
}

static void on_descriptor_table(struct vcpu *v, const struct site *site)
{
	struct insn_operand op;
	struct insn_shape shape;
	uint8_t raw[10];
	uint64_t linear;
	uint64_t base;

	if (!(get_reg(v, REG_EFER) & EFER_LMA) ||
	    !insn_shape_parse(&shape, site->bytes, site->len, INSN_MODE_64) ||
	    !insn_operand_parse(&op, &shape, site->bytes) || op.is_register)
		return;
	linear = operand_linear(v, &op, site_ip(v, site) + site->len);
	if (!read_virtual(v, linear, raw, sizeof(raw)))
		return;
	memcpy(&base, raw + 2, 8);
	if (site->class == INSN_LGDT)
		v->gdt = base;
	else
		v->idt = base;
}

/* Called before the instruction; one that faults changes nothing for long. */
static void on_lldt(struct vcpu *v, const struct site *site)
{
	struct insn_operand op;
	struct insn_shape shape;
	uint16_t selector = 0;
	uint64_t descriptor[2];

	if (!(get_reg(v, REG_EFER) & EFER_LMA) || (get_reg(v, REG_CS) & 3) ||
	    !insn_shape_parse(&shape, site->bytes, site->len, INSN_MODE_64) ||
	    !insn_operand_parse(&op, &shape, site->bytes))
		return;
	if (op.is_register)
		selector = (uint16_t)get_reg(v, REG_RAX +
						(unsigned int)op.base);
	else
		read_virtual(v, operand_linear(v, &op, site_ip(v, site) +
						       site->len),
			     &selector, sizeof(selector));
	v->ldt = 0;
	selector &= SELECTOR_INDEX;
	if (selector && v->gdt &&
	    read_virtual(v, v->gdt + selector, descriptor, sizeof(descriptor)))
		v->ldt = descriptor_base(descriptor[0]) | descriptor[1] << 32;
}

static bool interrupt_waits(struct vcpu *v)
{
	for (unsigned int i = 0; i < 8; i++)
		if (read_apic(v, APIC_IRR + 16 * i))
			return true;
	return false;
}

static void on_monitor(struct vcpu *v)
{
	if (get_reg(v, REG_CS) & 3)
		return;
	v->monitored = get_reg(v, REG_RAX) & ~(uint64_t)(MONITOR_LINE - 1);
	v->monitor_armed = read_virtual(v, v->monitored, v->line, MONITOR_LINE);
}

/* A store of what is there already is not noticed. */
static bool line_changed(struct vcpu *v)
{
	uint8_t line[MONITOR_LINE];

	return read_virtual(v, v->monitored, line, sizeof(line)) &&
	       memcmp(line, v->line, sizeof(line));
}

/* Until the monitored line changes, an interrupt waits or a bound is reached. */
static uint8_t sleep_in_mwait(struct vcpu *v, bool interruptible)
{
	struct timespec nap = { .tv_nsec = MWAIT_POLL_NS };
	uint64_t end = now_ns() + MWAIT_MAX_NS;

	while (now_ns() < end) {
		if (line_changed(v))
			return PT_WAKE_STORE;
		if (interruptible && interrupt_waits(v))
			return PT_WAKE_INTERRUPT;
		nanosleep(&nap, NULL);
	}
	return PT_WAKE_OTHER;
}

/*
 * QEMU's MWAIT is a pause, and refuses the extension that Linux uses: that a
 * masked interrupt ends the sleep, too. Sleep here, and go on after it; an
 * interrupt that may be taken is taken there and reports itself.
 */
static void on_mwait(struct vcpu *v, const struct site *site)
{
	uint64_t ip = site_ip(v, site);
	struct pt_mwait m = {
		.hints = (uint32_t)get_reg(v, REG_RAX),
		.ext = (uint32_t)get_reg(v, REG_RCX),
	};
	bool interruptible = (m.ext & MWAIT_EXT_MASKED) ||
			     (get_reg(v, REG_EFLAGS) & EFLAGS_IF);

	if ((get_reg(v, REG_CS) & 3) || (m.ext & ~MWAIT_EXT_MASKED))
		return;
	m.armed = v->monitor_armed && !line_changed(v);
	m.event = interruptible && interrupt_waits(v);
	v->monitor_armed = false;
	if (pt_mwait(&v->pt, ip, ip + site->len, &m))
		pt_wake(&v->pt, sleep_in_mwait(v, interruptible), ip + site->len);
	if (v->pt.pmi)
		deliver_pmi(v);
	skip(v, site);
}

/*
 * What a vCPU waits for in a loop with PAUSE is often done by another one whose
 * thread the host has preempted: it gets the host CPU. QEMU itself only leaves
 * the block.
 */
static void on_pause(unsigned int index, void *userdata)
{
	struct timespec nap = { .tv_nsec = PAUSE_NAP_NS };

	(void)userdata;
	if (++vcpus[index]->pauses % PAUSES_PER_NAP == 0)
		nanosleep(&nap, NULL);
}

static void on_site(unsigned int index, void *userdata)
{
	const struct site *site = userdata;
	struct vcpu *v = enter(index);

	v->back = (uintptr_t)__builtin_return_address(0);
	switch (site->class) {
	case INSN_CPUID:
		on_cpuid(v, site);
		return;
	case INSN_RDMSR:
		on_rdmsr(v, site);
		return;
	case INSN_WRMSR:
		on_wrmsr(v, site);
		return;
	case INSN_RDTSC:
	case INSN_RDTSCP:
		want_fixup(v, FIX_TSC);
		return;
	case INSN_PTWRITE:
		on_ptwrite(v, site);
		return;
	case INSN_HLT:
		if (!(get_reg(v, REG_CS) & 3))
			pt_hlt(&v->pt, site_ip(v, site));
		return;
	case INSN_MONITOR:
		on_monitor(v);
		return;
	case INSN_MWAIT:
		on_mwait(v, site);
		return;
	case INSN_LGDT:
	case INSN_LIDT:
		on_descriptor_table(v, site);
		return;
	case INSN_LLDT:
		on_lldt(v, site);
		return;
	}
}

/*
 * Event Trace reports RFLAGS.IF. Called before the instruction; at CPL 0, or
 * where IOPL allows it, what it will do is certain. CLI and STI that fault are
 * left out; POPF without the privilege leaves IF alone.
 */
static void on_if(unsigned int index, void *userdata)
{
	const struct site *site = userdata;
	struct vcpu *v = enter(index);
	uint64_t now = get_reg(v, REG_EFLAGS);
	uint8_t opcode = site->bytes[site->len - 1];
	uint64_t popped;

	if ((get_reg(v, REG_CS) & 3) > (now >> 12 & 3))
		return;
	if (opcode == 0x9d) {
		if (!read_virtual(v, get_reg(v, REG_RSP), &popped, 8))
			return;
		v->pt.ctx.mode.intf = popped & EFLAGS_IF;
	} else {
		v->pt.ctx.mode.intf = opcode == 0xfb;
	}
	pt_if_change(&v->pt, site_ip(v, site) + site->len);
}

/* Only the boot CPU begins at the reset vector; the others are reset with it. */
static void on_reset(unsigned int index, void *userdata)
{
	(void)userdata;
	reset_vcpu(vcpus[index]);
	for (unsigned int i = 0; i < MAX_VCPUS; i++) {
		if (i == index || !vcpus[i])
			continue;
		__atomic_store_n(&vcpus[i]->reset_due, true, __ATOMIC_RELEASE);
		__atomic_store_n(&slot_of(vcpus[i])->active, 1, __ATOMIC_RELEASE);
	}
}

/*
 * Linux patches code by way of INT3, and takes the handler away once each CPU can
 * only see the final instruction. QEMU may translate a page while another vCPU
 * writes to it, and keep what was there before: then an INT3 executes that is no
 * longer in memory. Store what is there, which drops the translation, and execute
 * that.
 */
static void on_int3(unsigned int index, void *userdata)
{
	const struct site *site = userdata;
	struct vcpu *v = enter(index);
	uint64_t ip = site_ip(v, site);
	uint8_t there;

	if (!read_virtual(v, ip, &there, 1) || there == OPCODE_INT3 ||
	    !write_virtual(v, ip, &there, 1))
		return;
	v->back = (uintptr_t)__builtin_return_address(0);
	slot_of(v)->reached = 0;
	go_to(v, ip);
}

/* ---- blocks and discontinuities ---- */

static struct flow_block *take_reached(struct slot *slot)
{
	struct flow_block *b = (struct flow_block *)(uintptr_t)slot->reached;

	slot->reached = 0;
	return b;
}

static void on_block(unsigned int index, void *userdata)
{
	struct flow_block *b = userdata;
	struct vcpu *v = enter(index);
	struct slot *slot = slot_of(v);
	struct flow_block *reached;
	uint64_t ip;

	v->exception = false;
	if (v->redirect) {
		ip = v->redirect;
		v->redirect = 0;
		update_active(v, slot);
		qemu_plugin_set_pc(ip);
	}
	if (v->fix)
		run_fixup(v);
	if (!pt_cpu_tracing(&v->pt)) {
		update_active(v, slot);
		return;
	}
	reached = take_reached(slot);
	ip = b->start + v->flow.shift;
	if (!flow_expected(&v->flow, reached, ip))
		ip = current_ip(v);
	if (options.check_ip && current_ip(v) != ip)
		v->odd_ips++;
	flow_arrive(&v->flow, b, ip, reached);
	if (v->pt.pmi)
		deliver_pmi(v);
	if (!v->pt.context_en || !v->pt.trigger_en)
		update_active(v, slot);
}

/* What a near branch added to RSP; the pushed return address stays in memory. */
static uint64_t stack_moved(const struct flow_block *b)
{
	uint16_t operand = 0;

	if (b->end.class == BRANCH_CALL_IND)
		return (uint64_t)-8;
	if (b->end.class != BRANCH_RET)
		return 0;
	if (b->len >= 3 && b->bytes[b->len - 3] == OPCODE_RET_IMM)
		memcpy(&operand, b->bytes + b->len - 2, sizeof(operand));
	return 8 + (uint64_t)operand;
}

/*
 * A branch to an address that is not canonical faults, and has not branched.
 * QEMU branches and then faults: what its #GP has pushed is put right. Returns
 * the address of what faulted.
 */
static uint64_t undo_branch(struct vcpu *v, uint64_t from,
			    const struct flow_block *reached)
{
	uint64_t ip = flow_fault_source(&v->flow, from, reached);
	uint64_t rsp;
	/* Error code, RIP, CS, RFLAGS, RSP. */
	uint64_t frame[5];

	if (ip == from)
		return from;
	rsp = get_reg(v, REG_RSP);
	if (!read_virtual(v, rsp, frame, sizeof(frame)) || frame[1] != from)
		return from;
	frame[1] = ip;
	frame[4] -= stack_moved(reached);
	write_virtual(v, rsp, frame, sizeof(frame));
	return ip;
}

/*
 * QEMU 11.1 reports an exception twice: as an exception before it is delivered,
 * with an imprecise address, and then as every delivered event as an
 * interrupt, with exact addresses and the handler's state in the registers.
 */
static void on_discontinuity(unsigned int index,
			     enum qemu_plugin_discon_type type,
			     uint64_t from_pc, uint64_t to_pc, void *userdata)
{
	struct vcpu *v = enter(index);
	struct flow_block *reached;
	struct slot *slot;
	bool exception;

	(void)userdata;
	if (type == QEMU_PLUGIN_DISCON_EXCEPTION) {
		v->exception = true;
		return;
	}
	exception = v->exception;
	v->exception = false;
	if (v->gp_pending && exception) {
		v->gp_pending = false;
		set_reg(v, REG_RCX, v->gp_rcx);
	}
	slot = slot_of(v);
	if (v->fault_vector && exception)
		to_pc = turn_into_fault(v, to_pc);
	if (!pt_cpu_tracing(&v->pt)) {
		update_active(v, slot);
		return;
	}
	reached = take_reached(slot);
	if (exception)
		from_pc = undo_branch(v, from_pc, reached);
	flow_event(&v->flow, exception ? TRUTH_EXCEPTION : TRUTH_INTERRUPT,
		   from_pc, to_pc, reached);
	if (v->pt.pmi)
		deliver_pmi(v);
	update_active(v, slot);
}

/* ---- translation ---- */

static bool wants_callback(uint8_t class)
{
	return class >= INSN_CPUID && class <= INSN_LLDT;
}

/* Code size is not known at translation: an instruction is watched when it
 * would matter in either. */
static uint8_t class_in_any_mode(const uint8_t *bytes, unsigned int len)
{
	uint8_t class = branch_classify(bytes, len, INSN_MODE_64, 0).class;

	if (class == BRANCH_NONE)
		class = branch_classify(bytes, len, INSN_MODE_32, 0).class;
	return class;
}

static void watch_insn(struct qemu_plugin_tb *tb, size_t i)
{
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
	uint8_t bytes[INSN_MAX];
	size_t len = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	uint8_t class = class_in_any_mode(bytes, (unsigned int)len);
	bool int3 = len == 1 && bytes[0] == OPCODE_INT3;
	struct site *site;

	if (len == 2 && !memcmp(bytes, OPCODE_PAUSE, len))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pause,
						       QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (!wants_callback(class) && class != INSN_IF && !int3)
		return;
	site = arena_get(sizeof(*site));
	site->ip = qemu_plugin_insn_vaddr(insn);
	site->class = class;
	site->len = (uint8_t)len;
	memcpy(site->bytes, bytes, len);
	if (int3) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_int3,
						       QEMU_PLUGIN_CB_RW_REGS_PC,
						       site);
		return;
	}
	if (class == INSN_IF) {
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_if,
			QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE,
			slot_watch_if, 0, site);
		return;
	}
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_site,
					       QEMU_PLUGIN_CB_RW_REGS_PC,
					       site);
	if (class != INSN_CPUID && class != INSN_RDTSC &&
	    class != INSN_RDTSCP)
		return;
	if (i + 1 < qemu_plugin_tb_n_insns(tb))
		qemu_plugin_register_vcpu_insn_exec_cb(
			qemu_plugin_tb_get_insn(tb, i + 1), on_after,
			QEMU_PLUGIN_CB_RW_REGS, NULL);
}

static void on_translate(struct qemu_plugin_tb *tb, void *userdata)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	struct flow_block *b = arena_get(sizeof(*b));
	uint8_t class;

	(void)userdata;
	memset(b, 0, sizeof(*b));
	b->start = qemu_plugin_tb_vaddr(tb);
	b->last = qemu_plugin_insn_vaddr(last);
	b->insns = (uint32_t)n;
	b->len = (uint8_t)qemu_plugin_insn_data(last, b->bytes,
						sizeof(b->bytes));
	b->next = b->last + b->len;
	if (b->start == RESET_VECTOR)
		qemu_plugin_register_vcpu_insn_exec_cb(
			qemu_plugin_tb_get_insn(tb, 0), on_reset,
			QEMU_PLUGIN_CB_R_REGS, NULL);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block,
		QEMU_PLUGIN_CB_RW_REGS_PC, QEMU_PLUGIN_COND_NE, slot_active, 0,
		b);
	for (size_t i = 0; i < n; i++) {
		if (options.insn_count)
			qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
				qemu_plugin_tb_get_insn(tb, i),
				QEMU_PLUGIN_INLINE_ADD_U64, slot_insns, 1);
		watch_insn(tb, i);
	}
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(last,
		QEMU_PLUGIN_INLINE_STORE_U64, slot_reached,
		(uint64_t)(uintptr_t)b);
	class = class_in_any_mode(b->bytes, b->len);
	if (branch_is_far(class) || class == INSN_MOV_CR3)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(last,
			QEMU_PLUGIN_INLINE_STORE_U64, slot_active, 1);
}

/*
 * The code cache is emptied: translations are gone, but the end of the block
 * that ran last may still be unresolved.
 */
static void on_flush(void *userdata)
{
	(void)userdata;
	for (unsigned int i = 0; i < MAX_VCPUS; i++) {
		struct vcpu *v = vcpus[i];
		struct flow_block *reached;
		struct slot *slot;

		if (!v)
			continue;
		slot = slot_of(v);
		reached = (struct flow_block *)(uintptr_t)slot->reached;
		if (!reached || (reached != v->flow.cur && !v->flow.dormant)) {
			v->flow.cur = NULL;
			slot->reached = 0;
			continue;
		}
		if (reached != &v->kept)
			v->kept = *reached;
		slot->reached = (uint64_t)(uintptr_t)&v->kept;
		v->flow.cur = &v->kept;
	}
	arena_empty();
}

/* ---- life of a vCPU and of the plugin ---- */

static void find_registers(struct vcpu *v)
{
	GArray *list = qemu_plugin_get_registers();
	qemu_plugin_reg_descriptor *d = (void *)list->data;

	if (g_array_get_element_size(list) != sizeof(*d)) {
		fprintf(stderr, "testcpu: this QEMU describes registers in another way than 11.1\n");
		exit(1);
	}
	for (unsigned int i = 0; i < list->len; i++)
		for (unsigned int r = 0; r < NUM_REGS; r++)
			if (!v->regs[r] && d[i].name &&
			    strcmp(d[i].name, reg_names[r]) == 0)
				v->regs[r] = d[i].handle;
	g_array_free(list, 1);
	for (unsigned int r = 0; r < NUM_REGS; r++) {
		if (v->regs[r])
			continue;
		fprintf(stderr, "testcpu: this QEMU has no register %s\n",
			reg_names[r]);
		exit(1);
	}
}

static void on_vcpu_init(unsigned int index, void *userdata)
{
	struct vcpu *v = vcpus[index];
	struct pt_memory mem = {
		.read = read_physical,
		.write = write_physical,
	};

	(void)userdata;
	if (v)
		return;
	v = calloc(1, sizeof(*v));
	if (!v) {
		fprintf(stderr, "testcpu: out of memory\n");
		exit(1);
	}
	v->index = index;
	v->bytes = g_byte_array_new();
	mem.ctx = v;
	pt_cpu_init(&v->pt, testcpu_options_caps(&options, index), &options.pt,
		    &mem);
	v->pt.tsc = tsc_now;
	v->flow = (struct flow) {
		.pt = &v->pt,
		.ops = &flow_ops,
		.ctx = v,
	};
	find_registers(v);
	if (!truth_log_open(&v->pt.truth, options.truth_dir, index,
			    options.truth_mode))
		fprintf(stderr, "testcpu: truth file of vCPU %u in %s: %s; none is written\n",
			index, options.truth_dir, strerror(errno));
	if (options.truth_clock)
		v->pt.truth.clock = tsc_now;
	vcpus[index] = v;
}

static void on_exit_all(void *userdata)
{
	(void)userdata;
	for (unsigned int i = 0; i < MAX_VCPUS; i++) {
		struct vcpu *v = vcpus[i];

		if (!v)
			continue;
		truth_log_close(&v->pt.truth);
		if (v->flow.unexplained || v->odd_ips)
			fprintf(stderr, "testcpu: vCPU %u: %llu transfers that no instruction explains (last %llx to %llx), %llu blocks elsewhere than known\n",
				i, (unsigned long long)v->flow.unexplained,
				(unsigned long long)v->flow.last_odd_from,
				(unsigned long long)v->flow.last_odd_to,
				(unsigned long long)v->odd_ips);
	}
}

static bool parse_options(int argc, char **argv)
{
	char why[1024];

	testcpu_options_init(&options);
	for (int i = 0; i < argc; i++) {
		if (testcpu_options_parse(&options, argv[i], why, sizeof(why)))
			continue;
		fprintf(stderr, "testcpu: %s\n", why);
		return false;
	}
	testcpu_options_settle(&options);
	if (options.help) {
		fprintf(stderr, "testcpu options:\n%s",
			testcpu_options_help());
		return false;
	}
	if (options.truth_mode != TRUTH_LOG_OFF && !options.truth_dir[0]) {
		fprintf(stderr, "testcpu: truth= needs truth-dir=, the absolute path of a folder\n");
		return false;
	}
	return true;
}

QEMU_PLUGIN_EXPORT
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv);

QEMU_PLUGIN_EXPORT
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	if (!parse_options(argc, argv))
		return -1;
	if (!info->system_emulation ||
	    strcmp(info->target_name, "x86_64") != 0) {
		fprintf(stderr, "testcpu: needs qemu-system-x86_64, this is %s\n",
			info->target_name);
		return -1;
	}
	if (info->system.max_vcpus > MAX_VCPUS) {
		fprintf(stderr, "testcpu: %d vCPUs; at most %d\n",
			info->system.max_vcpus, MAX_VCPUS);
		return -1;
	}
	started_ns = now_ns();
	slots = qemu_plugin_scoreboard_new(sizeof(struct slot));
	slot_active.score = slots;
	slot_active.offset = offsetof(struct slot, active);
	slot_reached.score = slots;
	slot_reached.offset = offsetof(struct slot, reached);
	slot_watch_if.score = slots;
	slot_watch_if.offset = offsetof(struct slot, watch_if);
	slot_insns.score = slots;
	slot_insns.offset = offsetof(struct slot, insns);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate, NULL);
	qemu_plugin_register_vcpu_discon_cb(id,
		QEMU_PLUGIN_DISCON_INTERRUPT | QEMU_PLUGIN_DISCON_EXCEPTION,
		on_discontinuity, NULL);
	qemu_plugin_register_flush_cb(id, on_flush, NULL);
	qemu_plugin_register_atexit_cb(id, on_exit_all, NULL);
	return 0;
}
