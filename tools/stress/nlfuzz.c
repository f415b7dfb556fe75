// SPDX-License-Identifier: GPL-2.0-only
/*
 * nlfuzz: sends netlink messages made from the specification, right and wrong
 * ones, from several processes with and without privilege, and judges the
 * answers. Runs in the test machine, where the module is loaded; nlfuzz_guest
 * looks at the machine before and after. The messages of each process depend
 * on the seed alone, but for ids of sessions, which the kernel gives.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define COMMANDS_MAX	32
#define NOBODY		65534
#define CAP_PERFMON_BIT	38
/* Of so many rounds one goes by without the session that is kept. */
#define KEEPER_ROUNDS	20
/* Complaints that are shown; all are counted. */
#define SHOWN_MAX	8

static const char usage[] =
"usage: nlfuzz [--messages N] [--seed N] [--least N]\n"
"\n"
"  --messages N  how many, by all processes together; 20000 unless given\n"
"  --seed N      other messages; 1 unless given\n"
"  --least N     how often each command must have succeeded; N / 1000 unless\n"
"                given\n";

/**
 * enum rights - who a process is
 * @RIGHTS_ROOT: root
 * @RIGHTS_PERFMON: nobody with CAP_PERFMON
 * @RIGHTS_NONE: nobody
 * @RIGHTS_USERNS: root in a user namespace of its own
 */
enum rights {
	RIGHTS_ROOT,
	RIGHTS_PERFMON,
	RIGHTS_NONE,
	RIGHTS_USERNS,
};

static const enum rights worker_rights[] = {
	RIGHTS_ROOT, RIGHTS_PERFMON, RIGHTS_ROOT, RIGHTS_NONE, RIGHTS_USERNS,
};

static const char *const rights_names[] = {
	"root", "CAP_PERFMON", "nobody", "root of a user namespace",
};

#define WORKERS	(sizeof(worker_rights) / sizeof(worker_rights[0]))

/**
 * struct totals - what all processes share
 * @sent: messages
 * @succeeded: by command, in the order of the specification
 * @refused: refusals by command; the last for commands that do not exist
 * @sentences: refusals with a sentence
 * @core: refusals by the netlink core, which has no sentence for them
 * @bare: refusals by kipt without a sentence
 * @intruded: commands that succeeded without the rights to
 * @leaked: answers that said more than the rights allow
 * @ids: session each process made last
 * @shown: complaints that were shown
 */
struct totals {
	atomic_ulong sent;
	atomic_ulong succeeded[COMMANDS_MAX];
	atomic_ulong refused[COMMANDS_MAX + 1];
	atomic_ulong sentences;
	atomic_ulong core;
	atomic_ulong bare;
	atomic_ulong intruded;
	atomic_ulong leaked;
	atomic_uint ids[WORKERS];
	atomic_uint shown;
};

/* Steps of a session's life, so that each command succeeds often. */
enum stage {
	STAGE_NEW,
	STAGE_START,
	STAGE_STOP,
	STAGE_FETCH,
	STAGE_GET,
	STAGE_LIST,
	STAGE_INFO,
	STAGE_DEL,
};

/**
 * struct worker - one process
 * @index: its number
 * @rights: who it is
 * @client: its socket
 * @rng: its choices
 * @life: the choices in the life of its session, which goes as the kernel lets
 * @totals: shared with the others
 * @stage: what is next in the life of @id
 * @id: session of its own, 0 if none
 * @dumping: a dump may be under way on the socket
 * @left: messages it is still to send
 */
struct worker {
	unsigned int index;
	enum rights rights;
	struct client client;
	struct rng rng;
	struct rng life;
	struct totals *totals;
	enum stage stage;
	uint32_t id;
	bool dumping;
	unsigned long left;
};

static struct message message;

static bool may_trace(const struct worker *w)
{
	return w->rights == RIGHTS_ROOT || w->rights == RIGHTS_PERFMON;
}

static unsigned int command_index(const struct spec_command *command)
{
	return command ? (unsigned int)(command - spec_commands) : COMMANDS_MAX;
}

