/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON Lines: one object a line. Addresses and other bit patterns are
 * strings in hexadecimal, since readers of JSON keep 53 bits of a number.
 */
#ifndef KIPT_JSON_LINES_H
#define KIPT_JSON_LINES_H

#include <stdio.h>

#include "../../../kmod/decode/port.h"

struct json_object;

/**
 * jsonl_text() - add a string
 * @object: where to
 * @key: its name
 * @text: copied; NULL: nothing is added
 */
void jsonl_text(struct json_object *object, const char *key,
		const char *text);

/**
 * jsonl_text_new() - a string
 * @text: copied
 *
 * Return: the caller's, to be added somewhere; NULL without memory.
 */
struct json_object *jsonl_text_new(const char *text);

/**
 * jsonl_number() - add a number
 * @object: where to
 * @key: its name
 * @number: the number
 */
void jsonl_number(struct json_object *object, const char *key, u64 number);

/**
 * jsonl_hex() - add a bit pattern, as "0x..."
 * @object: where to
 * @key: its name
 * @value: the bits
 */
void jsonl_hex(struct json_object *object, const char *key, u64 value);

/**
 * jsonl_flag() - add true or false
 * @object: where to
 * @key: its name
 * @flag: which
 */
void jsonl_flag(struct json_object *object, const char *key, int flag);

/**
 * jsonl_member() - the text of a member
 * @object: what has it, or has not
 * @key: its name
 *
 * Return: it, as long as @object lives and is not changed; "" where there is none.
 */
const char *jsonl_member(struct json_object *object, const char *key);

/**
 * jsonl_string() - the text of an object
 * @object: what
 *
 * Return: it, as long as @object lives and is not changed.
 */
const char *jsonl_string(struct json_object *object);

/**
 * jsonl_print() - print a line, and free the object
 * @object: what
 * @out: where to
 */
void jsonl_print(struct json_object *object, FILE *out);

#endif /* KIPT_JSON_LINES_H */
