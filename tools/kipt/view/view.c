// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options and state that all printers share, see view.h.
 */
#include <errno.h>
#include <string.h>

#include "../../../kmod/decode/code/insn.h"
#include "../../../uapi/linux/kipt.h"
#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/standard_output.h"
#include "../records/record_file.h"
#include "../records/record_state.h"
#include "../records/record_words.h"
#include "../records/tool_records.h"
#include "../symbols/disasm.h"
#include "view.h"

/* So many lines of counts or totals are shown unless somebody says otherwise. */
#define TOP_DEFAULT	50

static int mode_option(struct view_options *options, enum view_mode mode, const char *name)
{
	if (options->mode_given && options->mode != mode) {
		say_error("only one of --%s and --%s can be shown", options->mode_name, name);
		return -1;
	}
	options->mode = mode;
	options->mode_given = true;
	options->mode_name = name;
	return 1;
}

static int depth_option(struct view_options *options, const char *value)
{
	u64 depth;

	if (!args_within("max-depth", value, 1, 10000, &depth))
		return -1;
	options->max_depth = depth;
	return 1;
}

static int top_option(struct view_options *options, const char *value)
{
	u64 top;

	if (!args_number(value, ~0U, &top)) {
		say_error("--top %s: a number of lines is meant, 0 for all",
			  value);
		return -1;
	}
	options->top = top;
	options->top_given = true;
	return 1;
}

static bool names_given(const char *option, const char *list)
{
	size_t length = strlen(list);

	if (length && list[0] != ',' && list[length - 1] != ',' &&
	    !strstr(list, ",,"))
		return true;
	say_error("--%s %s: names of functions with commas between them are meant",
		  option, list);
	return false;
}

int view_option(struct view_options *options, int id, const char *value)
{
	switch (id) {
	case VIEW_OPTION_CALLS:
		return mode_option(options, VIEW_CALLS, "calls");
	case VIEW_OPTION_BRANCHES:
		return mode_option(options, VIEW_BRANCHES, "branches");
	case VIEW_OPTION_INSNS:
		return mode_option(options, VIEW_INSNS, "insns");
	case VIEW_OPTION_DISASM:
		options->disasm = true;
		return mode_option(options, VIEW_INSNS, "disasm");
	case VIEW_OPTION_COUNTS:
		return mode_option(options, VIEW_COUNTS, "counts");
	case VIEW_OPTION_TOTALS:
		return mode_option(options, VIEW_TOTALS, "totals");
	case VIEW_OPTION_LOST:
		return mode_option(options, VIEW_LOST, "lost");
	case VIEW_OPTION_SLOWEST:
		if (!names_given("slowest", value))
			return -1;
		options->slowest = value;
		return mode_option(options, VIEW_SLOWEST, "slowest");
	case VIEW_OPTION_FOLDED:
		return mode_option(options, VIEW_FOLDED, "folded");
	case VIEW_OPTION_PERFETTO:
		options->perfetto = value;
		return mode_option(options, VIEW_PERFETTO, "perfetto");
	case VIEW_OPTION_FIREFOX:
		options->firefox = value;
		return mode_option(options, VIEW_FIREFOX, "firefox");
	case VIEW_OPTION_HTML:
		options->html = value;
		return mode_option(options, VIEW_HTML, "html");
	case VIEW_OPTION_DRCOV:
		options->drcov = value;
		return mode_option(options, VIEW_COVERAGE, "drcov");
	case VIEW_OPTION_LCOV:
		options->lcov = value;
		return mode_option(options, VIEW_COVERAGE, "lcov");
	case VIEW_OPTION_BOLT:
		options->bolt = value;
		return mode_option(options, VIEW_BRANCH_PROFILE, "bolt");
	case VIEW_OPTION_AUTOFDO:
		options->autofdo = value;
		return mode_option(options, VIEW_BRANCH_PROFILE, "autofdo");
	case VIEW_OPTION_TOP:
		return top_option(options, value);
	case VIEW_OPTION_JSON:
		options->json = true;
		return 1;
	case VIEW_OPTION_TIME:
		options->time = true;
		return !value || time_range_parse(&options->narrow.time, value) ?
			       1 : -1;
	case VIEW_OPTION_STATS:
		options->stats = true;
		return 1;
	case VIEW_OPTION_HASH:
		options->hash = true;
		return 1;
	case VIEW_OPTION_NO_FOLD:
		options->no_fold = true;
		return 1;
	case VIEW_OPTION_MAX_DEPTH:
		return depth_option(options, value);
	case VIEW_OPTION_SOURCE:
		options->source = true;
		return 1;
	case VIEW_OPTION_NO_INLINE:
		options->inlined = false;
		return 1;
	case VIEW_OPTION_OUTPUT:
		options->output = value;
		return 1;
	case VIEW_OPTION_KALLSYMS:
		options->kallsyms = value;
		return 1;
	case VIEW_OPTION_MAPS:
		options->maps = value;
		return 1;
	case VIEW_OPTION_CPU:
		return narrow_cpus(&options->narrow, value) ? 1 : -1;
	case VIEW_OPTION_PID:
		return narrow_pids(&options->narrow, value) ? 1 : -1;
	case VIEW_OPTION_TID:
		return narrow_tids(&options->narrow, value) ? 1 : -1;
	case VIEW_OPTION_COMM:
		options->narrow.comm = value;
		return 1;
	case VIEW_OPTION_SYM:
		if (!names_given("sym", value))
			return -1;
		options->syms = value;
		return 1;
	}
	return 0;
}

