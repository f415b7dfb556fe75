// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt info: what the CPUs and the module can do. Without the module it says
 * what CPUID alone says, and fails. Where kipt cannot trace it says what works
 * nevertheless.
 */
#include <stdio.h>

#include "../cli/args.h"
#include "../kernel/cpuid.h"
#include "../kernel/genl.h"
#include "../kernel/info_show.h"

enum { OPTION_JSON = 1 };

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL, "one line of JSON" },
	{ 0 }
};

static void offline_show(void)
{
	fputs("Works without PT, module and rights:\n"
	      "  kipt open perf.data            what perf recorded, on one screen\n"
	      "  kipt decode cpu0.pt --dir DIR  a raw trace in a folder of 'kipt record --save DIR'\n"
	      "  kipt show FILE                 records that 'kipt decode -o FILE' wrote\n"
	      "  kipt crash DUMP                the dump of a machine that was armed when it died\n",
	      stdout);
}

static void perf_show(void)
{
	fputs("What perf records here, 'kipt open perf.data' opens:\n"
	      "  perf record -e intel_pt//u -- COMMAND          user code, unless perf_event_paranoid is above 2\n"
	      "  perf record -e intel_pt// --kcore -- COMMAND   the kernel's, too, as root\n",
	      stdout);
}

/* @loaded: the module said what is in @info. */
static void rest_show(const struct kipt_info *info, bool loaded)
{
	bool may = loaded && info->has_use;

	if (may && info->online[0])
		return;
	if (loaded && !info->has_use)
		fputs("Tracing needs CAP_PERFMON or CAP_SYS_ADMIN, which this process lacks\n",
		      stdout);
	offline_show();
	if (!may && hardware_has_pt())
		perf_show();
}

static void show(const struct kipt_info *info, bool loaded, bool json)
{
	if (json)
		info_show_json(info, loaded, stdout);
	else
		info_show(info, loaded, stdout);
}

/* Nothing but CPUID can be asked. */
static int absent(bool json)
{
	struct kipt_info info = { 0 };

	if (hardware_has_pt()) {
		hardware_caps(&info.kind[0]);
		info.kind_count = 1;
		info.caps = info.kind[0];
		show(&info, false, json);
	}
	if (!json)
		rest_show(&info, false);
	/* Says why there is no more. */
	genl_close(genl_open(false));
	return KIPT_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_info, .argc = argc, .argv = argv };
	struct kipt_info info;
	bool json = false;
	struct genl *genl;
	int id, err;

	while ((id = args_option(&args)) > 0)
		json = true;
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 0, 0))
		return KIPT_EXIT_USAGE;
	genl = genl_open(true);
	if (!genl)
		return absent(json);
	err = genl_info(genl, &info);
	genl_close(genl);
	if (err)
		return KIPT_EXIT_FAILED;
	show(&info, true, json);
	if (!json)
		rest_show(&info, true);
	return genl_version_fits(&info) ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

const struct kipt_verb verb_info = {
	.name = "info",
	.operands = "",
	.summary = "show capabilities, versions and limits",
	.about = "Shows what the CPUs can trace, which fields of IA32_RTIT_CTL a session may\n"
		 "set, the limits of the module and the CPUs that are traced now. Needs no\n"
		 "privilege. Where kipt cannot trace, for want of PT, the module or rights, it says\n"
		 "what works nevertheless, and what perf can record here for 'kipt open'.",
	.examples = "  kipt info\n"
		    "  kipt info --json",
	.options = options,
	.run = run,
};
