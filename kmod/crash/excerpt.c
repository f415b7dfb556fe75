// SPDX-License-Identifier: GPL-2.0-only
/*
 * What decoding for the log needs of the kernel, see excerpt.h: memory, a stack,
 * code and names. excerpt_decode.c says how much of a trace is decoded.
 *
 * Nothing here is trusted to be as it should be: code is read where the kernel
 * has any, by reads that may fail; what the trace says is checked by the
 * decoder.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/irq_stack.h>
#include <asm/tsc.h>

#include "../trace/buffer.h"
#include "../lib/compat.h"
#include "../decode/flow.h"
#include "../decode/packet/psb.h"
#include "../trace/config.h"
#include "excerpt.h"
#include "excerpt_decode.h"
#include "../shared/excerpt_text.h"
#include "../shared/patch_log.h"
#include "../shared/text_view.h"
#include "../shared/tsc_extend.h"
#include "../trace/flow_config.h"
#include "../lib/memory.h"
#include "../lib/quiet_log.h"
#include "../watch/sideband.h"
#include "../watch/text_patch.h"
#include "../trace/trace.h"
#include "../../uapi/linux/kipt_crash.h"

/* For blocks of code alone: nothing else is remembered. */
#define FLOW_BYTES	(512ULL << 10)
/* More than the frames of all stacks a CPU may be on. */
#define ROOM		4096U
#define LISTS		2
#define LISTS_BYTES	(LISTS * ROOM * sizeof(struct kipt_excerpt_line))
#define STACK_BYTES	THREAD_SIZE
/* What follows each of them begins where a page does. */
static_assert(IS_ALIGNED(STACK_BYTES, PAGE_SIZE) && IS_ALIGNED(LISTS_BYTES, PAGE_SIZE));
/* A millisecond and more each; printing takes no longer than that. */
#define RELEASE_LOOKS	6000U
/*
 * The clock is looked at after that much trace, and after so many blocks of code,
 * also amid a packet: a packet of a damaged trace may cover millions.
 */
#define SLICE_BYTES	(4U << 10)
#define SLICE_STEPS	2048U
/* No kernel code goes through more blocks for one packet, of 47 outcomes at most. */
#define STEPS_MOST	8192U

/**
 * struct excerpt - all that decoding for the log needs
 * @stack: what it runs on, STACK_BYTES
 * @memory: after it, of LISTS lists, ROOM lines each
 * @arena: after them, memory of the decoder
 * @decode: what is decoded
 * @text: what is shown
 * @space: the address space user code is read of, as kipt_sideband_space()
 *	names it; 0: of none
 * @kernel_text: what of the kernel's text was patched since it ran
 * @unseen: it was patched, and nobody knows where
 * @stopped: TSC of the end of the trace
 * @printed: lines
 */
struct excerpt {
	void *stack;
	struct kipt_excerpt_line *memory;
	void *arena;
	struct kipt_excerpt_decode decode;
	struct kipt_excerpt_text text;
	u64 space;
	struct kipt_text_view kernel_text;
	bool unseen;
	u64 stopped;
	u32 printed;
};

/* It has memory as long as it has a stack. */
static struct excerpt the_excerpt;
/* &the_excerpt while it has memory and nobody prints it; NULL otherwise. */
static struct excerpt *ready;
static DEFINE_MUTEX(users_lock);
static u32 users;

static const struct kipt_flow_config base_config = {
	.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME | KIPT_FLOW_NO_MEMO,
	.memory = FLOW_BYTES,
	.slice = SLICE_BYTES,
	.step_slice = SLICE_STEPS,
	.step_limit = STEPS_MOST,
};

static size_t excerpt_bytes(void)
{
	return STACK_BYTES + LISTS_BYTES + kipt_flow_size(&base_config);
}

/* In pages of its own: before the stack, which is first, none is mapped. */
static int alloc_excerpt(struct excerpt *excerpt)
{
	if (kipt_memory_charge(excerpt_bytes()))
		return -ENOMEM;
	excerpt->stack = __vmalloc(excerpt_bytes(), KIPT_MEMORY_GFP | __GFP_ZERO);
	if (!excerpt->stack) {
		kipt_memory_uncharge(excerpt_bytes());
		return -ENOMEM;
	}
	excerpt->memory = excerpt->stack + STACK_BYTES;
	excerpt->arena = excerpt->stack + STACK_BYTES + LISTS_BYTES;
	/* Pairs with xchg() in kipt_excerpt_print(). */
	smp_store_release(&ready, excerpt);
	return 0;
}

int kipt_excerpt_prepare(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!the_excerpt.stack)
		err = alloc_excerpt(&the_excerpt);
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	return err;
}

