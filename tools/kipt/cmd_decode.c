// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt decode: a raw trace, decoded here, with code from files.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "meta.h"
#include "offline.h"
#include "saved_dir.h"

enum {
	OPTION_IMAGE = 1,
	OPTION_PAGES,
	OPTION_DIR,
	OPTION_META,
	OPTION_STRICT,
};

static const struct kipt_option options[] = {
	{ "image", 'i', OPTION_IMAGE, "FILE[@ADDR]",
	  "code: the bytes of FILE stand at ADDR, or if it is\n"
	  "ELF its lowest segment does; may be repeated, what\n"
	  "comes later counts" },
	{ "pages", 'p', OPTION_PAGES, "NAME",
	  "code: pages of NAME.dump at the addresses in\n"
	  "NAME.addr; may be repeated" },
	{ "dir", 'd', OPTION_DIR, "DIR",
	  "all that 'kipt record --save DIR' put there" },
	{ "meta", 0, OPTION_META, "FILE",
	  "the meta.json of the trace, for time" },
	{ "strict", 0, OPTION_STRICT, NULL,
	  "exit with 1 if there is any gap" },
	VIEW_OPTIONS,
	{ 0 }
};

struct decode {
	struct view_options view;
	struct image *image;
	struct maps maps;
	struct kipt_flow_config config;
	struct saved_dir saved;
	bool strict;
};

/* True, or false after a sentence. */
static bool option_take(struct decode *d, int id, const char *value)
{
	switch (id) {
	case OPTION_IMAGE:
		return image_add_file(d->image, value, &d->maps);
	case OPTION_PAGES:
		return image_add_pages(d->image, value);
	case OPTION_DIR:
		return saved_dir_add(&d->saved, value, d->image, &d->config);
	case OPTION_META:
		return meta_read(value, &d->config, &d->saved.tsc_khz);
	}
	d->strict |= id == OPTION_STRICT;
	return true;
}

/* "cpu3.pt" is of CPU 3. */
static u32 cpu_of(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int cpu;
	int end = 0;

	name = name ? name + 1 : path;
	if (sscanf(name, "cpu%u.pt%n", &cpu, &end) == 1 && end && !name[end])
		return cpu;
	return 0;
}

static bool decode(struct decode *d, const char *path)
{
	struct file_map trace = { 0 };
	struct output output;
	bool ok;

	/* "" is none: the trace may be of another machine, or of the past. */
	if (!d->view.kallsyms)
		d->view.kallsyms = d->saved.kallsyms;
	if (!d->view.maps && d->saved.maps[0])
		d->view.maps = d->saved.maps;
	if (!file_map_open(&trace, path))
		return false;
	ok = output_open(&output, &d->view, false);
	if (ok) {
		maps_move(&output.maps, &d->maps);
		output.view.tsc_khz = d->saved.tsc_khz;
		ok = offline_decode(&trace, path, &d->config, d->image,
				    cpu_of(path), &output);
		if (d->strict && tally_gaps(&output.view.tally))
			ok = false;
		ok = output_close(&output) && ok;
	}
	file_map_close(&trace);
	return ok;
}

static int options_take(struct decode *d, struct args *args)
{
	int id, taken;

	while ((id = args_option(args)) > 0) {
		taken = view_option(&d->view, id, args->value);
		if (taken < 0)
			return KIPT_EXIT_USAGE;
		if (!taken && !option_take(d, id, args->value))
			return KIPT_EXIT_FAILED;
	}
	if (id < 0)
		return id == ARGS_HELP ? -1 : KIPT_EXIT_USAGE;
	return args_operands(args, 1, 1) ? KIPT_EXIT_DONE : KIPT_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_decode, .argc = argc,
			     .argv = argv };
	struct decode d = { .image = image_create() };
	int exit;

	if (!d.image)
		return KIPT_EXIT_FAILED;
	exit = options_take(&d, &args);
	if (exit == KIPT_EXIT_DONE && !decode(&d, argv[0]))
		exit = KIPT_EXIT_FAILED;
	image_destroy(d.image);
	maps_free(&d.maps);
	return exit < 0 ? KIPT_EXIT_DONE : exit;
}

const struct kipt_verb verb_decode = {
	.name = "decode",
	.operands = "FILE.pt",
	.summary = "decode a raw trace, with code from files",
	.about = "Decodes raw Intel PT bytes, such as 'kipt fetch --raw' or '--save' write, in\n"
		 "user space, by the code that the module has too. Code comes from --image,\n"
		 "--pages and --dir. Needs no module, no PT and no privilege. Where the trace\n"
		 "makes no sense or code is missing a gap is shown, with its offset, and decoding\n"
		 "goes on at the next PSB. Fails if the file holds no PSB at all.",
	.examples = "  kipt decode saved/cpu1.pt --dir saved\n"
		    "  kipt decode hello.pt --pages hello --insns --hash\n"
		    "  kipt decode user.pt --image /bin/true@0x555555554000 --branches",
	.options = options,
	.run = run,
};
