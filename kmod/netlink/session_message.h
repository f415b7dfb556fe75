/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands about sessions: session-new, -start, -stop, -del, -get. Each
 * parses, asks permission.c, has session.c or setup.c act, and answers.
 * Process context.
 */
#ifndef KIPT_SESSION_MESSAGE_H
#define KIPT_SESSION_MESSAGE_H

struct genl_info;
struct netlink_callback;
struct kipt_refusal;
struct nlattr;
struct sk_buff;

/**
 * kipt_session_message_control_start() - session-start, -stop or -del
 * @cb: the dump
 * @attrs: attributes of the request
 * @refusal: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_control_start(struct netlink_callback *cb,
				       struct nlattr **attrs,
				       struct kipt_refusal *refusal);

/**
 * kipt_session_message_control() - answer the request, and at the second call
 *	do what it asks for
 * @skb: to be filled
 * @cb: the dump
 * @refusal: where a refusal is explained
 *
 * Context: the second call may wait for CPUs that do not answer, some seconds.
 * Return: as a dump.
 */
int kipt_session_message_control(struct sk_buff *skb,
				 struct netlink_callback *cb,
				 struct kipt_refusal *refusal);

/**
 * kipt_session_message_control_done() - the dump has ended, or its socket
 * @cb: the dump
 */
void kipt_session_message_control_done(struct netlink_callback *cb);

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

/**
 * kipt_session_message_list_start() - session-get of all sessions, or of one
 *	with its CPUs
 * @cb: the dump
 * @attrs: attributes of the request
 * @refusal: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_list_start(struct netlink_callback *cb,
				    struct nlattr **attrs,
				    struct kipt_refusal *refusal);

/**
 * kipt_session_message_list() - some messages of it
 * @skb: to be filled
 * @cb: the dump
 * @refusal: where a refusal is explained
 *
 * Return: as a dump: bytes in @skb, 0 at the end, or an errno.
 */
int kipt_session_message_list(struct sk_buff *skb, struct netlink_callback *cb,
			      struct kipt_refusal *refusal);

/**
 * kipt_session_message_new_start() - session-new
 * @cb: the dump
 * @attrs: attributes of the request
 * @refusal: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_new_start(struct netlink_callback *cb,
				   struct nlattr **attrs,
				   struct kipt_refusal *refusal);

/**
 * kipt_session_message_new() - a step of it, and a message that says how far
 *	it is
 * @skb: to be filled
 * @cb: the dump
 * @refusal: where a refusal is explained
 *
 * Return: as a dump.
 */
int kipt_session_message_new(struct sk_buff *skb, struct netlink_callback *cb,
			     struct kipt_refusal *refusal);

/**
 * kipt_session_message_new_done() - the dump has ended, or its socket
 * @cb: the dump
 */
void kipt_session_message_new_done(struct netlink_callback *cb);

#endif /* KIPT_SESSION_MESSAGE_H */
