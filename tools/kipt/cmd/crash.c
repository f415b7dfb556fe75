// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt crash: what every CPU did last, out of the dump of a machine that died.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/args.h"
#include "../cli/output_file.h"
#include "../cli/progress.h"
#include "../crash/crash_decode.h"
#include "../crash/crash_save.h"
#include "../crash/crash_show.h"
#include "../crash/dump_machine.h"
#include "../crash/fatal_program.h"
#include "../crash/snapshot_collect.h"
#include "../crash/vmcoreinfo.h"
#include "../kernel/genl.h"
#include "../offline/save_dir.h"
#include "../record/fatal_signal.h"
#include "../records/record_tail.h"
#include "../symbols/kernel_text.h"

enum {
	OPTION_CPU = 1,
	OPTION_LAST,
	OPTION_MERGED,
	OPTION_SUMMARY,
	OPTION_AFTER,
	OPTION_HEADER,
	OPTION_IMAGE,
	OPTION_SAVE,
	OPTION_ALL_CPUS,
	OPTION_KEEP,
	OPTION_MOST,
	OPTION_PROGRAMS,
	OPTION_SNAPSHOT,
	OPTION_VMLINUX,
	OPTION_CORE,
};

static const struct kipt_option options[] = {
	{ "cpu", 'c', OPTION_CPU, "LIST",
	  "all that these CPUs did, such as 0-3,6; unless given\n"
	  "the last 100 calls of the CPU that died" },
	{ "all-cpus", 'a', OPTION_ALL_CPUS, NULL,
	  "all that all CPUs did, the one that died first" },
	{ "last", 'n', OPTION_LAST, "N",
	  "only the last N branches, with --insns instructions,\n"
	  "of each CPU that is shown; unless given, the last\n"
	  "100 calls of the CPU that died, or with --cpu and\n"
	  "--all-cpus all" },
	{ "after", 0, OPTION_AFTER, NULL,
	  "also what each CPU did from where it died, or the\n"
	  "NMI met it, until its tracing stopped" },
	{ "merged", 'm', OPTION_MERGED, NULL,
	  "all CPUs together in the order of time, 1000\n"
	  "branches of each unless --last says otherwise" },
	{ "summary", 0, OPTION_SUMMARY, NULL,
	  "only what died, where, and a line for each CPU;\n"
	  "nothing is decoded" },
	{ "snapshot", 0, OPTION_SNAPSHOT, "N",
	  "show snapshot N that the dump has, of something that\n"
	  "the machine survived, instead of its death" },
	{ "header", 0, OPTION_HEADER, "ADDR",
	  "physical address that the log named (\"crash header\n"
	  "at\"); unless given it is looked up in the log of\n"
	  "the dump, or searched for in all of it" },
	{ "image", 'i', OPTION_IMAGE, "FILE[@ADDR]",
	  "code that is missing in the dump: the bytes of FILE\n"
	  "are at ADDR, or if it is ELF its lowest segment\n"
	  "does; may be repeated" },
	{ "vmlinux", 0, OPTION_VMLINUX, "FILE",
	  "lines of the kernel's source (--source), and names\n"
	  "that the dump lacks, come from FILE, which has the\n"
	  "build id of its kernel; unless given it is looked\n"
	  "for where debug files are installed" },
	{ "save", 0, OPTION_SAVE, "DIR",
	  "put trace, kernel code and symbols into DIR, for\n"
	  "'kipt decode --dir DIR'; without another option\n"
	  "nothing is decoded" },
	{ "core", 0, OPTION_CORE, "FILE",
	  "of 'show': code of the program that was killed comes\n"
	  "from its core dump FILE, where that has it" },
	{ "keep", 0, OPTION_KEEP, "N",
	  "of 'collect': leave the newest N snapshots in DIR,\n"
	  "1 to 10000; 16 unless given" },
	{ "most", 0, OPTION_MOST, "SIZE",
	  "of 'collect': bytes that they take, such as 200M;\n"
	  "1G unless given" },
	{ "programs", 0, OPTION_PROGRAMS, NULL,
	  "of 'collect': also programs that a signal killed" },
	VIEW_OPTIONS,
	VIEW_NO_DISASM_OPTION,
	VIEW_TIME_OPTION,
	{ 0 }
};

