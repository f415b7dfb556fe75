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
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;

/**
 * kipt_session_message_start() - session-start
 * @request: the request
 * @info: its attributes, and where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_start(struct sk_buff *request,
			       struct genl_info *info);

/**
 * kipt_session_message_stop() - session-stop
 * @request: as above
 * @info: as above
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_stop(struct sk_buff *request, struct genl_info *info);

/**
 * kipt_session_message_del() - session-del
 * @request: as above
 * @info: as above
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_del(struct sk_buff *request, struct genl_info *info);

/**
 * kipt_session_message_get() - session-get of one session
 * @request: as above
 * @info: as above
 *
 * Return: 0 after an answer, or an errno.
 */
int kipt_session_message_get(struct sk_buff *request, struct genl_info *info);

/**
 * kipt_session_message_list_start() - session-get of all sessions, or of one
 *	with its CPUs
 * @cb: the dump
 * @attrs: attributes of the request
 * @extack: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_list_start(struct netlink_callback *cb,
				    struct nlattr **attrs,
				    struct netlink_ext_ack *extack);

/**
 * kipt_session_message_list() - some messages of it
 * @skb: to be filled
 * @cb: the dump
 * @extack: where a refusal is explained
 *
 * Return: as a dump: bytes in @skb, 0 at the end, or an errno.
 */
int kipt_session_message_list(struct sk_buff *skb, struct netlink_callback *cb,
			      struct netlink_ext_ack *extack);

/**
 * kipt_session_message_new_start() - session-new
 * @cb: the dump
 * @attrs: attributes of the request
 * @extack: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_session_message_new_start(struct netlink_callback *cb,
				   struct nlattr **attrs,
				   struct netlink_ext_ack *extack);

/**
 * kipt_session_message_new() - a step of it, and a message that tells how far
 *	it is
 * @skb: to be filled
 * @cb: the dump
 * @extack: where a refusal is explained
 *
 * Return: as a dump.
 */
int kipt_session_message_new(struct sk_buff *skb, struct netlink_callback *cb,
			     struct netlink_ext_ack *extack);

/**
 * kipt_session_message_new_done() - the dump has ended, or its socket
 * @cb: the dump
 */
void kipt_session_message_new_done(struct netlink_callback *cb);

#endif /* KIPT_SESSION_MESSAGE_H */
