/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session is made of: checks of what is asked for, the reservation of
 * its CPUs against perf, probes, buffers. Made a piece at a time, by the one
 * who asked for the session. Process context.
 */
#ifndef KIPT_SETUP_H
#define KIPT_SETUP_H

#include <linux/types.h>

struct kipt_session;
struct kipt_request;
struct kipt_refusal;

/**
 * kipt_setup_begin() - check what is asked for and make the session
 * @request: what is asked for
 * @refusal: where a refusal is explained
 *
 * Quick.
 *
 * Return: the session, in state KIPT_STATE_SETUP, with a reference and a pin
 * for the caller, who gives them back to kipt_setup_end(); or ERR_PTR() of an
 * errno as uapi/kipt.yaml lists them under session-new.
 */
struct kipt_session *kipt_setup_begin(struct kipt_request *request,
				      struct kipt_refusal *refusal);

/**
 * kipt_setup_step() - do some milliseconds of the work
 * @session: from kipt_setup_begin(); one caller at a time
 * @refusal: where a refusal is explained
 *
 * Context: the task the memory is for, which may be killed meanwhile.
 *
 * Return:
 * 1: the session is ready, in state KIPT_STATE_NEW.
 * 0: call again.
 * Or an errno as listed under session-new; the session is destroyed then.
 */
int kipt_setup_step(struct kipt_session *session, struct kipt_refusal *refusal);

/**
 * kipt_setup_end() - the caller is through with it
 * @session: from kipt_setup_begin(); destroyed if it is not ready
 */
void kipt_setup_end(struct kipt_session *session);

#endif /* KIPT_SETUP_H */
