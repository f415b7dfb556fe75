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
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "arm.h"
#include "buffer.h"
#include "compat.h"
#include "crash_pages.h"
#include "excerpt.h"
#include "follow.h"
#include "hw_regs.h"
#include "killed.h"
#include "memory.h"
#include "refuse.h"
#include "reserve.h"
#include "session.h"
#include "setup.h"
#include "sideband.h"
#include "text_patch.h"

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

static int check_size(u64 size, struct netlink_ext_ack *extack)
{
	if (is_power_of_2(size))
		return 0;
	return kipt_refuse(extack, NULL, -EINVAL,
			   "size %llu is not a power of two; nearest below: %lu",
			   size, rounddown_pow_of_two(size));
}

/*
 * Without multiple entries a table is one region and an END to itself, and
 * INT comes before the region is full ("Single Output Region ToPA"): good
 * for a ring of one block only.
 */
static int check_output(const struct kipt_caps *caps, u32 mode, u64 size,
			struct netlink_ext_ack *extack)
{
	u64 block = (u64)PAGE_SIZE << KIPT_MAX_ORDER;
	char why[KIPT_REFUSE_BYTES];

	if (!(caps->leaf0_ecx & RTIT_CAP_TOPA)) {
		kipt_caps_lack(RTIT_CAP_TOPA, true, why, sizeof(why));
		return kipt_refuse(extack, NULL, -EOPNOTSUPP, "%s", why);
	}
	if (caps->leaf0_ecx & RTIT_CAP_TOPA_MULTI ||
	    (mode == KIPT_MODE_RING && size <= block))
		return 0;
	kipt_caps_lack(RTIT_CAP_TOPA_MULTI, true, why, sizeof(why));
	return kipt_refuse(extack, NULL, -EOPNOTSUPP,
			   "%s; allowed: mode ring, size up to %llu", why,
			   block);
}

static int check_memory(u64 bytes, struct netlink_ext_ack *extack)
{
	if (!kipt_memory_charge(bytes)) {
		kipt_memory_uncharge(bytes);
		return 0;
	}
	return kipt_memory_refuse(extack, "buffers of all CPUs", bytes);
}

static const char *misplaced(u64 ctl)
{
	u64 ranges = RTIT_CTL_ADDR_CFG(0) | RTIT_CTL_ADDR_CFG(1) |
		     RTIT_CTL_ADDR_CFG(2) | RTIT_CTL_ADDR_CFG(3);

	if (ctl & RTIT_CTL_CR3FILTER)
		return "CR3Filter is set by the module: use the attribute pid or cr3";
	if (ctl & ranges)
		return "ADDRn_CFG is set by the module: use the attribute filter";
	return NULL;
}

/* Intel SDM Vol. 3C, "IA32_RTIT_CTL MSR": ADDRn_CFG is the kind. */
static void fill_hw(struct kipt_session_config *config)
{
	struct kipt_hw_config *hw = &config->hw;
	u32 i;

	hw->ctl = config->ctl;
	hw->nr_ranges = config->nr_filters;
	for (i = 0; i < config->nr_filters; i++) {
		hw->ctl |= (u64)config->filters[i].kind << (32 + 4 * i);
		hw->ranges[i].first = config->filters[i].first;
		hw->ranges[i].last = config->filters[i].last;
	}
	if (config->by_cr3)
		hw->ctl |= RTIT_CTL_CR3FILTER;
	/* Intel SDM Vol. 3C, "IA32_RTIT_CR3_MATCH MSR": bits 4:0 are reserved. */
	hw->cr3_match = config->cr3 & PAGE_MASK;
}

static int check_hw(struct kipt_session_config *config,
		    struct netlink_ext_ack *extack)
{
	const char *text = misplaced(config->ctl);
	char why[KIPT_REFUSE_BYTES];
	int err;

