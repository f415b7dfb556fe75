/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family "kipt": its policies and operations, the answers to
 * requests that are refused, and events. What commands do is in info_message,
 * session_message and fetch_message.
 */
#ifndef KIPT_NETLINK_H
#define KIPT_NETLINK_H

#include <linux/types.h>

struct cpumask;
struct genl_info;
struct kipt_session;
struct netlink_callback;
struct kipt_refusal;
struct nlattr;
struct sk_buff;

#define KIPT_EVENT_NO_CPU	(~0U)

/**
 * kipt_netlink_init() - register the family
 *
 * Return: 0 or an errno.
 */
int kipt_netlink_init(void);

/**
 * kipt_netlink_uninit() - no requests come any more, none is under way
 */
void kipt_netlink_uninit(void);

/**
 * kipt_netlink_event() - tell listeners that a session changed
 * @id: session
 * @state: enum kipt_state of it, or 0: it is gone
 * @cpu: the CPU that stopped by itself, or KIPT_EVENT_NO_CPU
 * @cause: enum kipt_stop_cause, or 0
 *
 * Context: may sleep; waits for no listener.
 */
void kipt_netlink_event(u32 id, u32 state, u32 cpu, u32 cause);

/* What a dump may remember from one call to the next. */
#define KIPT_NETLINK_STATE_BYTES	40

/**
 * kipt_netlink_state() - what a dump remembers
 * @cb: the dump
 *
 * Return: KIPT_NETLINK_STATE_BYTES that are zero at first.
 */
void *kipt_netlink_state(struct netlink_callback *cb);

/**
 * kipt_netlink_command() - what is asked for
 * @cb: the dump
 *
 * Return: KIPT_CMD_...
 */
u8 kipt_netlink_command(struct netlink_callback *cb);

/**
 * kipt_netlink_reply() - begin the answer to a request
 * @info: the request
 * @size: bytes of its attributes at most
 * @header: for genlmsg_end()
 *
 * Return: a message, or NULL without memory.
 */
struct sk_buff *kipt_netlink_reply(struct genl_info *info, size_t size,
				   void **header);

/**
 * kipt_netlink_part() - begin a message of a dump
 * @skb: what the dump is to fill
 * @cb: the dump
 * @cmd: command of the message
 *
 * Return: for genlmsg_end() or genlmsg_cancel(); NULL if there is no room.
 */
void *kipt_netlink_part(struct sk_buff *skb, struct netlink_callback *cb,
			u8 cmd);

/**
 * kipt_netlink_find() - the session a request names
 * @attr: its number, or NULL: that is missing
 * @session: with a reference for the caller, on success
 * @refusal: where a refusal is explained
 *
 * Return: 0, -EINVAL or -ENOENT.
 */
int kipt_netlink_find(const struct nlattr *attr, struct kipt_session **session,
		      struct kipt_refusal *refusal);

/**
 * kipt_netlink_missing() - refuse a request without an attribute it needs
 * @attr: the attribute, or NULL
 * @name: as uapi/kipt.yaml calls it
 * @refusal: where it is explained
 *
 * Return: 0, or -EINVAL if @attr is NULL.
 */
int kipt_netlink_missing(const struct nlattr *attr, const char *name,
			 struct kipt_refusal *refusal);

/**
 * kipt_netlink_put_cpus() - add a CPU list
 * @skb: a message
 * @attr: type of the attribute
 * @cpus: the CPUs
 *
 * Return: 0, -ENOMEM, or -EMSGSIZE.
 */
int kipt_netlink_put_cpus(struct sk_buff *skb, int attr,
			  const struct cpumask *cpus);

#endif /* KIPT_NETLINK_H */