/* Say what the message was, so that it can be found again by the seed. */
static void show(const struct worker *w, const struct message *m,
		 const char *what)
{
	size_t i;

	if (atomic_fetch_add(&w->totals->shown, 1) >= SHOWN_MAX)
		return;
	printf("# %s: process %u (%s), message %u, %s, flags %x: error %d \"%s\"\n#  ",
	       what, w->index, rights_names[w->rights], w->client.seq,
	       m->command ? m->command->name : "unknown command", m->flags,
	       w->client.error, w->client.why);
	for (i = 0; i < m->len && i < 96; i++)
		printf(" %02x", m->data[i]);
	printf("%s\n", m->len > i ? " ..." : "");
	fflush(stdout);
}

static void note_id(struct worker *w, uint32_t id)
{
	struct message_known *known = &w->client.known;
	unsigned int i;

	atomic_store(&w->totals->ids[w->index], id);
	known->ids[1] = known->ids[0];
	known->ids[0] = id;
	for (i = 2; i < MESSAGE_IDS; i++)
		known->ids[i] = atomic_load(&w->totals->ids[i % WORKERS]);
}

/* The set of attributes that get-info answers with. */
static unsigned int info_set(void)
{
	return message_command("get-info")->set;
}

static bool has(const void *attrs, size_t len, const char *name)
{
	return client_find(attrs, len, message_find(info_set(), name), &len);
}

static void each_answer(struct client *client, const void *attrs, size_t len,
			uint8_t command)
{
	struct worker *w = client->ctx;
	uint64_t value;

	if (command == message_command("session-new")->number) {
		value = client_number(attrs, len, "session", "id", 0);
		if (value && value != w->client.known.ids[0])
			note_id(w, (uint32_t)value);
	}
	value = client_number(attrs, len, "fetch", "fetch", 0);
	if (command == message_command("fetch")->number && value)
		client->known.fetch = (uint32_t)value;
	if (may_trace(w) || command != message_command("get-info")->number)
		return;
	if (has(attrs, len, "busy") || has(attrs, len, "memory") ||
	    has(attrs, len, "latch"))
		atomic_fetch_add(&w->totals->leaked, 1);
}

/* What generic netlink refuses by itself, without a sentence. */
static bool core_refuses(const struct worker *w, const struct message *m)
{
	bool dump = (m->flags & NLM_F_DUMP) == NLM_F_DUMP;
	int error = w->client.error;

	if (m->cut)
		return true;
	if (!m->command)
		return error == -EOPNOTSUPP;
	if (dump && w->dumping && error == -EBUSY)
		return true;
	return error == -EOPNOTSUPP &&
	       !(dump ? m->command->dump.exists : m->command->doit.exists);
}

static void account_refusal(struct worker *w, const struct message *m)
{
	atomic_fetch_add(&w->totals->refused[command_index(m->command)], 1);
	if (w->client.why[0]) {
		atomic_fetch_add(&w->totals->sentences, 1);
	} else if (core_refuses(w, m)) {
		atomic_fetch_add(&w->totals->core, 1);
	} else {
		atomic_fetch_add(&w->totals->bare, 1);
		show(w, m, "no sentence");
	}
}

static void account(struct worker *w, const struct message *m)
{
	if (w->client.error) {
		account_refusal(w, m);
		return;
	}
	if (!m->command || m->cut || !(m->flags & NLM_F_REQUEST))
		return;
	atomic_fetch_add(&w->totals->succeeded[command_index(m->command)], 1);
	if (may_trace(w) || !strcmp(m->command->name, "get-info"))
		return;
	atomic_fetch_add(&w->totals->intruded, 1);
	show(w, m, "done without the rights");
}

static bool open_socket(struct worker *w)
{
	struct message_known known = w->client.known;
	int one = 1;

	if (client_open(&w->client)) {
		printf("# process %u: no socket to kipt\n", w->index);
		return false;
	}
	if (rng_chance(&w->rng, 300))
		setsockopt(w->client.fd, SOL_NETLINK, NETLINK_CAP_ACK, &one,
			   sizeof(one));
	if (rng_chance(&w->rng, 300))
		setsockopt(w->client.fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK,
			   &one, sizeof(one));
	if (known.family)
		w->client.known = known;
	w->client.each = each_answer;
	w->client.ctx = w;
	w->dumping = false;
	if (rng_chance(&w->rng, 50))
		client_join(&w->client);
	return true;
}