static bool disasm_settle(const struct view_options *options, const char *other)
{
	if (!options->has_code)
		say_error("--disasm takes the code that a trace is decoded with, which 'kipt decode' and 'kipt open' have of a perf.data, and of a raw trace that 'kipt record --save DIR' kept; records have none");
	else if (options->output || options->hash)
		say_error("--disasm is shown only: %s does not go with it",
			  other);
	else if (!disasm_there())
		say_error("--disasm: this kipt was built without Zydis, which disassembles; build it where libzydis-dev is");
	else
		return true;
	return false;
}

/* Two files of one name, of those that go together. */
static bool one_name(const char *a, const char *b)
{
	return a && b && (!strcmp(a, b) || record_file_is(a, b));
}

/* Several files begin with it, which standard output cannot be. */
static bool no_prefix(const char *out)
{
	return out && (!*out || !strcmp(out, "-"));
}

/* An option that says what is printed; NULL: none was given. */
static const char *printing(const struct view_options *options)
{
	return options->hash ? "--hash" : options->stats ? "--stats" :
	       options->json ? "--json" : NULL;
}

/* It takes the place of what is shown, and of the records that -o writes. */
static bool own_file_settle(const struct view_options *options)
{
	const char *other = options->output ? "-o" : printing(options);

	if (other)
		say_error("--%s writes a file of its own: %s does not go with it",
			  options->mode_name, other);
	else if (one_name(options->drcov, options->lcov))
		say_error("--drcov and --lcov write a file each: give each a name of its own");
	else if (no_prefix(options->bolt) || no_prefix(options->autofdo))
		say_error("--%s writes a file for each build id: give what their names begin with, or a folder",
			  no_prefix(options->bolt) ? "bolt" : "autofdo");
	else if (one_name(options->bolt, options->autofdo))
		say_error("--bolt and --autofdo write files of their own: give each another name");
	else
		return true;
	return false;
}

/* Options that do nothing. */
static void useless_say(const struct view_options *options)
{
	bool calls = options->mode == VIEW_CALLS && !options->output && !options->json &&
		     !options->stats && !options->hash;
	bool has_top = options->mode == VIEW_COUNTS || options->mode == VIEW_TOTALS ||
		       options->mode == VIEW_SLOWEST || options->mode == VIEW_SCREEN;

	if (options->top_given && !has_top)
		say_note("--top does nothing here: it is for --counts, --totals, --slowest and the screen of 'kipt open'");
	if ((options->max_depth || options->no_fold) && !calls)
		say_note("--%s does nothing here: it is for --calls",
			 options->max_depth ? "max-depth" : "no-fold");
}

/* Records on standard output leave no room there for what is printed. */
static bool stream_settle(const struct view_options *options)
{
	const char *other = printing(options);

	if (!other || !options->output || strcmp(options->output, "-"))
		return true;
	say_error("records go to standard output: %s does not go with them; give them a file",
		  other);
	return false;
}

