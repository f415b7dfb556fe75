// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a session: create, start, stop, destroy, and what CPU hotplug does
 * to it. Leaves single CPUs to trace.c, messages to netlink.c, decoding to
 * decode_worker.c. Process context; session.h tells the order of locks.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "buffer.h"
#include "compat.h"
#include "decode_worker.h"
#include "netlink.h"
#include "refuse.h"
#include "reserve.h"
#include "hw_regs.h"
#include "latch.h"
#include "session.h"
#include "sideband.h"
#include "text_patch.h"

/* Guards the list, the ids, and which session holds a CPU. */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static u32 last_id;
static bool closed;
static DEFINE_PER_CPU(struct kipt_session *, holder);
static int hotplug_state;

static void release_session(struct kref *refs)
{
	struct kipt_session *session =
		container_of(refs, struct kipt_session, refs);

	free_cpumask_var(session->cpus);
	kfree(session);
}

void kipt_session_put(struct kipt_session *session)
{
	kref_put(&session->refs, release_session);
}

struct kipt_session *kipt_session_next(u32 id)
{
	struct kipt_session *session, *found = NULL;

	mutex_lock(&sessions_lock);
	/* Sessions are added at the tail, so the list is in order of id. */
	list_for_each_entry(session, &sessions, node) {
		if (session->id <= id)
			continue;
		found = session;
		kref_get(&found->refs);
		break;
	}
	mutex_unlock(&sessions_lock);
	return found;
}

struct kipt_session *kipt_session_find(u32 id)
{
	struct kipt_session *session;

	if (!id)
		return NULL;
	session = kipt_session_next(id - 1);
	if (session && session->id != id) {
		kipt_session_put(session);
		return NULL;
	}
	return session;
}

struct kipt_trace *kipt_session_trace(struct kipt_session *session, u32 cpu)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		if (session->traces[i].cpu == cpu)
			return &session->traces[i];
	return NULL;
}

void kipt_session_wake(struct kipt_session *session)
{
	wake_up_interruptible(&session->wait);
	schedule_work(&session->event_work);
}

static void send_event(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, event_work);

	kipt_netlink_event(session->id, READ_ONCE(session->state));
}

static void set_state(struct kipt_session *session, u32 state)
{
	WRITE_ONCE(session->state, state);
	kipt_session_wake(session);
}

void kipt_session_busy(struct cpumask *cpus)
{
	unsigned int cpu;

	cpumask_clear(cpus);
	mutex_lock(&sessions_lock);
	for_each_possible_cpu(cpu)
		if (per_cpu(holder, cpu))
			cpumask_set_cpu(cpu, cpus);
	mutex_unlock(&sessions_lock);
}

static int check_cpus(const struct cpumask *cpus,
		      struct netlink_ext_ack *extack)
{
	unsigned int cpu;

	for_each_cpu(cpu, cpus) {
		if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
			return kipt_refuse(extack, NULL, -ENXIO,
					   "CPU %u does not exist; online CPUs: %*pbl",
					   cpu, cpumask_pr_args(cpu_online_mask));
		if (!cpu_online(cpu))
			return kipt_refuse(extack, NULL, -ENXIO,
					   "CPU %u is offline; online CPUs: %*pbl",
					   cpu, cpumask_pr_args(cpu_online_mask));
		if (!kipt_caps_cpu_has_pt(cpu))
			return kipt_refuse(extack, NULL, -ENODEV,
					   "CPU %u has no Intel PT (CPUID.07H:EBX[25] is 0)",
					   cpu);
	}
	return 0;
}

static int check_size(u64 size, struct netlink_ext_ack *extack)
{
	if (size < KIPT_BUFFER_SIZE_MIN || size > KIPT_BUFFER_SIZE_MAX)
		return kipt_refuse(extack, NULL, -EINVAL,
				   "size %llu is out of range; allowed: %llu to %llu bytes per CPU",
				   size, KIPT_BUFFER_SIZE_MIN,
				   KIPT_BUFFER_SIZE_MAX);
	if (!is_power_of_2(size))
		return kipt_refuse(extack, NULL, -EINVAL,
				   "size %llu is not a power of two; nearest below: %lu",
				   size, rounddown_pow_of_two(size));
	return 0;
}

/*
 * Without multiple entries a table is one region and an END to itself, and
 * INT comes before the region is full ("Single Output Region ToPA"): good
 * for a ring of one block only.
 */
