/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in words: the names of their types and kinds, and sentences for
 * those that are no branches.
 */
#ifndef KIPT_RECORD_WORDS_H
#define KIPT_RECORD_WORDS_H

#include <stddef.h>

#include "../../../kmod/decode/port.h"

/**
 * words_type() - a record type in a word
 * @type: enum kipt_record_type
 *
 * Return: a constant string, "unknown" if it is none.
 */
const char *words_type(u32 type);

/**
 * words_kind() - a kind in a word
 * @type: enum kipt_record_type
 * @kind: of that type
 *
 * Return: a constant string, "unknown" if it is none, NULL if records of that
 * type have no kind.
 */
const char *words_kind(u32 type, u32 kind);

/**
 * words_gap() - a kind of gap in words for people
 * @kind: enum kipt_gap_kind
 *
 * Return: a constant string.
 */
const char *words_gap(u32 kind);

/**
 * words_sentence() - what a record that is no branch says
 * @record: the record
 * @where: its address in words; used if it has one
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *words_sentence(const struct kipt_record *record, const char *where,
			   char *text, size_t size);

#endif /* KIPT_RECORD_WORDS_H */