bool view_settle(const struct view_options *options)
{
	const char *other = options->output ? "-o" : "--hash";

	useless_say(options);
	if (options->mode >= VIEW_PERFETTO)
		return own_file_settle(options);
	if (options->disasm)
		return disasm_settle(options, other);
	if (options->hash && options->json) {
		say_error("--hash prints no JSON: leave out --json");
		return false;
	}
	if (options->mode < VIEW_TOTALS || options->mode == VIEW_SCREEN ||
	    (!options->output && !options->hash))
		return stream_settle(options);
	say_error("--%s is shown only: %s does not go with it", options->mode_name, other);
	return false;
}

bool view_refuses_stretch(const struct view_options *options, const struct args *args,
			  int operand)
{
	const char *word = args->operands > operand ? args->argv[operand] : "";

	if (!options->time || !time_range_like(word))
		return false;
	args_bad(args, "--time %s: %s shows all; give a stretch to 'kipt show' of what -o FILE kept",
		 word, args->verb->name);
	return true;
}

bool view_timed(const struct view_options *options)
{
	return options->time ||
	       (options->mode >= VIEW_TOTALS && options->mode < VIEW_COVERAGE) ||
	       time_range_any(&options->narrow.time);
}

bool view_shows_lines(const struct view_options *options)
{
	return options->mode <= VIEW_INSNS && !options->output && !options->hash &&
	       !options->stats && !options->give;
}

/* The kinds of branches that make calls, as KIPT_OUTPUT_CALLS has them. */
#define CALL_KINDS	(~(1U << KIPT_BRANCH_COND | 1U << KIPT_BRANCH_JUMP | \
			   1U << KIPT_BRANCH_JUMP_IND))

/* The call view sees tail calls and what thunks lead to only with all
 * branches; as JSON, calls are what was asked for and no more.
 */
u32 view_kinds(const struct view_options *options)
{
	bool calls = options->mode == VIEW_CALLS && options->mode_given &&
		     (options->json || options->output || options->hash);

	return calls ? CALL_KINDS : ~0U;
}

u32 view_output(const struct view_options *options)
{
	bool all = view_kinds(options) == ~0U || options->syms;
	u32 output = view_timed(options) || options->output ?
		     KIPT_OUTPUT_TIME : 0;

	if (options->mode == VIEW_INSNS)
		return output | KIPT_OUTPUT_INSNS |
		       (options->hash && !options->syms ? 0 :
							  KIPT_OUTPUT_BRANCHES);
	if (options->mode == VIEW_COVERAGE)
		return output | KIPT_OUTPUT_INSNS | (options->syms ? KIPT_OUTPUT_BRANCHES : 0);
	if (options->mode == VIEW_BRANCHES || options->mode >= VIEW_TOTALS ||
	    all)
		return output | KIPT_OUTPUT_BRANCHES;
	return output | KIPT_OUTPUT_CALLS;
}

static void ignore_record(struct view *view, const struct kipt_record *record)
{
	(void)view;
	(void)record;
}

static void ignore_finish(struct view *view)
{
	(void)view;
}

static bool printer_choose(struct view *view)
{
	const struct view_options *options = view->options;

	view->print = ignore_record;
	view->finish = ignore_finish;
	if (options->stats || options->output)
		return true;
	if (options->mode == VIEW_COUNTS)
		return view_counts_init(view);
	if (options->mode == VIEW_COVERAGE)
		return view_coverage_init(view);
	if (options->mode == VIEW_BRANCH_PROFILE)
		return view_branch_profile_init(view);
	if (options->mode >= VIEW_TOTALS)
		return view_totals_init(view);
	if (options->hash)
		return true;
	if (options->json)
		return view_json_init(view);
	return options->mode == VIEW_CALLS ? view_calls_init(view) :
					     view_lines_init(view);
}

static u32 hash_kinds(const struct view_options *options)
{
	if (!options->hash || options->mode == VIEW_INSNS)
		return 0;
	return options->mode == VIEW_CALLS && options->mode_given ?
	       CALL_KINDS : ~0U;
}

