// SPDX-License-Identifier: GPL-2.0-only
/*
 * One session from new to its end. Every call goes into the log with its
 * times, also before it is made where it can be the last thing that happens.
 */
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kipt.h>
#include <linux/kipt_raw.h>
#include <linux/kipt_record.h>

#define CPUS_MAX	16
#define TAKE_MS		120000
#define PAUSES		12
#define MOST_ROUNDS	48
/* "KIPTRECS", see tools/kipt/record_file.h. */
#define FILE_MAGIC	0x534345525450494bULL

/* IA32_RTIT_CTL; Intel SDM Vol. 3C, "IA32_RTIT_CTL". */
#define CTL_OS		(1ULL << 2)
#define CTL_USER	(1ULL << 3)
#define CTL_MTCEN	(1ULL << 9)
#define CTL_TSCEN	(1ULL << 10)
#define CTL_DISRETC	(1ULL << 11)
#define CTL_BRANCHEN	(1ULL << 13)
#define CTL_MTCFREQ_3	(3ULL << 14)

/* The kernel's own text, modules left out: ranges that a filter may have. */
#define KERNEL_FIRST	0xffffffff80000000ULL
#define KERNEL_LAST	0xffffffffbfffffffULL

/**
 * struct living - a life as it goes
 * @life: what it is made from
 * @client: its socket
 * @rng: its choices
 * @cpus: mask of the CPUs traced
 * @size: bytes a CPU
 * @id: the session
 * @run: number of starts
 * @files: records that are being fetched, by CPU, 0: none
 * @output: what is fetched
 * @pause_ms: the reader rests that long after each of its first messages
 * @records: that came
 * @recorder: records what programs map while a run lasts, or 0
 * @recorder_in: gives it the session
 */
struct living {
	const struct life *life;
	struct client client;
	struct rng rng;
	unsigned int cpus;
	uint64_t size;
	uint32_t id;
	unsigned int run;
	int files[CPUS_MAX];
	uint32_t output;
	unsigned int pause_ms;
	uint64_t records;
	pid_t recorder;
	int recorder_in;
};

static struct message message;

static void begin(struct living *l, const char *name)
{
	const struct spec_command *command = message_command(name);

	message_begin(&message, &l->client.known, command, false);
}

static int ask(struct living *l, const char *name)
{
	begin(l, name);
	message_u32(&message, "id", l->id);
	return client_call(&l->client, &message);
}

static char *cpu_list(unsigned int mask, char *text)
{
	unsigned int cpu;
	char *end = text;

	*end = 0;
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (mask >> cpu & 1)
			end += sprintf(end, "%s%u", end == text ? "" : ",",
				       cpu);
	return text;
}

static void take_id(struct client *client, const void *attrs, size_t len,
		    uint8_t command)
{
	struct living *l = client->ctx;

	(void)command;
	l->id = (uint32_t)client_number(attrs, len, "session", "id", l->id);
}

static uint64_t choose_ctl(struct living *l)
{
	static const uint64_t choices[] = {
		CTL_OS | CTL_USER,
		CTL_OS | CTL_USER | CTL_TSCEN,
		CTL_OS | CTL_USER | CTL_TSCEN | CTL_MTCEN | CTL_MTCFREQ_3,
		CTL_OS | CTL_USER | CTL_DISRETC,
		CTL_OS | CTL_USER | CTL_TSCEN | CTL_MTCEN | CTL_MTCFREQ_3,
		CTL_OS | CTL_TSCEN,
		CTL_USER | CTL_TSCEN,
	};

	return CTL_BRANCHEN |
	       choices[rng_below(&l->rng, sizeof(choices) / sizeof(choices[0]))];
}

static void put_filter(void)
{
	uint32_t kind = KIPT_FILTER_KIND_TRACE;
	uint64_t first = KERNEL_FIRST, last = KERNEL_LAST;
	size_t nest = message_nest(&message, KIPT_A_SESSION_FILTER);

	message_put(&message, KIPT_A_FILTER_KIND, &kind, sizeof(kind));
	message_put(&message, KIPT_A_FILTER_FIRST, &first, sizeof(first));
	message_put(&message, KIPT_A_FILTER_LAST, &last, sizeof(last));
	message_nest_end(&message, nest);
}

