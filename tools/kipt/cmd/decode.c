// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt decode: a raw trace, decoded here, with code from files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../cli/args.h"
#include "../filter/filter.h"
#include "../offline/decode_files.h"
#include "../offline/parallel_decode.h"
#include "../offline/part_cut.h"
#include "../offline/perf_decode.h"
#include "../offline/save_meta.h"
#include "../perf/perf_file.h"
#include "again.h"
#include "decode_verb.h"

enum {
	OPTION_IMAGE = 1,
	OPTION_PAGES,
	OPTION_DIR,
	OPTION_META,
	OPTION_FILTER,
	OPTION_STOP_AT,
	OPTION_STRICT,
	OPTION_MEMORY,
	OPTION_PACKED,
	OPTION_PART,
};

/* Less for each thread is more time spent dropping than decoding. */
#define MEMORY_LEAST	(1 << 20)

const struct kipt_option decode_options[] = {
	{ "image", 'i', OPTION_IMAGE, "FILE[@ADDR]",
	  "code: the bytes of FILE are at ADDR, or if it is\n"
	  "ELF its lowest segment does; may be repeated, what\n"
	  "comes later counts" },
	{ "pages", 'p', OPTION_PAGES, "NAME",
	  "code: pages of NAME.dump at the addresses in\n"
	  "NAME.addr; may be repeated" },
	{ "dir", 'd', OPTION_DIR, "DIR",
	  "all that 'kipt record --save DIR' put there" },
	{ "meta", 0, OPTION_META, "FILE",
	  "the meta.json of the trace: its clocks, DisTNT,\n"
	  "address ranges" },
	{ "filter", 'f', OPTION_FILTER, "ADDR-ADDR",
	  "only code in this range, both ends inclusive, was\n"
	  "traced; may be repeated; CPUs with erratum SKL014\n"
	  "leave out where a branch went that left it" },
	{ "stop-at", 0, OPTION_STOP_AT, "ADDR-ADDR",
	  "a branch into this range ended the trace" },
	{ "strict", 0, OPTION_STRICT, NULL,
	  "exit with 1 if there is any gap" },
	DECODE_JOBS_OPTION,
	{ "memory", 0, OPTION_MEMORY, "SIZE",
	  "for cached code and counts, of all threads\n"
	  "together; 64M unless given" },
	{ "packed", 0, OPTION_PACKED, "FILE",
	  "like --output, but the records are packed: code\n"
	  "is in it once, which is much smaller" },
	{ "part", 0, OPTION_PART, "I/N",
	  "only part I of N; what all parts show, one after the\n"
	  "other, is what the whole does" },
	DECODE_PERF_OPTIONS,
	VIEW_OPTIONS,
	VIEW_DISASM_OPTION,
	VIEW_NARROW_OPTIONS,
	{ 0 }
};

struct decode {
	struct view_options view;
	struct offline offline;
	struct image *image;
	struct maps maps;
	struct saved_dir saved;
	struct kipt_range ranges[KIPT_FILTERS_MAX];
	u32 range_count;
	const char *packed;
	struct part part;
	/* For perf.data. */
	char *symfs;
	const char *vmlinux;
	bool no_demangle;
	bool strict;
	/* Something says how the trace is to be read. */
	bool own_config;
	/* Something is for traces only, not for records. */
	bool for_traces;
};

u32 jobs_default(void)
{
	cpu_set_t cpus;
	u32 count;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	count = CPU_COUNT(&cpus);
	return count < JOBS_MAX ? count : JOBS_MAX;
}

bool jobs_option(u32 *count, const char *value)
{
	u64 jobs;

	if (!args_within("jobs", value, 1, JOBS_MAX, &jobs))
		return false;
	*count = jobs;
	return true;
}

static bool memory_option(struct decode *d, const char *value)
{
	if (args_size(value, &d->offline.config.memory) &&
	    d->offline.config.memory >= MEMORY_LEAST &&
	    d->offline.config.memory <= KIPT_FLOW_MEMORY_MAX)
		return true;
	say_error("--memory %s: allowed are 1M to 4G", value);
	return false;
}

static bool range_option_take(struct decode *d, u32 kind, const char *value)
{
	struct filter_where nowhere = { .root = "" };
	struct filter filter;

	if (d->range_count == KIPT_FILTERS_MAX) {
		say_error("--%s %s: no CPU has more than %u ranges, of both kinds together",
			  range_option(kind), value, KIPT_FILTERS_MAX);
		return false;
	}
	if (!filter_parse(&filter, value, kind))
		return false;
	if (filter.form != FILTER_ADDRESSES) {
		filter_bad(&filter, "the trace may be of another machine: give the addresses it was made with, as ADDR-ADDR ('kipt status' and meta.json have them)");
		return false;
	}
	return filter_resolve(&filter, &nowhere,
			      &d->ranges[d->range_count++]) == FILTER_DONE;
}

