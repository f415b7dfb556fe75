/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records as the lines that the flow tests expect. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_RECORD_TEXT_H
#define KIPT_SELFTESTS_DECODE_RECORD_TEXT_H

#include "../../kmod/decode/port.h"

/**
 * record_text() - a record in words
 * @record: the record
 * @text: where to
 * @size: its bytes
 */
void record_text(const struct kipt_record *record, char *text, size_t size);

#endif /* KIPT_SELFTESTS_DECODE_RECORD_TEXT_H */