static void say(struct living *l, uint64_t since, int result, const char *what)
{
	trail_line(l->life->trail, since, result, "life %s %s run=%u id=%u %s",
		   l->life->name, what, l->run, l->id,
		   result ? l->client.why : "");
}

static int make(struct living *l)
{
	/* What is likely to be lost is kept small: a ring loses the most. */
	bool once = rng_chance(&l->rng, l->life->short_work ? 950 : 700);
	bool filter = rng_chance(&l->rng, 100);
	uint64_t ctl = choose_ctl(l), since;
	char list[64];
	int ret;

	l->cpus = 1U << rng_below(&l->rng, l->life->cpus);
	if (rng_chance(&l->rng, 300))
		l->cpus |= 1U << rng_below(&l->rng, l->life->cpus);
	l->size = 1ULL << (16 + rng_below(&l->rng, l->life->short_work ? 1 : 4));
	if (!once && rng_chance(&l->rng, 950))
		l->size = 8ULL << 20;
	cpu_list(l->cpus, list);
	begin(l, "session-new");
	message_string(&message, "cpus", list);
	message_u32(&message, "mode", once ? KIPT_MODE_ONCE : KIPT_MODE_RING);
	message_u64(&message, "size", l->size);
	message_u64(&message, "ctl", ctl);
	if (filter)
		put_filter();
	trail_line(l->life->trail, trail_now(), 0, "life %s making cpus=%s",
		   l->life->name, list);
	since = trail_now();
	l->client.each = take_id;
	ret = client_call(&l->client, &message);
	l->client.each = NULL;
	trail_line(l->life->trail, since, ret,
		   "life %s new id=%u cpus=%s size=%" PRIu64 " mode=%s ctl=%" PRIx64 " filter=%d %s",
		   l->life->name, l->id, list, l->size, once ? "once" : "ring",
		   ctl, filter, l->client.why);
	if (ret)
		l->id = 0;
	return ret;
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* The CPU may be offline: then the work runs where it can. */
	if (sched_setaffinity(0, sizeof(set), &set))
		sched_yield();
}

static void do_work(const struct living *l, const char *program,
		    unsigned int rounds, unsigned int cpu)
{
	char path[256], count[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	snprintf(path, sizeof(path), "%s/%s", l->life->work, program);
	snprintf(count, sizeof(count), "%u", rounds);
	execl(path, path, count, (char *)NULL);
	_exit(127);
}

static unsigned int traced_cpu(struct living *l)
{
	unsigned int cpu;

	do {
		cpu = rng_below(&l->rng, l->life->cpus);
	} while (!(l->cpus >> cpu & 1));
	return cpu;
}

static int wait_for(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Programs on the CPUs that are traced: user code as a rule, often both. */
static void work(struct living *l)
{
	unsigned int jobs = 1 + rng_below(&l->rng, 2), i;
	/* 9000 transfers a round, and about half as many bytes of trace. */
	unsigned int most = (unsigned int)(l->size / 16384) % MOST_ROUNDS;
	pid_t children[2];

	for (i = 0; i < jobs; i++) {
		bool user = rng_chance(&l->rng, 600);
		unsigned int rounds = 1 + rng_below(&l->rng, most + 1);
		unsigned int cpu = traced_cpu(l);

		children[i] = fork();
		if (!children[i])
			do_work(l, user ? "branches" : "system",
				user ? rounds : 1 + rounds / 40, cpu);
	}
	for (i = 0; i < jobs; i++)
		if (children[i] > 0)
			wait_for(children[i]);
}

static void record_maps(const struct living *l, int in, int out)
{
	char path[256];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/map_images", l->life->work);
	if (dup2(in, 0) == 0 && dup2(out, 1) == 1)
		execl(path, path, (char *)NULL);
	_exit(127);
}

/* From here on it is recorded where the code of programs is. */
static void recorder_begin(struct living *l)
{
	int in[2], out[2];
	char ready;

	l->recorder = 0;
	if (pipe2(in, O_CLOEXEC))
		return;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return;
	}
	l->recorder = fork();
	if (!l->recorder)
		record_maps(l, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	l->recorder_in = in[1];
	/* At its end, if it cannot record. */
	while (read(out[0], &ready, 1) < 0 && errno == EINTR)
		;
	close(out[0]);
}

/* The session has stopped, or could not be started. */
static void recorder_end(struct living *l)
{
	uint64_t since = trail_now();

	if (l->recorder <= 0)
		return;
	dprintf(l->recorder_in, "%u\n", l->id);
	close(l->recorder_in);
	trail_line(l->life->trail, since, wait_for(l->recorder),
		   "life %s images run=%u id=%u", l->life->name, l->run, l->id);
}

/* Who is stopped and goes on may find a part written. */
static bool write_all(int fd, const char *data, size_t bytes)
{
	ssize_t done;

	while (bytes) {
		done = write(fd, data, bytes);
		if (done < 0 && errno != EINTR)
			return false;
		if (done > 0) {
			data += done;
			bytes -= (size_t)done;
		}
	}
	return true;
}

static bool open_file(struct living *l, unsigned int cpu)
{
	struct kipt_record header = {
		.kind = KIPT_RECORD_VERSION,
		.flags = sizeof(header),
		.ip = FILE_MAGIC,
	};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.%u.%u", l->life->dir,
		 l->life->name, l->run, cpu);
	l->files[cpu] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			     0644);
	return l->files[cpu] > 0 &&
	       write_all(l->files[cpu], (const char *)&header, sizeof(header));
}