/* A socket takes its session with it. */
static bool reopen_socket(struct worker *w)
{
	client_close(&w->client);
	w->id = 0;
	w->stage = STAGE_NEW;
	return open_socket(w);
}

/*
 * Send and take at most @takes datagrams of @room bytes. Requests are worked
 * off inside send(), dumps inside recv(): when nothing is left, all is done.
 * Return: the verdict, -EAGAIN without one.
 */
static int exchange(struct worker *w, struct message *m, unsigned int takes,
		    size_t room)
{
	int ret = client_send(&w->client, m);

	atomic_fetch_add(&w->totals->sent, 1);
	w->left--;
	while (!ret && takes--) {
		ret = client_take(&w->client, room, 0);
		if (ret == CLIENT_DONE) {
			account(w, m);
			return w->client.error;
		}
	}
	/* Nothing is left, or a dump was given up. */
	w->dumping = ret != -EAGAIN;
	return -EAGAIN;
}

static int exchange_all(struct worker *w, struct message *m)
{
	return exchange(w, m, ~0U, CLIENT_BUFFER);
}

static void begin(struct worker *w, const char *name, bool dump)
{
	const struct spec_command *command = message_command(name);

	message_begin(&message, &w->client.known, command, dump);
}

static int ask_by_id(struct worker *w, const char *name, bool dump)
{
	begin(w, name, dump);
	message_u32(&message, "id", w->id);
	return exchange_all(w, &message);
}

static int ask_new(struct worker *w)
{
	char cpu[16];
	int ret;

	sprintf(cpu, "%u", w->client.known.cpu);
	begin(w, "session-new", false);
	message_string(&message, "cpus", cpu);
	message_u32(&message, "mode", 1 + rng_below(&w->life, 2));
	message_u64(&message, "size", 65536);
	message_u64(&message, "ctl", 0x200c);
	ret = exchange_all(w, &message);
	w->id = ret ? 0 : w->client.known.ids[0];
	return ret;
}

static int ask_fetch(struct worker *w)
{
	static const uint32_t outputs[] = { 1, 2, 4, 9, 10, 17, 32 };

	begin(w, "fetch", false);
	message_u32(&message, "id", w->id);
	message_u32(&message, "output",
		    outputs[rng_below(&w->life, sizeof(outputs) / sizeof(outputs[0]))]);
	return exchange_all(w, &message);
}

/*
 * The next step of an ordinary session's life. Others may take the CPU or
 * delete the session at any time: then it begins anew.
 */
static void live(struct worker *w)
{
	int ret = 0;

	switch (w->stage) {
	case STAGE_NEW:
		ret = ask_new(w);
		break;
	case STAGE_START:
		ret = ask_by_id(w, "session-start", false);
		break;
	case STAGE_STOP:
		ret = ask_by_id(w, "session-stop", false);
		break;
	case STAGE_FETCH:
		ret = ask_fetch(w);
		break;
	case STAGE_GET:
		ret = ask_by_id(w, "session-get", false);
		break;
	case STAGE_LIST:
		ret = ask_by_id(w, "session-get", true);
		break;
	case STAGE_INFO:
		begin(w, "get-info", false);
		ret = exchange_all(w, &message);
		break;
	case STAGE_DEL:
		ask_by_id(w, "session-del", false);
		w->stage = STAGE_NEW;
		return;
	}
	w->stage = ret ? STAGE_NEW : w->stage + 1;
}

