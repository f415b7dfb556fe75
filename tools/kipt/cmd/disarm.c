// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt disarm: end the armed sessions.
 */
#include <time.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "../kernel/affinity.h"
#include "../kernel/genl.h"

/* Any machine has that many at most, as each has CPUs of its own. */
#define ARMED_MAX	KIPT_CPUS_MAX
#define WAIT_STEPS	100
#define WAIT_STEP_NS	20000000L

static const struct kipt_option options[] = { { 0 } };

/**
 * struct armed - the armed sessions
 * @count: how many
 * @id: their numbers
 * @memory: bytes they use
 */
struct armed {
	u32 count;
	u32 id[ARMED_MAX];
	u64 memory;
};

static void found(void *ctx, const struct kipt_session *session)
{
	struct armed *armed = ctx;

	if (!(session->flags & KIPT_SESSION_FLAGS_ARMED) ||
	    armed->count == ARMED_MAX)
		return;
	armed->id[armed->count++] = session->id;
	armed->memory += session->memory;
}

/*
 * Who makes a session waits for the CPUs of one that goes, but not for its
 * memory, which is freed a moment later.
 */
static void wait_for_memory(struct genl *genl, u64 before, u64 freed)
{
	struct timespec step = { .tv_nsec = WAIT_STEP_NS };
	struct kipt_info info;
	int i;

	for (i = 0; i < WAIT_STEPS; i++) {
		if (genl_info(genl, &info) || info.memory + freed <= before)
			return;
		nanosleep(&step, NULL);
	}
}

static int disarm(struct genl *genl)
{
	static struct armed armed;
	struct kipt_info info;
	int err = 0;
	u32 i;

	if (genl_session_each(genl, found, &armed) || genl_info(genl, &info))
		return KIPT_EXIT_FAILED;
	if (!armed.count) {
		say_error("no session is armed");
		return KIPT_EXIT_FAILED;
	}
	for (i = 0; i < armed.count; i++)
		if (genl_session_delete(genl, armed.id[i]))
			err = -1;
	if (err)
		return KIPT_EXIT_FAILED;
	wait_for_memory(genl, info.memory, armed.memory);
	return KIPT_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_disarm, .argc = argc,
			     .argv = argv };
	struct genl *genl;
	int id, exit;

	while ((id = args_option(&args)) > 0)
		;
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 0, 0))
		return KIPT_EXIT_USAGE;
	genl = genl_open(false);
	if (!genl)
		return KIPT_EXIT_FAILED;
	exit = disarm(genl);
	genl_close(genl);
	return exit;
}

const struct kipt_verb verb_disarm = {
	.name = "disarm",
	.operands = "",
	.summary = "end what 'kipt arm' began",
	.about = "Deletes all armed sessions; those of another user need CAP_SYS_ADMIN. Waits up\n"
		 "to two seconds until their memory is free.",
	.examples = "  kipt disarm",
	.options = options,
	.run = run,
};