static void take_records(struct client *client, const void *attrs, size_t len,
			 uint8_t command)
{
	struct living *l = client->ctx;
	uint64_t cpu = client_number(attrs, len, "fetch", "cpu", CPUS_MAX);
	const void *records;
	size_t bytes;

	(void)command;
	records = client_find(attrs, len, KIPT_A_FETCH_RECORDS, &bytes);
	if (!records || cpu >= CPUS_MAX)
		return;
	l->records += bytes / sizeof(struct kipt_record);
	if (l->output != KIPT_OUTPUT_BRANCHES)
		return;
	if (!l->files[cpu] && !open_file(l, (unsigned int)cpu))
		return;
	if (!write_all(l->files[cpu], records, bytes))
		trail_line(l->life->trail, trail_now(), -EIO,
			   "life %s cannot write records", l->life->name);
}

/* As client_call(), with rests between the messages. */
static int take_slowly(struct living *l)
{
	int ret = client_send(&l->client, &message), pauses = PAUSES;

	while (!ret) {
		ret = client_take(&l->client, CLIENT_BUFFER, TAKE_MS);
		if (l->pause_ms && pauses-- > 0)
			usleep(l->pause_ms * 1000);
	}
	if (ret == CLIENT_DONE)
		return l->client.error;
	return ret == CLIENT_LOST ? -ENOBUFS : ret;
}

static int fetch(struct living *l, uint32_t output)
{
	uint64_t since = trail_now();
	unsigned int cpu;
	int ret;

	l->output = output;
	l->records = 0;
	memset(l->files, 0, sizeof(l->files));
	begin(l, "fetch");
	message_u32(&message, "id", l->id);
	message_u32(&message, "output", output);
	l->client.each = take_records;
	ret = take_slowly(l);
	l->client.each = NULL;
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (l->files[cpu] > 0)
			close(l->files[cpu]);
	trail_line(l->life->trail, since, ret,
		   "life %s fetch run=%u id=%u output=%u records=%" PRIu64 " %s",
		   l->life->name, l->run, l->id, output, l->records,
		   l->client.why);
	return ret;
}

/* What the session says of its CPUs goes into the log. */
static void take_cpu(struct client *client, const void *attrs, size_t len,
		     uint8_t command)
{
	struct living *l = client->ctx;
	const void *cpu;
	size_t n;

	(void)command;
	cpu = client_find(attrs, len, KIPT_A_SESSION_CPU, &n);
	if (!cpu)
		return;
	trail_line(l->life->trail, trail_now(), 0,
		   "life %s cpu run=%u cpu=%" PRIu64 " state=%" PRIu64 " cause=%" PRIu64 " head=%" PRIu64 " tail=%" PRIu64,
		   l->life->name, l->run, client_number(cpu, n, "cpu", "cpu", 999),
		   client_number(cpu, n, "cpu", "state", 0),
		   client_number(cpu, n, "cpu", "cause", 0),
		   client_number(cpu, n, "cpu", "head", 0),
		   client_number(cpu, n, "cpu", "tail", 0));
}

