// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session is made of: whether its CPUs can do what it asks for, their reservation
 * against perf, and what is freed with it. Knows no list of sessions; leaves to setup.c
 * in which order parts are made. Process context.
 */
#include <linux/cpumask.h>

#include "../trace/buffer.h"
#include "../lib/compat.h"
#include "../crash/crash_hooks.h"
#include "../crash/crash_pages.h"
#include "../crash/excerpt.h"
#include "../watch/follow.h"
#include "../hw/hw_regs.h"
#include "../crash/killed.h"
#include "session_inside.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "../watch/sideband.h"
#include "../crash/snapshot.h"
#include "../watch/text_patch.h"

/*
 * Without multiple entries a table is one region and an END to itself, and
 * INT comes before the region is full ("Single Output Region ToPA"): good
 * for a ring of one block only.
 */
int kipt_parts_check_output(const struct kipt_caps *caps, u32 mode, u64 size,
			    struct kipt_refusal *refusal)
{
	u64 block = (u64)PAGE_SIZE << KIPT_MAX_ORDER;
	char why[KIPT_REFUSE_BYTES];

	if (!(caps->leaf0_ecx & RTIT_CAP_TOPA)) {
		kipt_caps_lack(RTIT_CAP_TOPA, true, why, sizeof(why));
		return kipt_refuse(refusal, NULL, -EOPNOTSUPP, "%s", why);
	}
	if (caps->leaf0_ecx & RTIT_CAP_TOPA_MULTI ||
	    (mode == KIPT_MODE_RING && size <= block))
		return 0;
	kipt_caps_lack(RTIT_CAP_TOPA_MULTI, true, why, sizeof(why));
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "%s; allowed: mode ring, size up to %llu", why,
			   block);
}

int kipt_parts_explain(const struct kipt_trace *trace, int err,
		       struct kipt_refusal *refusal)
{
	switch (err) {
	case -EBUSY:
		return kipt_refuse(refusal, NULL, err,
				   "CPU %u: Intel PT is on already (IA32_RTIT_CTL.TraceEn), by someone else (firmware, a hypervisor or another driver): end that, or name other CPUs",
				   trace->cpu);
	case -EPERM:
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "CPU %u is in VMX operation and cannot trace there (IA32_VMX_MISC[14] is 0); end virtual machines, or unload kvm_intel, which keeps all CPUs there from Linux 6.12 on",
				   trace->cpu);
	case -ENXIO:
		return kipt_refuse(refusal, NULL, err, "CPU %u went offline",
				   trace->cpu);
	case -ETIMEDOUT:
		return kipt_refuse(refusal, NULL, err, "CPU %u does not answer",
				   trace->cpu);
	default:
		return kipt_refuse(refusal, NULL, err,
				   "CPU %u does not trace: it refused a write of its Intel PT registers, or cannot write its trace (IA32_RTIT_STATUS.Error); IA32_RTIT_CTL is %#llx",
				   trace->cpu, trace->config.ctl);
	}
}

/*
 * First perf: if it is why PT is on, the refusal should say so. But perf keeps
 * this CPU busy with waiting for one that takes no interrupts.
 */
static int reserve(struct kipt_trace *traces, u32 count,
		   struct kipt_refusal *refusal)
{
	struct kipt_trace *failed;
	int err = 0;
	u32 i;

	if (kipt_trace_check_all(traces, count, &failed) == -ETIMEDOUT)
		return kipt_parts_explain(failed, -ETIMEDOUT, refusal);
	for (i = 0; i < count && !err; i++)
		err = kipt_reserve_get(traces[i].cpu, refusal);
	if (err)
		return err;
	err = kipt_trace_check_all(traces, count, &failed);
	return err ? kipt_parts_explain(failed, err, refusal) : 0;
}

int kipt_parts_reserve_cpu(struct kipt_session *session,
			   struct kipt_trace *trace,
			   struct kipt_refusal *refusal)
{
	struct kipt_config *config = &session->group.config;
	struct kipt_caps caps;
	int err;

	if (!kipt_caps_cpu_seen(trace->cpu))
		return kipt_refuse(refusal, NULL, -ENXIO,
				   "CPU %u is just coming online", trace->cpu);
	/* When the session was made the CPU may never have been online. */
	kipt_caps_of(cpumask_of(trace->cpu), &caps);
	err = kipt_caps_check_config(&caps, &config->hw, refusal) ?:
	      kipt_parts_check_output(&caps, config->mode, config->size, refusal) ?:
	      reserve(trace, 1, refusal);
	if (!err)
		kipt_caps_share_clock(&config->caps, &caps);
	return err;
}

/* session-new reserves a CPU before anything is attached for it. */
static bool is_yielded(const struct kipt_session *session,
		       const struct kipt_trace *trace)
{
	return READ_ONCE(session->state) != KIPT_STATE_SETUP &&
	       kipt_trace_of(trace->cpu) != trace;
}

static int reserve_armed(struct kipt_session *session,
			 struct kipt_refusal *refusal)
{
	int err;
	u32 i;

	/* Later starts refuse nothing, and each CPU is reserved when it starts. */
	if (session->generation)
		return 0;
	for (i = 0; i < session->nr_traces; i++) {
		if (!cpu_online(session->traces[i].cpu) ||
		    is_yielded(session, &session->traces[i]))
			continue;
		err = kipt_parts_reserve_cpu(session, &session->traces[i],
					     refusal);
		/* It went offline just now. */
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

int kipt_parts_reserve(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	if (kipt_session_is_armed(session))
		return reserve_armed(session, refusal);
	return reserve(session->traces, session->nr_traces, refusal);
}

void kipt_parts_free(struct kipt_session *session)
{
	u32 i;

	if (session->excerpt)
		kipt_excerpt_release();
	if (session->killed)
		kipt_killed_put();
	if (session->hooks)
		kipt_crash_hooks_put();
	if (session->group.sideband) {
		kipt_sideband_destroy(session->group.sideband);
		kipt_text_patch_put();
	}
	session->group.sideband = NULL;
	for (i = 0; i < session->nr_traces; i++) {
		kipt_snapshot_withdraw(&session->traces[i]);
		kipt_crash_pages_destroy(&session->traces[i]);
		session->traces[i].view = NULL;
		kipt_buffer_put(session->traces[i].buffer);
		session->traces[i].buffer = NULL;
	}
	kipt_follow_destroy(session->follow);
	session->follow = NULL;
}
