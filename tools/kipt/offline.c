// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder core over files, see offline.h. Gives it memory and code and
 * takes its records; knows nothing of packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "offline.h"
#include "progress.h"
#include "say.h"

struct sink {
	struct output *output;
	u64 size;
	bool failed;
};

static u32 code_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	(void)space;
	return image_read(ctx, ip, buf, len);
}

static bool records_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct sink *sink = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (records[i].type == KIPT_RECORD_SYNC)
			progress_show("decoding", records[i].value,
				      sink->size);
	}
	if (!output_take(sink->output, records, n))
		sink->failed = true;
	return !sink->failed && !progress_interrupted();
}

static void cpu_tell(struct output *output, u32 cpu)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CPU,
		.flags = KIPT_RF_NO_IP,
		.aux = cpu,
	};

	output_take(output, &record, 1);
}

static bool verdict(enum kipt_status status, const struct sink *sink,
		    const char *path)
{
	if (status == KIPT_OK)
		return !sink->failed;
	if (status == KIPT_NO_PSB)
		say_error("%s: no PSB in its %llu bytes: it is no Intel PT trace, or too short",
			  path, (unsigned long long)sink->size);
	else if (status == KIPT_STOPPED && !sink->failed)
		say_error("cancelled: this is the trace up to there (ECANCELED)");
	else if (status != KIPT_STOPPED)
		say_error("cannot decode %s: %s", path,
			  kipt_status_name(status));
	return false;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool flow_run(struct kipt_flow *flow, const struct file_map *trace,
		     const char *path, struct sink *sink)
{
	struct tally *tally = &sink->output->view.tally;
	double start = seconds_now();
	enum kipt_status status;

	status = kipt_flow_run(flow, trace->bytes, trace->size, 0,
			       trace->size);
	progress_clear();
	tally->seconds = seconds_now() - start;
	tally->trace_bytes = trace->size;
	return verdict(status, sink, path);
}

bool offline_decode(const struct file_map *trace, const char *path,
		    const struct kipt_flow_config *asked,
		    const struct image *image, u32 cpu, struct output *output)
{
	struct sink sink = { .output = output, .size = trace->size };
	struct kipt_flow_config config = *asked;
	struct kipt_code code = { .read = code_read, .ctx = (void *)image };
	struct kipt_sink out = { .emit = records_take, .ctx = &sink };
	struct kipt_flow *flow;
	void *arena = NULL;
	size_t size;
	bool ok;

	if (!trace->size) {
		say_error("%s is empty: there is no trace in it", path);
		return false;
	}
	config.output = view_output(output->options);
	size = kipt_flow_size(&config);
	if (posix_memalign(&arena, 64, size)) {
		say_errno(ENOMEM, "cannot decode %s", path);
		return false;
	}
	progress_catch();
	cpu_tell(output, cpu);
	flow = kipt_flow_init(arena, size, &config, &code, &out);
	ok = flow && flow_run(flow, trace, path, &sink);
	if (!flow)
		say_error("cannot decode %s: %s", path,
			  kipt_status_name(KIPT_NO_MEMORY));
	free(arena);
	return ok;
}
