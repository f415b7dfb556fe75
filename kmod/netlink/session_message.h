/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands about sessions: session-new, -start, -stop, -del, -get. Each
 * parses, asks permission.c, has session.c or setup.c act, and answers.
 * Process context.
 */
#ifndef KIPT_SESSION_MESSAGE_H
#define KIPT_SESSION_MESSAGE_H

struct genl_info;
struct kipt_refusal;
struct kipt_reply_dump_ops;
struct sk_buff;

/*
 * session-start, -stop and -del: the second call does what the request asks for, and may
 * wait for CPUs that do not answer, some seconds.
 */
extern const struct kipt_reply_dump_ops kipt_session_control_dump;

/* session-get of all sessions, or of one with its CPUs */
extern const struct kipt_reply_dump_ops kipt_session_list_dump;

/* session-new: each call takes a step of it, and says how far it is. */
extern const struct kipt_reply_dump_ops kipt_session_new_dump;

/**
 * kipt_session_message_get() - session-get of one session
 * @request: the request
 * @info: its attributes
 * @refusal: where a refusal is explained
 *
 * Return: 0 after an answer, or an errno.
 */
int kipt_session_message_get(struct sk_buff *request, struct genl_info *info,
			     struct kipt_refusal *refusal);

#endif /* KIPT_SESSION_MESSAGE_H */
