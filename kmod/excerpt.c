// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes the end of a trace for the log, see excerpt.h. It is decoded twice:
 * once to find where the machine died, which is the last place that looks like
 * it, and once up to there. If that gives few lines, more of the trace is
 * decoded, as long as there is time.
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

#include "buffer.h"
#include "compat.h"
#include "decode/flow.h"
#include "excerpt.h"
#include "excerpt_text.h"
#include "flow_config.h"
#include "memory.h"
#include "session.h"
#include "trace.h"
#include "../uapi/linux/kipt_crash.h"

/* For blocks of code alone: nothing is remembered of paths. */
#define FLOW_BYTES	(512ULL << 10)
#define ARENA_ALIGN	64
/* More than the frames of all stacks a CPU may be on. */
#define ROOM		4096U
#define STACK_BYTES	THREAD_SIZE
/* How much of the trace is decoded: at first, then as many times more. */
#define WINDOW_FIRST	(16ULL << 10)
#define WINDOW_TIMES	4
#define WINDOW_MOST	(4ULL << 20)
#define TIME_MS		2000ULL
/* A millisecond and more each; printing takes no longer than that. */
#define RELEASE_LOOKS	4000U
#define RECORDS_MOST	(16ULL << 20)
/* The clock is looked at after that much trace, beside after each records. */
#define SLICE_BYTES	(4U << 10)
/* Of the name of an address, which may be cut. */
#define PLACE_BYTES	256U

/**
 * struct excerpt - all that decoding for the log needs
 * @arena: memory of @flow
 * @arena_bytes: its bytes
 * @memory: of @list
 * @stack: what it runs on
 * @flow: the decoder
 * @list: lines
 * @text: what is shown
 * @last: the record that the machine died at
 * @last_number: its number, from 1; 0: not found
 * @number: of the record at hand
 * @searching: the end is looked for
 * @end: TSC after which it ends
 * @over: that was reached, or there were too many records
 * @data: the trace
 * @size: its bytes
 * @lines: at most
 */
struct excerpt {
	void *arena;
	size_t arena_bytes;
	struct kipt_excerpt_line *memory;
	void *stack;
	struct kipt_flow *flow;
	struct kipt_excerpt_lines list;
	struct kipt_excerpt_text text;
	struct kipt_record last;
	u64 last_number;
	u64 number;
	bool searching;
	u64 end;
	bool over;
	const u8 *data;
	u64 size;
	u32 lines;
};

/**
 * enum excerpt_state - may the one excerpt be used
 * @ABSENT: it has no memory
 * @READY: it has
 * @PRINTING: it is in use
 */
enum excerpt_state {
	ABSENT,
	READY,
	PRINTING,
};

static struct excerpt the_excerpt;
static atomic_t state = ATOMIC_INIT(ABSENT);
static int printing_cpu = -1;
static DEFINE_MUTEX(users_lock);
static u32 users;

static void fill_config(struct kipt_flow_config *config)
{
	*config = (struct kipt_flow_config){
		.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME |
			  KIPT_FLOW_NO_MEMO,
		.memory = FLOW_BYTES,
		.slice = SLICE_BYTES,
	};
}

static void free_excerpt(struct excerpt *excerpt)
{
	kipt_memory_free(excerpt->arena, excerpt->arena_bytes);
	kipt_memory_free(excerpt->memory, ROOM * sizeof(*excerpt->memory));
	if (excerpt->stack) {
		vfree(excerpt->stack);
		kipt_memory_uncharge(STACK_BYTES);
	}
	*excerpt = (struct excerpt){ .arena = NULL };
}

/* Of pages of its own, behind which none is mapped. */
static void *alloc_stack(void)
{
	void *stack;

	if (kipt_memory_charge(STACK_BYTES))
		return NULL;
	stack = __vmalloc(STACK_BYTES, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
			  __GFP_NOWARN);
	if (!stack)
		kipt_memory_uncharge(STACK_BYTES);
	return stack;
}

static int alloc_excerpt(struct excerpt *excerpt)
{
	struct kipt_flow_config config;

	fill_config(&config);
	excerpt->arena_bytes = kipt_flow_size(&config) + ARENA_ALIGN;
	excerpt->arena = kipt_memory_alloc(excerpt->arena_bytes);
	excerpt->memory = kipt_memory_alloc(ROOM * sizeof(*excerpt->memory));
	excerpt->stack = alloc_stack();
	if (excerpt->arena && excerpt->memory && excerpt->stack)
		return 0;
	free_excerpt(excerpt);
	return -ENOMEM;
}