static int check_output(const struct kipt_caps *caps,
			const struct kipt_session_config *config,
			struct netlink_ext_ack *extack)
{
	u64 block = (u64)PAGE_SIZE << KIPT_MAX_ORDER;

	if (!(caps->leaf0_ecx & RTIT_CAP_TOPA))
		return kipt_refuse(extack, NULL, -EOPNOTSUPP,
				   "this CPU has no ToPA output (CPUID.14H.0:ECX[0] is 0)");
	if (caps->leaf0_ecx & RTIT_CAP_TOPA_MULTI)
		return 0;
	if (config->mode != KIPT_MODE_RING || config->size > block)
		return kipt_refuse(extack, NULL, -EOPNOTSUPP,
				   "this CPU has one ToPA entry only (CPUID.14H.0:ECX[1] is 0); allowed: mode ring, size up to %llu",
				   block);
	return 0;
}

static int check_config(const struct kipt_session_config *config,
			struct kipt_caps *caps,
			struct netlink_ext_ack *extack)
{
	const struct kipt_hw_config hw = { .ctl = config->ctl };
	char why[160];
	int err;

	err = check_cpus(config->cpus, extack);
	err = err ?: check_size(config->size, extack);
	if (err)
		return err;
	kipt_caps_of(config->cpus, caps);
	err = kipt_caps_check_config(caps, &hw, why, sizeof(why));
	if (err)
		return kipt_refuse(extack, NULL, err, "%s", why);
	return check_output(caps, config, extack);
}

/* Takes the CPUs, so that no two sessions set up for the same one. */
static int claim_cpus(struct kipt_session *session,
		      struct netlink_ext_ack *extack)
{
	struct kipt_session *other;
	unsigned int cpu;
	int err = 0;

	mutex_lock(&sessions_lock);
	for_each_cpu(cpu, session->cpus) {
		other = per_cpu(holder, cpu);
		if (!other)
			continue;
		err = kipt_refuse(extack, NULL, -EBUSY,
				  "CPU %u is held by session %u", cpu,
				  other->id);
		goto out;
	}
	session->id = ++last_id;
	for_each_cpu(cpu, session->cpus)
		per_cpu(holder, cpu) = session;
out:
	mutex_unlock(&sessions_lock);
	return err;
}

/* With the hotplug lock: a callback that found the session is through then. */
static void release_cpus(struct kipt_session *session)
{
	unsigned int cpu;

	cpus_read_lock();
	mutex_lock(&sessions_lock);
	for_each_cpu(cpu, session->cpus)
		per_cpu(holder, cpu) = NULL;
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
}

static int reserve_pmu(struct kipt_trace *trace,
		       struct netlink_ext_ack *extack)
{
	char why[160];
	int err;

	err = kipt_reserve_get(trace->cpu, why, sizeof(why));
	return err ? kipt_refuse(extack, NULL, err, "%s", why) : 0;
}

static void read_enabled(void *data)
{
	*(bool *)data = kipt_hw_enabled_local();
}

static int check_off(struct kipt_trace *trace, struct netlink_ext_ack *extack)
{
	bool enabled = false;

	if (smp_call_function_single(trace->cpu, read_enabled, &enabled, 1))
		return kipt_refuse(extack, NULL, -ENXIO, "CPU %u is offline",
				   trace->cpu);
	if (enabled)
		return kipt_refuse(extack, NULL, -EBUSY,
				   "CPU %u: Intel PT is on already (IA32_RTIT_CTL.TraceEn), by someone else",
				   trace->cpu);
	return 0;
}

static int setup_trace(struct kipt_trace *trace,
		       struct netlink_ext_ack *extack)
{
	struct kipt_session *session = trace->session;
	int err;

	/* First: if perf is why PT is on, the refusal should say so. */
	err = reserve_pmu(trace, extack);
	err = err ?: check_off(trace, extack);
	if (err)
		return err;
	trace->buffer = kipt_buffer_create(session->size,
					   cpu_to_node(trace->cpu),
					   session->mode == KIPT_MODE_ONCE);
	err = trace->buffer ? 0 : -ENOMEM;
	while (!err)
		err = kipt_buffer_grow(trace->buffer, session->size);
	if (err < 0)
		return kipt_refuse(extack, NULL, err,
				   "CPU %u: no memory for a buffer of %llu bytes",
				   trace->cpu, session->size);
	if (trace->buffer->nr_regions > 1 &&
	    !(session->caps.leaf0_ecx & RTIT_CAP_TOPA_MULTI))
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "CPU %u: no single block of %llu bytes, and this CPU has one ToPA entry only",
				   trace->cpu, session->size);
	trace->config.ctl = session->ctl;
	kipt_trace_attach(trace);
	return 0;
}

