/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address ranges as the CPU has them: IA32_RTIT_ADDRn_A and _B, both
 * inclusive, and what ADDRn_CFG makes of them.
 */
#ifndef KIPT_ADDRESS_RANGE_H
#define KIPT_ADDRESS_RANGE_H

#include <stdbool.h>

#include "../../../kmod/decode/flow.h"
#include "../../../uapi/linux/kipt.h"

struct json_object;

/**
 * struct kipt_range - one address range
 * @kind: enum kipt_filter_kind
 * @first: its first address
 * @last: its last address; not less than @first
 */
struct kipt_range {
	u32 kind;
	u64 first;
	u64 last;
};

/**
 * range_option() - the option that asks for ranges of a kind
 * @kind: enum kipt_filter_kind
 *
 * Return: "filter" or "stop-at".
 */
const char *range_option(u32 kind);

/**
 * range_text() - a range as --filter takes it
 * @range: which
 * @text: where to
 * @size: its bytes; 40 are enough
 *
 * Return: @text.
 */
const char *range_text(const struct kipt_range *range, char *text,
		       size_t size);

/**
 * ranges_json() - add an array of ranges, unless there is none
 * @object: where to, as member "filters"
 * @ranges: which
 * @count: how many
 */
void ranges_json(struct json_object *object, const struct kipt_range *ranges,
		 u32 count);

/**
 * ranges_from_json() - read what ranges_json() wrote
 * @object: what has the member "filters", or has not
 * @ranges: KIPT_FILTERS_MAX entries, filled
 * @count: filled: how many; 0 where there is no such member
 *
 * Return: true, or false if there is something else than ranges.
 */
bool ranges_from_json(struct json_object *object, struct kipt_range *ranges,
		      u32 *count);

/**
 * ranges_to_flow() - hand them to the decoder
 * @config: its filter is replaced
 * @ranges: which
 * @count: how many, at most KIPT_FILTERS_MAX
 */
void ranges_to_flow(struct kipt_flow_config *config,
		    const struct kipt_range *ranges, u32 count);

#endif /* KIPT_ADDRESS_RANGE_H */
