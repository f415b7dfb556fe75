/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may do what: the only place that decides. docs/security.md says the
 * same in words. Process context, in the task that asks.
 */
#ifndef KIPT_PERMISSION_H
#define KIPT_PERMISSION_H

#include <linux/types.h>

struct kipt_session;
struct kipt_refusal;
struct sk_buff;

/**
 * kipt_permission_load() - may the module trace because its parameters say so
 * @refusal: where a refusal is explained
 *
 * Who loads a module may do more than trace, so nobody is asked but the kernel.
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_load(struct kipt_refusal *refusal);

/**
 * kipt_permission_trace() - may who sent a request trace at all
 * @request: the request, or that of a dump which is going on; both the task
 *	that runs and the one that opened the socket need the capability
 * @refusal: where a refusal is explained
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_trace(struct sk_buff *request,
			  struct kipt_refusal *refusal);

/**
 * kipt_permission_sees() - as kipt_permission_trace(), where nothing is refused
 * @request: as above
 *
 * Return: whether it may.
 */
bool kipt_permission_sees(struct sk_buff *request);

/**
 * kipt_permission_control() - may it start, stop and delete a session
 * @request: as above
 * @session: the session
 * @refusal: where a refusal is explained
 *
 * Also checks what kipt_permission_trace() does. The owner's socket may; of a
 * detached session whoever has the user id of its maker; and CAP_SYS_ADMIN.
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_control(struct sk_buff *request,
			    struct kipt_session *session,
			    struct kipt_refusal *refusal);

/**
 * kipt_permission_read() - may it read the trace of a session
 * @request: as above
 * @session: the session
 * @refusal: where a refusal is explained
 *
 * Also checks what kipt_permission_trace() does. The owner's socket may,
 * whoever has the user id of its maker, and CAP_SYS_ADMIN.
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_read(struct sk_buff *request,
			 struct kipt_session *session,
			 struct kipt_refusal *refusal);

/**
 * kipt_permission_all() - may it read and delete what is of all sessions
 * @request: as above
 * @refusal: where a refusal is explained
 *
 * Also checks what kipt_permission_trace() does. CAP_SYS_ADMIN may.
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_all(struct sk_buff *request, struct kipt_refusal *refusal);

/**
 * kipt_permission_file() - may the task use the raw device
 * @session: what the file is attached to, or NULL
 *
 * The rule of kipt_permission_read(), where there is no socket.
 *
 * Return: 0 or -EPERM.
 */
int kipt_permission_file(const struct kipt_session *session);

#endif /* KIPT_PERMISSION_H */
