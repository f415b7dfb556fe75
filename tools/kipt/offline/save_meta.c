// SPDX-License-Identifier: GPL-2.0-only
/*
 * meta.json, see save_meta.h.
 */
#include <stdlib.h>

#include <json-c/json.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/file_map.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../filter/address_range.h"
#include "save_meta.h"

/* Its texts are a command at most. */
#define META_MOST	(4 << 20)

static u32 number_get(struct json_object *object, const char *key, u32 max)
{
	struct json_object *member;
	s64 number;

	if (!json_object_object_get_ex(object, key, &member))
		return 0;
	number = json_object_get_int64(member);
	return number >= 0 && number <= max ? number : 0;
}

/* Numbers of more than 53 bits are texts. */
static u64 hex_get(struct json_object *object, const char *key)
{
	return strtoull(jsonl_member(object, key), NULL, 16);
}

static bool ranges_read(struct json_object *object, const char *path,
			struct kipt_flow_config *config)
{
	struct kipt_range ranges[KIPT_FILTERS_MAX];
	u32 count;

	if (!ranges_from_json(object, ranges, &count)) {
		say_error("%s: its filters are no address ranges", path);
		return false;
	}
	ranges_to_flow(config, ranges, count);
	return true;
}

/* NULL: it is none, or longer than any that kipt writes. */
static struct json_object *object_read(FILE *file)
{
	struct json_object *object = NULL;
	char *text = calloc(1, META_MOST + 1);

	if (text && fread(text, 1, META_MOST + 1, file) <= META_MOST)
		object = json_tokener_parse(text);
	free(text);
	return object;
}

bool meta_read(const char *path, bool found, struct kipt_flow_config *config, u32 *tsc_khz)
{
	FILE *file = file_stream(path, found, "clocks and ranges");
	struct json_object *object;
	bool ok;

	if (!file)
		return false;
	object = object_read(file);
	fclose(file);
	if (!object || !json_object_is_type(object, json_type_object)) {
		say_error("cannot read %s as a JSON object", path);
		json_object_put(object);
		return false;
	}
	config->tsc_num = number_get(object, "tsc_num", ~0U);
	config->tsc_den = number_get(object, "tsc_den", ~0U);
	config->mtc_freq = number_get(object, "mtc_freq", 15);
	config->max_nonturbo_ratio = number_get(object, "max_nonturbo_ratio",
						255);
	config->no_tnt = hex_get(object, "ctl_bits") & RTIT_CTL_DISTNT;
	config->no_retc = hex_get(object, "ctl_bits") & RTIT_CTL_DISRETC;
	config->tsc_near = hex_get(object, "tsc");
	*tsc_khz = number_get(object, "tsc_khz", ~0U);
	ok = ranges_read(object, path, config);
	json_object_put(object);
	return ok;
}
