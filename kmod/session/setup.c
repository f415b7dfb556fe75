// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the parts of a session, in phases: CPUs claimed, probes in place,
 * perf kept off, buffers allocated. A step does a few milliseconds of it.
 * Leaves the session's life to session.c. Process context.
 *
 * All but the allocation of buffers is done with session->lock held, and not
 * any more once the session is dead, so that who destroys it can give back
 * what was taken. Buffers are freed with the last pin.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/topology.h>

#include "arm.h"
#include "../trace/buffer.h"
#include "../crash/crash_hooks.h"
#include "../crash/crash_pages.h"
#include "../crash/excerpt.h"
#include "../watch/follow.h"
#include "../hw/hw_regs.h"
#include "../crash/killed.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "session_inside.h"
#include "../lib/refuse.h"
#include "setup.h"
#include "../watch/sideband.h"
#include "../crash/snapshot.h"
#include "../watch/text_patch.h"

enum setup_phase {
	PHASE_CLAIM,
	PHASE_PROBES,
	PHASE_RESERVE,
	PHASE_BUFFERS,
	PHASE_READY,
};

/* How long a step waits for a session that is being destroyed. */
#define CLAIM_WAIT_MS	10
/* Of a buffer, in one step; below a millisecond per MiB. */
#define STEP_BYTES	(4ULL << 20)

static int check_size(u64 size, struct kipt_refusal *refusal)
{
	if (is_power_of_2(size))
		return 0;
	return kipt_refuse(refusal, NULL, -EINVAL,
			   "size %llu is not a power of two; nearest below: %lu",
			   size, rounddown_pow_of_two(size));
}

static int check_memory(u64 bytes, struct kipt_refusal *refusal)
{
	u64 limit = kipt_limits()->memory;

	if (bytes <= limit && kipt_memory_used() <= limit - bytes)
		return 0;
	return kipt_memory_refuse(refusal, "buffers of all CPUs", bytes);
}

static const char *misplaced(u64 ctl)
{
	if (ctl & RTIT_CTL_CR3FILTER)
		return "CR3Filter is set by the module: use the attribute pid or cr3";
	if (ctl & RTIT_CTL_ADDR_CFGS)
		return "ADDRn_CFG is set by the module: use the attribute filter";
	return NULL;
}

/* Intel SDM Vol. 3C, "IA32_RTIT_CTL MSR": ADDRn_CFG is the kind. */
static void fill_hw(struct kipt_config *config)
{
	struct kipt_hw_config *hw = &config->hw;
	u32 i;

	hw->ctl = config->ctl;
	for (i = 0; i < hw->nr_ranges; i++)
		hw->ctl |= (u64)hw->ranges[i].kind << RTIT_CTL_ADDR_CFG_SHIFT(i);
	if (config->by_cr3)
		hw->ctl |= RTIT_CTL_CR3FILTER;
	/* Intel SDM Vol. 3C, "IA32_RTIT_CR3_MATCH MSR": bits 4:0 are reserved. */
	hw->cr3_match = config->cr3 & PAGE_MASK;
}

static int check_hw(struct kipt_request *request, struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	const char *text = misplaced(config->ctl);

	if (text)
		return kipt_refuse(refusal, NULL, -EINVAL, "%s", text);
	kipt_caps_of(request->cpus, &config->caps);
	if (!config->caps.pt)
		return kipt_refuse(refusal, NULL, -ENXIO,
				   "none of the CPUs %*pbl was online yet: what they can do is unknown",
				   cpumask_pr_args(request->cpus));
	fill_hw(config);
	return kipt_caps_check_config(&config->caps, &config->hw, refusal);
}

static int check_request(struct kipt_request *request,
			 struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &request->config;

	return kipt_session_check_cpus(request->cpus, config->flags, refusal) ?:
	       check_size(config->size, refusal) ?:
	       check_hw(request, refusal) ?:
	       kipt_parts_check_output(&config->caps, config->mode, config->size, refusal) ?:
	       check_memory(config->size * cpumask_weight(request->cpus), refusal);
}

static const char *follow_refusal(long err)
{
	if (err == -ESRCH)
		return "there is no process %u";
	if (err == -EINVAL)
		return "%u is a thread of the kernel, not a process";
	return "no memory to follow process %u";
}

static int follow(struct kipt_request *request, struct kipt_refusal *refusal)
{
	struct kipt_follow *made;

	if (!request->pid)
		return 0;
	/* Once: what has this number later may be another process. */
	request->process = find_get_pid(request->pid);
	made = kipt_follow_create(request->process, request->config.flags &
				  KIPT_SESSION_FLAGS_FOLLOW_FORK, &request->config.hw,
				  request->config.caps.leaf0_ebx &
				  RTIT_CAP_CR3_FILTER);
	if (IS_ERR(made))
		return kipt_refuse(refusal, NULL, PTR_ERR(made),
				   follow_refusal(PTR_ERR(made)), request->pid);
	request->follow = made;
	return 0;
}

