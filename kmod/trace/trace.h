/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU of a session: starts, pauses and stops it, and knows what its buffer
 * holds. Leaves to session.c which CPUs start together.
 *
 * A CPU is asked for what is wanted and does it itself, in an interrupt or, if it
 * does not take those, in an NMI; whoever asks waits with a bound. So nothing
 * here waits for ever for a CPU that is stuck.
 */
#ifndef KIPT_TRACE_H
#define KIPT_TRACE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "../hw/hw.h"
#include "../../uapi/linux/kipt.h"

struct kipt_area;
struct kipt_buffer;
struct kipt_crash_cpu;
struct kipt_crash_logs;
struct kipt_follow;
struct kipt_group;

/**
 * struct kipt_trace_result - what the last run of a CPU left
 * @cause: why it ended; 0 if it has not, or never began
 * @lost: the registers pointed outside the buffer: there is no trace
 * @head: bytes the CPU wrote since the start, to the end; a ring that was
 *	written round does not count its laps, then this is the buffer's size
 *	and the offset of the next byte
 * @tail: the oldest byte that is there, counted like @head; byte n is at
 *	offset n % size of the buffer, and @head - @tail bytes are there
 * @registers: as tracing stopped
 */
struct kipt_trace_result {
	enum kipt_stop_cause cause;
	bool lost;
	u64 head;
	u64 tail;
	struct kipt_hw_position registers;
};

/**
 * enum kipt_trace_state - what a CPU does
 * @KIPT_TRACE_OFF: nothing; its registers are as they were found
 * @KIPT_TRACE_PAUSED: programmed, TraceEn is 0: the CPU runs none of those that are
 *	followed, a crash is being captured, or tracing ended by itself before it could go on
 * @KIPT_TRACE_ON: programmed, TraceEn is 1
 */
enum kipt_trace_state {
	KIPT_TRACE_OFF,
	KIPT_TRACE_PAUSED,
	KIPT_TRACE_ON,
};

/**
 * struct kipt_trace - tracing of one CPU
 * @group: what it has in common with the other CPUs of its session
 * @cpu: its number
 * @buffer: where the trace goes; whole before the first start
 * @crash: what a dump has of it; made when @buffer is whole
 * @crash_logs: the page of @crash that says where its switches and patches are
 * @areas: of an armed session, what snapshot.c copies to; NULL: nothing
 * @view: of @buffer, for the excerpt of an armed session; NULL: none is printed
 * @config: what the CPU is programmed with; set while stopped. Follow changes
 *	@config.cr3_match on @cpu
 * @follow: the processes that are traced, if not all are: the CPU pauses while it runs
 *	others; or NULL. Set while stopped
 * @wanted: tracing is to be on; written by the CPU that asks
 * @why: cause of the stop that is asked for
 * @asked: counts requests; written by the CPU that asks, after the two above
 * @done: the last request @cpu has seen to; written on @cpu only
 * @state: enum kipt_trace_state; written on @cpu only
 * @changing: an NMI must not touch the registers now; @cpu only
 * @over: why tracing ended by itself during this run; 0: it did not, or the CPU has not seen
 *	it yet. Written on @cpu
 * @owns_pmis: ToPA PMIs of the CPU are ours, from the attach on until it goes
 *	offline, when perf may have it, and again from a start on; written with
 *	the CPU offline, or on @cpu, or when it is attached
 * @ended: why the CPU was asked to stop, or that it went offline; if tracing had ended by
 *	itself before, the cause in @result is another. @cpu only while not OFF
 * @refused: what the last start said, 0 or a negative errno; written on @cpu
 * @saved: registers before the start; @cpu only
 * @lvtpc: PMI vector entry before the start; @cpu only
 * @position: registers at the last pause or stop; @cpu only while not OFF
 * @running: started and not seen to have stopped; changes under
 *	session->lock, or in the hotplug callback. Read anywhere for reports
 * @lock: guards @result
 * @result: of the last run
 * @pmis: PMIs taken since the start
 * @over_work: carries @over out of the NMI
 * @reported: the cause that listeners know; of session.c's work item
 * @unlinked: the grace period after which nobody reads its crash page, see
 *	get_state_synchronize_rcu(); while the CPU is yielded
 */
struct kipt_trace {
	struct kipt_group *group;
	unsigned int cpu;
	struct kipt_buffer *buffer;
	struct kipt_crash_cpu *crash;
	const struct kipt_crash_logs *crash_logs;
	struct kipt_area **areas;
	const u8 *view;
	struct kipt_hw_config config;
	struct kipt_follow *follow;
	bool wanted;
	enum kipt_stop_cause why;
	u32 asked;
	u32 done;
	enum kipt_trace_state state;
	bool changing;
	enum kipt_stop_cause over;
	bool owns_pmis;
	enum kipt_stop_cause ended;
	int refused;
	struct kipt_hw_saved saved;
	u32 lvtpc;
	struct kipt_hw_position position;
	bool running;
	spinlock_t lock;
	struct kipt_trace_result result;
	atomic64_t pmis;
	struct irq_work over_work;
	u32 reported;
	unsigned long unlinked;
};