int kipt_excerpt_prepare(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users && atomic_read(&state) == ABSENT)
		err = alloc_excerpt(&the_excerpt);
	if (!err && !users++)
		atomic_cmpxchg(&state, ABSENT, READY);
	mutex_unlock(&users_lock);
	return err;
}

void kipt_excerpt_release(void)
{
	u32 looks = 0;

	mutex_lock(&users_lock);
	if (!--users) {
		while (atomic_cmpxchg(&state, READY, ABSENT) != READY &&
		       ++looks < RELEASE_LOOKS)
			usleep_range(1000, 2000);
		/* What faulted while it printed never ends, and keeps it all. */
		if (looks < RELEASE_LOOKS)
			free_excerpt(&the_excerpt);
	}
	mutex_unlock(&users_lock);
}

bool kipt_excerpt_active(void)
{
	return atomic_read(&state) == PRINTING &&
	       READ_ONCE(printing_cpu) == raw_smp_processor_id();
}

/* The image of the kernel, modules and the like: no device is mapped there. */
static bool is_kernel_code(u64 ip)
{
	return ip >= __START_KERNEL_map && ip < MODULES_END;
}

static u32 kipt_excerpt_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u32 done = 0, n;

	while (done < len && is_kernel_code(ip)) {
		n = min_t(u32, len - done, PAGE_SIZE - offset_in_page(ip));
		if (copy_from_kernel_nofault(buf + done, (void *)ip, n))
			break;
		done += n;
		ip += n;
	}
	return done;
}

static bool is_over(struct excerpt *excerpt)
{
	if ((s64)(rdtsc() - excerpt->end) > 0 ||
	    excerpt->number > RECORDS_MOST)
		excerpt->over = true;
	return excerpt->over;
}

static void search(struct excerpt *excerpt, const struct kipt_record *record)
{
	if (kipt_excerpt_ends(&excerpt->text.end, record)) {
		excerpt->last = *record;
		excerpt->last_number = excerpt->number;
		excerpt->text.insns = 0;
	} else if (record->type == KIPT_RECORD_BRANCH ||
		   record->type == KIPT_RECORD_DISABLE ||
		   (record->type == KIPT_RECORD_SYNC &&
		    record->kind == KIPT_SYNC_REACHED)) {
		excerpt->text.insns += record->aux;
	}
}

static bool kipt_excerpt_emit(void *ctx, const struct kipt_record *records,
			      u32 n)
{
	struct excerpt *excerpt = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		excerpt->number++;
		if (excerpt->searching) {
			search(excerpt, &records[i]);
			continue;
		}
		if (excerpt->number == excerpt->last_number)
			return false;
		kipt_excerpt_lines_add(&excerpt->list, &records[i]);
	}
	return !is_over(excerpt);
}

static void run(struct excerpt *excerpt, u64 from)
{
	enum kipt_status status;

	excerpt->number = 0;
	if (!excerpt->size)
		return;
	status = kipt_flow_run(excerpt->flow, excerpt->data, excerpt->size,
			       from, excerpt->size);
	while (status == KIPT_PAUSED && !is_over(excerpt))
		status = kipt_flow_resume(excerpt->flow);
}

static void tell_time_is_up(struct excerpt *excerpt)
{
	static const struct kipt_record gap = {
		.type = KIPT_RECORD_GAP,
		.kind = KIPT_GAP_STOPPED,
		.flags = KIPT_RF_NO_IP,
	};

	kipt_excerpt_lines_add(&excerpt->list, &gap);
}

static void decode_window(struct excerpt *excerpt, u64 from)
{
	excerpt->last_number = 0;
	excerpt->text.insns = 0;
	excerpt->searching = true;
	run(excerpt, from);
	/* There may be a later one. */
	if (excerpt->over)
		excerpt->last_number = 0;
	excerpt->text.last = excerpt->last_number ? &excerpt->last : NULL;
	excerpt->searching = false;
	kipt_excerpt_lines_init(&excerpt->list, excerpt->memory, ROOM);
	run(excerpt, from);
	if (excerpt->number < excerpt->last_number)
		tell_time_is_up(excerpt);
}

/* The next window takes that many times as long as this one did. */
static bool is_time_for_next(const struct excerpt *excerpt, u64 begin)
{
	u64 now = rdtsc();

	return !excerpt->over &&
	       (s64)(excerpt->end - now) >
	       (s64)((now - begin) * (WINDOW_TIMES + 1));
}

