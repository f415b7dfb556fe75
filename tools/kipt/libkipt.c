// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program decodes with, see libkipt.h: the folders of the tool that decode,
 * with one thread, whose sentences are kept and whose records come one by one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "libkipt.h"
#include "offline/decode_files.h"
#include "offline/perf_decode.h"
#include "perf/perf_file.h"
#include "records/record_state.h"
#include "records/record_words.h"

/**
 * struct libkipt - a trace
 * @image: code
 * @image_maps: its mappings
 * @saved: what libkipt_dir() found
 * @config: how a raw trace is to be read
 * @has_dir: @saved and @config are filled
 * @maps, @symfs, @vmlinux: the caller's, or NULL
 * @decoded: libkipt_decode() was called
 * @stopped: @take wanted no more
 * @take: who gets the records
 * @ctx: its first argument
 * @now: CPU, task and time of the record that is given
 * @executed: instructions that belong to the next record that has some
 * @names: while it is decoded, else NULL
 * @tsc_khz: ticks in a millisecond
 * @error: what failed, or NULL
 * @notes: lines, or NULL
 */
struct libkipt {
	struct image *image;
	struct maps image_maps;
	struct saved_dir saved;
	struct kipt_flow_config config;
	bool has_dir;
	const char *maps, *symfs, *vmlinux;
	bool decoded;
	bool stopped;
	libkipt_take *take;
	void *ctx;
	struct libkipt_record now;
	u32 executed;
	struct names *names;
	u32 tsc_khz;
	char *error;
	char *notes;
};

static void hear(void *ctx, bool failed, const char *sentence)
{
	struct libkipt *trace = ctx;
	char *notes;

	if (failed && !trace->error) {
		trace->error = strdup(sentence);
	} else if (!failed && asprintf(&notes, "%s%s\n",
				       trace->notes ? trace->notes : "",
				       sentence) >= 0) {
		free(trace->notes);
		trace->notes = notes;
	}
}

static void begin(struct libkipt *trace)
{
	free(trace->error);
	trace->error = NULL;
	say_to(hear, trace);
}

static bool end(struct libkipt *trace, bool ok)
{
	if (!ok && !trace->error)
		say_errno(ENOMEM, "cannot go on");
	say_to(NULL, NULL);
	return ok;
}

struct libkipt *libkipt_create(void)
{
	struct libkipt *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	begin(trace);
	trace->image = image_create();
	end(trace, trace->image);
	if (trace->image)
		return trace;
	libkipt_destroy(trace);
	return NULL;
}

void libkipt_destroy(struct libkipt *trace)
{
	if (!trace)
		return;
	image_destroy(trace->image);
	saved_dir_free(&trace->saved);
	maps_free(&trace->image_maps);
	free(trace->error);
	free(trace->notes);
	free(trace);
}

bool libkipt_image(struct libkipt *trace, const char *file)
{
	begin(trace);
	return end(trace, image_add_file(trace->image, file,
					 &trace->image_maps));
}

bool libkipt_pages(struct libkipt *trace, const char *name)
{
	begin(trace);
	return end(trace, image_add_pages(trace->image, name));
}

bool libkipt_dir(struct libkipt *trace, const char *dir)
{
	begin(trace);
	trace->has_dir = true;
	return end(trace, saved_dir_add(&trace->saved, dir, &trace->config));
}

void libkipt_maps(struct libkipt *trace, const char *file)
{
	trace->maps = file;
}

void libkipt_symfs(struct libkipt *trace, const char *dir)
{
	trace->symfs = dir;
}

void libkipt_vmlinux(struct libkipt *trace, const char *file)
{
	trace->vmlinux = file;
}

static enum libkipt_type branch_type(u32 kind)
{
	switch (kind) {
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
		return LIBKIPT_CALL;
	case KIPT_BRANCH_EVENT:
	case KIPT_BRANCH_VMEXIT:
		return LIBKIPT_EVENT;
	}
	return LIBKIPT_BRANCH;
}

/* 0: it is not given. */
static enum libkipt_type type_of(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_BRANCH:
		return branch_type(record->kind);
	case KIPT_RECORD_ENABLE:
		return LIBKIPT_BEGIN;
	case KIPT_RECORD_SYNC:
		return record->kind == KIPT_SYNC_START &&
		       !(record->flags & KIPT_RF_NO_IP) ? LIBKIPT_BEGIN : 0;
	case KIPT_RECORD_DISABLE:
		return LIBKIPT_END;
	case KIPT_RECORD_GAP:
		return LIBKIPT_GAP;
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_TASK:
		return LIBKIPT_SWITCH;
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CODE:
	case KIPT_RECORD_SPACE:
		return 0;
	}
	return LIBKIPT_OTHER;
}

