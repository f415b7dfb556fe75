/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family "kipt", its commands, and /dev/kipt. family.c has the policies and the
 * table of commands. Each command parses, asks permission.c, has other parts act, and
 * answers. Process context.
 */
#ifndef KIPT_COMMANDS_H
#define KIPT_COMMANDS_H

struct genl_info;
struct kipt_refusal;
struct kipt_reply_dump_ops;
struct sk_buff;

/**
 * kipt_family_init() - register the family
 *
 * Return: 0 or an errno.
 */
int kipt_family_init(void);

/**
 * kipt_family_uninit() - no requests come any more, none is under way
 */
void kipt_family_uninit(void);

/**
 * kipt_info_get() - get-info: versions, limits and capabilities for everyone, what is in
 * use for those who may trace
 * @request: the request
 * @info: its attributes
 * @refusal: where a refusal is explained
 *
 * Return: 0 after an answer, or an errno.
 */
int kipt_info_get(struct sk_buff *request, struct genl_info *info,
		  struct kipt_refusal *refusal);

/* session-new: each call takes a step of it, and says how far it is. */
extern const struct kipt_reply_dump_ops kipt_session_new_dump;

/*
 * session-start, -stop and -del: the second call does what the request asks for, and may
 * wait for CPUs that do not answer, some seconds.
 */
extern const struct kipt_reply_dump_ops kipt_session_control_dump;

/* session-get of all sessions, or of one with its CPUs */
extern const struct kipt_reply_dump_ops kipt_session_list_dump;

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

/*
 * fetch: begins a fetch, or takes part in one; then decodes for a while before each
 * message, in its reader's own recvmsg().
 */
extern const struct kipt_reply_dump_ops kipt_fetch_dump;

/* snapshot-get: lists snapshots, or reads one */
extern const struct kipt_reply_dump_ops kipt_snapshot_dump;

/**
 * kipt_snapshot_message_del() - snapshot-del
 * @skb: the request
 * @info: the request, parsed
 * @refusal: where a refusal is explained
 *
 * Return: 0, or an errno as under snapshot-del.
 */
int kipt_snapshot_message_del(struct sk_buff *skb, struct genl_info *info,
			      struct kipt_refusal *refusal);

/**
 * kipt_rawdev_init() - make /dev/kipt, which cannot be opened yet
 *
 * It has raw trace bytes by mmap, as uapi/linux/kipt_raw.h describes.
 *
 * Return: 0 or an errno.
 */
int kipt_rawdev_init(void);

/**
 * kipt_rawdev_allow() - let it be opened; loading the module can fail no more
 */
void kipt_rawdev_allow(void);

/**
 * kipt_rawdev_uninit() - remove it; no file of it is open
 */
void kipt_rawdev_uninit(void);

#endif /* KIPT_COMMANDS_H */