static void decode(struct excerpt *excerpt)
{
	u64 window, begin;

	for (window = WINDOW_FIRST;; window *= WINDOW_TIMES) {
		begin = rdtsc();
		decode_window(excerpt, window < excerpt->size ?
			      excerpt->size - window : 0);
		if ((excerpt->text.last || !excerpt->text.end.known) &&
		    excerpt->list.count >= excerpt->lines)
			break;
		if (window >= excerpt->size || window >= WINDOW_MOST ||
		    !is_time_for_next(excerpt, begin))
			break;
	}
}

static void kipt_excerpt_name(void *ctx, u64 ip, enum kipt_excerpt_name how,
			      char *buf, u32 size)
{
	char place[PLACE_BYTES];
	char *offset;

	if (how == KIPT_EXCERPT_NAME) {
		scnprintf(buf, size, "%ps", (void *)ip);
		return;
	}
	if (how == KIPT_EXCERPT_PLACE) {
		scnprintf(buf, size, "%pS", (void *)ip);
		return;
	}
	scnprintf(place, sizeof(place), "%pS", (void *)ip);
	offset = strrchr(place, '+');
	if (offset)
		offset[strcspn(offset, "/")] = 0;
	scnprintf(buf, size, "%s", offset ?: place);
}

/*
 * The level of a record tells the log not to look for a console: the machine
 * may have died in one, and the first line of an oops finds this here.
 */
static __printf(1, 2) void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintk_emit(0, LOGLEVEL_SCHED, NULL, format, args);
	va_end(args);
}

static void kipt_excerpt_put(void *ctx, const char *line)
{
	log_line(KERN_ALERT KBUILD_MODNAME ": %s\n", line);
}

/* On the stack of its own. */
static void kipt_excerpt_run(void)
{
	struct excerpt *excerpt = &the_excerpt;

	decode(excerpt);
	excerpt->text.over = excerpt->over;
	kipt_excerpt_show(&excerpt->text, &excerpt->list, excerpt->lines);
}

static noinline void run_on_stack(void *stack)
{
	call_on_stack(stack + STACK_BYTES - sizeof(void *), kipt_excerpt_run,
		      ASM_CALL_ARG0);
}

static bool make_flow(struct excerpt *excerpt,
		      const struct kipt_session *session, u64 tsc)
{
	const struct kipt_code code = {
		.read = kipt_excerpt_read,
		.ctx = excerpt,
	};
	const struct kipt_sink sink = {
		.emit = kipt_excerpt_emit,
		.ctx = excerpt,
	};
	struct kipt_flow_config config;

	fill_config(&config);
	kipt_flow_config_fill(session, &config);
	config.tsc_near = tsc;
	excerpt->flow = kipt_flow_init(PTR_ALIGN(excerpt->arena, ARENA_ALIGN),
				       excerpt->arena_bytes - ARENA_ALIGN,
				       &config, &code, &sink);
	return excerpt->flow;
}

static void fill_text(struct excerpt *excerpt, u32 cpu,
		      const struct kipt_crash_event *event)
{
	excerpt->text = (struct kipt_excerpt_text){
		.cpu = cpu,
		.tsc_khz = tsc_khz,
		.end = {
			.ip = event->ip,
			/* A call to 0 faults there. */
			.known = event->ip || event->faulted,
			.faulted = event->faulted,
			.trap = event->trap,
		},
		.name = kipt_excerpt_name,
		.put = kipt_excerpt_put,
		.ctx = excerpt,
	};
}

void kipt_excerpt_print(const struct kipt_trace *trace, const u8 *view,
			u64 head, u64 tail,
			const struct kipt_crash_event *event, u32 lines)
{
	struct excerpt *excerpt = &the_excerpt;
	u64 size = trace->buffer->size;

	if (!lines || !view || tail > head || head - tail > size ||
	    atomic_cmpxchg(&state, READY, PRINTING) != READY)
		return;
	WRITE_ONCE(printing_cpu, raw_smp_processor_id());
	fill_text(excerpt, trace->cpu, event);
	excerpt->data = view + tail % size;
	excerpt->size = head - tail;
	excerpt->lines = min(lines, KIPT_EXCERPT_LINES_MOST);
	excerpt->over = false;
	excerpt->end = rdtsc() + TIME_MS * tsc_khz;
	if (make_flow(excerpt, trace->session, event->tsc))
		run_on_stack(excerpt->stack);
	WRITE_ONCE(printing_cpu, -1);
	atomic_set_release(&state, READY);
}
