/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of the netlink family: answers, parts of dumps, events, and what requests
 * have in common; with the headers that each command needs. Process context.
 */
#ifndef KIPT_REPLY_H
#define KIPT_REPLY_H

#include <linux/types.h>
#include <net/genetlink.h>

#include "commands.h"
#include "../session/permission.h"
#include "../lib/refuse.h"
#include "../session/session.h"
#include "../../uapi/linux/kipt.h"

struct cpumask;
struct genl_family;

/* What a dump may remember from one call to the next. */
#define KIPT_REPLY_STATE_BYTES	24

/**
 * struct kipt_reply_dump - what a dump remembers
 * @refusal: has the sentence of its last message; owned by family.c
 * @session: the one it is about, referenced; or NULL
 * @begun: the request itself was answered
 * @state: of the command; zero at first
 */
struct kipt_reply_dump {
	struct kipt_refusal *refusal;
	struct kipt_session *session;
	bool begun;
	u64 state[KIPT_REPLY_STATE_BYTES / sizeof(u64)];
};

/**
 * struct kipt_reply_dump_ops - a command that is answered by a dump
 * @start: parse the request with these attributes; 0 or an errno, after which neither @fill
 *	nor @done is called, so what it left in the state does not matter, but for the
 *	session
 * @fill: write some messages; their bytes, 0 at the end, or an errno. The first call comes
 *	within the request; NULL if @start always ends in an errno
 * @done: the dump has ended, or its socket, after a @start without an errno; or NULL. Then
 *	the reference to the session is dropped
 *
 * The refusal is where an errno is explained.
 */
struct kipt_reply_dump_ops {
	int (*start)(struct netlink_callback *cb, struct nlattr **attrs,
		     struct kipt_refusal *refusal);
	int (*fill)(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_refusal *refusal);
	void (*done)(struct netlink_callback *cb);
};

/**
 * kipt_reply_init() - ready to make messages
 * @family: the family they belong to
 */
void kipt_reply_init(const struct genl_family *family);

/**
 * kipt_reply_dump() - what each dump remembers, whatever its command
 * @cb: the dump
 */
struct kipt_reply_dump *kipt_reply_dump(struct netlink_callback *cb);

/**
 * kipt_reply_event() - send listeners an event: a session changed
 * @id: session
 * @state: enum kipt_state of it, or 0: it is gone
 * @cpu: the CPU that stopped by itself, or KIPT_EVENT_NO_CPU
 * @cause: enum kipt_stop_cause, or 0
 *
 * Context: may sleep; waits for no listener.
 */
void kipt_reply_event(u32 id, u32 state, u32 cpu, u32 cause);

/**
 * kipt_reply_state() - bytes of a dump for the command's own use
 * @cb: the dump
 *
 * Return: KIPT_REPLY_STATE_BYTES that are zero at first.
 */
void *kipt_reply_state(struct netlink_callback *cb);

/**
 * kipt_reply_command() - what is asked for
 * @cb: the dump
 *
 * Return: KIPT_CMD_...
 */
u8 kipt_reply_command(struct netlink_callback *cb);

/**
 * kipt_reply_begin() - begin the answer to a request
 * @info: the request
 * @size: bytes of its attributes at most
 * @header: for genlmsg_end()
 *
 * Return: a message, or NULL without memory.
 */
struct sk_buff *kipt_reply_begin(struct genl_info *info, size_t size,
				 void **header);

/**
 * kipt_reply_part() - begin a message of a dump
 * @skb: what the dump is to fill
 * @cb: the dump
 * @cmd: command of the message
 *
 * Return: for genlmsg_end() or genlmsg_cancel(); NULL if there is no room.
 */
void *kipt_reply_part(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/**
 * kipt_reply_find() - the session a request names
 * @attr: its number, or NULL: that is missing
 * @session: with a reference for the caller, on success
 * @refusal: where a refusal is explained
 *
 * Return: 0, -EINVAL or -ENOENT.
 */
int kipt_reply_find(const struct nlattr *attr, struct kipt_session **session,
		    struct kipt_refusal *refusal);

/**
 * kipt_reply_take() - find the session a dump is about
 * @cb: the dump, which keeps it
 * @attr: its number, or NULL: that is missing
 * @may: kipt_permission_control() or kipt_permission_read()
 * @refusal: where a refusal is explained
 *
 * Return: 0, -EPERM, -EINVAL or -ENOENT.
 */
int kipt_reply_take(struct netlink_callback *cb, const struct nlattr *attr,
		    int (*may)(struct sk_buff *request, struct kipt_session *session,
			       struct kipt_refusal *refusal),
		    struct kipt_refusal *refusal);

/**
 * kipt_reply_missing() - refuse a request without an attribute it needs
 * @attr: the attribute, or NULL
 * @name: as uapi/kipt.yaml calls it
 * @refusal: where it is explained
 *
 * Return: 0, or -EINVAL if @attr is NULL.
 */
int kipt_reply_missing(const struct nlattr *attr, const char *name,
		       struct kipt_refusal *refusal);

/**
 * kipt_reply_put_cpus() - add a CPU list
 * @skb: a message
 * @attr: type of the attribute
 * @cpus: the CPUs
 *
 * Return: 0, -ENOMEM, or -EMSGSIZE.
 */
int kipt_reply_put_cpus(struct sk_buff *skb, int attr,
			const struct cpumask *cpus);

/**
 * kipt_reply_put_u64() - add a number
 * @skb: a message
 * @attr: type of the attribute
 * @value: the number
 *
 * On x86 no number is padded, so the attributes "pad" stay unused.
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int kipt_reply_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, 0);
}

#endif /* KIPT_REPLY_H */