/* With --merged all of it is in memory. */
#define MERGED_LAST	1000
/* Of the CPU that died, without an option. */
#define DIED_LAST	100

/**
 * struct crash - what was asked for, and what there is
 * @view: how records are shown
 * @output: where records go, and what is said of the crash
 * @machine: the machine that died, or the snapshot of one that did not
 * @image: code that --image names
 * @maps: where that is
 * @cpus_given: --cpu
 * @cpus: those of it
 * @cpu_too_large: it has one that no machine has
 * @all_cpus: --all-cpus
 * @died_only: neither of these was given, and nothing that needs all CPUs
 * @calls: @last is of calls
 * @last: so many of each CPU; 0: all
 * @merge: puts CPUs into one order while they are decoded; NULL: it is not done
 * @header: address of the header; 0: it was not given
 * @path: of the dump
 * @slot: number of a snapshot in the dump; 0: its death
 * @merged: --merged
 * @summary: --summary
 * @after: --after
 * @save: folder of --save
 * @vmlinux: file of --vmlinux
 * @debug: debug information of the kernel
 * @collect: what 'collect' is to do
 * @snapshot: of a machine that survived: read from the module
 * @live: that kernel's code
 * @program: it was killed, and the machine is well; NULL: no
 * @files: reads the program's files
 * @core_path: of --core
 * @core: the same, opened
 * @shown: something that is shown was asked for
 * @decoded: the last option for which the trace is decoded
 * @option: the last option that only what shows a trace has
 * @collect_option: the last one of 'collect'
 */
struct crash {
	struct view_options view;
	struct output *output;
	struct crash_machine machine;
	struct image *image;
	struct maps maps;
	bool cpus_given;
	bool cpus[CRASH_CPUS_MAX];
	bool cpu_too_large;
	bool all_cpus;
	bool died_only;
	bool calls;
	u32 last;
	struct crash_merge *merge;
	u64 header;
	const char *path;
	u64 slot;
	bool merged;
	bool summary;
	bool after;
	const char *save;
	const char *vmlinux;
	struct kernel_debug debug;
	struct crash_collect collect;
	struct kipt_snapshot snapshot;
	struct kcore *live;
	struct crash_program *program;
	struct crash_files *files;
	const char *core_path;
	struct core_file *core;
	bool shown;
	const char *decoded;
	const char *option;
	const char *collect_option;
};

static void cpu_choose(void *ctx, u32 cpu)
{
	struct crash *crash = ctx;

	if (cpu < CRASH_CPUS_MAX)
		crash->cpus[cpu] = true;
	else
		crash->cpu_too_large = true;
}

/* KIPT_EXIT_DONE if the value is good, or a status after a sentence: what is meant. */
static int value_check(bool good, const char *name, const char *value, const char *meant)
{
	if (good)
		return KIPT_EXIT_DONE;
	say_error("--%s %s: %s", name, value, meant);
	return KIPT_EXIT_USAGE;
}

/* A number of things, at least one. */
static int count_option(const char *name, const char *value, u32 most, u32 *count)
{
	u64 number;

	if (!args_within(name, value, 1, most, &number))
		return KIPT_EXIT_USAGE;
	*count = number;
	return KIPT_EXIT_DONE;
}

static int option_take(struct crash *crash, int id, const char *value)
{
	switch (id) {
	case OPTION_CPU:
		crash->cpus_given = true;
		return value_check(args_cpus(value, cpu_choose, crash) &&
				   !crash->cpu_too_large, "cpu", value,
				   "a list of CPUs such as 0-3,6 is meant");
	case OPTION_LAST:
		return count_option("last", value, LAST_RECORDS_MAX,
				    &crash->last);
	case OPTION_HEADER:
		return value_check(args_number(value, ~0ULL, &crash->header) &&
				   crash->header &&
				   !(crash->header % KIPT_CRASH_PAGE_BYTES),
				   "header", value,
				   "the address of a page is meant, such as 0x1234000");
	case OPTION_SNAPSHOT:
		return value_check(args_number(value, ~0U, &crash->slot) && crash->slot,
				   "snapshot", value,
				   "the number of a snapshot is meant, as the summary of the dump shows it");
	case OPTION_IMAGE:
		return image_add_file(crash->image, value, &crash->maps) ?
		       KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
	case OPTION_SAVE:
		crash->save = value;
		break;
	case OPTION_VMLINUX:
		crash->vmlinux = value;
		break;
	case OPTION_CORE:
		crash->core_path = value;
		break;
	case OPTION_MERGED:
		crash->merged = true;
		break;
	case OPTION_SUMMARY:
		crash->summary = true;
		break;
	case OPTION_ALL_CPUS:
		crash->all_cpus = true;
		break;
	case OPTION_AFTER:
		crash->after = true;
		break;
	case OPTION_KEEP:
		return count_option("keep", value, COLLECT_KEEP_MAX,
				    &crash->collect.keep);
	case OPTION_MOST:
		return value_check(args_size(value, &crash->collect.most) &&
				   crash->collect.most, "most", value,
				   "a size such as 200M is meant");
	case OPTION_PROGRAMS:
		crash->collect.programs = true;
		break;
	}
	return KIPT_EXIT_DONE;
}

