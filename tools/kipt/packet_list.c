// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists packets, see packet_list.h. What their payloads are called is for
 * packet_fields.c.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "../../kmod/decode/last_ip.h"
#include "../../kmod/decode/sync.h"
#include "file_map.h"
#include "jsonl.h"
#include "packet_fields.h"
#include "packet_list.h"
#include "progress.h"
#include "say.h"

struct listing {
	const char *path;
	struct file_map trace;
	u64 last_ip;
	bool json;
	u64 packets;
	u64 errors;
	u64 passed;
};

static u64 offset_of(const struct listing *listing,
		     const struct kipt_cursor *cursor)
{
	return cursor->pos - listing->trace.bytes;
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
		printf("%10llx  %-*s", (unsigned long long)offset,
		       fields->count ? 9 : 0, kipt_packet_name(packet->type));
		for (i = 0; i < fields->count; i++)
			field_text(&fields->list[i]);
		putchar('\n');
		return;
	}
	line = json_object_new_object();
	jsonl_number(line, "offset", offset);
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
	listing->packets++;
}

/* Bytes that are no packets: where, why, and how many were passed over. */
static void passed_tell(struct listing *listing, u64 offset, u64 next,
			const char *why)
{
	struct json_object *line;

	listing->passed += next - offset;
	if (!listing->json) {
		printf("%10llx  -- %s, %llu bytes passed over\n",
		       (unsigned long long)offset, why,
		       (unsigned long long)(next - offset));
		return;
	}
	line = json_object_new_object();
	jsonl_number(line, "offset", offset);
	jsonl_text(line, "error", why);
	jsonl_number(line, "passed", next - offset);
	jsonl_print(line, stdout);
}

/* Up to the PSB behind: no packet reaches into it, whatever its header says. */
static void cursor_seek(struct listing *listing, struct kipt_cursor *cursor,
			u64 offset)
{
	u64 size = listing->trace.size;
	u64 psb = kipt_sync_next(listing->trace.bytes, size, offset);

	if (psb == offset && psb < size)
		psb = kipt_sync_next(listing->trace.bytes, size, offset + 16);
	kipt_cursor_init(cursor, listing->trace.bytes + offset, psb - offset);
}

static u64 segment_end(const struct listing *listing,
		       const struct kipt_cursor *cursor)
{
	return cursor->end - listing->trace.bytes;
}

/* To the next PSB after an error. */
static void resync(struct listing *listing, struct kipt_cursor *cursor,
		   enum kipt_status status)
{
	u64 next = segment_end(listing, cursor);

	listing->errors++;
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
		status = kipt_packet_next(cursor, &packet);
		if (status == KIPT_END && offset == listing->trace.size)
			break;
		if (status == KIPT_END)
			cursor_seek(listing, cursor, offset);
		else if (status == KIPT_OK)
			packet_take(listing, offset, &packet);
		else
			resync(listing, cursor, status);
	}
}

static bool start_find(struct listing *listing, struct kipt_cursor *cursor)
{
	u64 start = kipt_sync_next(listing->trace.bytes, listing->trace.size,
				   0);

	if (start == listing->trace.size) {
		say_error("%s: no PSB in its %llu bytes: it is no Intel PT trace, or too short",
			  listing->path,
			  (unsigned long long)listing->trace.size);
		return false;
	}
	if (start)
		passed_tell(listing, 0, start, "no PSB yet");
	cursor_seek(listing, cursor, start);
	return true;
}

bool packet_list(const char *path, bool json, bool sync)
{
	struct listing listing = { .path = path, .json = json };
	struct kipt_cursor cursor;
	bool ok;

	if (!file_map_open(&listing.trace, path))
		return false;
	progress_catch();
	cursor_seek(&listing, &cursor, 0);
	ok = !sync || start_find(&listing, &cursor);
	if (ok) {
		packets_list(&listing, &cursor);
		fflush(stdout);
		fprintf(stderr, "%llu packets, %llu errors, %llu bytes passed over\n",
			(unsigned long long)listing.packets,
			(unsigned long long)listing.errors,
			(unsigned long long)listing.passed);
	}
	file_map_close(&listing.trace);
	return ok;
}
