/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows a stream of records: calls, branches, instructions, counts, totals, all
 * of it on one screen, or JSON.
 * The options that choose among them are the same for every verb that shows.
 */
#ifndef KIPT_VIEW_H
#define KIPT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "../cli/kipt.h"
#include "../records/narrow.h"
#include "../records/summary.h"
#include "../symbols/address_names.h"
#include "../symbols/source_cache.h"

/**
 * enum view_mode - what is shown
 * @VIEW_CALLS: calls, returns and events, indented
 * @VIEW_BRANCHES: each taken branch
 * @VIEW_INSNS: each instruction
 * @VIEW_COUNTS: how often each branch was taken
 * @VIEW_TOTALS: branches, calls and time of each function
 * @VIEW_SCREEN: what was traced, on one screen
 * @VIEW_LOST: what is not in the trace
 * @VIEW_SLOWEST: the slowest runs of a function
 * @VIEW_FOLDED: the time of each stack of calls
 * @VIEW_PERFETTO: nothing; a file for Perfetto is written
 * @VIEW_FIREFOX: nothing; a file for Firefox's profiler is written
 * @VIEW_HTML: nothing; a page for a browser is written
 * @VIEW_COVERAGE: nothing; files of coverage are written
 * @VIEW_BRANCH_PROFILE: nothing; files of branch counts are written
 */
enum view_mode {
	VIEW_CALLS = 0,
	VIEW_BRANCHES,
	VIEW_INSNS,
	VIEW_COUNTS,
	VIEW_TOTALS,
	VIEW_SCREEN,
	VIEW_LOST,
	VIEW_SLOWEST,
	VIEW_FOLDED,
	VIEW_PERFETTO,
	VIEW_FIREFOX,
	VIEW_HTML,
	VIEW_COVERAGE,
	VIEW_BRANCH_PROFILE,
};

struct disasm;
struct output;
struct profile;
struct view;

/**
 * struct view_options - how records are shown
 * @mode: what is shown
 * @mode_given: somebody asked for it
 * @mode_name: the option that did, without "--"
 * @disasm: VIEW_INSNS, and what each instruction is
 * @has_code: there is the code of instructions, see struct view
 * @json: as JSON Lines
 * @time: with time, if the trace has it
 * @stats: only the summary
 * @hash: only the count and hash of what @mode shows
 * @no_fold: repeated calls one by one
 * @source: with lines of source code
 * @inlined: with inlined functions
 * @max_depth: calls deeper than that are not shown; 0: all are
 * @slowest: the functions of VIEW_SLOWEST, as wanted_has() takes them
 * @perfetto: the file of VIEW_PERFETTO
 * @firefox: the file of VIEW_FIREFOX
 * @html: the file of VIEW_HTML
 * @drcov, @lcov: the files of VIEW_COVERAGE, of which there is one at least
 * @bolt, @autofdo: what the files of VIEW_BRANCH_PROFILE begin with, one at least
 * @syms: only calls of these functions, as wanted_has() takes them; NULL: all
 * @top: so many edges, functions or runs are shown; 0: all
 * @top_given: somebody asked for it
 * @part: what is shown is one of several parts: lines end without the summary
 * @packed: records in the file are packed
 * @output: records go to this file instead
 * @narrow: which CPUs, tasks and stretch of time are shown
 * @kallsyms: copy of /proc/kallsyms to use
 * @maps: file of mappings to use
 * @maps_found: kipt found it, the user did not name it
 * @path: the file, for VIEW_SCREEN and VIEW_HTML
 * @again: command that shows more of VIEW_SCREEN, VIEW_SLOWEST and VIEW_HTML, NULL: none; and
 * @typed: its operand and options, after those of the view; of VIEW_HTML without
 * @typed_cpus: those of its options that choose CPUs
 * @packets: command that shows its packets; NULL: it has none
 * @collect: with VIEW_TOTALS gets the profile when it is whole, and nothing is shown;
 *	NULL: nobody does
 * @collect_ctx: its first argument
 * @give: gets the records, none of them packed, and nothing is shown; false ends it.
 *	Called by the thread that decodes, or by several in turn. NULL: nobody does
 * @give_ctx: its first argument
 */