bool view_init(struct view *view, const struct view_options *options,
	       struct names *names, FILE *out)
{
	memset(view, 0, sizeof(*view));
	view->options = options;
	view->names = names;
	view->out = out;
	tally_init(&view->tally);
	view->tally.hash_kinds = hash_kinds(options);
	if (printer_choose(view))
		return true;
	if (!view->failed)
		say_errno(ENOMEM, "cannot show the trace");
	return false;
}

/* CPUs may take turns. */
static void cpu_take(struct view *view, u32 cpu)
{
	struct view_state *state = &view->state;
	size_t *first = lookup_get(&view->first_of, cpu);
	size_t *guest = lookup_get(&view->guests, cpu);

	*state = (struct view_state){
		.cpu = cpu,
		.tsc_first = view->merged ? state->tsc_first :
			     first ? *first : 0,
		.guest = guest && *guest,
		.edge_pid = state->edge_pid,
		.edge_cr3 = state->edge_cr3,
	};
}

static void time_take(struct view *view, const struct kipt_record *r)
{
	struct view_state *state = &view->state;

	if (r->kind != KIPT_TIME_FIRST)
		state->tsc = r->value;
	if (state->tsc_first && r->kind != KIPT_TIME_FIRST)
		return;
	state->tsc_first = r->value;
	if (!view->merged && view->first_of.count < RECORD_CPUS_MAX)
		lookup_add(&view->first_of, state->cpu, r->value);
}

static void guest_set(struct view *view, bool on)
{
	struct view_state *state = &view->state;
	size_t *guest = lookup_get(&view->guests, state->cpu);

	state->guest = on && !names_guests_named(view->names);
	if (guest)
		*guest = state->guest;
	else if (state->guest && view->guests.count < RECORD_CPUS_MAX)
		lookup_add(&view->guests, state->cpu, true);
}

/* What a guest calls so is no page table of this machine. */
static void context_take(struct view *view, const struct kipt_record *r)
{
	bool nr = r->flags & KIPT_RF_NR;

	view->state.cr3 = nr ? 0 : r->value & ~0xfffULL;
	guest_set(view, nr);
}

static void state_take(struct view *view, const struct kipt_record *r)
{
	struct view_state *state = &view->state;

	switch (r->type) {
	case KIPT_RECORD_CPU:
		cpu_take(view, r->aux);
		break;
	case KIPT_RECORD_CONTEXT:
		context_take(view, r);
		break;
	case KIPT_RECORD_SYNC:
		/* What was before is forgotten, and a CONTEXT comes if the PSB+ has a PIP. */
		if (r->kind == KIPT_SYNC_START)
			guest_set(view, false);
		break;
	case KIPT_RECORD_SPACE:
		state->edge_pid = r->flags & KIPT_RF_NR && !names_guests_named(view->names) ?
				  NAMES_GUEST : r->aux;
		state->edge_cr3 = r->flags & KIPT_RF_NO_VALUE ? 0 : r->value;
		break;
	case KIPT_RECORD_TASK:
		state->tid = r->aux;
		state->pid = r->flags & KIPT_RF_NO_VALUE ? 0 : r->value;
		break;
	case KIPT_RECORD_TIME:
		time_take(view, r);
	}
}

typedef void (*record_taker)(struct view *view, const struct kipt_record *record);

/* What runs next is left out; @r: after that branch, NULL: it is not known where. */
static void others_put(struct view *view, const struct kipt_record *r, record_taker take)
{
	const struct kipt_record others = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_OTHERS,
		.flags = (r ? r->flags : KIPT_RF_NO_IP) | KIPT_RF_NO_VALUE,
		.aux = r ? r->aux : 0,
		.ip = r ? r->ip : 0,
	};

	take(view, &others);
}

/* What runs next is shown; @r: from the target of that branch on, NULL: it goes on where it was. */
static void chosen_put(struct view *view, const struct kipt_record *r, record_taker take)
{
	const struct kipt_record chosen = {
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_CHOSEN,
		.flags = r ? 0 : KIPT_RF_NO_IP,
		.ip = r ? r->value : 0,
	};

	take(view, &chosen);
}