	if (text)
		return kipt_refuse(extack, NULL, -EINVAL, "%s", text);
	kipt_caps_of(config->cpus, &config->caps);
	if (!config->caps.pt)
		return kipt_refuse(extack, NULL, -ENXIO,
				   "none of the CPUs %*pbl was online yet: what they can do is unknown",
				   cpumask_pr_args(config->cpus));
	fill_hw(config);
	err = kipt_caps_check_config(&config->caps, &config->hw, why,
				     sizeof(why));
	return err ? kipt_refuse(extack, NULL, err, "%s", why) : 0;
}

static int check_config(struct kipt_session_config *config,
			struct netlink_ext_ack *extack)
{
	int err;

	err = kipt_session_check_cpus(config->cpus, config->flags, extack);
	if (!err)
		err = check_size(config->size, extack);
	if (!err)
		err = check_hw(config, extack);
	if (!err)
		err = check_output(&config->caps, config->mode, config->size,
				   extack);
	if (!err)
		err = check_memory(config->size * cpumask_weight(config->cpus),
				   extack);
	return err;
}

static const char *follow_refusal(long err)
{
	if (err == -ESRCH)
		return "there is no process %u";
	if (err == -EINVAL)
		return "%u is a thread of the kernel, not a process";
	return "no memory to follow process %u";
}

static int follow(struct kipt_session_config *config,
		  struct netlink_ext_ack *extack)
{
	struct kipt_follow *made;

	if (!config->pid)
		return 0;
	made = kipt_follow_create(config->pid, config->flags &
				  KIPT_SESSION_FLAGS_FOLLOW_FORK, &config->hw,
				  config->caps.leaf0_ebx &
				  RTIT_CAP_CR3_FILTER);
	if (IS_ERR(made))
		return kipt_refuse(extack, NULL, PTR_ERR(made),
				   follow_refusal(PTR_ERR(made)), config->pid);
	config->follow = made;
	return 0;
}

struct kipt_session *kipt_setup_begin(struct kipt_session_config *config,
				      struct netlink_ext_ack *extack)
{
	struct kipt_session *session;
	int err;

	err = check_config(config, extack);
	if (!err)
		err = follow(config, extack);
	if (err)
		return ERR_PTR(err);
	session = kipt_session_create(config, extack);
	if (IS_ERR(session))
		kipt_follow_destroy(config->follow);
	return session;
}

u64 kipt_setup_total(const struct kipt_session *session)
{
	return session->size * session->nr_traces;
}

static int reserve_pmu(struct kipt_trace *trace,
		       struct netlink_ext_ack *extack)
{
	char why[KIPT_REFUSE_BYTES];
	int err;

	err = kipt_reserve_get(trace->cpu, why, sizeof(why));
	return err ? kipt_refuse(extack, NULL, err, "%s", why) : 0;
}

int kipt_setup_explain(const struct kipt_trace *trace, int err,
		       struct netlink_ext_ack *extack)
{
	switch (err) {
	case -EBUSY:
		return kipt_refuse(extack, NULL, err,
				   "CPU %u: Intel PT is on already (IA32_RTIT_CTL.TraceEn), by someone else",
				   trace->cpu);
	case -EPERM:
		return kipt_refuse(extack, NULL, -EBUSY,
				   "CPU %u is in VMX operation and cannot trace there (IA32_VMX_MISC[14] is 0); stop virtual machines first",
				   trace->cpu);
	case -ENXIO:
		return kipt_refuse(extack, NULL, err, "CPU %u went offline",
				   trace->cpu);
	case -ETIMEDOUT:
		return kipt_refuse(extack, NULL, err, "CPU %u does not answer",
				   trace->cpu);
	default:
		return kipt_refuse(extack, NULL, err,
				   "CPU %u refused a write of its Intel PT registers (IA32_RTIT_CTL %#llx)",
				   trace->cpu, trace->config.ctl);
	}
}

/*
 * First perf: if it is why PT is on, the refusal should say so. But perf keeps
 * this CPU busy with waiting for one that takes no interrupts.
 */
static int reserve(struct kipt_trace *traces, u32 count,
		   struct netlink_ext_ack *extack)
{
	struct kipt_trace *failed;
	int err = 0;
	u32 i;