struct view_options {
	enum view_mode mode;
	bool mode_given;
	const char *mode_name;
	bool disasm;
	bool has_code;
	bool json;
	bool time;
	bool stats;
	bool hash;
	bool no_fold;
	bool source;
	bool inlined;
	u32 max_depth;
	const char *slowest;
	const char *perfetto;
	const char *firefox;
	const char *html;
	const char *drcov;
	const char *lcov;
	const char *bolt;
	const char *autofdo;
	const char *syms;
	u32 top;
	bool top_given;
	bool part;
	bool packed;
	const char *output;
	struct narrow_options narrow;
	const char *kallsyms;
	const char *maps;
	bool maps_found;
	const char *path;
	const char *again;
	const char *typed;
	const char *typed_cpus;
	const char *packets;
	void (*collect)(void *ctx, struct view *view, const struct profile *profile);
	void *collect_ctx;
	bool (*give)(void *ctx, const struct output *output,
		     const struct kipt_record *records, u32 count);
	void *give_ctx;
};

/* Ids of the options in VIEW_OPTIONS; verbs use lower ones. */
enum {
	VIEW_OPTION_CALLS = 100,
	VIEW_OPTION_BRANCHES,
	VIEW_OPTION_INSNS,
	VIEW_OPTION_DISASM,
	VIEW_OPTION_COUNTS,
	VIEW_OPTION_TOTALS,
	VIEW_OPTION_LOST,
	VIEW_OPTION_SLOWEST,
	VIEW_OPTION_FOLDED,
	VIEW_OPTION_PERFETTO,
	VIEW_OPTION_FIREFOX,
	VIEW_OPTION_HTML,
	VIEW_OPTION_DRCOV,
	VIEW_OPTION_LCOV,
	VIEW_OPTION_BOLT,
	VIEW_OPTION_AUTOFDO,
	VIEW_OPTION_TOP,
	VIEW_OPTION_JSON,
	VIEW_OPTION_TIME,
	VIEW_OPTION_STATS,
	VIEW_OPTION_HASH,
	VIEW_OPTION_NO_FOLD,
	VIEW_OPTION_MAX_DEPTH,
	VIEW_OPTION_SOURCE,
	VIEW_OPTION_NO_INLINE,
	VIEW_OPTION_OUTPUT,
	VIEW_OPTION_KALLSYMS,
	VIEW_OPTION_MAPS,
	VIEW_OPTION_CPU,
	VIEW_OPTION_PID,
	VIEW_OPTION_TID,
	VIEW_OPTION_COMM,
	VIEW_OPTION_SYM,
};

