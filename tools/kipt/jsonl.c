// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON Lines by json-c, see jsonl.h.
 */
#include <json-c/json.h>

#include "jsonl.h"

void jsonl_text(struct json_object *object, const char *key,
		const char *text)
{
	if (text)
		json_object_object_add(object, key,
				       json_object_new_string(text));
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