static bool cpu_chosen(const struct crash *crash, u32 cpu)
{
	return !crash->cpus_given ||
	       (cpu < CRASH_CPUS_MAX && crash->cpus[cpu]);
}

static bool cpus_check(const struct crash *crash)
{
	const struct crash_set *set = &crash->machine.set;
	u32 cpu, i = 0;

	/* Both are in order. */
	for (cpu = 0; cpu < CRASH_CPUS_MAX; cpu++) {
		while (i < set->count && set->cpus[i]->page.page.number < cpu)
			i++;
		if (crash->cpus[cpu] &&
		    (i == set->count || set->cpus[i]->page.page.number > cpu)) {
			say_error("kipt left nothing of CPU %u in this dump",
				  cpu);
			return false;
		}
	}
	return true;
}

/* Numbers and files alone go where a program reads them. */
static bool summary_wanted(const struct crash *crash)
{
	const struct view_options *view = &crash->view;

	return !view->hash && (!view->output || strcmp(view->output, "-"));
}

static u64 time_near(const struct crash *crash, const struct crash_cpu *cpu)
{
	const struct crash_set *set = &crash->machine.set;

	if (cpu->stop_good && cpu->page.stop.tsc)
		return cpu->page.stop.tsc;
	return set->event_good ? set->header.event.tsc : cpu->page.started;
}

/* Where the CPU that died is in the set; its @count if nobody knows. */
static u32 died_find(const struct crash_set *set)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (set->event_good && set->cpus[i]->page.page.number ==
					       set->header.event.cpu)
			return i;
	}
	return i;
}

static bool cpu_show(struct crash *crash, const struct crash_trace *trace)
{
	crash_show_cpu(&crash->machine, trace, &crash->output->view);
	return true;
}

static bool cpu_save(struct crash *crash, const struct crash_trace *trace)
{
	return crash_save_trace(crash->save, trace);
}

/* Of the first CPU what died, of the others what the NMI met. */
static bool end_find(const struct crash *crash, const struct crash_cpu *cpu,
		     struct kipt_excerpt_end *end)
{
	const struct crash_set *set = &crash->machine.set;
	const struct kipt_crash_event *event = &set->header.event;

	if (crash->program) {
		*end = (struct kipt_excerpt_end){
			.ip = crash_program_signal(crash->program)->ip,
			.known = true,
		};
		return true;
	}
	if (!cpu->stop_good || cpu->page.stop.state != KIPT_CRASH_STOPPED ||
	    !set->event_good)
		return false;
	*end = kipt_excerpt_end_of(event, &cpu->page.stop, cpu->page.page.number == event->cpu);
	return end->known;
}

/* Whether there is nothing to show with an option but what is decoded. */
static bool option_decodes(int id)
{
	return (id >= VIEW_OPTION_CALLS && id <= VIEW_OPTION_TOP) || id == VIEW_OPTION_STATS ||
	       id == VIEW_OPTION_HASH || id == VIEW_OPTION_OUTPUT || id == OPTION_LAST ||
	       id == OPTION_MERGED;
}

/* Who counts, or keeps records, gets all. */
static bool gets_all(const struct view_options *view)
{
	return view->output || view->stats || view->hash ||
	       view->mode >= VIEW_COUNTS;
}

static bool end_wanted(const struct crash *crash)
{
	return !crash->after && !gets_all(&crash->view);
}