struct kipt_session *kipt_setup_begin(struct kipt_request *request,
				      struct kipt_refusal *refusal)
{
	struct kipt_session *session;
	int err;

	request->keep_running = kipt_arm_keep_running;
	err = check_request(request, refusal) ?: follow(request, refusal);
	session = err ? ERR_PTR(err) : kipt_session_create(request, refusal);
	if (IS_ERR(session))
		kipt_follow_destroy(request->follow);
	put_pid(request->process);
	return session;
}

/* Before the buffers are made, which take longest. */
static int check_snapshots(const struct kipt_session *session,
			   struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &session->group.config;
	u64 limit = kipt_limits()->memory, used = kipt_memory_used();
	u64 rings = session->nr_traces * config->size;
	u64 all = session->nr_traces * kipt_snapshot_bytes(config->size);
	u32 count = kipt_limits()->snapshots;
	u64 left = limit - min(limit, used + rings);

	if (!kipt_session_is_armed(session) || all <= left)
		return 0;
	return kipt_refuse(refusal, NULL, -ENOMEM,
			   "%u snapshots of %u CPUs take %llu KiB, and beside the buffers memory_limit leaves %llu KiB: there is room for %llu (parameter snapshots)",
			   count, session->nr_traces, all >> 10, left >> 10,
			   div64_u64(left, div_u64(all, count)));
}

static bool may_stop(const struct kipt_session *session)
{
	const struct kipt_config *config = &session->group.config;
	u32 i;

	for (i = 0; i < config->hw.nr_ranges; i++)
		if (config->hw.ranges[i].kind == KIPT_FILTER_KIND_STOP)
			return true;
	return config->mode == KIPT_MODE_ONCE;
}

/*
 * Without the session's lock, as buffers are made: memory may be long in
 * coming, and a kernel that patches its text waits for all CPUs.
 */
static int make_probes(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &session->group.config;
	struct kipt_sideband *sideband;
	int err;

	/* Both patch kernel text: before tracing, so that they are not in it. */
	if (kipt_text_patch_get())
		return kipt_refuse(refusal, NULL, -ENOMEM,
				   "no memory to follow patches of kernel text");
	sideband = kipt_sideband_create(session->cpus, config->size,
					may_stop(session),
					!(config->ctl & RTIT_CTL_OS));
	if (!sideband) {
		kipt_text_patch_put();
		return kipt_refuse(refusal, NULL, -ENOMEM,
				   "no memory for what the scheduler says");
	}
	/* session-get looks at it already. */
	smp_store_release(&session->group.sideband, sideband);
	if (session->follow)
		kipt_follow_catch_up(session->follow);
	err = check_snapshots(session, refusal);
	if (err)
		return err;
	if (kipt_session_is_armed(session)) {
		kipt_crash_hooks_get();
		session->hooks = true;
	}
	if (!(config->flags & KIPT_SESSION_FLAGS_USER))
		return 0;
	err = kipt_killed_get(refusal);
	session->killed = !err;
	return err;
}

static int begin_reserving(struct kipt_session *session,
			   struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&session->lock);
	err = kipt_session_check_gone(session, refusal);
	session->reserving = !err;
	mutex_unlock(&session->lock);
	return err;
}

/*
 * Without the session's lock, as a CPU may take its time to take an interrupt.
 * Who destroys the session meanwhile leaves the CPUs alone until this is over.
 */
static int reserve_cpus(struct kipt_session *session,
			struct kipt_refusal *refusal)
{
	int err = begin_reserving(session, refusal);
	u32 i;

	if (err)
		return err;
	err = kipt_parts_reserve(session, refusal);
	mutex_lock(&session->lock);
	session->reserving = false;
	cpus_read_lock();
	for (i = 0; i < session->nr_traces && !err; i++)
		kipt_trace_attach(&session->traces[i]);
	cpus_read_unlock();
	mutex_unlock(&session->lock);
	return err;
}

/* Return: 1 when the buffer is whole, 0 to go on, or an errno. */
static int grow_buffer(struct kipt_session *session, struct kipt_trace *trace,
		       struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &session->group.config;
	char what[32];
	int ret;

	if (!trace->buffer)
		trace->buffer = kipt_buffer_create(config->size,
						   cpu_to_node(trace->cpu),
						   config->mode ==
						   KIPT_MODE_ONCE);
	ret = trace->buffer ? kipt_buffer_grow(trace->buffer, STEP_BYTES) :
			      -ENOMEM;
	snprintf(what, sizeof(what), "the buffer of CPU %u", trace->cpu);
	if (ret == -ENOMEM)
		return kipt_memory_refuse(refusal, what, config->size);
	if (ret > 0 && trace->buffer->nr_regions > 1 &&
	    !(config->caps.leaf0_ecx & RTIT_CAP_TOPA_MULTI))
		return kipt_refuse(refusal, NULL, -ENOMEM,
				   "CPU %u: no single block of %llu bytes, and this CPU has one ToPA entry only",
				   trace->cpu, config->size);
	return ret;
}

