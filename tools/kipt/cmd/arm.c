// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt arm: a session that keeps what the CPUs did last, for a crash.
 */
#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/args.h"
#include "../cli/messages.h"
#include "../kernel/affinity.h"
#include "../kernel/ctl_fields.h"
#include "../kernel/lend.h"
#include "../kernel/session_options.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_DEFAULT	(4ULL << 20)
#define PRINT_DEFAULT	32

enum {
	OPTION_CPUS = 1,
	OPTION_KERNEL,
	OPTION_ALL,
	OPTION_USER,
	OPTION_YIELD,
	OPTION_PRINT,
	OPTION_PRINT_CPUS,
	OPTION_PRINT_USER,
	OPTION_LEND,
	OPTION_FOR,
};

static const struct kipt_option options[] = {
	{ "cpus", 'c', OPTION_CPUS, "LIST",
	  "these CPUs, such as 0-3,6, online or not; all that\n"
	  "the machine has with 'all', or unless given" },
	{ "size", 's', SETUP_OPTION_SIZE, "SIZE",
	  "buffer of each CPU, as for 'kipt start'; 4M unless\n"
	  "given" },
	{ "kernel", 0, OPTION_KERNEL, NULL,
	  "trace kernel code only, which is the default" },
	{ "all", 0, OPTION_ALL, NULL,
	  "trace user code too; the buffers reach less far back" },
	{ "user", 0, OPTION_USER, NULL,
	  "as --all, and keep what programs did that a signal\n"
	  "kills: see 'kipt crash list'" },
	{ "yield", 0, OPTION_YIELD, NULL,
	  "other sessions may have single CPUs as long as they\n"
	  "live, as of 'kipt start' and 'record'" },
	{ "ctl", 0, SETUP_OPTION_CTL, "FIELDS",
	  "fields of IA32_RTIT_CTL, as for 'kipt start'" },
	{ "print-branches", 0, OPTION_PRINT, "N",
	  "lines that a dying machine prints, of what its CPU\n"
	  "did last, 0 to 1000; 32 unless given; with 0 no calls\n"
	  "are printed, of other CPUs neither; the address of\n"
	  "the crash header is always printed" },
	{ "print-cpus", 0, OPTION_PRINT_CPUS, "N",
	  "lines that it prints of each other CPU, 0 to 1000;\n"
	  "0 unless given, but 8 where a lockup is reported" },
	{ "print-user", 0, OPTION_PRINT_USER, "N",
	  "with --all or --user, branches of user code that it\n"
	  "prints, those before the system call or fault, 0 to\n"
	  "64; 0 unless given" },
	{ "lend", 0, OPTION_LEND, NULL,
	  "run COMMAND, and let perf have Intel PT of all armed\n"
	  "sessions until it ends" },
	{ "for", 0, OPTION_FOR, "SECONDS",
	  "with --lend, interrupt COMMAND after that time, 1 to\n"
	  "604800" },
	{ 0 }
};

/**
 * struct wish - the command line
 * @setup: how to trace
 * @kernel: --kernel was given
 * @all: --all was given
 * @user: --user was given
 * @yield: --yield was given
 * @lend: --lend was given
 * @seconds: of --for, or 0
 * @other: another option was given
 */
struct wish {
	struct setup setup;
	bool kernel;
	bool all;
	bool user;
	bool yield;
	bool lend;
	u32 seconds;
	bool other;
};

static void armed(const struct kipt_session *session)
{
	char ctl[256];

	ctl_format(session->ctl, ctl, sizeof(ctl));
	printf("session %u is armed: CPUs %s, %llu KiB each, %llu KiB in all, %s; prints %u lines at a crash%s%s\n",
	       session->id, session->cpus,
	       (unsigned long long)session->size >> 10,
	       (unsigned long long)session->memory >> 10, ctl,
	       session->print_branches,
	       session->flags & KIPT_SESSION_FLAGS_USER ?
	       ", keeps programs that are killed" : "",
	       session->flags & KIPT_SESSION_FLAGS_YIELD ?
	       ", yields CPUs to other sessions" : "");
}

/*
 * What it costs beside the rings; and what hooks lack is said now, as nobody looks at
 * the status before the machine dies.
 */
static void state_show(struct genl *genl, u32 id)
{
	struct kipt_session session;

	if (genl_session_get(genl, id, &session))
		return;
	printf("  %llu KiB more for %u snapshots of what the machine survives\n",
	       (unsigned long long)session.snapshots_size >> 10,
	       session.snapshots);
	if (session.hooks_lost[0])
		say_note("a crash may be seen late or not at all: %s",
			 session.hooks_lost);
	session_free(&session);
}

/* What is asked for of user code is what is traced; an enum kipt_exit. */
static int code_check(const struct wish *wish, const struct kipt_info *info)
{
	const struct setup *setup = &wish->setup;
	u64 ctl;

	if (!setup_ctl(setup, info, &ctl))
		return KIPT_EXIT_USAGE;
	if (setup->print_user && !(ctl & RTIT_CTL_USER))
		say_error("--print-user %u: no user code is traced: --all or --user, or User in --ctl, does that",
			  setup->print_user);
	else if (wish->kernel && ctl & RTIT_CTL_USER)
		say_error("--kernel: --ctl %s traces user code: give one of them", setup->ctl);
	else
		return KIPT_EXIT_DONE;
	return KIPT_EXIT_USAGE;
}