static bool cpu_decode(struct crash *crash, const struct crash_trace *trace)
{
	const struct crash_source kernel = crash_machine_kernel(&crash->machine);
	struct kipt_excerpt_end end;
	struct crash_logs logs;
	const struct crash_decode decode = {
		.trace = trace,
		.memory = crash->machine.memory,
		.live = crash->live,
		.image = crash->image,
		.program = crash->program,
		.logs = &logs,
		.tsc_khz = crash->machine.set.header.tsc_khz,
		.tsc_near = time_near(crash, trace->cpu),
		.last = crash->last,
		.calls = crash->calls,
		.end = end_wanted(crash) &&
		       end_find(crash, trace->cpu, &end) ? &end : NULL,
		.merge = crash->merge,
	};
	bool ok = crash_logs_load(&logs, &kernel, trace->cpu);

	if (!ok)
		say_errno(ENOMEM, "cannot hold what was noted of CPU %u",
			  trace->cpu->page.page.number);
	else if (trace->size)
		ok = crash_decode(&decode, crash->output);
	if (logs.switches.first)
		say_note("CPU %u: a part of what was noted of its threads is not in the dump: who ran before, nobody knows",
			 trace->cpu->page.page.number);
	if (logs.text_unknown)
		say_note("CPU %u: which code of the kernel was patched is not known, or not in the dump: all of it is a gap",
			 trace->cpu->page.page.number);
	crash_logs_free(&logs);
	return ok;
}

/* All CPUs that were chosen: the one that died, then the others by number. */
static bool each_cpu(struct crash *crash,
		     bool (*act)(struct crash *crash,
				 const struct crash_trace *trace))
{
	struct crash_machine *machine = &crash->machine;
	struct crash_trace trace;
	u32 i, died = died_find(&machine->set);
	bool known = died < machine->set.count;

	if (!known)
		died = 0;
	for (i = 0; i < machine->set.count; i++) {
		const struct crash_cpu *cpu =
			machine->set.cpus[!i ? died : i <= died ? i - 1 : i];

		if (!cpu_chosen(crash, cpu->page.page.number))
			continue;
		if (i && known && crash->died_only && act == cpu_decode)
			break;
		if (!crash_trace_find(&trace, cpu, &machine->source)) {
			say_errno(ENOMEM, "cannot read the trace of CPU %u",
				  cpu->page.page.number);
			return false;
		}
		if (!act(crash, &trace))
			return false;
	}
	return true;
}

/* Who counts, keeps records or merges gets all CPUs, too. */
static void died_choose(struct crash *crash)
{
	crash->died_only = !crash->cpus_given && !crash->all_cpus &&
			   !crash->merged && !gets_all(&crash->view);
	if (!crash->died_only || crash->last)
		return;
	crash->last = DIED_LAST;
	crash->calls = crash->view.mode == VIEW_CALLS;
}

static bool merged_take(void *ctx, const struct kipt_record *records, u32 count)
{
	return output_take(ctx, records, count);
}

static bool merged_decode(struct crash *crash)
{
	struct crash_merge merge = { 0 };
	bool ok;

	crash->merge = &merge;
	crash->output->view.merged = true;
	ok = each_cpu(crash, cpu_decode);
	ok = crash_merge_give(&merge, merged_take, crash->output) && ok;
	crash_merge_free(&merge);
	crash->merge = NULL;
	return ok;
}

/* They are older than the death. */
static void slots_show(const struct crash *crash)
{
	const struct crash_slots *slots = &crash->machine.slots;
	u32 i;

	if (slots->chosen)
		return;
	if (slots->count && !crash->view.json)
		printf("The machine survived this before ('kipt crash %s --snapshot N' shows number N):\n",
		       crash->path);
	for (i = 0; i < slots->count; i++)
		snapshot_print(&slots->list[i].about, crash->output->names,
			       crash->view.json);
}

/* One file says how all of them were traced. */
static bool meta_save(const struct crash *crash)
{
	const struct crash_set *set = &crash->machine.set;
	const struct crash_cpu *first = NULL;
	u32 i;

	for (i = 0; i < set->count; i++) {
		const struct crash_cpu *cpu = set->cpus[i];

		if (!cpu_chosen(crash, cpu->page.page.number))
			continue;
		first = first ? first : cpu;
		if (cpu->page.ctl != first->page.ctl)
			say_note("%s/meta.json is of CPU %u: CPU %u was traced in another way; --cpu saves those of one way",
				 crash->save, first->page.page.number, cpu->page.page.number);
	}
	return !first || crash_save_meta(crash->save, &crash->machine, first);
}