/* Entries of a verb's option table. */
#define VIEW_OPTIONS							\
	{ "calls", 0, VIEW_OPTION_CALLS, NULL,				\
	  "show calls, returns and events, indented (the\n"		\
	  "default, but for 'kipt open'); with --json or -o:\n"	\
	  "their records only" },					\
	{ "branches", 0, VIEW_OPTION_BRANCHES, NULL,			\
	  "show each taken branch: from -> to, kind" },			\
	{ "insns", 0, VIEW_OPTION_INSNS, NULL,				\
	  "show each instruction's address" },				\
	{ "counts", 0, VIEW_OPTION_COUNTS, NULL,			\
	  "show how often each branch went from where to\n"		\
	  "where, the most frequent first" },				\
	{ "totals", 0, VIEW_OPTION_TOTALS, NULL,			\
	  "show branches, calls and time of each function,\n"		\
	  "most time in itself first" },				\
	{ "lost", 0, VIEW_OPTION_LOST, NULL,				\
	  "show each stretch of time that is not in the trace:\n"	\
	  "CPU, from, duration, tasks before and after, why" },		\
	{ "folded", 0, VIEW_OPTION_FOLDED, NULL,			\
	  "show the time of each stack of calls, a line each,\n"	\
	  "as tools that draw flame graphs read it" },			\
	{ "top", 0, VIEW_OPTION_TOP, "N",				\
	  "with --counts, --totals: only the first N, 0: all;\n"	\
	  "50 unless given, with --json all; of 'kipt open',\n"	\
	  "so many slowest calls and hottest functions" },		\
	{ "json", 'j', VIEW_OPTION_JSON, NULL,				\
	  "JSON Lines for scripts, see kipt(1)" },			\
	{ "stats", 0, VIEW_OPTION_STATS, NULL,				\
	  "only the summary: branches, gaps by kind, speed" },		\
	{ "hash", 0, VIEW_OPTION_HASH, NULL,				\
	  "only the count and a hash of what would be shown:\n"	\
	  "instructions, branches, calls or counts" },			\
	{ "no-fold", 0, VIEW_OPTION_NO_FOLD, NULL,			\
	  "show repeated calls one by one" },				\
	{ "max-depth", 0, VIEW_OPTION_MAX_DEPTH, "N",			\
	  "show calls down to this depth only" },			\
	{ "source", 0, VIEW_OPTION_SOURCE, NULL,			\
	  "show lines of source code of programs that have\n"		\
	  "debug information; with --html of single calls,\n"		\
	  "which takes the time to read it" },				\
	{ "output", 'o', VIEW_OPTION_OUTPUT, "FILE",			\
	  "write the records to FILE instead of showing\n"		\
	  "them; all branches unless --calls or --insns" },		\
	{ "kallsyms", 0, VIEW_OPTION_KALLSYMS, "FILE",			\
	  "kernel symbols from a copy of /proc/kallsyms" },		\
	{ "maps", 0, VIEW_OPTION_MAPS, "FILE",				\
	  "mappings from a file that -o or --save made" }

/* A further entry, of verbs that decode in this process. */
#define VIEW_DISASM_OPTION						\
	{ "disasm", 0, VIEW_OPTION_DISASM, NULL,			\
	  "show each instruction, disassembled (Intel syntax)\n"	\
	  "from the code it was decoded with" }

/* The same of verbs without the code of the trace, which view_settle() refuses. */
#define VIEW_NO_DISASM_OPTION						\
	{ "disasm", 0, VIEW_OPTION_DISASM, NULL, NULL }

/* A further entry, of verbs that have no VIEW_NARROW_OPTIONS. */
#define VIEW_TIME_OPTION						\
	{ "time", 't', VIEW_OPTION_TIME, NULL,				\
	  "show time, if the trace has it" }

