/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of sessions know of start and stop, beside what session.h has. Process
 * context.
 */
#ifndef KIPT_SESSION_RUN_H
#define KIPT_SESSION_RUN_H

#include "session.h"

/* Who hears of states and stops, set at load; may sleep. */
extern kipt_session_listener kipt_session_tell;

/**
 * kipt_session_set_state() - change the state, and call the listener
 * @session: its lock is held
 * @state: enum kipt_state
 */
void kipt_session_set_state(struct kipt_session *session, u32 state);

/**
 * kipt_session_tell_stopped() - call the listener for CPUs stopped by themselves
 * @work: event_work of the session
 */
void kipt_session_tell_stopped(struct work_struct *work);

/**
 * kipt_session_stop_traces() - stop all CPUs of a session
 * @session: its lock is held
 * @cause: enum kipt_stop_cause
 * @refusal: where a failure is explained; may be NULL
 *
 * Return: 0; -ETIMEDOUT a CPU does not answer; -EIO the trace of one is lost.
 */
int kipt_session_stop_traces(struct kipt_session *session, u32 cause,
			     struct kipt_refusal *refusal);

/**
 * kipt_session_all_answer() - whether each CPU that a session holds takes interrupts
 * @session: does not trace
 *
 * perf keeps another CPU busy with waiting for one that takes no interrupts, so all are
 * asked, in a way that does not, before perf is.
 */
bool kipt_session_all_answer(struct kipt_session *session);

#endif /* KIPT_SESSION_RUN_H */