/* VM entries and exits: each end is named by its own side. */
static void crossing_take(struct view *view, const struct kipt_record *r, record_taker take)
{
	bool enters = r->kind == KIPT_BRANCH_VMENTRY, was = view->state.guest;

	if (view->guests_shown || (enters && !was))
		others_put(view, r, take);
	guest_set(view, enters);
	if (view->guests_shown)
		chosen_put(view, r, take);
	else if (!enters && was)
		chosen_put(view, NULL, take);
}

static bool is_left_out(const struct view *view)
{
	return view->leaves_guests && !view->guests_shown && view->state.guest;
}

/* What is not of the guest that runs, and what is lost; missing code of a guest is no loss. */
static bool is_of_all(const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_CONTEXT:
	case KIPT_RECORD_TASK:
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CBR:
	case KIPT_RECORD_EDGE:
	case KIPT_RECORD_SPACE:
	case RECORD_SAMPLE:
		return true;
	case KIPT_RECORD_GAP:
		return r->kind != KIPT_GAP_NO_CODE && r->kind != KIPT_GAP_CODE_CHANGED;
	}
	return false;
}

/* Calls and sums of a guest are not those of the task that runs it. */
static void record_take(struct view *view, const struct kipt_record *r, record_taker take)
{
	bool was = is_left_out(view), is;

	if (view->leaves_guests && record_crosses_vm(r) && !names_guests_named(view->names)) {
		crossing_take(view, r, take);
		return;
	}
	state_take(view, r);
	is = is_left_out(view);
	/* At a SYNC, or on another CPU, nothing goes on. */
	if (r->type == KIPT_RECORD_CONTEXT && was != is)
		(is ? others_put : chosen_put)(view, NULL, take);
	if (!is || is_of_all(r))
		take(view, r);
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	if (r->type != RECORD_SUMS || !view->tally.sums_up)
		view->print(view, r);
}

void view_records(struct view *view, const struct kipt_record *records,
		  u32 count)
{
	u32 i, n;

	if (view->print == ignore_record) {
		tally_records(&view->tally, records, count);
		return;
	}
	for (i = 0; i < count; i += n) {
		n = 0;
		if (view->skim && records[i].type == KIPT_RECORD_BRANCH &&
		    !is_left_out(view))
			n = view->skim(view, records + i, count - i);
		if (n) {
			tally_records(&view->tally, records + i, n);
			continue;
		}
		tally_record(&view->tally, &records[i]);
		record_take(view, &records[i], record_print);
		n = 1;
	}
}

void view_follow(struct view *view, const struct kipt_record *records,
		 u32 count)
{
	u32 i;

	/* Sums of time go on from there; all else looks at the state alone. */
	for (i = 0; i < count; i++)
		record_take(view, &records[i], view->options->mode == VIEW_TOTALS ?
			    view_totals_follow : ignore_record);
}

void view_cut(struct view *view)
{
	if (view->options->mode == VIEW_TOTALS)
		view_totals_cut(view);
}

bool view_only_counts(const struct view *view)
{
	return view->print == ignore_record && !view->options->hash;
}

void view_flush(struct view *view)
{
	view->finish(view);
	view->print = ignore_record;
	view->skim = NULL;
	view->finish = ignore_finish;
}

void view_finish(struct view *view)
{
	const struct view_options *options = view->options;
	/* Lines of parts make those of the whole, of which only its end has a summary. */
	bool summed = !options->part || options->mode >= VIEW_COUNTS;

	view->finish(view);
	lookup_free(&view->first_of);
	lookup_free(&view->guests);
	if (options->collect)
		return;
	if (options->hash && view->tally.records)
		fprintf(view->out, "%llu %016llx\n",
			(unsigned long long)view->tally.hashed,
			(unsigned long long)view->tally.hash);
	else if (options->json && summed &&
		 (view->tally.records || options->part || view->none_chosen))
		tally_show_json(&view->tally, view->out);
	output_flush(view->out);
	/* Where nothing came, the reason was said. */
	if (!options->hash && (!options->json || !summed) && view->tally.records)
		tally_show(&view->tally, options->stats ? view->out : stderr);
	output_flush(view->out);
	if (view->tally.counted && options->mode < VIEW_COUNTS &&
	    !options->stats && !options->json)
		say_note("branches were only counted: --counts shows them");
}

u32 view_pid(const struct view *view, const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_EDGE ? view->state.edge_pid :
						  view_code_pid(&view->state);
}

