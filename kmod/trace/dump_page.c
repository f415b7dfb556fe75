// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU's page of a dump, see dump_page.h. What is static changes in process context,
 * under a lock; where the trace stopped is written in any context, on the CPU it is
 * about, without one.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/tsc.h>

#include "buffer.h"
#include "config.h"
#include "dump_page.h"
#include "../hw/hw.h"
#include "trace.h"

static_assert(KIPT_CRASH_COOKIE == KIPT_BUFFER_COOKIE);

/* Guards the chain and the static part of all pages. */
static DEFINE_MUTEX(chain_lock);
/* A page's content and its checksum do not belong together. */
static bool unsealed;

/*
 * The kernel's crc32_le() may use vector registers, which it must not in an
 * NMI. This takes 16 instructions a byte.
 */
static u32 crc_feed(u32 crc, const void *data, size_t len)
{
	static const u32 nibbles[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *byte = data;

	for (; len; len--) {
		crc ^= *byte++;
		crc = crc >> 4 ^ nibbles[crc & 15];
		crc = crc >> 4 ^ nibbles[crc & 15];
	}
	return crc;
}

static u32 crc_zeros(u32 crc, size_t len)
{
	static const u8 zero;

	while (len--)
		crc = crc_feed(crc, &zero, sizeof(zero));
	return crc;
}

void kipt_dump_seal(struct kipt_crash_page *page)
{
	const u8 *bytes = (const u8 *)page;
	size_t at = offsetofend(struct kipt_crash_page, crc);
	u32 crc = crc_feed(~0, bytes, offsetof(struct kipt_crash_page, crc));

	crc = crc_zeros(crc, sizeof(page->crc));
	if (page->kind == KIPT_CRASH_CPU) {
		crc = crc_feed(crc, bytes + at,
			       offsetof(struct kipt_crash_cpu, stop) - at);
		crc = crc_zeros(crc, sizeof(struct kipt_crash_stop));
		at = offsetofend(struct kipt_crash_cpu, stop);
	}
	WRITE_ONCE(page->crc, ~crc_feed(crc, bytes + at, page->size - at));
}

void kipt_dump_seal_part(void *part, size_t size)
{
	u32 *crc = part;

	WRITE_ONCE(*crc, ~crc_feed(~0, part + sizeof(*crc), size - sizeof(*crc)));
}

void kipt_dump_change_begin(void)
{
	mutex_lock(&chain_lock);
	WRITE_ONCE(unsealed, true);
	barrier();
}

void kipt_dump_change_end(void)
{
	barrier();
	WRITE_ONCE(unsealed, false);
	mutex_unlock(&chain_lock);
}

bool kipt_dump_is_changing(void)
{
	return READ_ONCE(unsealed);
}

void kipt_dump_fill_caps(struct kipt_crash_cpu *page, unsigned int cpu)
{
	const struct kipt_caps *caps = kipt_caps_cpu(cpu);

	page->apic_id = cpu_physical_id(cpu);
	page->leaf0_ebx = caps->leaf0_ebx;
	page->leaf0_ecx = caps->leaf0_ecx;
	page->leaf1_eax = caps->leaf1_eax;
	page->leaf1_ebx = caps->leaf1_ebx;
	page->tsc_den = caps->tsc_den;
	page->tsc_num = caps->tsc_num;
	page->crystal_hz = caps->crystal_hz;
	page->max_nonturbo_ratio = caps->max_nonturbo_ratio;
}

void kipt_dump_start(struct kipt_trace *trace)
{
	struct kipt_crash_cpu *page = trace->crash;

	kipt_dump_change_begin();
	kipt_dump_fill_caps(page, trace->cpu);
	WRITE_ONCE(page->started, trace->group->started);
	memcpy(page->cookie, trace->buffer->cookie, sizeof(page->cookie));
	kipt_dump_seal(&page->page);
	kipt_dump_change_end();
	kipt_dump_running(trace);
}

void kipt_dump_running(struct kipt_trace *trace)
{
	struct kipt_crash_stop *stop = &trace->crash->stop;

	memset(stop, 0, sizeof(*stop));
	stop->state = KIPT_CRASH_RUNNING;
	kipt_dump_seal_part(stop, sizeof(*stop));
}

static void fill_position(struct kipt_crash_stop *stop,
			  const struct kipt_hw_position *position)
{
	stop->ctl = position->ctl;
	stop->status = position->status;
	stop->base = position->base;
	stop->mask_ptrs = position->mask_ptrs;
}

bool kipt_dump_is_stopped(const struct kipt_trace *trace)
{
	return trace->crash->stop.state == KIPT_CRASH_STOPPED;
}

void kipt_dump_finish(struct kipt_trace *trace,
		      const struct kipt_trace_result *result)
{
	struct kipt_crash_stop *stop = &trace->crash->stop;

	memset(stop, 0, sizeof(*stop));
	stop->state = result->lost ? KIPT_CRASH_LOST : KIPT_CRASH_NOT_TRACED;
	stop->head = result->head;
	stop->tail = result->tail;
	fill_position(stop, &result->registers);
	kipt_dump_seal_part(stop, sizeof(*stop));
}

static void fill_stop_local(struct kipt_crash_stop *stop,
			    const struct kipt_trace *trace, u64 ip)
{
	memset(stop, 0, sizeof(*stop));
	stop->tsc = rdtsc();
	stop->state = kipt_trace_is_old(trace) ? KIPT_CRASH_NOT_TRACED : KIPT_CRASH_STOPPED;
	if (kipt_buffer_measure(trace->buffer, &trace->position, &stop->head,
				&stop->tail))
		stop->state = KIPT_CRASH_LOST;
	fill_position(stop, &trace->position);
	stop->cr3 = __read_cr3();
	stop->ip = ip;
	stop->task = (unsigned long)current;
	stop->pid = current->pid;
	stop->tgid = current->tgid;
	memcpy(stop->comm, current->comm, sizeof(stop->comm));
}

void kipt_dump_stop_local(struct kipt_trace *trace, u64 ip)
{
	fill_stop_local(&trace->crash->stop, trace, ip);
	kipt_dump_seal_part(&trace->crash->stop, sizeof(trace->crash->stop));
}

void kipt_dump_copy_local(const struct kipt_trace *trace, u64 ip,
			  struct kipt_crash_cpu *copy)
{
	memcpy(copy, trace->crash, sizeof(*copy));
	copy->page.next = 0;
	copy->page.more = 0;
	if (copy->stop.state != KIPT_CRASH_STOPPED)
		fill_stop_local(&copy->stop, trace, ip);
}