bool symfs_option(char **symfs, const char *value)
{
	struct stat st;

	if (stat(value, &st)) {
		say_errno(errno, "--symfs %s: cannot be read", value);
		return false;
	}
	if (!S_ISDIR(st.st_mode)) {
		say_error("--symfs %s: a folder is meant, which has the files of the other machine at their paths",
			  value);
		return false;
	}
	free(*symfs);
	*symfs = realpath(value, NULL);
	if (!*symfs)
		say_errno(errno, "--symfs %s: cannot be read", value);
	return *symfs;
}

/* True, or false after a sentence. */
static bool option_take(struct decode *d, int id, const char *value)
{
	d->for_traces = true;
	d->own_config |= id == OPTION_DIR || id == OPTION_META ||
			 id == OPTION_FILTER || id == OPTION_STOP_AT;
	switch (id) {
	case OPTION_IMAGE:
		return image_add_file(d->image, value, &d->maps);
	case OPTION_PAGES:
		return image_add_pages(d->image, value);
	case OPTION_DIR:
		return saved_dir_add(&d->saved, value, &d->offline.config);
	case OPTION_META:
		return meta_read(value, false, &d->offline.config,
				 &d->saved.tsc_khz);
	case OPTION_FILTER:
		return range_option_take(d, KIPT_FILTER_KIND_TRACE, value);
	case OPTION_STOP_AT:
		return range_option_take(d, KIPT_FILTER_KIND_STOP, value);
	case DECODE_OPTION_JOBS:
		return jobs_option(&d->offline.jobs, value);
	case OPTION_MEMORY:
		return memory_option(d, value);
	case OPTION_PACKED:
		d->packed = value;
		return true;
	case OPTION_PART:
		return part_parse(&d->part, value);
	case DECODE_OPTION_SYMFS:
		return symfs_option(&d->symfs, value);
	case DECODE_OPTION_VMLINUX:
		d->vmlinux = value;
		return true;
	case DECODE_OPTION_NO_DEMANGLE:
		d->no_demangle = true;
		return true;
	}
	d->strict |= id == OPTION_STRICT;
	return true;
}

/* A file that cannot be read is no wrong usage. */
static int failure_of(int id)
{
	switch (id) {
	case OPTION_IMAGE:
	case OPTION_PAGES:
	case OPTION_DIR:
	case OPTION_META:
	case DECODE_OPTION_SYMFS:
		return KIPT_EXIT_FAILED;
	}
	return KIPT_EXIT_USAGE;
}

/* What is to be written, when all options are known. */
static int packed_settle(struct decode *d, const struct args *args)
{
	if (!d->packed)
		return KIPT_EXIT_DONE;
	if (narrow_any(&d->view.narrow) || d->view.syms)
		return args_bad(args, "--packed: only whole traces are packed; --output takes what --cpu, --pid, --tid, --comm, --sym and --time leave");
	if (d->view.output)
		return args_bad(args, "--packed and --output both say where the records go: give one of them");
	if (d->view.mode == VIEW_INSNS)
		return args_bad(args, "--packed: instructions cannot be packed, --output writes them");
	d->view.output = d->packed;
	d->view.packed = true;
	return KIPT_EXIT_DONE;
}

static bool decode(struct decode *d, const char *path)
{
	if (d->symfs || d->vmlinux) {
		say_error("--%s %s: %s is no perf.data; --image and --pages place the code of raw traces",
			  d->symfs ? "symfs" : "vmlinux",
			  d->symfs ? d->symfs : d->vmlinux, path);
		return false;
	}
	d->offline.path = path;
	d->offline.image = d->image;
	d->offline.image_maps = &d->maps;
	d->offline.saved = &d->saved;
	d->offline.strict = d->strict;
	d->offline.part = d->part;
	d->offline.demangle = !d->no_demangle && !d->view.json;
	/* What is asked for counts more than meta.json. */
	if (d->range_count)
		ranges_to_flow(&d->offline.config, d->ranges, d->range_count);
	return offline_decode(&d->offline, &d->view);
}

/* A recording of perf says itself how it is to be read. */
static bool recording_decode(struct decode *d, const char *path)
{
	const struct perf_decode decode = {
		.path = path,
		.image = d->image,
		.image_maps = &d->maps,
		.memory = d->offline.config.memory,
		.jobs = d->offline.jobs,
		.part = d->part,
		.strict = d->strict,
		.symfs = d->symfs,
		.vmlinux = d->vmlinux,
		.demangle = !d->no_demangle && !d->view.json,
	};

	if (d->own_config) {
		say_error("%s: perf.data says itself how it was traced; --dir, --meta, --filter and --stop-at are for raw traces",
			  path);
		return false;
	}
	if (d->view.maps) {
		say_error("%s: perf.data says itself what processes map; --maps %s is for raw traces and records",
			  path, d->view.maps);
		return false;
	}
	return perf_decode(&decode, &d->view);
}

