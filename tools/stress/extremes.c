// SPDX-License-Identifier: GPL-2.0-only
/*
 * extremes: more of one thing than anybody should have. A reader that rests
 * for minutes, thousands of processes in one trace, session-new from many
 * processes at once, more CPUs than a small reader's buffer holds. Runs in the
 * test machine with the module loaded; where the kernel can, it is made to
 * panic when a task hangs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kipt.h>
#include <linux/kipt_record.h>

#include "session_calls.h"

#define MAKERS		8
#define TAKE_MS		120000
#define SMALL_READER	4096
#define GAPS		64

static const char usage[] =
"usage: extremes TEST [N]\n"
"\n"
"  pause N      a reader rests N seconds; 300 unless given\n"
"  processes N  N processes in one trace; 5000 unless given\n"
"  makers N     8 processes make N sessions each at once; 50 unless given\n"
"  cpus         all CPUs in one session, listed to a reader of 4 KiB\n";

static unsigned int results;
static unsigned int failures;

static bool result(bool ok, const char *name)
{
	printf("%sok %u extremes %s\n", ok ? "" : "not ", ++results, name);
	fflush(stdout);
	failures += !ok;
	return ok;
}

static void write_knob(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		printf("# %s was not written\n", path);
	close(fd);
}

static void panic_when_a_task_hangs(void)
{
	write_knob("/proc/sys/kernel/hung_task_timeout_secs", "20");
	write_knob("/proc/sys/kernel/hung_task_panic", "1");
}

/* Some user and kernel code on this CPU. */
static void work(unsigned int rounds)
{
	while (rounds--)
		getppid();
}

static bool trace(struct client *client, uint32_t id, unsigned int rounds)
{
	bool ok = session_ok(client, "session-start", session_start(client, id));

	work(rounds);
	return ok && session_ok(client, "session-stop", session_stop(client, id));
}

static bool make_and_trace(struct client *client,
			   const struct session_wish *wish, uint32_t *id,
			   unsigned int rounds)
{
	return session_ok(client, "open", client_open(client)) &&
	       session_ok(client, "session-new", session_new(client, wish, id)) &&
	       trace(client, *id, rounds);
}

static uint64_t records;
static uint64_t gaps[GAPS];