/* Further entries, of verbs that read files. */
#define VIEW_NARROW_OPTIONS						\
	{ "no-inline", 0, VIEW_OPTION_NO_INLINE, NULL,			\
	  "with --calls and --perfetto: no inlined functions, which\n"	\
	  "are known of programs that have debug information" },	\
	{ "slowest", 0, VIEW_OPTION_SLOWEST, "SYMBOL",			\
	  "show the slowest runs of a function, 10 or --top N,\n"	\
	  "and of the slowest the calls before it and within" },	\
	{ "perfetto", 0, VIEW_OPTION_PERFETTO, "OUT",			\
	  "write calls, task switches and losses to OUT, a trace\n"	\
	  "that Perfetto (ui.perfetto.dev) draws" },			\
	{ "firefox", 0, VIEW_OPTION_FIREFOX, "OUT",			\
	  "write the stack of each task at each time to OUT, a\n"	\
	  "profile for Firefox's profiler (profiler.firefox.com)" },	\
	{ "html", 0, VIEW_OPTION_HTML, "OUT",				\
	  "write OUT, a page for a browser that shows the whole\n"	\
	  "trace: timeline, flame graphs, search, longest calls" },	\
	{ "drcov", 0, VIEW_OPTION_DRCOV, "OUT",				\
	  "write which code of which file ran to OUT, as drcov\n"	\
	  "does; Lighthouse and others read it" },			\
	{ "lcov", 0, VIEW_OPTION_LCOV, "OUT",				\
	  "write how often lines of source code ran to OUT, for\n"	\
	  "genhtml and others that read files of lcov" },		\
	{ "bolt", 0, VIEW_OPTION_BOLT, "OUT",				\
	  "write how often branches were taken to a file for each\n"	\
	  "build id, OUT.ID or in the folder OUT, for perf2bolt" },	\
	{ "autofdo", 0, VIEW_OPTION_AUTOFDO, "OUT",			\
	  "the same in the text form of create_llvm_prof" },		\
	{ "time", 't', VIEW_OPTION_TIME, "[FROM,TO]",			\
	  "show time, if the trace has it; with FROM,TO only\n"		\
	  "what happened in that stretch, as 5ms,6.5ms or\n"		\
	  "5ms, or ,6.5ms; microseconds without ns, us, ms, s" },	\
	{ "cpu", 0, VIEW_OPTION_CPU, "LIST",				\
	  "only these CPUs, as 0-3,6" },				\
	{ "pid", 0, VIEW_OPTION_PID, "LIST",				\
	  "only these processes, numbers with commas" },		\
	{ "tid", 0, VIEW_OPTION_TID, "LIST",				\
	  "only these threads" },					\
	{ "comm", 0, VIEW_OPTION_COMM, "NAME",				\
	  "only threads of processes that had this name last" },	\
	{ "sym", 0, VIEW_OPTION_SYM, "NAME[,NAME]",			\
	  "only calls of these functions and what they call" }

/**
 * view_option() - take one option
 * @options: where to
 * @id: what args_option() returned
 * @value: its value
 *
 * Return: 1 if it was an option of these tables, 0 if not, -1 after a sentence.
 */
int view_option(struct view_options *options, int id, const char *value);

/**
 * view_settle() - do the options go together
 * @options: all were taken
 *
 * Return: true, or false after a sentence.
 */
bool view_settle(const struct view_options *options);

struct args;

/**
 * view_refuses_stretch() - is an operand meant as the stretch of --time, of a verb that takes none
 * @options: the options
 * @args: the verb and its operands
 * @operand: which, from 0 on; there may be fewer
 *
 * Return: true after a sentence, or false.
 */
bool view_refuses_stretch(const struct view_options *options, const struct args *args,
			  int operand);

/**
 * view_timed() - does what is shown need times
 * @options: options
 *
 * Return: true if so.
 */
bool view_timed(const struct view_options *options);

/**
 * view_shows_lines() - are records shown as they come
 * @options: options
 *
 * Return: true; or false if all that is shown is made of all of them, or goes elsewhere.
 */
bool view_shows_lines(const struct view_options *options);

/**
 * view_output() - the records that are needed to show what is asked for
 * @options: options
 *
 * Return: KIPT_OUTPUT_* (equal to KIPT_FLOW_*).
 */
u32 view_output(const struct view_options *options);

/**
 * view_kinds() - the kinds of branches that are shown of all there may be
 * @options: options
 *
 * Return: bits of enum kipt_branch_kind.
 */
u32 view_kinds(const struct view_options *options);

/**
 * struct view_state - what records that came before say about the next one
 * @cpu: its CPU
 * @tid, @pid: its task, 0 if not known
 * @guest: what runs is a guest's, and that task runs the virtual machine
 * @cr3: its page table, 0 if not known
 * @tsc: time, 0 if not known
 * @tsc_first: the first time there was, on its CPU unless they are merged
 * @edge_pid, @edge_cr3: process and page table of EDGE records, 0 if not known, and
 *	NAMES_GUEST for a guest; of no CPU
 */
