// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt packets: the packets of a raw trace, one a line. No code is needed.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "../../kmod/decode/last_ip.h"
#include "../../kmod/decode/sync.h"
#include "args.h"
#include "file_map.h"
#include "jsonl.h"
#include "packet_fields.h"
#include "progress.h"
#include "say.h"

enum { OPTION_JSON = 1, OPTION_NO_SYNC };

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL, "JSON Lines for scripts, see kipt(1)" },
	{ "no-sync", 0, OPTION_NO_SYNC, NULL,
	  "begin at the first byte, not at the first PSB" },
	{ 0 }
};

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

static void cursor_seek(struct listing *listing, struct kipt_cursor *cursor,
			u64 offset)
{
	kipt_cursor_init(cursor, listing->trace.bytes + offset,
			 listing->trace.size - offset);
}

/* To the next PSB after an error. */
static void resync(struct listing *listing, struct kipt_cursor *cursor,
		   enum kipt_status status)
{
	u64 offset = offset_of(listing, cursor);
	u64 next = kipt_sync_next(listing->trace.bytes, listing->trace.size,
				  offset + 1);

	listing->errors++;
	passed_tell(listing, offset, next, kipt_status_name(status));
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
		if (status == KIPT_END)
			break;
		if (status == KIPT_OK)
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

static int packets(struct listing *listing, bool sync)
{
	struct kipt_cursor cursor;
	int exit = KIPT_EXIT_DONE;

	if (!file_map_open(&listing->trace, listing->path))
		return KIPT_EXIT_FAILED;
	progress_catch();
	cursor_seek(listing, &cursor, 0);
	if (sync && !start_find(listing, &cursor)) {
		exit = KIPT_EXIT_FAILED;
	} else {
		packets_list(listing, &cursor);
		fflush(stdout);
		fprintf(stderr, "%llu packets, %llu errors, %llu bytes passed over\n",
			(unsigned long long)listing->packets,
			(unsigned long long)listing->errors,
			(unsigned long long)listing->passed);
	}
	file_map_close(&listing->trace);
	return exit;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_packets, .argc = argc,
			     .argv = argv };
	struct listing listing = { 0 };
	bool sync = true;
	int id;

	while ((id = args_option(&args)) > 0) {
		if (id == OPTION_JSON)
			listing.json = true;
		else
			sync = false;
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 1, 1))
		return KIPT_EXIT_USAGE;
	listing.path = argv[0];
	return packets(&listing, sync);
}

const struct kipt_verb verb_packets = {
	.name = "packets",
	.operands = "FILE.pt",
	.summary = "list the packets of a raw trace",
	.about = "Lists the packets of raw Intel PT bytes, one a line: offset, name as in the\n"
		 "manual, payload, IPs after decompression. After bytes that are no packet it\n"
		 "goes on at the next PSB and says how many bytes were passed over. Needs no\n"
		 "module, no PT and no privilege.",
	.examples = "  kipt packets saved/cpu1.pt | head -50\n"
		    "  kipt packets saved/cpu1.pt --json | grep '\"PTW\"'",
	.options = options,
	.run = run,
};