void kipt_excerpt_release(void)
{
	u32 looks = 0;

	mutex_lock(&users_lock);
	if (!--users) {
		while (!xchg(&ready, NULL) && ++looks < RELEASE_LOOKS)
			usleep_range(1000, 2000);
		/* What faulted while it printed never ends, and keeps it all. */
		if (looks < RELEASE_LOOKS) {
			kipt_memory_free(the_excerpt.stack, excerpt_bytes());
			the_excerpt.stack = NULL;
		}
	}
	mutex_unlock(&users_lock);
}

/* The image of the kernel, modules and the like: no device is mapped there. */
static bool is_kernel_code(u64 ip)
{
	return ip >= __START_KERNEL_map && ip < MODULES_END;
}

static u64 kipt_excerpt_space(void *ctx, u64 cr3, bool nr)
{
	return nr ? KIPT_SPACE_GUEST : kipt_sideband_space(cr3);
}

/* A page that is not there is not waited for, and no lock is taken. */
static u32 read_user(const struct excerpt *excerpt, u64 space, u64 ip, u8 *buf, u32 n)
{
	return excerpt->space && space == excerpt->space &&
	       !copy_from_user_nmi(buf, (void __user *)ip, n) ? n : 0;
}

/* How many bytes come before the first that was patched since the trace begins: of that nobody
 * knows whether it ran before the patch, or after it.
 */
static u32 sure_bytes(const struct excerpt *excerpt, u64 ip, u32 n)
{
	return excerpt->unseen ? 0 : kipt_text_view_sure(&excerpt->kernel_text, ip, n);
}

static u32 read_kernel(const struct excerpt *excerpt, u64 ip, u8 *buf, u32 n)
{
	n = sure_bytes(excerpt, ip, n);
	return n && !copy_from_kernel_nofault(buf, (void *)ip, n) ? n : 0;
}

static bool kipt_excerpt_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	return is_kernel_code(ip) && space != KIPT_SPACE_GUEST && sure_bytes(ctx, ip, len) < len;
}

static u32 kipt_excerpt_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u32 done = 0, n, got;

	while (space != KIPT_SPACE_GUEST && done < len) {
		n = min_t(u32, len - done, PAGE_SIZE - offset_in_page(ip));
		got = is_kernel_code(ip) ? read_kernel(ctx, ip, buf + done, n) :
					   read_user(ctx, space, ip, buf + done, n);
		done += got;
		ip += got;
		if (got < n)
			break;
	}
	return done;
}

static void kipt_excerpt_begins(void *ctx, u64 offset)
{
	struct excerpt *excerpt = ctx;
	struct kipt_excerpt_decode *decode = &excerpt->decode;
	u64 tsc;

	tsc = kipt_psb_tsc(decode->data, decode->size, offset, &tsc) ?
	      kipt_tsc_extend(excerpt->stopped, tsc) : 0;
	kipt_text_view_at(&excerpt->kernel_text, decode->flow, tsc, ~0ULL);
}

static u64 kipt_excerpt_now(void *ctx)
{
	return rdtsc();
}

static void kipt_excerpt_name(void *ctx, u64 ip, bool place, char *buf,
			      u32 size)
{
	scnprintf(buf, size, place ? "%pS" : "%ps", (void *)ip);
}

static void kipt_excerpt_put(void *ctx, const char *line)
{
	struct excerpt *excerpt = ctx;

	excerpt->printed++;
	kipt_quiet_log(KERN_ALERT KBUILD_MODNAME ": %s\n", line);
}

/* On the stack of its own. */
static void kipt_excerpt_run(void)
{
	struct excerpt *excerpt = &the_excerpt;
	struct kipt_excerpt_decode *decode = &excerpt->decode;
	struct kipt_excerpt_text *text = &excerpt->text;
	struct kipt_excerpt_found *found = kipt_excerpt_decode_run(decode);

	text->last = decode->last_number ? &decode->last : NULL;
	text->cut = found->cut;
	text->over = found->over;
	text->insns = decode->insns;
	kipt_excerpt_show(text, &found->list, decode->lines);
}

static noinline void run_on_stack(void *stack)
{
	call_on_stack(stack + STACK_BYTES - sizeof(void *), kipt_excerpt_run,
		      ASM_CALL_ARG0);
}

/* All is as it is now until kipt_excerpt_begins() says more. */
static void see_patches(struct excerpt *excerpt, const struct kipt_excerpt_source *source)
{
	const struct kipt_patch_log *log = kipt_text_patch_log();
	u64 first = source->trace->group->first_patch;

	excerpt->stopped = source->stop->tsc;
	excerpt->unseen = log && kipt_text_patch_unseen();
	kipt_text_view_init(&excerpt->kernel_text, log, first,
			    log ? kipt_patch_log_count(log) : first,
			    (u64)tsc_khz * KIPT_TEXT_SLACK_MS);
}

