/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace bytes as text, for the tests of the test CPU: one word per packet,
 * separated by spaces, IPs decompressed. Written from the manual's packet
 * definitions; shares nothing with the encoder under test or with the decoder
 * of the project. Pure functions.
 */
#ifndef TESTCPU_PACKET_LIST_H
#define TESTCPU_PACKET_LIST_H

#include <stddef.h>
#include <stdint.h>

/**
 * packet_list - name the packets in a buffer
 * @bytes: trace, beginning at a packet
 * @len: its length
 * @last_ip: LastIP before and after
 * @text: receives the names
 * @size: of @text; a list that does not fit ends in "..."
 *
 * PAD is left out. Something that is no packet ends the list with
 * "BAD(offset)".
 *
 * Return: bytes consumed.
 */
size_t packet_list(const uint8_t *bytes, size_t len, uint64_t *last_ip,
		   char *text, size_t size);

#endif /* TESTCPU_PACKET_LIST_H */