static int arm(struct wish *wish)
{
	u32 flags = KIPT_SESSION_FLAGS_DETACHED | KIPT_SESSION_FLAGS_ARMED |
		    (wish->user ? KIPT_SESSION_FLAGS_USER : 0) |
		    (wish->yield ? KIPT_SESSION_FLAGS_YIELD : 0);
	struct setup *setup = &wish->setup;
	struct genl *genl = genl_open(false);
	struct kipt_session session = { 0 };
	struct kipt_info info;
	char all[KIPT_CPUS_TEXT];
	int exit = KIPT_EXIT_FAILED;

	if (!genl)
		return exit;
	if (!genl_info(genl, &info)) {
		if (!setup->cpus) {
			cpus_present(info.online, all, sizeof(all));
			setup->cpus = all;
		}
		exit = code_check(wish, &info);
	}
	if (exit == KIPT_EXIT_DONE)
		exit = setup_session(genl, setup, flags, &info, &session);
	if (exit == KIPT_EXIT_DONE) {
		armed(&session);
		state_show(genl, session.id);
	}
	genl_close(genl);
	return exit;
}

/* Return: false after a sentence. */
static bool lines(struct args *args, const char *name, u32 most, u32 *number)
{
	u64 value;

	if (!args_within(name, args->value, 0, most, &value))
		return false;
	*number = value;
	return true;
}

/* Return: false after a sentence. */
static bool option(struct args *args, struct wish *wish, int id)
{
	u64 seconds;

	wish->other |= id != OPTION_LEND && id != OPTION_FOR;
	switch (id) {
	case OPTION_LEND:
		wish->lend = true;
		return true;
	case OPTION_FOR:
		if (!args_number(args->value, KIPT_RAW_LEND_MAX, &seconds) ||
		    !seconds) {
			say_error("--for %s: allowed are 1 to %u seconds",
				  args->value, KIPT_RAW_LEND_MAX);
			return false;
		}
		wish->seconds = seconds;
		return true;
	case OPTION_CPUS:
		if (!strcmp(args->value, "all")) {
			wish->setup.cpus = NULL;
			return true;
		}
		return setup_option(&wish->setup, SETUP_OPTION_CPUS,
				    args->value) > 0;
	case OPTION_KERNEL:
		wish->kernel = true;
		return true;
	case OPTION_ALL:
		wish->all = true;
		return true;
	case OPTION_USER:
		wish->user = true;
		return true;
	case OPTION_YIELD:
		wish->yield = true;
		return true;
	case OPTION_PRINT:
		return lines(args, "print-branches", KIPT_PRINT_BRANCHES_MAX,
			     &wish->setup.print_branches);
	case OPTION_PRINT_CPUS:
		return lines(args, "print-cpus", KIPT_PRINT_BRANCHES_MAX,
			     &wish->setup.print_cpus);
	case OPTION_PRINT_USER:
		return lines(args, "print-user", KIPT_PRINT_USER_MAX,
			     &wish->setup.print_user);
	}
	return setup_option(&wish->setup, id, args->value) > 0;
}

/* Return: the exit status of the command, or of kipt. */
static int lend(const struct wish *wish, struct args *args)
{
	if (wish->other)
		return args_bad(args, "--lend is of the sessions that are armed: only --for goes with it");
	if (!args->operands)
		return args_bad(args, "--lend needs a command: kipt arm --lend -- perf record ...");
	args->argv[args->operands] = NULL;
	return lend_run(args->argv, wish->seconds);
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_arm, .argc = argc, .argv = argv,
			     .first_operand_ends = true };
	struct wish wish = {
		.setup = {
			.size = SIZE_DEFAULT,
			.mode = KIPT_MODE_RING,
			.print_branches = PRINT_DEFAULT,
		},
	};
	int id;

	while ((id = args_option(&args)) > 0)
		if (!option(&args, &wish, id))
			return KIPT_EXIT_USAGE;
	if (id < 0)
		return args_exit(id);
	if (wish.lend)
		return lend(&wish, &args);
	if (wish.seconds)
		return args_bad(&args, "--for says how long --lend lends");
	if (!args_operands(&args, 0, 0))
		return KIPT_EXIT_USAGE;
	if (wish.kernel && (wish.all || wish.user))
		return args_bad(&args, "--kernel and --%s: give one of them",
				wish.all ? "all" : "user");
	if (!wish.all && !wish.user)
		wish.setup.ctl_without = RTIT_CTL_USER;
	return arm(&wish);
}

const struct kipt_verb verb_arm = {
	.name = "arm",
	.operands = "[--lend -- COMMAND [ARGUMENT]...]",
	.summary = "keep what the CPUs did last, for a crash",
	.about = "Traces the CPUs into rings until 'kipt disarm': also those that come online\n"
		 "later, and again after a suspend. While they are armed, perf and other sessions\n"
		 "cannot use Intel PT on these CPUs. --yield lets other sessions take single CPUs.\n"
		 "--lend gives Intel PT to perf while COMMAND runs; the armed sessions trace again\n"
		 "when COMMAND ends, or when kipt dies. Needs CAP_PERFMON or CAP_SYS_ADMIN.",
	.examples = "  kipt arm\n"
		    "  kipt arm --cpus 0-3 --size 16M --all\n"
		    "  kipt arm --user\n"
		    "  kipt arm --print-branches 0 --ctl +CYCEn\n"
		    "  kipt arm --lend --for 60 -- perf record -e intel_pt// -a sleep 10",
	.options = options,
	.run = run,
};
