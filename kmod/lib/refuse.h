/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refusals that explain themselves: a sentence in the extended ack of a
 * netlink request. The sentence is beside the extended ack, in memory
 * that belongs to one request. Process context.
 */
#ifndef KIPT_REFUSE_H
#define KIPT_REFUSE_H

#include <linux/compiler.h>
#include <linux/netlink.h>

#define KIPT_REFUSE_BYTES	256

/**
 * struct kipt_refusal - an extended ack with room for a sentence
 * @extack: of the answer
 * @text: the sentence @extack points to
 *
 * On the stack of a request, or in the memory of a dump; all zero at first.
 */
struct kipt_refusal {
	struct netlink_ext_ack extack;
	char text[KIPT_REFUSE_BYTES];
};

/**
 * kipt_refuse() - say why a request is refused
 * @refusal: gets the sentence; NULL if nobody reads it
 * @attr: the attribute at fault, or NULL
 * @err: the errno, negative
 * @format: a sentence of at most 255 bytes, without a newline
 *
 * Kernels format such messages themselves from 6.2 on, but cut them at 80
 * bytes. Context: any.
 *
 * Return: @err.
 */
__printf(4, 5)
int kipt_refuse(struct kipt_refusal *refusal, const struct nlattr *attr,
		int err, const char *format, ...);

/**
 * kipt_refuse_send() - answer a request that was refused
 * @skb: the request
 * @err: the errno, negative
 * @refusal: what was said of it
 *
 * The sentence has to live until it is copied into the answer, and the caller
 * of a request's handler would send that only after the handler's stack is
 * gone. So the answer is sent here, as nfnetlink does.
 *
 * Return: -EINTR, which makes netlink send no second answer.
 */
int kipt_refuse_send(struct sk_buff *skb, int err,
		     const struct kipt_refusal *refusal);

#endif /* KIPT_REFUSE_H */
