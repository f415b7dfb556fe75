// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON Lines by json-c, see json_lines.h.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "json_lines.h"
#include "printable.h"

static bool is_utf8(const char *text)
{
	size_t length;

	for (; *text; text += length) {
		length = utf8_length(text);
		if (!length)
			return false;
	}
	return true;
}

/* Names may have any bytes, JSON is UTF-8. */
static struct json_object *text_mend(const char *text)
{
	struct json_object *object;
	char *copy = strdup(text), *at;
	size_t length;

	if (!copy)
		return NULL;
	for (at = copy; *at; at += length) {
		length = utf8_length(at);
		if (!length) {
			*at = '?';
			length = 1;
		}
	}
	object = json_object_new_string(copy);
	free(copy);
	return object;
}

struct json_object *jsonl_text_new(const char *text)
{
	return is_utf8(text) ? json_object_new_string(text) : text_mend(text);
}

void jsonl_text(struct json_object *object, const char *key,
		const char *text)
{
	if (text)
		json_object_object_add(object, key, jsonl_text_new(text));
}

void jsonl_number(struct json_object *object, const char *key, u64 number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

void jsonl_hex(struct json_object *object, const char *key, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	jsonl_text(object, key, text);
}

void jsonl_flag(struct json_object *object, const char *key, int flag)
{
	json_object_object_add(object, key, json_object_new_boolean(flag));
}

const char *jsonl_member(struct json_object *object, const char *key)
{
	struct json_object *member;
	const char *text = NULL;

	if (json_object_object_get_ex(object, key, &member))
		text = json_object_get_string(member);
	return text ? text : "";
}

const char *jsonl_string(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}

void jsonl_print(struct json_object *object, FILE *out)
{
	fputs(jsonl_string(object), out);
	fputc('\n', out);
	json_object_put(object);
}