static void count_records(struct client *client, const void *attrs, size_t len,
			  uint8_t command)
{
	const struct kipt_record *r;
	size_t bytes, i;

	(void)client;
	(void)command;
	r = client_find(attrs, len, KIPT_A_FETCH_RECORDS, &bytes);
	for (i = 0; r && i < bytes / sizeof(*r); i++) {
		records += r[i].type == KIPT_RECORD_BRANCH;
		if (r[i].type == KIPT_RECORD_GAP)
			gaps[r[i].kind % GAPS]++;
	}
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static bool take_some(struct client *client, unsigned int messages)
{
	while (messages--)
		if (client_take(client, CLIENT_BUFFER, TAKE_MS) != CLIENT_OPEN)
			return false;
	return true;
}

static int take_rest(struct client *client)
{
	int ret;

	do {
		ret = client_take(client, CLIENT_BUFFER, TAKE_MS);
	} while (ret == CLIENT_OPEN);
	return ret == CLIENT_DONE ? client->error : -EIO;
}

/* Another owner goes on meanwhile; each of its calls must end soon. */
static bool others_go_on(unsigned int seconds)
{
	struct session_wish wish = { "1", KIPT_MODE_ONCE, 0, 1 << 20 };
	struct client client;
	unsigned int second;
	uint32_t id;
	bool ok = true;

	for (second = 0; ok && second < seconds; second += 5) {
		ok = make_and_trace(&client, &wish, &id, 1000) &&
		     session_ok(&client, "fetch",
				session_fetch(&client, id, KIPT_OUTPUT_CALLS,
					      NULL));
		client_close(&client);
		sleep(5);
		if (second % 60 == 0)
			printf("# %u of %u s\n", second, seconds);
		fflush(stdout);
	}
	return ok;
}

static void test_pause(unsigned int seconds)
{
	struct session_wish wish = { "0", KIPT_MODE_ONCE, 0, 4 << 20 };
	static struct message message;
	struct client client;
	uint64_t before;
	uint32_t id;

	panic_when_a_task_hangs();
	pin(0);
	if (!result(make_and_trace(&client, &wish, &id, 20000),
		    "there is something to fetch"))
		return;
	session_fetch_message(&message, &client, id, KIPT_OUTPUT_BRANCHES);
	client.each = count_records;
	client_send(&client, &message);
	result(take_some(&client, 3), "a reader begins, and rests");
	before = records;
	pin(1);
	result(others_go_on(seconds), "others go on meanwhile");
	result(!session_ok(&client, "rest of the fetch", take_rest(&client)) ?
	       false : records > before, "the reader gets what is left");
	printf("# %" PRIu64 " branches before the rest, %" PRIu64 " in all\n",
	       before, records);
	client_close(&client);
}

static bool run_processes(unsigned int count)
{
	unsigned int i, at_once = 0;
	int status;

	for (i = 0; i < count; i++) {
		pid_t child = fork();

		if (!child) {
			work(2);
			_exit(0);
		}
		if (child < 0)
			return false;
		/* Some live beside each other. */
		if (++at_once == 32)
			while (at_once && wait(&status) > 0)
				at_once--;
		if (i % 1000 == 0) {
			printf("# %u of %u processes\n", i, count);
			fflush(stdout);
		}
	}
	while (wait(&status) > 0)
		;
	return true;
}

static void show_gaps(void)
{
	unsigned int kind;

	for (kind = 0; kind < GAPS; kind++)
		if (gaps[kind])
			printf("# gaps of kind %u: %" PRIu64 "\n", kind,
			       gaps[kind]);
}

static void test_processes(unsigned int count)
{
	struct session_wish wish = {
		"0", KIPT_MODE_RING, 0, 64 << 20,
	};
	struct client client;
	uint32_t id;
	bool ok;

	panic_when_a_task_hangs();
	pin(0);
	ok = session_ok(&client, "open", client_open(&client)) &&
	     session_ok(&client, "session-new",
			session_new(&client, &wish, &id)) &&
	     session_ok(&client, "session-start", session_start(&client, id));
	if (!result(ok, "a session for many processes is started"))
		return;
	result(run_processes(count), "all of them run");
	result(session_ok(&client, "session-stop", session_stop(&client, id)),
	       "it is stopped");
	result(session_ok(&client, "fetch",
			  session_fetch(&client, id, KIPT_OUTPUT_BRANCHES,
					count_records)), "it is fetched");
	printf("# %" PRIu64 " branches\n", records);
	show_gaps();
	result(records > 100 * (uint64_t)count, "and most of it is decoded");
	client_close(&client);
}

static int make_many(unsigned int index, unsigned int count, unsigned int cpu_count)
{
	struct session_wish wish = { .mode = KIPT_MODE_RING, .size = 65536 };
	struct client client;
	char cpu[16];
	uint32_t id;

	sprintf(cpu, "%u", index % cpu_count);
	wish.cpus = cpu;
	while (count--) {
		int ret;

		if (client_open(&client))
			return 1;
		ret = session_new(&client, &wish, &id);
		/* Others wait for the same CPU when there are too few. */
		if (ret && !(ret == -EBUSY && cpu_count < MAKERS))
			return !session_ok(&client, "session-new", ret);
		if (!ret && count % 2 &&
		    !session_ok(&client, "session-del",
				session_del(&client, id)))
			return 1;
		client_close(&client);
	}
	return 0;
}

static unsigned int sessions;

static void count_session(struct client *client, const void *attrs, size_t len,
			  uint8_t command)
{
	(void)client;
	(void)command;
	if (client_number(attrs, len, "session", "state", 0))
		sessions++;
}

static bool none_left(void)
{
	static struct message message;
	struct client client;
	int tries;

	/* What an owner left is freed later. */
	for (tries = 0; tries < 50; tries++) {
		if (client_open(&client))
			return false;
		sessions = 0;
		client.each = count_session;
		message_begin(&message, &client.known,
			      message_command("session-get"), true);
		client_call(&client, &message);
		client_close(&client);
		if (!sessions)
			return true;
		usleep(100000);
	}
	printf("# %u sessions are left\n", sessions);
	return false;
}

static void test_makers(unsigned int count)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i, failed = 0;
	int status;

	for (i = 0; i < MAKERS; i++)
		if (!fork())
			_exit(make_many(i, count, (unsigned int)cpus));
	while (wait(&status) > 0)
		failed += status != 0;
	printf("# %u processes, %ld CPUs, %u sessions each\n", MAKERS, cpus,
	       count);
	result(!failed, "sessions are made by eight processes at once");
	result(none_left(), "and none of them is left");
}

static uint8_t seen[1024];
static unsigned int seen_count;

static void note_cpu(struct client *client, const void *attrs, size_t len,
		     uint8_t command)
{
	const void *cpu;
	uint64_t number;
	size_t n;

	(void)client;
	(void)command;
	cpu = client_find(attrs, len, KIPT_A_SESSION_CPU, &n);
	number = cpu ? client_number(cpu, n, "cpu", "cpu", ~0ULL) : ~0ULL;
	if (number < sizeof(seen)) {
		seen_count += !seen[number];
		seen[number] = 1;
	}
}

static void test_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct session_wish wish = { .mode = KIPT_MODE_RING, .size = 65536 };
	static struct message message;
	struct client client;
	char list[32];
	uint32_t id;
	int ret;

	sprintf(list, "0-%ld", cpus - 1);
	wish.cpus = list;
	if (!result(make_and_trace(&client, &wish, &id, 10000),
		    "all CPUs trace in one session"))
		return;
	message_begin(&message, &client.known, message_command("session-get"),
		      true);
	client.each = note_cpu;
	ret = client_send(&client, &message);
	while (!ret)
		ret = client_take(&client, SMALL_READER, TAKE_MS);
	printf("# %u of %ld CPUs listed\n", seen_count, cpus);
	result(ret == CLIENT_DONE && !client.error &&
	       seen_count == (unsigned long)cpus,
	       "a reader of 4 KiB gets all of them");
	result(session_ok(&client, "fetch",
			  session_fetch(&client, id, KIPT_OUTPUT_CALLS,
					count_records)),
	       "and fetches all of them");
	client_close(&client);
}

int main(int argc, char **argv)
{
	const char *test = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;

	if (!strcmp(test, "pause"))
		test_pause(n ? n : 300);
	else if (!strcmp(test, "processes"))
		test_processes(n ? n : 5000);
	else if (!strcmp(test, "makers"))
		test_makers(n ? n : 50);
	else if (!strcmp(test, "cpus"))
		test_cpus();
	else
		return fputs(usage, stderr), 2;
	printf("1..%u\n", results);
	return failures != 0;
}