static void look(struct living *l)
{
	message_begin(&message, &l->client.known,
		      message_command("session-get"), true);
	message_u32(&message, "id", l->id);
	l->client.each = take_cpu;
	client_call(&l->client, &message);
	l->client.each = NULL;
}

/* A mapping of the raw buffer that is read while the CPU writes to it. */
static void map_raw(struct living *l)
{
	struct kipt_raw_attach attach = {
		.session = l->id,
		.cpu = traced_cpu(l),
	};
	int fd = open("/dev/kipt", O_RDONLY | O_CLOEXEC);
	volatile const unsigned char *map;
	unsigned int sum = 0;
	uint64_t i;

	if (fd < 0 || ioctl(fd, KIPT_RAW_ATTACH, &attach))
		return;
	map = mmap(NULL, l->size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	for (i = 0; i < l->size; i += 4096)
		sum += map[i];
	trail_line(l->life->trail, trail_now(), 0, "life %s mapped cpu=%u %u",
		   l->life->name, attach.cpu, sum);
}

static const uint32_t other_outputs[] = {
	KIPT_OUTPUT_CALLS, KIPT_OUTPUT_INSNS, KIPT_OUTPUT_COUNTS,
	KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_PACKED,
	KIPT_OUTPUT_CALLS | KIPT_OUTPUT_TIME,
};

static int fetch_all(struct living *l)
{
	unsigned int other = rng_below(&l->rng, sizeof(other_outputs) /
				       sizeof(other_outputs[0]));
	bool also = rng_chance(&l->rng, 200);
	int ret;

	l->pause_ms = rng_chance(&l->rng, 100) ? 1 + rng_below(&l->rng, 200) : 0;
	if (rng_chance(&l->rng, 10)) {
		trail_line(l->life->trail, trail_now(), 0, "life %s skip run=%u",
			   l->life->name, l->run);
		return 0;
	}
	ret = fetch(l, KIPT_OUTPUT_BRANCHES);
	l->pause_ms = 0;
	if (!ret && also)
		ret = fetch(l, other_outputs[other]);
	return ret;
}

static int run(struct living *l)
{
	uint64_t since = trail_now();
	int ret;

	l->run++;
	trail_line(l->life->trail, since, 0, "life %s starting run=%u",
		   l->life->name, l->run);
	recorder_begin(l);
	since = trail_now();
	ret = ask(l, "session-start");
	say(l, since, ret, "start");
	if (ret) {
		recorder_end(l);
		return ret;
	}
	if (rng_chance(&l->rng, 100))
		map_raw(l);
	work(l);
	since = trail_now();
	ret = ask(l, "session-stop");
	say(l, since, ret, "stop");
	look(l);
	recorder_end(l);
	/* What stopped it before, suspend for one, left the trace. */
	return ret && ret != -EALREADY ? ret : fetch_all(l);
}

static int live(struct living *l)
{
	unsigned int runs = l->life->short_work ? 1 : 1 + rng_below(&l->rng, 4);
	uint64_t since;
	int ret = make(l);

	while (!ret && runs--)
		ret = run(l);
	if (!l->id || rng_chance(&l->rng, 300))
		return ret;
	since = trail_now();
	ret = ask(l, "session-del");
	say(l, since, ret, "del");
	return ret;
}

int life_run(const struct life *life)
{
	struct living l = { .life = life, .rng = { life->seed } };
	uint64_t since = trail_now();
	int ret = client_open(&l.client);

	/* The recorder may have ended early, without memory or with its CPU. */
	signal(SIGPIPE, SIG_IGN);
	trail_line(life->trail, since, ret, "life %s socket", life->name);
	if (ret)
		return 1;
	l.client.ctx = &l;
	ret = live(&l);
	client_close(&l.client);
	return ret != 0;
}