/**
 * kipt_trace_is_old() - whether a trace ended at a time that nobody knows
 * @trace: the trace
 *
 * The end of one that TraceStop or a full buffer ended is where the user wanted it, however old
 * it is.
 *
 * Context: any.
 */
static inline bool kipt_trace_is_old(const struct kipt_trace *trace)
{
	enum kipt_stop_cause over = READ_ONCE(trace->over);

	return over == KIPT_STOP_CAUSE_OUTSIDE || over == KIPT_STOP_CAUSE_ERROR;
}

/**
 * struct kipt_trace_ops - what the module has above the tracing of a CPU
 * @run_local: the CPU is about to trace, or has stopped. This CPU, interrupts off;
 *	a stop may come in an NMI
 * @aim_local: whether to trace the current task, as @trace->follow decides, which is
 *	not NULL; sets what is to be in IA32_RTIT_CR3_MATCH. This CPU, interrupts off
 * @copy_local: copy the end of the trace, which is paused, into each snapshot that asked
 *	for it.
 *	This CPU, interrupts off or an NMI
 * @caught_up_local: a change of the registers is over. A capture that came meanwhile
 *	could not pause the CPU (kipt_trace_freeze_local() was false), and does so now. This
 *	CPU, interrupts off or an NMI
 * @over: tracing of the CPU ended by itself, see @over of struct kipt_trace. In hard
 *	interrupt context
 */
struct kipt_trace_ops {
	void (*run_local)(struct kipt_trace *trace, bool on);
	bool (*aim_local)(struct kipt_trace *trace, u64 *cr3_match);
	void (*copy_local)(struct kipt_trace *trace);
	void (*caught_up_local)(void);
	void (*over)(struct kipt_trace *trace);
};

/**
 * kipt_trace_init() - ready a trace in zeroed memory
 * @trace: the memory
 * @group: of which CPUs it is one; must live as long
 * @cpu: what to trace
 */
void kipt_trace_init(struct kipt_trace *trace, struct kipt_group *group,
		     unsigned int cpu);

/**
 * kipt_trace_attach() - a CPU's interrupts, PMIs and switches are for a trace
 * @trace: of a CPU that no other trace is attached to
 *
 * Context: may sleep; the CPU hotplug lock is held, for reading.
 */
void kipt_trace_attach(struct kipt_trace *trace);

/**
 * kipt_trace_detach() - they are nobody's
 * @trace: stopped, see kipt_trace_quiet()
 *
 * A handler may still run: wait for a grace period (synchronize_rcu()), then
 * irq_work_sync() @over_work, before the trace is freed. Context: any.
 */
void kipt_trace_detach(struct kipt_trace *trace);

/**
 * kipt_trace_check_all() - whether a start would be refused
 * @traces: stopped; need not be attached
 * @count: at least 1
 * @failed: the first one that would be
 *
 * Changes nothing. Context: may sleep, for a second if a CPU does not
 * answer.
 *
 * Return: as kipt_trace_start_all(); -ETIMEDOUT if any CPU does not answer.
 */
int kipt_trace_check_all(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed);

/**
 * kipt_trace_forget_all() - drop what the last run left, its positions and cause
 * @traces: those that still trace are left alone
 * @count: how many
 *
 * Context: session->lock is held.
 */
void kipt_trace_forget_all(struct kipt_trace *traces, u32 count);

/**
 * kipt_trace_start_all() - start tracing on some CPUs, all anew
 * @traces: attached and stopped, with buffers that are whole; @config and
 *	@follow are set
 * @count: at least 1
 * @failed: the first one that refused
 *
 * Quick and O(1) in the size of buffers: nothing is zeroed. Results of the
 * last run are gone on return.
 *
 * Context: may sleep, for a second if a CPU does not answer; session->lock
 * and the CPU hotplug lock for reading are held.
 *
 * Return:
 * 0: all trace, or are paused as @follow wants it.
 * -ENXIO, -EBUSY, -EPERM, -EIO: *@failed is offline, or as
 * kipt_hw_save_local() and kipt_hw_program_local() say.
 * -ETIMEDOUT: *@failed does not answer.
 * In the latter cases none traces, unless kipt_trace_quiet() says otherwise.
 */
int kipt_trace_start_all(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed);

/**
 * kipt_trace_stop_all() - stop tracing on some CPUs, all at once
 * @traces: attached; some may be stopped already
 * @count: at least 1
 * @cause: why; a CPU that stopped by itself keeps its own cause
 *
 * All CPUs are asked at once; those that do not answer in time get an NMI.
 * Results are measured after all have stopped.
 *
 * Context: may sleep, some milliseconds, or a second if a CPU is stuck;
 * session->lock is held. The CPU hotplug lock is not needed.
 *
 * Return: NULL if all stopped, or the first that does not even answer to an
 * NMI. It may still trace: keep its memory, and try again later.
 */