	if (kipt_trace_check_all(traces, count, &failed) == -ETIMEDOUT)
		return kipt_setup_explain(failed, -ETIMEDOUT, extack);
	for (i = 0; i < count && !err; i++)
		err = reserve_pmu(&traces[i], extack);
	if (err)
		return err;
	err = kipt_trace_check_all(traces, count, &failed);
	return err ? kipt_setup_explain(failed, err, extack) : 0;
}

int kipt_setup_reserve(struct kipt_session *session,
		       struct netlink_ext_ack *extack)
{
	if (kipt_arm_is_armed(session))
		return kipt_arm_reserve(session, extack);
	return reserve(session->traces, session->nr_traces, extack);
}

/* When the session was made the CPU may never have been online. */
static int check_cpu(struct kipt_session *session, unsigned int cpu,
		     struct netlink_ext_ack *extack)
{
	char why[KIPT_REFUSE_BYTES];
	struct kipt_caps caps;
	int err;

	kipt_caps_of(cpumask_of(cpu), &caps);
	err = kipt_caps_check_config(&caps, &session->hw, why, sizeof(why));
	if (err)
		return kipt_refuse(extack, NULL, err, "%s", why);
	return check_output(&caps, session->mode, session->size, extack);
}

int kipt_setup_reserve_cpu(struct kipt_session *session,
			   struct kipt_trace *trace,
			   struct netlink_ext_ack *extack)
{
	int err = check_cpu(session, trace->cpu, extack);

	return err ? err : reserve(trace, 1, extack);
}

/*
 * Without the session's lock, as buffers are made: memory may be long in
 * coming, and a kernel that patches its text waits for all CPUs.
 */
static int make_probes(struct kipt_session *session,
		       struct netlink_ext_ack *extack)
{
	struct kipt_sideband *sideband;
	int err;

	/* Both patch kernel text: before tracing, so that they are not in it. */
	if (kipt_text_patch_get())
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "no memory to follow patches of kernel text");
	sideband = kipt_sideband_create(session->cpus, session->size,
					session->flags &
					KIPT_SESSION_FLAGS_KEEP_CODE,
					!(session->ctl & RTIT_CTL_OS));
	if (!sideband) {
		kipt_text_patch_put();
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "no memory for what the scheduler says");
	}
	mutex_lock(&session->lock);
	session->sideband = sideband;
	mutex_unlock(&session->lock);
	if (!(session->flags & KIPT_SESSION_FLAGS_USER))
		return 0;
	err = kipt_killed_get(extack);
	session->killed = !err;
	return err;
}

static int begin_reserving(struct kipt_session *session,
			   struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&session->lock);
	if (READ_ONCE(session->dead))
		err = kipt_session_refuse_gone(session, extack);
	session->reserving = !err;
	mutex_unlock(&session->lock);
	return err;
}

/*
 * Without the session's lock, as a CPU may take its time to take an interrupt.
 * Who destroys the session meanwhile leaves the CPUs alone until this is over.
 */
static int reserve_cpus(struct kipt_session *session,
			struct netlink_ext_ack *extack)
{
	int err = begin_reserving(session, extack);
	u32 i;

	if (err)
		return err;
	err = kipt_setup_reserve(session, extack);
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
		       struct netlink_ext_ack *extack)
{
	char what[32];
	int ret;

	if (!trace->buffer)
		trace->buffer = kipt_buffer_create(session->size,
						   cpu_to_node(trace->cpu),
						   session->mode ==
						   KIPT_MODE_ONCE);
	ret = trace->buffer ? kipt_buffer_grow(trace->buffer, STEP_BYTES) :
			      -ENOMEM;
	snprintf(what, sizeof(what), "the buffer of CPU %u", trace->cpu);
	if (ret == -ENOMEM)
		return kipt_memory_refuse(extack, what, session->size);
	if (ret > 0 && trace->buffer->nr_regions > 1 &&
	    !(session->caps.leaf0_ecx & RTIT_CAP_TOPA_MULTI))
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "CPU %u: no single block of %llu bytes, and this CPU has one ToPA entry only",
				   trace->cpu, session->size);
	return ret;
}

static int make_crash_pages(struct kipt_trace *trace,
			    struct netlink_ext_ack *extack)
{
	char what[40];

