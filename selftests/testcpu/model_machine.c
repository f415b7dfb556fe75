// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processor that the model tests drive: memory, clock, start and stop, and
 * one function per kind of transfer. Owns the test's only struct pt_cpu.
 */
#include "model_machine.h"

#include <string.h>

#include "../../tools/testcpu/trace_emit.h"
#include "ktap.h"
#include "packet_list.h"

#define MEMORY	(1u << 20)

struct pt_cpu cpu;
struct pt_options machine_options;
uint64_t machine_tsc;

static uint8_t memory[MEMORY];
static struct testcpu_caps caps;
static uint64_t read_at;
static uint64_t list_last_ip;

static bool mem_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	(void)ctx;
	if (pa > MEMORY || len > MEMORY - pa)
		return false;
	memcpy(buf, memory + pa, len);
	return true;
}

static bool mem_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	(void)ctx;
	if (pa > MEMORY || len > MEMORY - pa)
		return false;
	memcpy(memory + pa, buf, len);
	return true;
}

static uint64_t clock_now(void *ctx)
{
	(void)ctx;
	return machine_tsc;
}

void machine_reset(const char *model)
{
	struct pt_memory mem = { .read = mem_read, .write = mem_write };
	char why[256];

	machine_options = (struct pt_options) {
		.overflow_length = 4,
		.crystal_num = 160,
		.crystal_den = 2,
		.cbr = 20,
		.mtc_stride = 1,
	};
	testcpu_caps_parse(&caps, model, why, sizeof(why));
	pt_cpu_init(&cpu, &caps, &machine_options, &mem);
	cpu.tsc = clock_now;
	machine_tsc = 0x10000;
}

void machine_start(uint64_t ctl, unsigned int cpl, uint64_t cr3, uint64_t ip,
		   bool psb)
{
	cpu.tnt_max = machine_options.long_tnt ? 47 : 6;
	cpu.ctx.cpl = (uint8_t)cpl;
	cpu.ctx.cr3 = cr3;
	if (!cpu.ctx.mode.csd)
		cpu.ctx.mode.lma = true;
	pt_wrmsr(&cpu, RTIT_OUTPUT_BASE, MACHINE_OUTPUT, 0, 0);
	pt_wrmsr(&cpu, RTIT_OUTPUT_MASK_PTRS, 0x7ffff, 0, 0);
	pt_wrmsr(&cpu, RTIT_STATUS,
		 psb ? 0 : 1ULL << RTIT_STATUS_BYTECNT_SHIFT, 0, 0);
	if (cpu.msrs.caps->ebx & RTIT_CAP_CR3_FILTER)
		pt_wrmsr(&cpu, RTIT_CR3_MATCH, MATCHING_CR3, 0, 0);
	pt_wrmsr(&cpu, RTIT_ADDR_A(0), IN_FILTER, 0, 0);
	pt_wrmsr(&cpu, RTIT_ADDR_B(0), FILTER_LAST, 0, 0);
	pt_wrmsr(&cpu, RTIT_ADDR_A(1), IN_STOP, 0, 0);
	pt_wrmsr(&cpu, RTIT_ADDR_B(1), STOP_LAST, 0, 0);
	read_at = MACHINE_OUTPUT;
	list_last_ip = 0;
	if (pt_wrmsr(&cpu, RTIT_CTL, ctl | RTIT_CTL_TRACEEN, ip - 2, ip) !=
	    PT_MSR_OK)
		printf("# TraceEn refused\n");
}

void machine_stop(uint64_t clip)
{
	pt_wrmsr(&cpu, RTIT_CTL, 0, clip, clip + 2);
}

const char *machine_packets(void)
{
	static char text[8192];
	uint64_t end;

	if (cpu.trigger_en) {
		pt_emit_flush(&cpu);
		pt_emit_drain(&cpu);
	}
	end = cpu.out.region_base + cpu.out.offset;
	packet_list(memory + read_at, end - read_at, &list_last_ip, text,
		    sizeof(text));
	read_at = end;
	return text;
}

void machine_expect(const char *name, const char *expected)
{
	const char *got = machine_packets();

	if (!ktap_case(strcmp(got, expected) == 0, "%s", name))
		printf("# got      %s\n# expected %s\n", got, expected);
}

static void transfer(uint8_t kind, uint64_t from, uint64_t to, bool taken,
		     bool source)
{
	struct pt_transfer t = {
		.kind = kind,
		.from = from,
		.to = to,
		.next = from + 5,
		.taken = taken,
		.source = source,
		.cr3_written = kind == TRUTH_CR3,
		.ret_width = 64,
		.vector = source ? 32 : -1,
		.no_push = kind == TRUTH_CALL && to == from + 5,
	};

	pt_transfer(&cpu, &t);
}

void do_cond(uint64_t from, uint64_t to, bool taken)
{
	transfer(TRUTH_COND, from, to, taken, false);
}

void do_jump(uint64_t from, uint64_t to)
{
	transfer(TRUTH_JUMP, from, to, false, false);
}

void do_call(uint64_t from, uint64_t to)
{
	transfer(TRUTH_CALL, from, to, false, false);
}

void do_jump_ind(uint64_t from, uint64_t to)
{
	transfer(TRUTH_JUMP_IND, from, to, false, false);
}

void do_call_ind(uint64_t from, uint64_t to)
{
	transfer(TRUTH_CALL_IND, from, to, false, false);
}

void do_ret(uint64_t from, uint64_t to)
{
	transfer(TRUTH_RET, from, to, false, false);
}

void do_far(uint8_t kind, uint64_t from, uint64_t to, unsigned int cpl)
{
	cpu.ctx.cpl = (uint8_t)cpl;
	transfer(kind, from, to, false, false);
}

void do_event(uint8_t kind, uint64_t from, uint64_t to, unsigned int cpl)
{
	cpu.ctx.cpl = (uint8_t)cpl;
	transfer(kind, from, to, false, true);
}

void do_mov_cr3(uint64_t from, uint64_t cr3)
{
	cpu.ctx.cr3 = cr3;
	transfer(TRUTH_CR3, from, from + 3, false, false);
}