static int setup_traces(struct kipt_session *session,
			struct netlink_ext_ack *extack)
{
	u32 i;
	int err;

	/* Both patch kernel text: before tracing, so that they are not in it. */
	kipt_text_patch_get();
	for (i = 0; i < session->nr_traces; i++) {
		err = setup_trace(&session->traces[i], extack);
		if (err)
			return err;
	}
	session->sideband =
		kipt_sideband_create(session->cpus, session->size,
				     session->flags & KIPT_SESSION_FLAGS_KEEP_MM,
				     !(session->ctl & RTIT_CTL_OS));
	if (!session->sideband)
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "no memory for what the scheduler says");
	return 0;
}

/* Everything is off, and nothing finds the session any more. */
static void free_parts(struct kipt_session *session)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		kipt_trace_detach(&session->traces[i]);
	/* NMI handlers that found a trace before are through after this. */
	synchronize_rcu();
	for (i = 0; i < session->nr_traces; i++)
		irq_work_sync(&session->traces[i].full_work);
	cancel_work_sync(&session->event_work);
	kipt_sideband_destroy(session->sideband);
	session->sideband = NULL;
	kipt_text_patch_put();
	for (i = 0; i < session->nr_traces; i++) {
		kipt_reserve_put(session->traces[i].cpu);
		kipt_buffer_put(session->traces[i].buffer);
		session->traces[i].buffer = NULL;
	}
	release_cpus(session);
}

static struct kipt_session *alloc_session(const struct kipt_session_config *c)
{
	u32 count = cpumask_weight(c->cpus);
	struct kipt_session *session;
	unsigned int cpu;

	session = kzalloc(struct_size(session, traces, count), GFP_KERNEL);
	if (!session)
		return NULL;
	if (!alloc_cpumask_var(&session->cpus, GFP_KERNEL)) {
		kfree(session);
		return NULL;
	}
	kref_init(&session->refs);
	mutex_init(&session->lock);
	init_waitqueue_head(&session->wait);
	INIT_WORK(&session->event_work, send_event);
	cpumask_copy(session->cpus, c->cpus);
	session->mode = c->mode;
	session->size = c->size;
	session->ctl = c->ctl;
	session->flags = c->flags;
	session->portid = c->flags & KIPT_SESSION_FLAGS_DETACHED ? 0 : c->portid;
	session->state = KIPT_STATE_NEW;
	for_each_cpu(cpu, session->cpus)
		kipt_trace_init(&session->traces[session->nr_traces++],
				session, cpu);
	return session;
}

/* From here on others find it; a CPU may have left since it was checked. */
static int publish(struct kipt_session *session,
		   struct netlink_ext_ack *extack)
{
	int err;

	cpus_read_lock();
	err = check_cpus(session->cpus, extack);
	mutex_lock(&sessions_lock);
	if (!err && closed)
		err = kipt_refuse(extack, NULL, -ENODEV,
				  "the module is being removed");
	if (!err)
		list_add_tail(&session->node, &sessions);
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	return err;
}

int kipt_session_create(const struct kipt_session_config *config,
			struct netlink_ext_ack *extack, u32 *id)
{
	struct kipt_session *session;
	struct kipt_caps caps;
	int err;

	err = check_config(config, &caps, extack);
	if (err)
		return err;
	session = alloc_session(config);
	if (!session)
		return -ENOMEM;
	session->caps = caps;
	err = claim_cpus(session, extack);
	if (err)
		goto err_put;
	err = setup_traces(session, extack);
	err = err ?: publish(session, extack);
	if (err)
		goto err_free;
	*id = session->id;
	return 0;

err_free:
	free_parts(session);
err_put:
	kipt_session_put(session);
	return err;
}

static int explain_stop(struct kipt_trace *trace,
			struct netlink_ext_ack *extack)
{
	struct kipt_trace_result result;