	if (!kipt_crash_pages_create(trace))
		return 1;
	snprintf(what, sizeof(what), "the crash pages of CPU %u", trace->cpu);
	return kipt_memory_refuse(extack, what, PAGE_SIZE);
}

/* All that is needed to print how the machine died is there before it does. */
static int make_excerpt(struct kipt_session *session,
			struct kipt_trace *trace,
			struct netlink_ext_ack *extack)
{
	if (!session->print_branches)
		return 1;
	if (!session->excerpt && kipt_excerpt_prepare())
		return kipt_memory_refuse(extack, "printing at a crash",
					  KIPT_EXCERPT_BYTES);
	session->excerpt = true;
	trace->view = kipt_buffer_view(trace->buffer);
	if (trace->view)
		return 1;
	return kipt_memory_refuse(extack, "the view of a buffer",
				  session->size / PAGE_SIZE * 2 * sizeof(u64));
}

/* Return: 1 when all buffers are whole, 0 to go on, or an errno. */
static int make_buffers(struct kipt_session *session,
			struct netlink_ext_ack *extack)
{
	struct kipt_trace *trace = &session->traces[session->setup_cpu];
	int ret = grow_buffer(session, trace, extack);

	if (ret > 0)
		ret = make_crash_pages(trace, extack);
	if (ret > 0)
		ret = make_excerpt(session, trace, extack);
	if (ret < 0)
		return ret;
	WRITE_ONCE(session->setup_done, session->setup_cpu * session->size +
					trace->buffer->grown);
	session->setup_cpu += ret;
	return session->setup_cpu == session->nr_traces;
}

/* Return: 1, or 0 to go on while the session that has a CPU goes. */
static int claim(struct kipt_session *session, struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&session->lock);
	err = READ_ONCE(session->dead) ?
		      kipt_session_refuse_gone(session, extack) :
		      kipt_session_claim(session, extack);
	mutex_unlock(&session->lock);
	if (err != -EAGAIN)
		return err ? err : 1;
	/* Its work item waits for nobody, so this ends soon. */
	schedule_timeout_killable(msecs_to_jiffies(CLAIM_WAIT_MS));
	return 0;
}

/* Return: as make_buffers(), about one phase. */
static int do_phase(struct kipt_session *session,
		    struct netlink_ext_ack *extack)
{
	int err;

	switch (session->setup_phase) {
	case PHASE_CLAIM:
		return claim(session, extack);
	case PHASE_PROBES:
		err = make_probes(session, extack);
		break;
	case PHASE_RESERVE:
		err = reserve_cpus(session, extack);
		break;
	default:
		return make_buffers(session, extack);
	}
	return err ? err : 1;
}

int kipt_setup_step(struct kipt_session *session,
		    struct netlink_ext_ack *extack)
{
	int ret;

	if (fatal_signal_pending(current))
		ret = -EINTR;
	else if (READ_ONCE(session->dead))
		ret = kipt_session_refuse_gone(session, extack);
	else
		ret = do_phase(session, extack);
	if (ret > 0 && ++session->setup_phase == PHASE_READY) {
		ret = kipt_session_ready(session, extack);
		ret = ret ? ret : 1;
	} else if (ret > 0) {
		ret = 0;
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

void kipt_setup_free(struct kipt_session *session)
{
	u32 i;

	if (session->excerpt)
		kipt_excerpt_release();
	session->excerpt = false;
	if (session->killed)
		kipt_killed_put();
	session->killed = false;
	if (session->sideband) {
		kipt_sideband_destroy(session->sideband);
		kipt_text_patch_put();
	}
	session->sideband = NULL;
	for (i = 0; i < session->nr_traces; i++) {
		kipt_crash_pages_destroy(&session->traces[i]);
		if (session->traces[i].view)
			kipt_buffer_unview(session->traces[i].buffer);
		session->traces[i].view = NULL;
		kipt_buffer_put(session->traces[i].buffer);
		session->traces[i].buffer = NULL;
	}
	kipt_follow_destroy(session->follow);
	session->follow = NULL;
}
