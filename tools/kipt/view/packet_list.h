/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets of a raw trace, one a line, on standard output.
 */
#ifndef KIPT_PACKET_LIST_H
#define KIPT_PACKET_LIST_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * packet_list() - list the packets of a file
 * @path: the file
 * @json: as JSON Lines
 * @sync: begin at the first PSB, not at the first byte
 *
 * After bytes that are no packet it goes on at the next PSB.
 *
 * Return: true, or false after a sentence: it cannot be read, or has no PSB.
 */
bool packet_list(const char *path, bool json, bool sync);

/**
 * struct packet_counts - what was listed
 * @packets: packets
 * @errors: places with bytes that are no packet
 * @passed: bytes that are none
 */
struct packet_counts {
	u64 packets;
	u64 errors;
	u64 passed;
};

/**
 * struct packet_part - a part of a trace
 * @bytes: the trace, or a stretch of it
 * @start: where the part begins; its packets begin at the first PSB
 * @end: where it ends
 * @before: bytes of the trace before @bytes; offsets that are shown have them
 * @passed, @all: for the line of progress, bytes before @bytes and bytes of all that is listed
 */
struct packet_part {
	const u8 *bytes;
	u64 start, end;
	u64 before;
	u64 passed, all;
};

/**
 * packet_list_bytes() - list the packets of a part of a trace
 * @part: which
 * @json: as JSON Lines
 * @counts: what it has is added
 */
void packet_list_bytes(const struct packet_part *part, bool json,
		       struct packet_counts *counts);

/**
 * packet_counts_show() - a line that sums up, on standard error
 * @counts: what
 *
 * Return: false after a sentence if Ctrl-C ended the list.
 */
bool packet_counts_show(const struct packet_counts *counts);

#endif /* KIPT_PACKET_LIST_H */