static bool step(struct worker *w)
{
	unsigned int choice = rng_below(&w->rng, 1000), takes;
	bool give_up = rng_chance(&w->rng, 300);
	size_t room;

	if (w->dumping && give_up)
		return reopen_socket(w);
	if (choice < 150) {
		live(w);
		return true;
	}
	if (choice < 155)
		return reopen_socket(w);
	if (choice < 450)
		message_likely(&message, &w->rng, &w->client.known);
	else
		message_broken(&message, &w->rng, &w->client.known);
	takes = rng_chance(&w->rng, 850) ? ~0U : rng_below(&w->rng, 4);
	room = rng_chance(&w->rng, 900) ? CLIENT_BUFFER :
	       64 + rng_below(&w->rng, 8192);
	exchange(w, &message, takes, room);
	return true;
}

static bool drop_to_perfmon(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

	data[1].effective = data[1].permitted = 1U << (CAP_PERFMON_BIT - 32);
	return !prctl(PR_SET_KEEPCAPS, 1) &&
	       !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY) &&
	       !syscall(SYS_capset, &header, data);
}

static bool take_rights(enum rights rights)
{
	switch (rights) {
	case RIGHTS_PERFMON:
		return drop_to_perfmon();
	case RIGHTS_NONE:
		return !setresgid(NOBODY, NOBODY, NOBODY) &&
		       !setresuid(NOBODY, NOBODY, NOBODY);
	case RIGHTS_USERNS:
		return !setresgid(NOBODY, NOBODY, NOBODY) &&
		       !setresuid(NOBODY, NOBODY, NOBODY) &&
		       !unshare(CLONE_NEWUSER);
	default:
		return true;
	}
}

/* The bits of IA32_RTIT_CTL that all CPUs here have. */
static void take_caps(struct client *client, const void *attrs, size_t len,
		      uint8_t command)
{
	const void *cap;
	size_t cap_len;

	(void)command;
	cap = client_find(attrs, len, message_find(info_set(), "cap"), &cap_len);
	if (cap)
		client->known.ctl = client_number(cap, cap_len, "cap",
						  "ctl-allowed", 0x200c);
}

static int run_worker(struct worker *w)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!take_rights(w->rights) || !open_socket(w)) {
		printf("# process %u cannot become %s\n", w->index,
		       rights_names[w->rights]);
		return 1;
	}
	w->client.known.cpus = (unsigned int)cpus;
	w->client.known.cpu = w->index % (unsigned int)cpus;
	w->client.known.ctl = 0x200c;
	w->client.each = take_caps;
	begin(w, "get-info", false);
	client_call(&w->client, &message);
	w->client.each = each_answer;
	while (w->left)
		if (!step(w))
			return 1;
	client_close(&w->client);
	return 0;
}

/* Sessions that outlive their makers would keep CPUs and memory for ever. */
static uint32_t detached[64];
static unsigned int detached_count;
/* How often one of them could not be deleted. */
static unsigned int undeleted;

static void note_detached(struct client *client, const void *attrs, size_t len,
			  uint8_t command)
{
	uint64_t flags = client_number(attrs, len, "session", "flags", 0);
	uint32_t id = (uint32_t)client_number(attrs, len, "session", "id", 0);

	(void)client;
	(void)command;
	if ((flags & 1) && detached_count < 64)
		detached[detached_count++] = id;
}

static void delete_detached(void)
{
	struct client client;
	unsigned int i;

	if (client_open(&client))
		return;
	client.each = note_detached;
	detached_count = 0;
	message_begin(&message, &client.known, message_command("session-get"),
		      true);
	client_call(&client, &message);
	client.each = NULL;
	for (i = 0; i < detached_count; i++) {
		message_begin(&message, &client.known,
			      message_command("session-del"), false);
		message_u32(&message, "id", detached[i]);
		/* A worker may have deleted it meanwhile. */
		if (client_call(&client, &message) && client.error != -ENOENT) {
			printf("# session %u is not deleted: error %d \"%s\"\n",
			       detached[i], client.error, client.why);
			undeleted++;
		}
	}
	client_close(&client);
}

/*
 * The first session and the last patch kernel text, with waits that all others
 * share: most of the time there is one more, so that they are neither. It is
 * on a CPU that only workers without rights keep to, and anybody may delete it.
 */
static struct client keeper = { .fd = -1 };

