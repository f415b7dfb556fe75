// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statuses and packets in words, for programs that show them to people. The module shows none, and
 * is built without this file. Any context.
 */
#include "packet/packet.h"

#define NAME(one, name)	name,

/* In the order of their numbers. */
static const char *const statuses[KIPT_STATUS_MAX + 1] = { KIPT_STATUSES(NAME) };
static const char *const packets[KIPT_PACKET_MAX + 1] = { "unknown", KIPT_PACKETS(NAME) };

const char *kipt_status_name(enum kipt_status status)
{
	return (u32)status > KIPT_STATUS_MAX ? "unknown status" : statuses[status];
}

const char *kipt_packet_name(u32 type)
{
	return packets[type > KIPT_PACKET_MAX ? KIPT_PACKET_NONE : type];
}