static bool save(struct crash *crash, struct symbols *symbols)
{
	return folder_make(crash->save) && save_clear(crash->save) && meta_save(crash) &&
	       each_cpu(crash, cpu_save) &&
	       (!crash->program || crash_program_save(crash->program,
						      crash->save)) &&
	       (crash->live ? save_kernel(crash->save) :
		crash_save_kernel(crash->save, &crash->machine, symbols));
}

/* After what led there; what is held back is printed first. */
static void death_show(struct crash *crash)
{
	struct child_death death;

	crash_program_death(crash->program, &death);
	view_flush(&crash->output->view);
	death_tell(&death, crash->output);
}

/* The table goes to the names when it was saved. */
static bool all_show(struct crash *crash)
{
	struct output *output = crash->output;
	struct symbols *symbols = NULL;
	bool ok = true;

	if (!crash->live && (!crash->view.kallsyms || crash->save))
		symbols = crash_machine_symbols(&crash->machine, &crash->debug);
	if (crash->save)
		ok = save(crash, symbols);
	if (crash->view.kallsyms || crash->live)
		symbols_destroy(symbols);
	else
		names_kernel(output->names, symbols);
	if (ok && summary_wanted(crash)) {
		slots_show(crash);
		crash_show(&crash->machine, &output->view);
		ok = each_cpu(crash, cpu_show);
	}
	if (!ok || crash->summary || (crash->save && !crash->shown))
		return ok;
	progress_catch();
	output->view.tsc_khz = crash->machine.set.header.tsc_khz;
	output->view.guests_shown = image_any(crash->image);
	died_choose(crash);
	ok = crash->merged ? merged_decode(crash) : each_cpu(crash, cpu_decode);
	if (crash->program && end_wanted(crash))
		death_show(crash);
	return ok;
}

static bool show(struct crash *crash)
{
	struct crash_source kernel;
	struct output output;
	bool ok;

	/* Of a machine that goes on, most processes are still there. */
	if (!cpus_check(crash) ||
	    !output_open(&output, &crash->view, crash->live))
		return false;
	crash->output = &output;
	maps_move(&output.maps, &crash->maps);
	kernel_debug_names(&crash->debug, output.names);
	kernel = crash_machine_kernel(&crash->machine);
	crash_tasks_load(&output.maps, &kernel, &crash->machine.set);
	ok = (!crash->program || crash_program_map(crash->program,
						   &output.maps,
						   output.names)) &&
	     all_show(crash);
	crash->output = NULL;
	return output_close(&output, ok) && ok;
}

static bool debug_open(struct crash *crash)
{
	const struct crash_machine *machine = &crash->machine;

	crash->debug.memory = machine->memory;
	if (machine->set.has_header)
		crash->debug.layout = machine->set.header.layout;
	return kernel_debug_open(&crash->debug, machine->info, crash->vmlinux);
}

static bool dump_show(struct crash *crash, const char *path)
{
	crash->path = path;
	return output_spares(&crash->view, path) &&
	       crash_machine_open(&crash->machine, path, crash->header) &&
	       debug_open(crash) &&
	       (!crash->slot ||
		crash_machine_choose(&crash->machine, crash->slot)) &&
	       show(crash);
}

static bool program_read(struct crash *crash)
{
	const struct crash_machine *machine = &crash->machine;

	if (!machine->set.signal) {
		if (crash->core_path)
			say_error("--core %s: the snapshot is of the kernel, and has no core dump",
				  crash->core_path);
		return !crash->core_path;
	}
	crash->program = crash_program_read(&machine->source,
					    machine->set.signal,
					    machine->set.id, crash->files);
	if (!crash->program || !crash->core_path)
		return crash->program;
	crash->core = core_file_open(crash->core_path);
	return crash->core &&
	       crash_program_core(crash->program, crash->core, crash->core_path);
}

static char *info_of_running(struct kcore *live)
{
	const struct crash_source file = { .read = kcore_file_read, .ctx = live };
	u64 begin, end;

	return kcore_notes(live, &begin, &end) ? vmcoreinfo_find(&file, begin, end) :
						 NULL;
}