u32 view_end_pid(const struct view *view, u32 kind, u32 guests, u32 pid, u32 host)
{
	if (!kind_crosses_vm(kind) || names_guests_named(view->names))
		return pid;
	return kind == guests ? NAMES_GUEST : host;
}

static u32 end_pid(const struct view *view, const struct kipt_record *r, u32 guests)
{
	u32 pid = view_pid(view, r), host = view->state.pid;

	if (r->type == KIPT_RECORD_EDGE)
		host = pid == NAMES_GUEST ? 0 : pid;
	else if (r->type != KIPT_RECORD_BRANCH)
		return pid;
	return view_end_pid(view, r->kind, guests, pid, host);
}

u32 view_from_pid(const struct view *view, const struct kipt_record *r)
{
	return end_pid(view, r, KIPT_BRANCH_VMEXIT);
}

u32 view_to_pid(const struct view *view, const struct kipt_record *r)
{
	return end_pid(view, r, KIPT_BRANCH_VMENTRY);
}

struct line_scope view_line_scope(const struct view *view,
				  const struct kipt_record *record)
{
	struct line_scope scope = {
		.kernel = names_code_version_of(view->names),
	};

	if (view->state.guest) {
		scope.pid = NAMES_GUEST;
		return scope;
	}
	if (view_in_kernel(record))
		return scope;
	scope.pid = view->state.pid;
	scope.version = names_version_of(view->names);
	scope.learned = names_learned_of(view->names);
	return scope;
}

const char *view_place(const struct view *view, u32 pid, u64 address,
		       char *text, size_t size)
{
	char source[128];
	size_t length;

	names_text(view->names, pid, address, text, size);
	length = strlen(text);
	if (view->options->source &&
	    names_source(view->names, pid, address, source, sizeof(source)))
		snprintf(text + length, size - length, " (%s)", source);
	return text;
}

bool view_insn(const struct view *view, const struct kipt_record *record,
	       struct disasm *insn, u8 *bytes)
{
	u32 size = record->aux;

	if (!size || size > KIPT_INSN_MAX_LEN || !view->code ||
	    view->code(view->code_ctx, record, bytes, size) != size)
		return false;
	disasm(insn, record->kind, record->ip, bytes, size);
	return true;
}

const char *view_sentence(const struct view *view, const struct kipt_record *record,
			  char *text, size_t size)
{
	bool has_ip = !(record->flags & KIPT_RF_NO_IP);
	char where[256];

	names_text(view->names, record->type == RECORD_SAMPLE ? view->state.pid :
		   view_code_pid(&view->state), record->ip, where, sizeof(where));
	if (record->type != RECORD_SAMPLE)
		return words_sentence(record, where, text, size);
	snprintf(text, size, "sample of %s%s%s", names_event(view->names, record->value),
		 has_ip ? " at " : "", has_ip ? where : "");
	return text;
}

void view_process(struct view *view, u32 pid, u64 cr3)
{
	const char *comm;

	if (pid == NAMES_GUEST) {
		fputs("  -- in a guest", view->out);
	} else if (pid) {
		comm = names_comm(view->names, pid, pid);
		fprintf(view->out, "  -- process %u%s%s", pid,
			*comm ? " " : "", comm);
	} else if (cr3) {
		fprintf(view->out, "  -- CR3 0x%llx", (unsigned long long)cr3);
	} else {
		fputs("  -- process unknown", view->out);
	}
}

size_t view_top(const struct view_options *options, size_t count)
{
	size_t top = options->top;

	if (!options->top_given)
		top = options->json ? 0 : TOP_DEFAULT;
	return top && top < count ? top : count;
}

const char *view_time(const struct view *view, char *text)
{
	/* A TSC may have been set back: then it is before the first. */
	s64 ticks = (s64)(view->state.tsc - view->state.tsc_first);

	text[0] = 0;
	if (!view->options->time)
		return text;
	if (!view->state.tsc)
		snprintf(text, 32, "%14s ", "");
	else if (view->tsc_khz)
		snprintf(text, 32, "%11.3f us ",
			 (double)ticks * 1000 / view->tsc_khz);
	else
		snprintf(text, 32, "%14lld ", (long long)ticks);
	return text;
}
