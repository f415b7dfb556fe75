/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets of a raw trace, one a line, on standard output.
 */
#ifndef KIPT_PACKET_LIST_H
#define KIPT_PACKET_LIST_H

#include <stdbool.h>

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

#endif /* KIPT_PACKET_LIST_H */