static int make_crash_pages(struct kipt_trace *trace,
			    struct kipt_refusal *refusal)
{
	char what[40];

	if (!kipt_crash_pages_create(trace))
		return 1;
	snprintf(what, sizeof(what), "the crash pages of CPU %u", trace->cpu);
	return kipt_memory_refuse(refusal, what, PAGE_SIZE);
}

/* All that is needed to print how the machine died is there before it does. */
static int make_excerpt(struct kipt_session *session,
			struct kipt_trace *trace,
			struct kipt_refusal *refusal)
{
	if (!session->group.config.print_branches)
		return 1;
	if (!session->excerpt && kipt_excerpt_prepare())
		return kipt_memory_refuse(refusal, "printing at a crash",
					  KIPT_EXCERPT_BYTES);
	session->excerpt = true;
	trace->view = kipt_buffer_view(trace->buffer);
	if (trace->view)
		return 1;
	return kipt_memory_refuse(refusal, "the view of a buffer",
				  session->group.config.size / PAGE_SIZE * 2 * sizeof(u64));
}

/* And all that is needed to copy what happens. */
static int make_areas(struct kipt_session *session, struct kipt_trace *trace,
		      struct kipt_refusal *refusal)
{
	char what[40];

	if (!kipt_session_is_armed(session) || !kipt_snapshot_prepare(trace))
		return 1;
	snprintf(what, sizeof(what), "the snapshots of CPU %u", trace->cpu);
	return kipt_memory_refuse(refusal, what,
				  kipt_snapshot_bytes(session->group.config.size));
}

/* Return: 1 when all buffers are whole, 0 to go on, or an errno. */
static int make_buffers(struct kipt_session *session,
			struct kipt_refusal *refusal)
{
	struct kipt_trace *trace = &session->traces[session->setup_cpu];
	int ret = grow_buffer(session, trace, refusal);

	if (ret > 0)
		ret = make_crash_pages(trace, refusal);
	if (ret > 0)
		ret = make_excerpt(session, trace, refusal);
	if (ret > 0)
		ret = make_areas(session, trace, refusal);
	if (ret < 0)
		return ret;
	WRITE_ONCE(session->setup_done, session->setup_cpu * session->group.config.size +
					trace->buffer->grown);
	session->setup_cpu += ret;
	return session->setup_cpu == session->nr_traces;
}

/* Return: 1, or 0 to go on while the session that has a CPU goes. */
static int claim(struct kipt_session *session, struct kipt_refusal *refusal)
{
	int err = kipt_arm_yield(session, refusal);

	if (err)
		return err;
	mutex_lock(&session->lock);
	err = kipt_session_check_gone(session, refusal) ?: kipt_session_claim(session, refusal);
	mutex_unlock(&session->lock);
	if (err != -EAGAIN)
		return err ? err : 1;
	/* Its work item waits for nobody, so this ends soon. */
	schedule_timeout_killable(msecs_to_jiffies(CLAIM_WAIT_MS));
	return 0;
}

/* Return: as make_buffers(), about one phase. */
static int do_phase(struct kipt_session *session, struct kipt_refusal *refusal)
{
	switch (session->setup_phase) {
	case PHASE_CLAIM:
		return claim(session, refusal);
	case PHASE_PROBES:
		return make_probes(session, refusal) ?: 1;
	case PHASE_RESERVE:
		return reserve_cpus(session, refusal) ?: 1;
	default:
		return make_buffers(session, refusal);
	}
}

int kipt_setup_step(struct kipt_session *session, struct kipt_refusal *refusal)
{
	int ret;

	if (fatal_signal_pending(current))
		ret = -EINTR;
	else
		ret = kipt_session_check_gone(session, refusal) ?: do_phase(session, refusal);
	if (ret > 0) {
		session->setup_phase++;
		ret = 0;
		if (session->setup_phase == PHASE_READY)
			ret = kipt_session_ready(session, refusal) ?: 1;
	}
	if (ret < 0)
		kipt_session_destroy(session);
	return ret;
}

void kipt_setup_end(struct kipt_session *session)
{
	if (READ_ONCE(session->state) == KIPT_STATE_SETUP)
		kipt_session_destroy(session);
	kipt_session_unpin(session);
	kipt_session_put(session);
}
