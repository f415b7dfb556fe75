/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command get-info: versions, limits and capabilities for everyone, what
 * is in use for those who may trace. Process context.
 */
#ifndef KIPT_INFO_MESSAGE_H
#define KIPT_INFO_MESSAGE_H

struct genl_info;
struct sk_buff;

/**
 * kipt_info_get() - get-info
 * @request: the request
 * @info: its attributes, and where a refusal is explained
 *
 * Return: 0 after an answer, or an errno.
 */
int kipt_info_get(struct sk_buff *request, struct genl_info *info);

#endif /* KIPT_INFO_MESSAGE_H */