	kipt_trace_result(trace, &result);
	if (!result.lost || result.cause == KIPT_STOP_CAUSE_STUCK)
		return 0;
	pr_warn("CPU %u: output registers point outside the buffer, someone else wrote them\n",
		trace->cpu);
	return kipt_refuse(extack, NULL, -EIO,
			   "CPU %u: the output registers point outside the buffer, someone else wrote them; its trace is lost",
			   trace->cpu);
}

static int stop_traces(struct kipt_session *session,
		       enum kipt_stop_cause cause,
		       struct netlink_ext_ack *extack)
{
	struct kipt_trace *stuck;
	int err = 0;
	u32 i;

	stuck = kipt_trace_stop_all(session->traces, session->nr_traces,
				    cause);
	kipt_sideband_pause(session->sideband);
	session->end_patch = kipt_text_patch_count();
	if (stuck)
		return kipt_refuse(extack, NULL, -ETIMEDOUT,
				   "CPU %u answers neither to an interrupt nor to an NMI; it may still trace",
				   stuck->cpu);
	for (i = 0; i < session->nr_traces; i++)
		err = explain_stop(&session->traces[i], extack) ?: err;
	return err;
}

static int explain_start(const struct kipt_trace *trace, int err,
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
		return kipt_refuse(extack, NULL, err, "CPU %u is offline",
				   trace->cpu);
	case -ETIMEDOUT:
		return kipt_refuse(extack, NULL, err,
				   "CPU %u does not answer", trace->cpu);
	default:
		return kipt_refuse(extack, NULL, err,
				   "CPU %u refused a write of its Intel PT registers (IA32_RTIT_CTL %#llx)",
				   trace->cpu, trace->session->ctl);
	}
}

static int start_traces(struct kipt_session *session,
			struct netlink_ext_ack *extack)
{
	struct kipt_trace *failed;
	int err;

	cpus_read_lock();
	err = kipt_trace_start_all(session->traces, session->nr_traces,
				   &failed);
	cpus_read_unlock();
	return err ? explain_start(failed, err, extack) : 0;
}

static int refuse_busy(struct kipt_session *session,
		       struct netlink_ext_ack *extack)
{
	if (session->dead)
		return kipt_refuse(extack, NULL, -ENOENT,
				   "session %u is gone", session->id);
	if (session->state == KIPT_STATE_RUNNING)
		return kipt_refuse(extack, NULL, -EBUSY,
				   "session %u is running; stop it first",
				   session->id);
	if (session->fetch && kipt_fetch_running(session->fetch))
		return kipt_refuse(extack, NULL, -EBUSY,
				   "a fetch of session %u is under way; let it end or cancel it",
				   session->id);
	return 0;
}

static void forget_last_run(struct kipt_session *session)
{
	kipt_fetch_destroy(session->fetch);
	session->fetch = NULL;
	kipt_sideband_reset(session->sideband);
}

static int start_locked(struct kipt_session *session,
			struct netlink_ext_ack *extack)
{
	char why[160];
	u32 i;
	int err;

	lockdep_assert_held(&session->lock);
	err = kipt_latch_check(why, sizeof(why));
	if (err)
		return kipt_refuse(extack, NULL, err, "%s", why);
	err = refuse_busy(session, extack);
	for (i = 0; i < session->nr_traces && !err; i++)
		err = reserve_pmu(&session->traces[i], extack);
	if (err)
		return err;
	forget_last_run(session);
	session->generation++;
	session->first_patch = kipt_text_patch_count();
	kipt_sideband_run(session->sideband);
	err = start_traces(session, extack);
	if (err) {
		/* The CPUs that did start hold nothing worth keeping. */
		stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
		forget_last_run(session);
		set_state(session, KIPT_STATE_NEW);
		return err;
	}
	set_state(session, KIPT_STATE_RUNNING);
	return 0;
}

int kipt_session_start(struct kipt_session *session,
		       struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&session->lock);
	err = start_locked(session, extack);
	mutex_unlock(&session->lock);
	return err;
}

static int stop_locked(struct kipt_session *session,
		       enum kipt_stop_cause cause,
		       struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&session->lock);
	if (session->dead)
		return kipt_refuse(extack, NULL, -ENOENT,
				   "session %u is gone", session->id);
	if (session->state != KIPT_STATE_RUNNING)
		return kipt_refuse(extack, NULL, -EALREADY,
				   "session %u is not running", session->id);
	err = stop_traces(session, cause, extack);
	set_state(session, KIPT_STATE_STOPPED);
	return err;
}