static void keep_session(bool kept)
{
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	char cpu[16];

	client_close(&keeper);
	if (!kept || client_open(&keeper))
		return;
	sprintf(cpu, "%u", cpus - 1);
	message_begin(&message, &keeper.known, message_command("session-new"),
		      false);
	message_string(&message, "cpus", cpu);
	message_u32(&message, "mode", 2);
	message_u64(&message, "size", 65536);
	message_u64(&message, "ctl", 0x200c);
	client_call(&keeper, &message);
}

/* Wait for all, deleting what outlives its maker. Return: how many failed. */
static unsigned int watch(const struct totals *totals, unsigned long messages)
{
	unsigned int left = WORKERS, failed = 0, rounds = 0;
	int status;

	while (left) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0) {
			left--;
			failed += status != 0;
			continue;
		}
		if (rounds % KEEPER_ROUNDS < 2)
			keep_session(rounds % KEEPER_ROUNDS);
		usleep(200000);
		delete_detached();
		if (++rounds % 50 == 0) {
			printf("# %lu of %lu messages\n",
			       atomic_load(&totals->sent), messages);
			fflush(stdout);
		}
	}
	keep_session(false);
	delete_detached();
	return failed;
}

static unsigned int results;
static unsigned int failures;

static void result(bool ok, const char *name)
{
	printf("%sok %u nlfuzz %s\n", ok ? "" : "not ", ++results, name);
	failures += !ok;
}

/* A machine that is well has none. */
static bool needs_a_snapshot(const char *command)
{
	return !strncmp(command, "snapshot-", strlen("snapshot-"));
}

static bool all_succeeded(const struct totals *totals, unsigned long least)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < spec_command_count; i++) {
		unsigned long n = atomic_load(&totals->succeeded[i]);

		printf("# %-13s succeeded %lu times, was refused %lu times\n",
		       spec_commands[i].name, n,
		       atomic_load(&totals->refused[i]));
		ok &= n >= least || needs_a_snapshot(spec_commands[i].name);
	}
	return ok;
}

static void report(const struct totals *totals, unsigned int failed,
		   unsigned long least)
{
	bool enough = all_succeeded(totals, least);

	printf("# %lu messages; refusals: %lu with a sentence, %lu of the netlink core, %lu without\n",
	       atomic_load(&totals->sent), atomic_load(&totals->sentences),
	       atomic_load(&totals->core), atomic_load(&totals->bare));
	result(!failed, "every process ends well");
	result(atomic_load(&totals->sentences) && !atomic_load(&totals->bare),
	       "every refusal of kipt has its sentence");
	printf("# wanted: %lu\n", least);
	result(enough, "each command succeeds often enough");
	result(!atomic_load(&totals->intruded),
	       "without the rights only get-info succeeds");
	result(!atomic_load(&totals->leaked),
	       "without the rights get-info keeps what it must");
	result(!undeleted, "sessions that outlive their makers can be deleted");
}

static void start_worker(struct totals *totals, unsigned int index,
			 unsigned long messages, uint64_t seed)
{
	struct worker w = {
		.index = index,
		.rights = worker_rights[index],
		.totals = totals,
		.rng = { seed * WORKERS + index },
		.life = { ~seed * WORKERS + index },
		.left = messages / WORKERS,
	};

	fflush(stdout);
	if (!fork())
		_exit(run_worker(&w));
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (*end || end == text) {
		fprintf(stderr, "nlfuzz: '%s' is no number\n%s", text, usage);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "messages", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' },
		{ "least", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 }
	};
	unsigned long messages = 20000, least = 0, seed = 1;
	struct totals *totals;
	unsigned int i;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?') {
			fputs(usage, stderr);
			return 2;
		}
		*(option == 'm' ? &messages : option == 's' ? &seed : &least) =
			number(optarg);
	}
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED)
		return 1;
	for (i = 0; i < WORKERS; i++)
		start_worker(totals, i, messages, seed);
	i = watch(totals, messages);
	report(totals, i, least ? least : messages / 1000);
	printf("1..%u\n", results);
	return failures != 0;
}