/* Its kernel runs: code and symbols are those of now. Who reads files of others is
 * started before anything of the kernel is here.
 */
static bool survived_show(struct crash *crash, u32 id)
{
	struct genl *genl;
	int err = -EIO;

	crash->files = crash_files_create(CRASH_FILES_SECONDS);
	if (!crash->files)
		return false;
	genl = genl_open(false);
	if (genl)
		err = genl_snapshot_get(genl, id, &crash->snapshot);
	genl_close(genl);
	if (err == -ENOENT)
		say_note("kipt-collect moves snapshots out of the module: /var/lib/kipt/snapshot-TIME-BOOT-%u/report is of number %u, if there was one",
			 id, id);
	if (err)
		return false;
	crash->live = kcore_open();
	if (!crash->live ||
	    !crash_machine_snapshot(&crash->machine, &crash->snapshot))
		return false;
	crash->machine.info = info_of_running(crash->live);
	return kernel_debug_open(&crash->debug, crash->machine.info, crash->vmlinux) &&
	       program_read(crash) && show(crash);
}

static bool snapshot_delete(u32 id)
{
	struct genl *genl = genl_open(false);
	bool ok = genl && !genl_snapshot_delete(genl, id);

	genl_close(genl);
	return ok;
}

/* @act: a word for what is done, with the number of a snapshot. */
static int with_snapshot(struct crash *crash, const struct args *args,
			 const char *act)
{
	u64 id;
	bool ok;

	if (args->operands != 2 || !args_number(args->argv[1], ~0U, &id) || !id)
		return args_bad(args, "crash %s needs the number of a snapshot, as 'kipt crash list' shows it",
				act);
	if (crash->header || crash->slot)
		return args_bad(args, "--header and --snapshot are of a dump: 'kipt crash %s' has none of them",
				act);
	ok = strcmp(act, "show") ? snapshot_delete(id) :
				   survived_show(crash, id);
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

/* Whether the options go with the word. KIPT_EXIT_DONE, or a status after a sentence. */
static int options_check(const struct crash *crash, const struct args *args,
			 const char *word)
{
	bool lists = !strcmp(word, "list");
	bool shows = !lists && strcmp(word, "delete") &&
		     strcmp(word, "collect");
	const char *option = shows ? NULL : crash->option;

	if (crash->core_path && (strcmp(word, "show") || crash->save))
		return args_bad(args, "--core goes with crash show only, and not with --save");
	if (crash->collect_option && strcmp(word, "collect"))
		return args_bad(args, "--%s goes with crash collect only",
				crash->collect_option);
	if (!option && !shows && !lists)
		option = crash->view.json ? "json" :
			 crash->view.kallsyms ? "kallsyms" : NULL;
	if (!option)
		return KIPT_EXIT_DONE;
	return args_bad(args, "crash %s shows no trace: --%s does not go with it",
			word, option);
}

static int collect(struct crash *crash, const struct args *args)
{
	if (args->operands != 2)
		return args_bad(args, "crash collect needs the folder that snapshots go to");
	crash->collect.dir = args->argv[1];
	return crash_collect(&crash->collect) ? KIPT_EXIT_DONE :
						KIPT_EXIT_FAILED;
}

/* Files that are called like a word are distinguished from it by "./". */
static int act(struct crash *crash, const struct args *args)
{
	const char *word = args->operands ? args->argv[0] : "";
	int status = options_check(crash, args, word);

	if (status != KIPT_EXIT_DONE)
		return status;
	if (!strcmp(word, "collect"))
		return collect(crash, args);
	if (!strcmp(word, "show") || !strcmp(word, "delete"))
		return with_snapshot(crash, args, word);
	if (!args_operands(args, 1, 1))
		return KIPT_EXIT_USAGE;
	if (!strcmp(word, "list"))
		return snapshots_list(crash->view.kallsyms, crash->view.json) ?
		       KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
	return dump_show(crash, word) ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

static const char *option_name(int id)
{
	u32 i;

	for (i = 0; options[i].name; i++) {
		if (options[i].id == id)
			return options[i].name;
	}
	return NULL;
}

static int options_take(struct crash *crash, struct args *args)
{
	int id, taken, status;

	while ((id = args_option(args)) > 0) {
		taken = view_option(&crash->view, id, args->value);
		if (taken < 0)
			return KIPT_EXIT_USAGE;
		crash->shown |= taken && id != VIEW_OPTION_KALLSYMS;
		if (id == OPTION_KEEP || id == OPTION_MOST ||
		    id == OPTION_PROGRAMS)
			crash->collect_option = option_name(id);
		else if (id != VIEW_OPTION_JSON && id != VIEW_OPTION_KALLSYMS)
			crash->option = option_name(id);
		if (option_decodes(id))
			crash->decoded = option_name(id);
		status = taken ? KIPT_EXIT_DONE :
				 option_take(crash, id, args->value);
		if (status != KIPT_EXIT_DONE)
			return status;
	}
	if (id < 0)
		return id == ARGS_HELP ? -1 : KIPT_EXIT_USAGE;
	if (crash->cpus_given && crash->all_cpus)
		return args_bad(args, "--cpu and --all-cpus: only one of them can be meant");
	if (crash->summary && crash->decoded)
		return args_bad(args, "--summary decodes nothing: --%s does not go with it",
				crash->decoded);
	if (crash->merged && !crash->last)
		crash->last = MERGED_LAST;
	crash->shown |= crash->last;
	if (crash->last && crash->view.mode == VIEW_COUNTS)
		return args_bad(args, "--counts: counts have no order, so neither --last nor --merged goes with it");
	if (!view_settle(&crash->view))
		return KIPT_EXIT_USAGE;
	return KIPT_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_crash, .argc = argc, .argv = argv };
	struct crash *crash = calloc(1, sizeof(*crash));
	int status;

	if (crash) {
		crash->image = image_create();
		crash->collect = (struct crash_collect){
			.keep = COLLECT_KEEP,
			.most = COLLECT_MOST,
		};
	}
	if (!crash || !crash->image) {
		say_errno(ENOMEM, "cannot read a crash");
		free(crash);
		return KIPT_EXIT_FAILED;
	}
	status = options_take(crash, &args);
	if (status == KIPT_EXIT_DONE)
		status = act(crash, &args);
	crash_program_destroy(crash->program);
	core_file_close(crash->core);
	crash_files_destroy(crash->files);
	kernel_debug_close(&crash->debug);
	crash_machine_close(&crash->machine);
	kcore_close(crash->live);
	free(crash->snapshot.data);
	maps_free(&crash->maps);
	image_destroy(crash->image);
	free(crash);
	return status < 0 ? KIPT_EXIT_DONE : status;
}

const struct kipt_verb verb_crash = {
	.name = "crash",
	.operands = "FILE | list | show N | delete N | collect DIR",
	.summary = "show what each CPU did last, from a dump",
	.about = "Reads the dump of a machine that died while kipt was armed: an ELF vmcore,\n"
		 "makedumpfile's compressed format, or /proc/vmcore in the crash kernel. Code and\n"
		 "symbols come from the dump itself. First comes a summary, then the last 100 calls\n"
		 "of the CPU that died; --all-cpus shows all that each CPU did, that one first.\n"
		 "What is damaged or missing is named, and the rest is shown. With --counts,\n"
		 "--totals, --lost, --folded, --stats, --hash, --merged or -o it is of all CPUs, too.\n"
		 "The summary also lists the snapshots that the module had; --snapshot N shows one\n"
		 "of them.\n"
		 "\n"
		 "Of an oops, a warning or a report of an error that the machine survived while it\n"
		 "was armed, the module keeps the end of each trace: 'list' shows which there are,\n"
		 "'show N' shows one as a dump is shown, 'delete N' makes room for another.\n"
		 "'collect DIR' saves each of them below DIR, with what 'show' prints of it, and\n"
		 "then deletes it: the service kipt-collect does so after each event. They need\n"
		 "CAP_SYS_ADMIN. With 'kipt arm --user' there are also programs that a signal\n"
		 "killed: of these 'show' shows what their user code did, up to the last\n"
		 "instruction.",
	.examples = "  kipt crash vmcore\n"
		    "  kipt crash vmcore --all-cpus --last 1000\n"
		    "  kipt crash /proc/vmcore --summary\n"
		    "  kipt crash vmcore --cpu 2 --branches --time\n"
		    "  kipt crash vmcore --save saved\n"
		    "  kipt crash vmcore --snapshot 1\n"
		    "  kipt crash list\n"
		    "  kipt crash show 1",
	.options = options,
	.run = run,
};