int kipt_session_stop(struct kipt_session *session,
		      struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&session->lock);
	err = stop_locked(session, KIPT_STOP_CAUSE_USER, extack);
	mutex_unlock(&session->lock);
	return err;
}

int kipt_session_fetch(struct kipt_session *session,
		       const struct kipt_fetch_request *request,
		       struct netlink_ext_ack *extack)
{
	struct kipt_fetch *fetch;
	int err;

	lockdep_assert_held(&session->lock);
	err = refuse_busy(session, extack);
	if (err)
		return err;
	if (session->state != KIPT_STATE_STOPPED)
		return kipt_refuse(extack, NULL, -ENODATA,
				   "session %u never ran", session->id);
	if (request->only_cpu != KIPT_FETCH_ALL_CPUS &&
	    !kipt_session_trace(session, request->only_cpu))
		return kipt_refuse(extack, NULL, -ENXIO,
				   "session %u has no CPU %u; its CPUs: %*pbl",
				   session->id, request->only_cpu,
				   cpumask_pr_args(session->cpus));
	kipt_fetch_destroy(session->fetch);
	session->fetch = NULL;
	fetch = kipt_fetch_create(session, request);
	if (!fetch)
		return kipt_refuse(extack, NULL, -ENOMEM,
				   "no memory to decode session %u",
				   session->id);
	session->fetch = fetch;
	return 0;
}

void kipt_session_destroy(struct kipt_session *session)
{
	mutex_lock(&session->lock);
	if (session->dead) {
		mutex_unlock(&session->lock);
		return;
	}
	session->dead = true;
	mutex_lock(&sessions_lock);
	list_del(&session->node);
	mutex_unlock(&sessions_lock);
	if (session->state == KIPT_STATE_RUNNING)
		stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
	WRITE_ONCE(session->state, KIPT_STATE_STOPPED);
	kipt_fetch_destroy(session->fetch);
	session->fetch = NULL;
	free_parts(session);
	mutex_unlock(&session->lock);
	wake_up_interruptible(&session->wait);
	kipt_session_put(session);
}

static void end_fetch_of(struct kipt_session *session, u32 portid)
{
	mutex_lock(&session->lock);
	if (session->fetch)
		kipt_fetch_owner_gone(session->fetch, portid);
	mutex_unlock(&session->lock);
}

void kipt_session_owner_gone(u32 portid)
{
	struct kipt_session *session;
	u32 id = 0;

	while ((session = kipt_session_next(id))) {
		id = session->id;
		if (session->portid == portid)
			kipt_session_destroy(session);
		else
			end_fetch_of(session, portid);
		kipt_session_put(session);
	}
}

void kipt_session_stop_all(enum kipt_stop_cause cause)
{
	struct kipt_session *session;
	u32 id = 0;

	while ((session = kipt_session_next(id))) {
		id = session->id;
		mutex_lock(&session->lock);
		stop_locked(session, cause, NULL);
		mutex_unlock(&session->lock);
		kipt_session_put(session);
	}
}

static int cpu_online_cb(unsigned int cpu)
{
	kipt_caps_read_local();
	return 0;
}

static struct kipt_trace *held_trace(unsigned int cpu)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	session = per_cpu(holder, cpu);
	mutex_unlock(&sessions_lock);
	return session ? kipt_session_trace(session, cpu) : NULL;
}

/*
 * The session may be half set up or half freed. Its memory stays until
 * release_cpus(), which waits for this callback, and a trace that runs has
 * all its parts.
 */
static int cpu_offline_cb(unsigned int cpu)
{
	struct kipt_trace *trace = held_trace(cpu);

	if (trace) {
		kipt_trace_stop_offline(trace);
		kipt_session_wake(trace->session);
	}
	/* perf drops the event from a CPU that leaves; start takes a new one. */
	kipt_reserve_offline(cpu);
	return 0;
}

int kipt_session_init(void)
{
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kipt:online",
					  cpu_online_cb, cpu_offline_cb);
	return hotplug_state < 0 ? hotplug_state : 0;
}

void kipt_session_close(void)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	closed = true;
	mutex_unlock(&sessions_lock);
	while ((session = kipt_session_next(0))) {
		kipt_session_destroy(session);
		kipt_session_put(session);
	}
}

void kipt_session_uninit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