struct view_state {
	u32 cpu;
	u32 tid, pid;
	bool guest;
	u64 cr3;
	u64 tsc, tsc_first;
	u32 edge_pid;
	u64 edge_cr3;
};

/**
 * view_code_pid() - the process that the code which runs now is named by
 * @state: the state
 *
 * Return: as names_find() takes it: 0: not known; NAMES_GUEST.
 */
static inline u32 view_code_pid(const struct view_state *state)
{
	return state->guest ? NAMES_GUEST : state->pid;
}

/**
 * struct view - a printer at work
 * @options: options
 * @names: names
 * @out: where to
 * @tsc_khz: to show time in microseconds; 0: in ticks
 * @code: with @disasm of the options: copies up to @size bytes of the code that the
 *	flow had at an INSN record, made with KIPT_FLOW_CODE; returns how many
 * @code_ctx: its first argument
 * @state: before the record that is printed now
 * @tally: counts
 * @print: prints one record; @state and @tally know it already
 * @skim: a quick @print for several records at once: takes branches from the first
 *	record on up to one that needs @print, and returns how many; NULL: there is none
 * @finish: prints what was held back
 * @self: the printer's own
 * @merged: CPUs take turns, their times count from the first of all
 * @first_of: the first time of each CPU, unless they are merged
 * @guests: CPUs that a guest ran on, and whether it does
 * @leaves_guests: @print gets nothing of guests, but that others ran, ...
 * @guests_shown: ... unless the user said what code they have
 * @cut: the file ends too early
 * @none_chosen: the stream has nothing of what was chosen
 * @failed: something is not shown, and a message said so
 */
struct view {
	const struct view_options *options;
	struct names *names;
	FILE *out;
	u32 tsc_khz;
	u32 (*code)(void *ctx, const struct kipt_record *insn, u8 *bytes,
		    u32 size);
	void *code_ctx;
	struct view_state state;
	struct tally tally;
	void (*print)(struct view *view, const struct kipt_record *record);
	u32 (*skim)(struct view *view, const struct kipt_record *records,
		    u32 count);
	void (*finish)(struct view *view);
	void *self;
	struct lookup first_of;
	struct lookup guests;
	bool leaves_guests, guests_shown;
	bool merged;
	bool cut;
	bool none_chosen;
	bool failed;
};

/**
 * view_init() - begin to show
 * @view: the view
 * @options: must live as long
 * @names: must live as long
 * @out: where to
 *
 * Return: true, or false after a sentence.
 */
bool view_init(struct view *view, const struct view_options *options,
	       struct names *names, FILE *out);

/**
 * view_records() - show records
 * @view: the view
 * @records: what, in order
 * @count: how many
 */
void view_records(struct view *view, const struct kipt_record *records,
		  u32 count);

/**
 * view_follow() - take records that are before what is shown: they say only where and
 *	when that is
 * @view: the view
 * @records: what, in order
 * @count: how many
 */
void view_follow(struct view *view, const struct kipt_record *records,
		 u32 count);

/**
 * view_cut() - what is shown of this CPU ends here, though its trace goes on
 * @view: the view
 */
void view_cut(struct view *view);

/**
 * view_only_counts() - is a tally all that is made of records
 * @view: the view
 *
 * Return: true if nobody looks at single records.
 */
bool view_only_counts(const struct view *view);

/**
 * view_flush() - print what was held back; what comes from now on is only
 *	counted
 * @view: the view
 */
void view_flush(struct view *view);

/**
 * view_finish() - print what is left and the summary, and free it all
 * @view: the view; its tally stays valid
 */
void view_finish(struct view *view);

/**
 * view_pid() - whose the user addresses of a record are
 * @view: the view
 * @record: the current one
 *
 * Return: the process, 0 if it is not known.
 */