static bool make_flow(struct excerpt *excerpt,
		      const struct kipt_excerpt_source *source)
{
	const struct kipt_code code = {
		.read = kipt_excerpt_read,
		.space = kipt_excerpt_space,
		.changed = kipt_excerpt_changed,
		.ctx = excerpt,
	};
	const struct kipt_sink sink = {
		.emit = kipt_excerpt_decode_emit,
		.ctx = &excerpt->decode,
	};
	struct kipt_flow_config config = base_config;

	kipt_flow_config_fill(source->trace->group, &config);
	config.tsc_near = source->stop->tsc;
	excerpt->decode.flow =
		kipt_flow_init(excerpt->arena, kipt_flow_size(&base_config), &config,
			       &code, &sink);
	return excerpt->decode.flow;
}

/*
 * The page table must be the one in use, and stay so. What the machine dies of
 * may have overwritten @current or its mm: a plain load of a bad pointer would
 * fault in the middle of the kernel's own report.
 */
static void allow_user_code(struct excerpt *excerpt,
			    const struct kipt_crash_stop *stop, u32 lines)
{
	struct kipt_excerpt_text *text = &excerpt->text;
	struct mm_struct *mm = NULL;
	unsigned long program = 0;
	pgd_t *pgd = NULL;

	text->user = 0;
	excerpt->space = 0;
	if (!lines || stop->task != (unsigned long)current ||
	    get_kernel_nofault(mm, &current->mm) || !mm ||
	    get_kernel_nofault(pgd, &mm->pgd) ||
	    get_kernel_nofault(program, &mm->start_code))
		return;
	text->user = lines;
	/* Without the check of CONFIG_DEBUG_VIRTUAL, which would oops. */
	excerpt->space = kipt_sideband_space(__pa_nodebug((unsigned long)pgd));
	BUILD_BUG_ON(sizeof(text->task) != sizeof(stop->comm));
	memcpy(text->task, stop->comm, sizeof(text->task));
	text->task[sizeof(text->task) - 1] = 0;
	text->tid = stop->pid;
	text->program = program;
}

static void fill(struct excerpt *excerpt,
		 const struct kipt_excerpt_source *source,
		 const struct kipt_crash_event *event, u32 lines, u64 ticks)
{
	const struct kipt_crash_stop *stop = source->stop;
	const struct kipt_trace *trace = source->trace;
	struct kipt_excerpt_decode *decode = &excerpt->decode;
	bool died = trace->cpu == event->cpu;

	/* Too large for a copy of it on this stack. */
	memset(decode, 0, sizeof(*decode));
	decode->data = source->bytes;
	decode->size = stop->head - stop->tail;
	decode->end = kipt_excerpt_end_of(event, stop, died);
	decode->lines = lines;
	decode->begins = kipt_excerpt_begins;
	decode->now = kipt_excerpt_now;
	decode->ctx = excerpt;
	decode->limit = rdtsc() + ticks;
	decode->memory[0] = excerpt->memory;
	decode->memory[1] = excerpt->memory + ROOM;
	decode->room = ROOM;
	excerpt->text = (struct kipt_excerpt_text){
		.cpu = trace->cpu,
		.tsc_khz = tsc_khz,
		.end = decode->end,
		.later = stop->tsc > event->tsc ? stop->tsc - event->tsc : 0,
		.name = kipt_excerpt_name,
		.put = kipt_excerpt_put,
		.ctx = excerpt,
	};
	allow_user_code(excerpt, stop,
			died && trace->cpu == raw_smp_processor_id() ?
			trace->group->config.print_user : 0);
}

struct kipt_excerpt_source
kipt_excerpt_source_of(const struct kipt_trace *trace)
{
	const struct kipt_crash_stop *stop = &trace->crash->stop;
	u64 size = trace->buffer->size;

	return (struct kipt_excerpt_source){
		.trace = trace,
		.stop = stop,
		.bytes = trace->view ? trace->view + stop->tail % size : NULL,
		.size = size,
	};
}

static bool has_trace(const struct kipt_excerpt_source *source)
{
	const struct kipt_crash_stop *stop = source->stop;

	return source->bytes && stop->state == KIPT_CRASH_STOPPED &&
	       stop->tail <= stop->head &&
	       stop->head - stop->tail <= source->size;
}

u32 kipt_excerpt_print(const struct kipt_excerpt_source *source,
		       const struct kipt_crash_event *event, u32 lines,
		       u64 ticks)
{
	struct excerpt *excerpt = lines && has_trace(source) ? xchg(&ready, NULL) : NULL;

	if (!excerpt)
		return 0;
	excerpt->printed = 0;
	fill(excerpt, source, event, min(lines, KIPT_EXCERPT_LINES_MOST), ticks);
	see_patches(excerpt, source);
	if (make_flow(excerpt, source))
		run_on_stack(excerpt->stack);
	lines = excerpt->printed;
	/* Pairs with xchg() here and in kipt_excerpt_release(). */
	smp_store_release(&ready, excerpt);
	return lines;
}