struct kipt_trace *kipt_trace_stop_all(struct kipt_trace *traces, u32 count,
				       enum kipt_stop_cause cause);

/**
 * kipt_trace_quiet() - whether a CPU is done with its trace
 * @trace: a stop was asked for
 *
 * Context: any.
 *
 * Return: false if the CPU has not answered yet.
 */
bool kipt_trace_quiet(const struct kipt_trace *trace);

/**
 * kipt_trace_stop_offline() - the CPU is going away
 * @trace: of this CPU; may be stopped
 *
 * Context: the CPU hotplug callback, on the CPU itself.
 */
void kipt_trace_stop_offline(struct kipt_trace *trace);

/**
 * kipt_trace_result() - what the last run left
 * @trace: the trace
 * @result: a copy; all zero while it runs, and before the first run
 *
 * Context: any but NMI.
 */
void kipt_trace_result(struct kipt_trace *trace,
		       struct kipt_trace_result *result);

/**
 * kipt_trace_here() - the trace of this CPU
 *
 * Context: this CPU, preemption off; also NMI. The trace lives at least until
 * preemption is on again.
 *
 * Return: NULL if none is attached.
 */
struct kipt_trace *kipt_trace_here(void);

/**
 * kipt_trace_of() - the trace of any CPU
 * @cpu: a possible CPU
 *
 * Context: preemption off; also NMI. It lives as kipt_trace_here() says.
 *
 * Return: NULL if none is attached.
 */
struct kipt_trace *kipt_trace_of(unsigned int cpu);

/**
 * kipt_trace_steer_local() - pause or go on, aim at an address space
 * @trace: of this CPU
 * @go: whether the CPU is to trace
 * @cr3_match: for IA32_RTIT_CR3_MATCH; counts with CR3Filter
 * @psb: put a PSB+ into the trace even if nothing changes
 *
 * Does nothing if the trace is not started, or ended by itself. Each change
 * that goes on does so with a PSB+. Context: this CPU, interrupts off.
 */
void kipt_trace_steer_local(struct kipt_trace *trace, bool go, u64 cr3_match,
			    bool psb);

/**
 * kipt_trace_want_copy() - have a CPU copy the end of its trace
 * @cpu: a possible CPU
 *
 * It does so in the next kipt_trace_copy_local(), or after the change of its registers
 * that is under way. Context: any, also NMI.
 */
void kipt_trace_want_copy(unsigned int cpu);

/**
 * kipt_trace_copy_local() - pause, copy into snapshots, go on
 * @trace: of this CPU
 *
 * &struct kipt_trace_ops.copy_local is called while it is paused. If the registers are
 * being changed, that is done when they have been. The trace goes on with a PSB+.
 * Context: this CPU, interrupts off, or an NMI.
 */
void kipt_trace_copy_local(struct kipt_trace *trace);

/**
 * kipt_trace_pmi_local() - a ToPA PMI came
 * @trace: of this CPU
 *
 * Context: NMI.
 */
void kipt_trace_pmi_local(struct kipt_trace *trace);

/**
 * kipt_trace_look_local() - whether the buffer is full and no PMI said so
 * @trace: of this CPU; its PMIs are ours
 *
 * perf's handler acknowledges a ToPA PMI that comes while it runs. Context: NMI, after that
 * handler.
 */
void kipt_trace_look_local(struct kipt_trace *trace);

/**
 * kipt_trace_nmi_local() - an NMI came; stop if that is asked for
 * @trace: of this CPU
 *
 * Context: NMI.
 */
void kipt_trace_nmi_local(struct kipt_trace *trace);

/**
 * kipt_trace_freeze_local() - pause for the capture of a crash, until it is over
 * @trace: of this CPU
 * @now: also in the middle of a change of the registers, which will never be
 *	ended
 *
 * @trace->position is how far it is, if @trace was ever started.
 *
 * Context: this CPU, interrupts off or an NMI.
 *
 * Return: false if the registers are being changed; &struct kipt_trace_ops.caught_up_local
 * is called when that is over.
 */
bool kipt_trace_freeze_local(struct kipt_trace *trace, bool now);

/**
 * kipt_trace_thaw_local() - go on after a capture: the machine did not die
 * @unused: what a function for on_each_cpu() is given
 *
 * Each CPU that is paused goes on where it was, with a PSB+, unless who runs there is not
 * followed. Does nothing while a capture is on (kipt_capture_number()).
 * Context: this CPU, interrupts off.
 */
void kipt_trace_thaw_local(void *unused);

/**
 * kipt_trace_ops_init() - ready to call CPUs
 * @ops: what the tracing of a CPU calls; must live as long as the module
 */
void kipt_trace_ops_init(const struct kipt_trace_ops *ops);

/**
 * kipt_trace_ops_uninit() - no CPU has a call of ours under way any more
 *
 * Context: may sleep; no trace is attached.
 */
void kipt_trace_ops_uninit(void);

#endif /* KIPT_TRACE_H */