u32 view_pid(const struct view *view, const struct kipt_record *record);

/**
 * view_end_pid() - the process that one end of a branch is named by
 * @view: the view
 * @kind: enum kipt_branch_kind of the branch
 * @guests: the kind of which this end is a guest's: KIPT_BRANCH_VMEXIT of where it comes
 *	from, KIPT_BRANCH_VMENTRY of where it goes to
 * @pid: of other branches
 * @host: of the other end of these two
 *
 * Return: it, as names_find() takes it.
 */
u32 view_end_pid(const struct view *view, u32 kind, u32 guests, u32 pid, u32 host);

/**
 * view_from_pid() - the process that the address of a record is named by
 * @view: the view
 * @r: the current record
 */
u32 view_from_pid(const struct view *view, const struct kipt_record *r);

/**
 * view_to_pid() - the process that the target of a branch, or of an edge, is named by
 * @view: the view
 * @r: the current record
 */
u32 view_to_pid(const struct view *view, const struct kipt_record *r);

/**
 * view_in_kernel() - whether a record is of the kernel alone, which all processes share
 * @record: BRANCH, of which both ends are to be in the kernel, or INSN
 *
 * Return: true if it is.
 */
static inline bool view_in_kernel(const struct kipt_record *record)
{
	return record->ip >> 63 && (record->type != KIPT_RECORD_BRANCH || record->value >> 63);
}

/**
 * view_line_scope() - what the names in the line of a record depend on
 * @view: the view
 * @record: the current one, BRANCH or INSN
 *
 * Return: it, without CPU and thread.
 */
struct line_scope view_line_scope(const struct view *view,
				  const struct kipt_record *record);

/**
 * view_place() - an address as text, with its line of source code if wanted
 * @view: the view
 * @pid: process it is of
 * @address: the address
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_place(const struct view *view, u32 pid, u64 address,
		       char *text, size_t size);

/**
 * view_insn() - what an instruction is
 * @view: the view, its options have @disasm
 * @record: INSN
 * @insn: filled on success
 * @bytes: receives it, up to 15 bytes
 *
 * Return: true, or false: its code is not known any more.
 */
bool view_insn(const struct view *view, const struct kipt_record *record,
	       struct disasm *insn, u8 *bytes);

/**
 * view_sentence() - what a record that is no branch says
 * @view: the view
 * @record: the current one
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_sentence(const struct view *view, const struct kipt_record *record,
			  char *text, size_t size);

/**
 * view_time() - the time of the current record as a column
 * @view: the view
 * @text: buffer of 32 bytes
 *
 * Return: @text, "" if time is not to be shown.
 */
const char *view_time(const struct view *view, char *text);

/**
 * view_process() - print the end of a line: "  -- process 12 name"
 * @view: the view
 * @pid: whose the line is; 0: not known
 * @cr3: its page table if there is no @pid; 0: not known
 */
void view_process(struct view *view, u32 pid, u64 cr3);

/**
 * view_top() - how many of the lines that are counted are to be shown
 * @options: options
 * @count: how many there are
 *
 * Return: the number.
 */
size_t view_top(const struct view_options *options, size_t count);

/**
 * view_totals_cut() - view_cut() of the printer of totals
 * @view: the view
 */
void view_totals_cut(struct view *view);

/**
 * view_totals_follow() - view_follow() of the printer of totals
 * @view: the view
 * @record: the current one
 */
void view_totals_follow(struct view *view, const struct kipt_record *record);

/* The printers; each sets @print, @finish and @self. False: no memory, or with @failed
 * after a sentence.
 */
bool view_calls_init(struct view *view);
bool view_lines_init(struct view *view);
bool view_json_init(struct view *view);
bool view_counts_init(struct view *view);
bool view_totals_init(struct view *view);
bool view_coverage_init(struct view *view);
bool view_branch_profile_init(struct view *view);

#endif /* KIPT_VIEW_H */
