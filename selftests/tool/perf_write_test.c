// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording of perf again by the tool's own writer
 * (tools/kipt/perf/perf_write.h): the same events, the trace of each CPU in one
 * piece. What is decoded of both must be the same. Exit status: 0, or 1 after a
 * sentence.
 * Usage: perf_write_test IN OUT
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/kipt/cli/messages.h"
#include "../../tools/kipt/perf/perf_running.h"

#define EVENT_KERNEL_LAST	63
#define STAMP_BYTES		32
/* Numbers of the two events, of one CPU each. */
#define TRACE_ID		1
#define SIDE_ID			2

struct again {
	struct perf_file *file;
	struct perf_aux aux;
	struct perf_writer writer;
};

static bool look(void *ctx, const struct perf_event *event)
{
	struct again *again = ctx;

	return perf_aux_take(&again->aux, again->file, event);
}

/* The same, but for the number of the event that was recorded. */
static bool copy(void *ctx, const struct perf_event *event)
{
	const u64 id = SIDE_ID;
	struct again *again = ctx;
	struct perf_stamp stamp;
	struct perf_body body = { 0 };

	if (event->type > EVENT_KERNEL_LAST || event->type == PERF_EVENT_AUX ||
	    event->size > sizeof(body.bytes) || event->size < STAMP_BYTES)
		return true;
	perf_file_stamp(again->file, event, &stamp);
	memcpy(body.bytes, event->bytes, event->size);
	memcpy(body.bytes + event->size - sizeof(id), &id, sizeof(id));
	body.size = event->size - STAMP_BYTES;
	return perf_writer_stamped(&again->writer, event->type, event->misc,
				   &body, &stamp, SIDE_ID);
}

static bool info_write(struct again *again)
{
	const struct perf_aux *aux = &again->aux;
	const struct perf_pt_info info = {
		.pmu = aux->pmu,
		.clock = aux->clock,
		.switches = aux->switches,
		.tsc_num = aux->tsc_num,
		.tsc_den = aux->tsc_den,
		.max_nonturbo = aux->max_nonturbo,
	};

	return perf_running_info(&again->writer, &info);
}

static bool traces_write(struct again *again)
{
	struct perf_trace trace = { 0 };
	bool ok = true;
	size_t i;

	for (i = 0; i < again->aux.queue_count && ok; i++) {
		struct perf_queue *queue = &again->aux.queues[i];

		ok = perf_trace_read(&trace, &again->aux, queue, again->file,
				     PERF_TRACE_WHOLE) &&
		     perf_writer_trace(&again->writer, queue->cpu, i, 0,
				       trace.size) &&
		     perf_writer_bytes(&again->writer, trace.bytes,
				       trace.size) &&
		     perf_writer_pad(&again->writer);
		perf_trace_free(&trace);
	}
	return ok;
}

static bool close_all(struct again *again)
{
	static const u64 trace_id = TRACE_ID, side_id = SIDE_ID;
	const struct perf_attr *traced = perf_aux_attr(&again->aux, again->file);
	struct perf_write_attr attrs[] = {
		{ .name = "intel_pt//", .ids = &trace_id, .id_count = 1 },
		{ .name = "dummy:u", .ids = &side_id, .id_count = 1 },
	};

	attrs[0].attr.type = again->aux.pmu;
	attrs[0].attr.config = traced ? traced->config : 0;
	attrs[0].attr.exclude_kernel = 1;
	attrs[1].attr.type = PERF_TYPE_SOFTWARE;
	attrs[1].attr.config = PERF_COUNT_SW_DUMMY;
	attrs[1].attr.context_switch = 1;
	attrs[0].attr.sample_type = attrs[1].attr.sample_type = PERF_WRITE_SAMPLE;
	attrs[0].attr.sample_id_all = attrs[1].attr.sample_id_all = 1;
	return perf_writer_close(&again->writer, attrs, 2);
}

int main(int argc, char **argv)
{
	struct again again = { 0 };
	bool ok;

	if (argc != 3)
		return 2;
	again.file = perf_file_open(argv[1]);
	ok = again.file && perf_file_events(again.file, look, &again) &&
	     perf_writer_open(&again.writer, argv[2], argv[2]) && info_write(&again) &&
	     perf_file_events(again.file, copy, &again) &&
	     traces_write(&again) && close_all(&again);
	if (!ok)
		perf_writer_drop(&again.writer);
	perf_aux_free(&again.aux);
	perf_file_close(again.file);
	return ok ? 0 : 1;
}