/* Where the trace is from this record on. */
static void now_set(struct libkipt *trace, const struct kipt_record *record)
{
	struct libkipt_record *now = &trace->now;

	switch (record->type) {
	case KIPT_RECORD_CPU:
		now->cpu = record->aux;
		now->pid = now->tid = 0;
		now->tsc = 0;
		break;
	case KIPT_RECORD_TASK:
		now->tid = record->aux;
		now->pid = record->flags & KIPT_RF_NO_VALUE ? 0 : record->value;
		break;
	case KIPT_RECORD_TIME:
		now->tsc = record->value;
		break;
	}
}

/* A PSB that was reached counts them, and is not given: the next branch has them. */
static u32 instructions(struct libkipt *trace, const struct kipt_record *record)
{
	bool sync = record->type == KIPT_RECORD_SYNC;
	bool given = kipt_record_counts_insns(record) && !sync;
	u32 count = trace->executed;

	if (kipt_record_counts_insns(record))
		count = insns_add(count, record->aux);
	/* A SYNC of kind START comes right after that of the PSB that was reached. */
	else if ((record_drops_insns(record) && !sync) || record->type == KIPT_RECORD_CPU)
		count = 0;
	trace->executed = given ? 0 : count;
	return given ? count : 0;
}

static bool record_give(struct libkipt *trace, const struct kipt_record *record)
{
	struct libkipt_record *now = &trace->now;

	now_set(trace, record);
	now->instructions = instructions(trace, record);
	now->type = type_of(record);
	if (!now->type)
		return true;
	now->kind = now->type < LIBKIPT_SWITCH ?
		    words_kind(record->type, record->kind) : NULL;
	if (!now->kind)
		now->kind = words_type(record->type);
	now->has_from = !(record->flags & KIPT_RF_NO_IP);
	now->has_to = !(record->flags & KIPT_RF_NO_VALUE) &&
		      (record->type == KIPT_RECORD_BRANCH ||
		       record->type == KIPT_RECORD_DISABLE);
	now->from = now->has_from ? record->ip : 0;
	now->to = now->has_to ? record->value : 0;
	now->value = now->type >= LIBKIPT_GAP ? record->value : 0;
	now->aux = now->type >= LIBKIPT_GAP ? record->aux : 0;
	trace->stopped = !trace->take(trace->ctx, trace, now);
	return !trace->stopped;
}

static bool records_give(void *ctx, const struct output *output,
			 const struct kipt_record *records, u32 count)
{
	struct libkipt *trace = ctx;
	bool more = !trace->stopped;
	u32 i;

	trace->names = output->names;
	trace->tsc_khz = output->view.tsc_khz;
	for (i = 0; i < count && more; i++)
		more = record_give(trace, &records[i]);
	/* The callback may have used another handle. */
	say_to(hear, trace);
	return more;
}

static bool recording_decode(struct libkipt *trace, const char *path,
			     struct view_options *options)
{
	const struct perf_decode decode = {
		.path = path,
		.image = trace->image,
		.image_maps = &trace->image_maps,
		.jobs = 1,
		.symfs = trace->symfs,
		.vmlinux = trace->vmlinux,
	};

	if (!trace->has_dir)
		return perf_decode(&decode, options);
	say_error("%s: perf.data says itself how it was traced; libkipt_dir() is for raw traces",
		  path);
	return false;
}

static bool raw_decode(struct libkipt *trace, const char *path,
		       struct view_options *options)
{
	const struct offline offline = {
		.path = path,
		.config = trace->config,
		.image = trace->image,
		.image_maps = &trace->image_maps,
		.saved = &trace->saved,
		.jobs = 1,
	};

	return offline_decode(&offline, options);
}

bool libkipt_decode(struct libkipt *trace, const char *path,
		    libkipt_take *take, void *ctx)
{
	struct view_options options = {
		.mode = VIEW_BRANCHES,
		.mode_given = true,
		.time = true,
		.maps = trace->maps,
		.give = records_give,
		.give_ctx = trace,
	};
	bool ok;

	begin(trace);
	if (trace->decoded) {
		say_error("cannot decode %s: this handle decoded a trace already; each needs a handle of its own",
			  path);
		return end(trace, false);
	}
	trace->decoded = true;
	trace->take = take;
	trace->ctx = ctx;
	ok = perf_file_is(path) ? recording_decode(trace, path, &options) :
				  raw_decode(trace, path, &options);
	trace->names = NULL;
	return end(trace, ok || (trace->stopped && !trace->error));
}

void libkipt_name(struct libkipt *trace, uint32_t pid, uint64_t address,
		  struct libkipt_place *place)
{
	struct place found = { 0 };

	if (trace->names) {
		say_to(hear, trace);
		names_find(trace->names, pid, address, &found);
	}
	*place = (struct libkipt_place){
		.symbol = found.symbol,
		.offset = found.offset,
		.object = found.object ? found.object : "unknown",
	};
}

uint32_t libkipt_tsc_khz(const struct libkipt *trace)
{
	return trace->tsc_khz;
}

const char *libkipt_error(const struct libkipt *trace)
{
	return trace->error ? trace->error : "";
}

const char *libkipt_notes(const struct libkipt *trace)
{
	return trace->notes ? trace->notes : "";
}
