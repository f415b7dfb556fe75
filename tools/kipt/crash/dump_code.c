// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads code for the decoder, see dump_code.h. What is not known is not there:
 * the decoder makes a gap of it.
 */
#include "../../../kmod/shared/patch_log.h"
#include "dump_code.h"

#define PAGE	4096U

static u32 bytes_read(const struct crash_code *code, u64 space, u64 ip,
		      u8 *bytes, u32 size)
{
	u32 done = 0;

	if (code->memory)
		done = crash_memory_read(code->memory, space, ip, bytes,
					 size);
	if (!done && code->live && ip >> 63)
		done = kcore_read(code->live, ip, bytes, size);
	if (!done && code->program && !(ip >> 63) &&
	    crash_program_has(code->program, space))
		done = crash_program_code(code->program, ip, bytes, size);
	if (done < size && code->image)
		done += image_read(code->image, ip + done, bytes + done,
				   size - done);
	return done;
}

/* [@ip, @ip + @size) lies in one page. */
static u32 text_read(const struct crash_code *code, u64 ip, u8 *bytes,
		     u32 size)
{
	u32 got;

	size = kipt_text_view_sure(&code->text, ip, size);
	got = size ? bytes_read(code, 0, ip, bytes, size) : 0;
	if (!got || !kipt_patch_log_undo(code->text.log, code->text.at, ip,
					 bytes, got))
		return 0;
	return got;
}

static u32 code_read(void *ctx, u64 space, u64 ip, u8 *bytes, u32 size)
{
	const struct crash_code *code = ctx;
	u32 done = 0, part, got;

	if (!code->patched || !(ip >> 63))
		return bytes_read(code, space, ip, bytes, size);
	while (done < size) {
		part = PAGE - (ip + done) % PAGE;
		if (part > size - done)
			part = size - done;
		got = text_read(code, ip + done, bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

static bool code_changed(void *ctx, u64 space, u64 ip, u32 size)
{
	const struct crash_code *code = ctx;

	(void)space;
	return code->patched && ip >> 63 &&
	       kipt_text_view_sure(&code->text, ip, size) < size;
}

/* What runs in a guest has no page table here. */
static u64 space_name(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return nr ? 0 : cr3 & ~0xfffULL;
}

void crash_code_callbacks(struct crash_code *code, struct kipt_code *callbacks)
{
	*callbacks = (struct kipt_code){
		.read = code_read,
		.space = space_name,
		.changed = code_changed,
		.ctx = code,
	};
}

void crash_code_patches(struct crash_code *code, const struct crash_logs *logs,
			u64 since, u32 tsc_khz)
{
	u64 slack = (u64)tsc_khz * KIPT_TEXT_SLACK_MS;
	u64 first = logs->first_patch, end = logs->end_patch;

	if (!logs->patches || first == end)
		return;
	code->patched = since <= slack ||
			kipt_patch_log_at(logs->patches, first, end,
					  since - slack) != end ||
			kipt_patch_log_lost(logs->patches, first) ==
				end - first;
	kipt_text_view_init(&code->text, logs->patches, first, end, slack);
}
