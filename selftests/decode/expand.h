/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records (KIPT_FLOW_PACKED) to plain ones, by the rules of
 * uapi/linux/kipt_record.h and by nothing the decoder knows: tests
 * compare what this makes with what the decoder gives without packing. User
 * space; takes a whole stream at once.
 */
#ifndef KIPT_SELFTESTS_DECODE_EXPAND_H
#define KIPT_SELFTESTS_DECODE_EXPAND_H

#include "../../kmod/decode/port.h"

/**
 * expand() - replace WALK records by what they say
 * @packed: a stream from its beginning; NODE, LINK, WALK and DICTIONARY records
 *	among any others
 * @count: its records
 * @plain: where the plain records go
 * @room: how many fit; the others are counted, not stored
 * @wrong: NULL, or a sentence about the first rule that @packed breaks
 *
 * Return: how many plain records there are; what follows a broken rule is left
 * out.
 */
u64 expand(const struct kipt_record *packed, u64 count,
	   struct kipt_record *plain, u64 room, const char **wrong);

#endif /* KIPT_SELFTESTS_DECODE_EXPAND_H */
