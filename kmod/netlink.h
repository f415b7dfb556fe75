/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family "kipt": parses requests, checks permission, builds
 * messages. All else is done by session.c and what stands behind it.
 */
#ifndef KIPT_NETLINK_H
#define KIPT_NETLINK_H

#include <linux/types.h>

struct kipt_record;

/* Version of the interface: of uapi/kipt.yaml. */
#define KIPT_NETLINK_ABI	1

/**
 * struct kipt_records_message - a message of decoded records
 * @portid: receiver
 * @id: session
 * @cpu: CPU the records are of
 * @seq: number within the fetch
 * @lost: records dropped so far
 * @trace_done: trace bytes decoded so far
 * @records: @count of them
 * @count: at most KIPT_BATCH_RECORDS
 * @last: the last message: @done and @total are sent
 * @done: 0 or a positive errno
 * @total: records of the fetch
 */
struct kipt_records_message {
	u32 portid;
	u32 id;
	u32 cpu;
	u64 seq;
	u64 lost;
	u64 trace_done;
	const struct kipt_record *records;
	u32 count;
	bool last;
	int done;
	u64 total;
};

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
 * kipt_netlink_records() - send records to the owner of a fetch
 * @message: what to send
 *
 * Context: may sleep.
 *
 * Return: 0; -EAGAIN if the receiver has no room;
 * -ECONNREFUSED if it is gone; -ENOMEM; -EMSGSIZE.
 */
int kipt_netlink_records(const struct kipt_records_message *message);

/**
 * kipt_netlink_event() - tell listeners that a session changed
 * @id: session
 * @state: enum kipt_state
 *
 * Context: may sleep.
 */
void kipt_netlink_event(u32 id, u32 state);

#endif /* KIPT_NETLINK_H */