static int options_take(struct decode *d, struct args *args)
{
	int id, taken;

	while ((id = args_option(args)) > 0) {
		taken = view_option(&d->view, id, args->value);
		if (taken < 0)
			return KIPT_EXIT_USAGE;
		if (!taken && !option_take(d, id, args->value))
			return failure_of(id);
	}
	if (id < 0)
		return id == ARGS_HELP ? -1 : KIPT_EXIT_USAGE;
	if (!args_operands(args, 1, 1))
		return KIPT_EXIT_USAGE;
	return packed_settle(d, args);
}

/* Whatever kipt can show of it. */
static int file_show(struct decode *d, const char *path)
{
	bool ok;

	if (perf_file_is(path))
		ok = recording_decode(d, path);
	else
		ok = decode(d, path);
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

/* Records are what decoding made of a trace. */
static int records_show(struct decode *d, const char *path)
{
	if (!d->for_traces)
		return show_file(path, &d->view);
	say_error("%s holds records; --image, --pages, --dir, --meta, --filter, --stop-at, --strict, --jobs, --memory, --part, --symfs, --vmlinux, --no-demangle and --packed are for traces",
		  path);
	return KIPT_EXIT_USAGE;
}

int decode_verb_run(const struct kipt_verb *verb, int argc, char **argv,
		    void (*settle)(struct view_options *view,
				   const char *path))
{
	struct args args = {
		.verb = verb,
		.argc = argc,
		.argv = argv,
		.is_value = time_range_like,
	};
	struct decode d = {
		.view.inlined = true,
		.image = image_create(),
		.offline.jobs = jobs_default(),
	};
	bool of_records;
	int exit;

	if (!d.image)
		return KIPT_EXIT_FAILED;
	again_keep(verb->options, argc, argv);
	exit = options_take(&d, &args);
	again_settle(&d.view, verb, exit == KIPT_EXIT_DONE ? args.argv[0] : NULL);
	if (exit == KIPT_EXIT_DONE && settle)
		settle(&d.view, args.argv[0]);
	of_records = exit == KIPT_EXIT_DONE && settle &&
		     record_file_begins(args.argv[0]);
	d.view.has_code = !of_records;
	if (exit == KIPT_EXIT_DONE && !view_settle(&d.view))
		exit = KIPT_EXIT_USAGE;
	d.view.part = d.part.number;
	if (exit == KIPT_EXIT_DONE && d.view.part && !of_records && !part_settle(&d.view))
		exit = KIPT_EXIT_USAGE;
	if (exit == KIPT_EXIT_DONE && of_records)
		exit = records_show(&d, args.argv[0]);
	else if (exit == KIPT_EXIT_DONE)
		exit = file_show(&d, args.argv[0]);
	narrow_free(&d.view.narrow);
	free(d.symfs);
	image_destroy(d.image);
	saved_dir_free(&d.saved);
	maps_free(&d.maps);
	return exit < 0 ? KIPT_EXIT_DONE : exit;
}

static int run(int argc, char **argv)
{
	return decode_verb_run(&verb_decode, argc, argv, NULL);
}

const struct kipt_verb verb_decode = {
	.name = "decode",
	.operands = "FILE",
	.summary = "decode a raw trace or a perf.data, with code from files",
	.about = "Decodes raw Intel PT bytes, such as 'kipt fetch --raw' or '--save' write, in\n"
		 "user space, by the code that the module has too. Code comes from --image,\n"
		 "--pages and --dir. Needs no module, no PT and no privilege. Where the trace\n"
		 "makes no sense or code is missing a gap is shown, with its offset, and decoding\n"
		 "goes on at the next address or PSB. Fails if the file holds no PSB at all.\n"
		 "\n"
		 "FILE may also be a perf.data that 'perf record -e intel_pt//' made, or its folder\n"
		 "with a copy of the kernel: its events say which code ran where and when. Files of\n"
		 "code are taken by build id, from where they were, in --symfs if that is given, or\n"
		 "from ~/.debug, which PERF_BUILDID_DIR names otherwise; what is missing is listed\n"
		 "at the end.\n"
		 "\n"
		 "What is shown is the same for any number of threads. When the memory for what\n"
		 "is cached is full, all of it is dropped and made anew. Ctrl-C ends early and\n"
		 "shows what was decoded until then.",
	.examples = "  kipt decode saved/cpu1.pt --dir saved\n"
		    "  kipt decode hello.pt --pages hello --insns --hash\n"
		    "  kipt decode user.pt --image /bin/true@0x555555554000 --branches\n"
		    "  kipt decode saved/cpu1.pt --dir saved --counts --top 20\n"
		    "  kipt decode saved/cpu1.pt --dir saved --totals --top 20\n"
		    "  kipt decode user.pt --image prog --filter 0x401000-0x401fff\n"
		    "  kipt decode perf.data --branches",
	.options = decode_options,
	.run = run,
};
