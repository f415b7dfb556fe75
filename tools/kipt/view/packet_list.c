// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists packets, see packet_list.h. What their payloads are called is for
 * packet_fields.c.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "../../../kmod/decode/packet/last_ip.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../cli/standard_output.h"
#include "packet_fields.h"
#include "packet_list.h"
#include "trace_file.h"

struct listing {
	const char *path;
	const u8 *bytes;
	u64 size;
	/* As of struct packet_part. */
	u64 before;
	u64 passed, all;
	u64 last_ip;
	bool json;
	struct packet_counts counts;
};

static u64 offset_of(const struct listing *listing,
		     const struct kipt_cursor *cursor)
{
	return cursor->pos - listing->bytes;
}

static void field_text(const struct packet_field *field)
{
	unsigned long long value = field->value;

	if (field->text)
		printf(" %s=%s", field->name, field->text);
	else if (field->hex)
		printf(" %s=0x%llx", field->name, value);
	else
		printf(" %s=%llu", field->name, value);
}

static void field_json(const struct packet_field *field,
		       struct json_object *line)
{
	if (field->text)
		jsonl_text(line, field->name, field->text);
	else if (field->hex)
		jsonl_hex(line, field->name, field->value);
	else
		jsonl_number(line, field->name, field->value);
}

static void packet_print(const struct listing *listing, u64 offset,
			 const struct kipt_packet *packet,
			 const struct packet_fields *fields)
{
	struct json_object *line;
	u32 i;

	if (!listing->json) {
		printf("%10llx  %-*s", (unsigned long long)(listing->before + offset),
		       fields->count ? 9 : 0, kipt_packet_name(packet->type));
		for (i = 0; i < fields->count; i++)
			field_text(&fields->list[i]);
		putchar('\n');
		return;
	}
	line = json_object_new_object();
	jsonl_text(line, "type", "packet");
	jsonl_number(line, "offset", listing->before + offset);
	jsonl_text(line, "packet", kipt_packet_name(packet->type));
	jsonl_number(line, "len", packet->len);
	for (i = 0; i < fields->count; i++)
		field_json(&fields->list[i], line);
	jsonl_print(line, stdout);
}

static bool has_ip(u32 type)
{
	return type == KIPT_PACKET_TIP || type == KIPT_PACKET_TIP_PGE ||
	       type == KIPT_PACKET_TIP_PGD || type == KIPT_PACKET_FUP;
}

static void packet_take(struct listing *listing, u64 offset,
			const struct kipt_packet *packet)
{
	struct packet_fields fields;

	if (packet->type == KIPT_PACKET_PSB)
		listing->last_ip = 0;
	if (has_ip(packet->type) && packet->size)
		listing->last_ip = kipt_last_ip_apply(listing->last_ip,
						      packet);
	packet_fields_make(packet, listing->last_ip, &fields);
	packet_print(listing, offset, packet, &fields);
	listing->counts.packets++;
}

/* Bytes that are no packets: where, why, and how many were passed over. */
static void passed_tell(struct listing *listing, u64 offset, u64 next,
			const char *why)
{
	struct json_object *line;

	listing->counts.passed += next - offset;
	if (!listing->json) {
		printf("%10llx  -- %s, %llu bytes passed over\n",
		       (unsigned long long)(listing->before + offset), why,
		       (unsigned long long)(next - offset));
		return;
	}
	line = json_object_new_object();
	jsonl_text(line, "type", "packets-passed");
	jsonl_number(line, "offset", listing->before + offset);
	jsonl_text(line, "error", why);
	jsonl_number(line, "passed", next - offset);
	jsonl_print(line, stdout);
}

/* Up to the next PSB: no packet reaches into it, whatever its header says. */
static void cursor_seek(struct listing *listing, struct kipt_cursor *cursor,
			u64 offset)
{
	u64 size = listing->size;
	u64 psb = kipt_sync_next(listing->bytes, size, offset);

	if (psb == offset && psb < size)
		psb = kipt_sync_next(listing->bytes, size, offset + 16);
	kipt_cursor_init(cursor, listing->bytes + offset, psb - offset);
}

static u64 segment_end(const struct listing *listing,
		       const struct kipt_cursor *cursor)
{
	return cursor->end - listing->bytes;
}

/* To the next PSB after an error. */
static void resync(struct listing *listing, struct kipt_cursor *cursor,
		   enum kipt_status status)
{
	u64 next = segment_end(listing, cursor);

	listing->counts.errors++;
	passed_tell(listing, offset_of(listing, cursor), next,
		    kipt_status_name(status));
	cursor_seek(listing, cursor, next);
}

static void packets_list(struct listing *listing, struct kipt_cursor *cursor)
{
	struct kipt_packet packet;
	enum kipt_status status;
	u64 offset;

	while (!progress_interrupted()) {
		offset = offset_of(listing, cursor);
		progress_show("reading", listing->passed + offset, listing->all);
		status = kipt_packet_next(cursor, &packet);
		if (status == KIPT_END && offset == listing->size)
			break;
		if (status == KIPT_END)
			cursor_seek(listing, cursor, offset);
		else if (status == KIPT_OK)
			packet_take(listing, offset, &packet);
		else
			resync(listing, cursor, status);
	}
}

/* Returns false if there is no PSB. */
static bool start_find(struct listing *listing, struct kipt_cursor *cursor,
		       u64 from)
{
	u64 start = kipt_sync_next(listing->bytes, listing->size, from);

	if (start > from)
		passed_tell(listing, from, start, "no PSB yet");
	if (start == listing->size)
		return false;
	cursor_seek(listing, cursor, start);
	return true;
}

void packet_list_bytes(const struct packet_part *part, bool json,
		       struct packet_counts *counts)
{
	struct listing listing = {
		.bytes = part->bytes,
		.size = part->end,
		.before = part->before,
		.passed = part->passed,
		.all = part->all,
		.json = json,
		.counts = *counts,
	};
	struct kipt_cursor cursor;

	if (start_find(&listing, &cursor, part->start))
		packets_list(&listing, &cursor);
	*counts = listing.counts;
}

bool packet_counts_show(const struct packet_counts *counts)
{
	fprintf(stderr, "%llu packets, %llu errors, %llu bytes passed over\n",
		(unsigned long long)counts->packets,
		(unsigned long long)counts->errors,
		(unsigned long long)counts->passed);
	if (!progress_interrupted())
		return true;
	say_error("cancelled: these are the packets up to there (ECANCELED)");
	return false;
}

bool packet_list(const char *path, bool json, bool sync)
{
	struct listing listing = { .path = path, .json = json };
	struct kipt_cursor cursor;
	struct file_map trace;
	bool ok;

	if (!trace_file_open(&trace, path))
		return false;
	listing.bytes = trace.bytes;
	listing.size = listing.all = trace.size;
	progress_catch();
	cursor_seek(&listing, &cursor, 0);
	ok = !sync || trace_file_check(&trace, path);
	if (ok) {
		if (sync)
			start_find(&listing, &cursor, 0);
		packets_list(&listing, &cursor);
		output_flush(stdout);
		ok = packet_counts_show(&listing.counts);
	}
	file_map_close(&trace);
	return ok;
}
