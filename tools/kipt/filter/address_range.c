// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address ranges as text, as JSON and for the decoder, see address_range.h. Where
 * their addresses come from is for filter.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "address_range.h"

const char *range_option(u32 kind)
{
	return kind == KIPT_FILTER_KIND_STOP ? "stop-at" : "filter";
}

/* In JSON they are called as in uapi/kipt.yaml. */
static const char *kind_name(u32 kind)
{
	return kind == KIPT_FILTER_KIND_STOP ? "stop" : "trace";
}

static bool kind_parse(const char *name, u32 *kind)
{
	*kind = KIPT_FILTER_KIND_TRACE;
	if (strcmp(name, kind_name(*kind)))
		*kind = KIPT_FILTER_KIND_STOP;
	return !strcmp(name, kind_name(*kind));
}

const char *range_text(const struct kipt_range *range, char *text,
		       size_t size)
{
	snprintf(text, size, "0x%llx-0x%llx",
		 (unsigned long long)range->first,
		 (unsigned long long)range->last);
	return text;
}

void ranges_json(struct json_object *object, const struct kipt_range *ranges,
		 u32 count)
{
	struct json_object *list, *entry;
	u32 i;

	if (!count)
		return;
	list = json_object_new_array();
	for (i = 0; i < count; i++) {
		entry = json_object_new_object();
		jsonl_text(entry, "kind", kind_name(ranges[i].kind));
		jsonl_hex(entry, "first", ranges[i].first);
		jsonl_hex(entry, "last", ranges[i].last);
		json_object_array_add(list, entry);
	}
	json_object_object_add(object, "filters", list);
}

static bool hex_member(struct json_object *object, const char *key,
		       u64 *number)
{
	const char *text = jsonl_member(object, key);
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 16);
	return end != text && !*end && !errno;
}

static bool range_from_json(struct json_object *entry,
			    struct kipt_range *range)
{
	return json_object_is_type(entry, json_type_object) &&
	       kind_parse(jsonl_member(entry, "kind"), &range->kind) &&
	       hex_member(entry, "first", &range->first) &&
	       hex_member(entry, "last", &range->last) &&
	       range->first <= range->last;
}

bool ranges_from_json(struct json_object *object, struct kipt_range *ranges,
		      u32 *count)
{
	struct json_object *list;
	size_t i, n;

	*count = 0;
	if (!json_object_object_get_ex(object, "filters", &list))
		return true;
	if (!json_object_is_type(list, json_type_array))
		return false;
	n = json_object_array_length(list);
	if (n > KIPT_FILTERS_MAX)
		return false;
	for (i = 0; i < n; i++) {
		if (!range_from_json(json_object_array_get_idx(list, i),
				     &ranges[i]))
			return false;
	}
	*count = n;
	return true;
}

void ranges_to_flow(struct kipt_flow_config *config,
		    const struct kipt_range *ranges, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		config->filter[i].begin = ranges[i].first;
		config->filter[i].last = ranges[i].last;
		config->filter[i].stop = ranges[i].kind == KIPT_FILTER_KIND_STOP;
	}
	config->filter_count = count;
}
