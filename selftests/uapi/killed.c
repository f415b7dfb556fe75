// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that a signal kills while a session keeps them: which are kept and
 * which are not, how many of each user, and what dies in the middle of
 * something else. Takes CPU 1 offline and back. Runs as root on a machine with
 * two CPUs with PT and the module loaded; skips elsewhere.
 */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kipt_test.h"
#include "machine_state.h"
#include <linux/kipt_crash.h>

/* The module's defaults. */
#define OF_USER		4
#define OF_ALL		8

/* One of those that are kept. */
struct kept {
	uint32_t id;
	uint32_t hook;
	uint32_t cpu;
	uint32_t signal;
	uint32_t process;
	uint32_t uid;
	uint32_t missed;
	uint64_t size;
	char file[256];
};

struct list {
	struct kept kept[128];
	unsigned int count;
};

static void see(struct kipt_nl *nl, void *ctx)
{
	struct list *list = ctx;
	const char *file;
	size_t len;

	if (list->count == 128)
		return;
	file = kipt_nl_attr(nl, KIPT_A_SNAPSHOT_FILE, &len);
	list->kept[list->count] = (struct kept){
		.id = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_ID, 0),
		.hook = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_HOOK, 0),
		.cpu = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_CPU, 99),
		.signal = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_SIGNAL, 0),
		.process = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_PROCESS, 0),
		.uid = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_UID, ~0U),
		.missed = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_MISSED, 0),
		.size = kipt_nl_u64(nl, KIPT_A_SNAPSHOT_SIZE, 0),
	};
	if (file)
		snprintf(list->kept[list->count].file, sizeof(list->kept[0].file), "%.*s",
			 (int)len, file);
	list->count++;
}

/* Return: messages, or a negative errno. */
static int list_all(struct kipt_nl *nl, struct list *list)
{
	struct kipt_msg msg;

	list->count = 0;
	kipt_msg_begin(&msg, KIPT_CMD_SNAPSHOT_GET);
	return kipt_nl_dump(nl, &msg, see, list);
}

FIXTURE(killed)
{
	struct kipt_nl nl;
	struct kipt_want want;
	struct list list;
	int complaints;
	int id;
};

FIXTURE_SETUP(killed)
{
	const struct rlimit none = { 0, 0 };

	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	setrlimit(RLIMIT_CORE, &none);
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	kipt_snapshots_delete(&self->nl);
	self->complaints = machine_complaints(false);
	self->want = (struct kipt_want){
		.cpus = "0-1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
		.flags = ARMED_USER,
	};
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
}

static bool all_is_free(struct kipt_nl *nl)
{
	int tries;

	for (tries = 0; tries < 250 * slowness(); tries++) {
		kipt_snapshots_delete(nl);
		if (!kipt_memory(nl))
			return true;
		wait_ms(20);
	}
	return false;
}

FIXTURE_TEARDOWN(killed)
{
	knob_back();
	if (self->id > 0)
		kipt_session_del(&self->nl, self->id);
	EXPECT_TRUE(all_is_free(&self->nl));
	EXPECT_EQ(self->complaints, machine_complaints(true));
	kipt_nl_close(&self->nl);
}

static const struct kept *find(const struct list *list, pid_t process)
{
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (list->kept[i].process == (uint32_t)process)
			return &list->kept[i];
	return NULL;
}

/* That of a process, within five seconds. */
static const struct kept *await(struct kipt_nl *nl, struct list *list,
				pid_t process)
{
	int tries;

	for (tries = 0; tries < 250 * slowness(); tries++) {
		list_all(nl, list);
		if (find(list, process))
			return find(list, process);
		wait_ms(20);
	}
	return NULL;
}

static unsigned int count_of(const struct list *list, uint32_t uid)
{
	unsigned int i, count = 0;

	for (i = 0; i < list->count; i++)
		count += list->kept[i].uid == uid;
	return count;
}

/* Another user, who may leave a core dump: setresuid() forbids it. */
static void become(uid_t uid)
{
	if (uid && (setresuid(uid, uid, uid) || prctl(PR_SET_DUMPABLE, 1)))
		_exit(99);
}

/*
 * Run @run as a user in a process, and wait for its end.
 * Return: the process; *status is as waitpid() says.
 */
static pid_t run_as(uid_t uid, void (*run)(void), int *status)
{
	pid_t child = fork();

	if (!child) {
		become(uid);
		run();
		_exit(0);
	}
	waitpid(child, status, 0);
	return child;
}

static int end_of(void (*run)(void), pid_t *process)
{
	int status = 0;

	*process = run_as(0, run, &status);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static inline __attribute__((always_inline)) void divide(void)
{
	asm volatile("xor %%ecx, %%ecx; xor %%edx, %%edx; div %%ecx" : : :
		     "eax", "ecx", "edx");
}

static void undefined(void)
{
	asm volatile("ud2");
}

static void bus(void)
{
	int fd = memfd_create("empty", 0);

	*(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
}

TEST_F(killed, each_signal_is_kept)
{
	static const struct {
		void (*run)(void);
		int signal;
	} kinds[] = {
		{ read_nothing, SIGSEGV }, { abort, SIGABRT },
		{ undefined, SIGILL }, { bus, SIGBUS }, { divide, SIGFPE },
	};
	const struct kept *kept;
	unsigned int i;
	pid_t process;
	int status;

	for (i = 0; i < 5; i++) {
		process = run_as(2000 + i, kinds[i].run, &status);
		EXPECT_EQ(kinds[i].signal, WTERMSIG(status));
		kept = await(&self->nl, &self->list, process);
		ASSERT_NE(NULL, kept) TH_LOG("signal %d", kinds[i].signal);
		EXPECT_EQ(KIPT_CRASH_HOOK_SIGNAL, kept->hook);
		EXPECT_EQ(kinds[i].signal, kept->signal);
		EXPECT_EQ(2000 + i, kept->uid);
	}
}

static void on_signal(int number)
{
	_exit(number);
}

static void handled(void)
{
	signal(SIGSEGV, on_signal);
	read_nothing();
}

static void ignored(void)
{
	signal(SIGABRT, SIG_IGN);
	raise(SIGABRT);
}

static void other_signals(void)
{
	raise(SIGQUIT);
}

static void killed(void)
{
	raise(SIGKILL);
}

TEST_F(killed, what_is_handled_or_no_crash_is_not_kept)
{
	pid_t process;

	EXPECT_EQ(0, end_of(handled, &process));
	EXPECT_EQ(0, end_of(ignored, &process));
	EXPECT_EQ(SIGQUIT, end_of(other_signals, &process));
	EXPECT_EQ(SIGKILL, end_of(killed, &process));
	EXPECT_EQ(SIGSEGV, end_of(read_nothing, &process));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(1, self->list.count);
}

TEST_F(killed, a_signal_for_who_sleeps_on_another_cpu)
{
	const struct kept *kept;
	int ready[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	if (!child) {
		pin_to(1);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	pin_to(0);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	close(ready[0]);
	close(ready[1]);
	wait_ms(200);
	kill(child, SIGSEGV);
	waitpid(child, NULL, 0);
	kept = await(&self->nl, &self->list, child);
	ASSERT_NE(NULL, kept);
	EXPECT_EQ(1, kept->cpu);
}

TEST_F(killed, a_tracer_may_keep_it_alive)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSEGV);
		_exit(7);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSEGV);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	wait_ms(200);
	list_all(&self->nl, &self->list);
	EXPECT_EQ(0, self->list.count);
}

static void forbidden(void)
{
	if (prctl(PR_SET_DUMPABLE, 0))
		_exit(99);
	read_nothing();
}

/* As a daemon that gave up root, or a set-uid program: it was not asked. */
static void another_user(void)
{
	if (setresuid(2000, 2000, 2000))
		_exit(99);
	read_nothing();
}

static void forbidden_and_allowed(void)
{
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_DUMPABLE, 1))
		_exit(99);
	read_nothing();
}

TEST_F(killed, who_forbids_core_dumps_is_not_kept)
{
	pid_t process;

	EXPECT_EQ(SIGSEGV, end_of(forbidden, &process));
	EXPECT_EQ(SIGSEGV, end_of(another_user, &process));
	EXPECT_EQ(SIGSEGV, end_of(forbidden_and_allowed, &process));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(1, self->list.count);
	EXPECT_EQ(0, self->list.kept[0].missed);
}

static pthread_barrier_t barrier;

static void *read_together(void *unused)
{
	pthread_barrier_wait(&barrier);
	read_nothing();
	return unused;
}

static void threads(void)
{
	pthread_t thread;
	int i;

	pthread_barrier_init(&barrier, NULL, 8);
	for (i = 0; i < 7; i++)
		pthread_create(&thread, NULL, read_together, NULL);
	read_together(NULL);
}

TEST_F_TIMEOUT(killed, of_threads_that_die_at_once_one_is_kept, 900)
{
	pid_t process[OF_USER];
	unsigned int i;

	for (i = 0; i < OF_USER; i++)
		EXPECT_EQ(SIGSEGV, end_of(threads, &process[i]));
	for (i = 0; i < OF_USER; i++)
		EXPECT_NE(NULL, await(&self->nl, &self->list, process[i]));
	EXPECT_EQ(OF_USER, self->list.count);
}

static int log_count(const char *words)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[8192];
	int count = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		count += strstr(line, words) != NULL;
	}
	close(fd);
	return count;
}

#define NO_MORE	"of user 1000 was killed by signal 11: 'kipt crash show "
#define UNTIL	"until the next one is: there is no room for more"

/*
 * Of each user the first crashes and the last one are kept; other users have room of
 * their own. The log says once that there is no more room.
 */
TEST_F_TIMEOUT(killed, a_thousand_crashes_of_one_user, 900)
{
	int i, rounds = (int)unless_short(1000, 100) / slowness();
	int lines = log_count(NO_MORE), warnings = log_count(UNTIL);
	pid_t first[OF_USER], process = 0, other;
	uint64_t memory;
	int status;

	other = run_as(1001, read_nothing, &status);
	ASSERT_NE(NULL, await(&self->nl, &self->list, other));
	for (i = 0; i < OF_USER; i++) {
		first[i] = run_as(1000, read_nothing, &status);
		ASSERT_NE(NULL, await(&self->nl, &self->list, first[i]));
	}
	memory = kipt_memory(&self->nl);
	for (i = 0; i < rounds; i++) {
		process = run_as(1000, read_nothing, &status);
		if (WTERMSIG(status) != SIGSEGV)
			break;
	}
	EXPECT_EQ(rounds, i);
	EXPECT_EQ(memory, kipt_memory(&self->nl));
	ASSERT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER + 1, self->list.count);
	EXPECT_EQ(rounds, find(&self->list, process)->missed);
	for (i = 0; i < OF_USER - 1; i++)
		EXPECT_NE(NULL, find(&self->list, first[i]));
	EXPECT_NE(NULL, find(&self->list, other));
	EXPECT_EQ(warnings + 1, log_count(UNTIL));
	EXPECT_EQ(lines + OF_USER + 1, log_count(NO_MORE));
	process = run_as(1001, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(0, kipt_snapshot_del(&self->nl, find(&self->list, first[1])->id));
	process = run_as(1000, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER, count_of(&self->list, 1000));
	EXPECT_NE(NULL, find(&self->list, first[0]));
	EXPECT_NE(NULL, find(&self->list, first[2]));
}

/* Who has none when all are taken gets none, and nobody else's. */
TEST_F_TIMEOUT(killed, all_users_together_have_a_bound, 900)
{
	const struct kept *kept = NULL;
	pid_t process;
	int i, status;

	for (i = 0; i < OF_ALL + 4; i++) {
		process = run_as(3000 + i, read_nothing, &status);
		if (i < OF_ALL)
			kept = await(&self->nl, &self->list, process);
		ASSERT_NE(NULL, kept) TH_LOG("user %d", 3000 + i);
	}
	wait_ms(200);
	list_all(&self->nl, &self->list);
	EXPECT_EQ(OF_ALL, self->list.count);
	for (i = 0; i < OF_ALL; i++)
		EXPECT_EQ(1, count_of(&self->list, 3000 + i));
	process = run_as(3000, read_nothing, &status);
	kept = await(&self->nl, &self->list, process);
	ASSERT_NE(NULL, kept);
	EXPECT_EQ(5, kept->missed);
	EXPECT_EQ(OF_ALL, self->list.count);
}

/* Another one dies while the first part of a snapshot is here. */
static void die_meanwhile(struct kipt_nl *nl, void *ctx)
{
	bool *died = ctx;
	int status;

	(void)nl;
	if (!*died)
		run_as(1000, read_nothing, &status);
	*died = true;
}

TEST_F_TIMEOUT(killed, what_is_read_is_not_replaced, 900)
{
	bool died = false;
	struct kipt_msg msg;
	pid_t process = 0;
	int i, status;

	for (i = 0; i < OF_USER; i++) {
		process = run_as(1000, read_nothing, &status);
		ASSERT_NE(NULL, await(&self->nl, &self->list, process));
	}
	kipt_msg_begin(&msg, KIPT_CMD_SNAPSHOT_GET);
	kipt_msg_u32(&msg, KIPT_A_SNAPSHOT_ID, find(&self->list, process)->id);
	EXPECT_LT(2, kipt_nl_dump(&self->nl, &msg, die_meanwhile, &died));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER, self->list.count);
	process = run_as(1000, read_nothing, &status);
	ASSERT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(2, find(&self->list, process)->missed);
}

/* A user in a namespace, where it is as many users as it likes. */
static void many_users_in_one(uid_t uid, int go)
{
	char byte;
	int i;

	become(uid);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || read(go, &byte, 1) != 1)
		_exit(98);
	for (i = 0; i < 2 * OF_USER; i++) {
		if (!fork()) {
			/* As that may be user 0, become() would not do it. */
			if (setresuid(i, i, i) || prctl(PR_SET_DUMPABLE, 1))
				_exit(97);
			read_nothing();
		}
		wait(NULL);
	}
	_exit(0);
}

/* Return: false if there are no such namespaces. */
static bool die_in_namespace_of(uid_t uid)
{
	int go[2], status = 0;
	unsigned int i;
	char path[64];
	pid_t child;

	if (pipe(go))
		return false;
	child = fork();
	if (!child)
		many_users_in_one(uid, go[0]);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	/* Until there is a namespace it is that of all. */
	for (i = 0; i < 250 && write_file(path, "0 20000 100"); i++)
		wait_ms(20);
	if (write(go[1], "", 1) != 1)
		return false;
	waitpid(child, &status, 0);
	close(go[0]);
	close(go[1]);
	return WEXITSTATUS(status) != 98;
}

TEST_F_TIMEOUT(killed, who_has_a_namespace_is_one_user, 900)
{
	pid_t process;
	unsigned int i;
	int status;

	if (!die_in_namespace_of(1000))
		SKIP(return, "user namespaces cannot be made");
	list_all(&self->nl, &self->list);
	ASSERT_EQ(OF_USER, self->list.count);
	for (i = 0; i < OF_USER - 1; i++)
		EXPECT_EQ(20000 + i, self->list.kept[i].uid);
	EXPECT_EQ(20000 + 2 * OF_USER - 1, self->list.kept[i].uid);
	process = run_as(1000, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER, self->list.count);
	process = run_as(1001, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER + 1, self->list.count);
}

/* However many users are in root's containers, others have room. */
TEST_F_TIMEOUT(killed, namespaces_of_root_are_root, 900)
{
	pid_t process;
	int status;

	if (!die_in_namespace_of(0))
		SKIP(return, "user namespaces cannot be made");
	list_all(&self->nl, &self->list);
	EXPECT_EQ(OF_USER, self->list.count);
	process = run_as(1000, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER + 1, self->list.count);
	EXPECT_EQ(SIGSEGV, end_of(read_nothing, &process));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER + 1, self->list.count);
}

/* The first process there, which no other signal of its own kills. */
TEST_F(killed, in_another_pid_namespace)
{
	int status = 0;
	pid_t child;

	ASSERT_EQ(0, unshare(CLONE_NEWPID | CLONE_NEWNS));
	child = fork();
	if (!child)
		read_nothing();
	waitpid(child, &status, 0);
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	EXPECT_NE(NULL, await(&self->nl, &self->list, child));
}

/* Each is one mapping, since its neighbours may do something else. */
static void many_mappings(void)
{
	char *at = mmap(NULL, 20000 * 4096L, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 20000; i += 2)
		mprotect(at + i * 4096L, 4096, PROT_READ);
	read_nothing();
}

/* A snapshot. */
static unsigned char begin[512 << 10];

static void take_part(struct kipt_nl *nl, void *ctx)
{
	uint64_t offset = kipt_nl_u64(nl, KIPT_A_SNAPSHOT_OFFSET, ~0ULL);
	const void *data;
	size_t len;

	(void)ctx;
	data = kipt_nl_attr(nl, KIPT_A_SNAPSHOT_DATA, &len);
	if (!data || offset >= sizeof(begin))
		return;
	if (len > sizeof(begin) - offset)
		len = sizeof(begin) - offset;
	memcpy(begin + offset, data, len);
}

/* Return: the page that describes the signal, or NULL. */
static const struct kipt_crash_signal *read_signal(struct kipt_nl *nl,
						   uint32_t id)
{
	const struct kipt_crash_page *page = (void *)begin;
	struct kipt_msg msg;

	memset(begin, 0, sizeof(begin));
	kipt_msg_begin(&msg, KIPT_CMD_SNAPSHOT_GET);
	kipt_msg_u32(&msg, KIPT_A_SNAPSHOT_ID, id);
	if (kipt_nl_dump(nl, &msg, take_part, NULL) < 0)
		return NULL;
	while (page->next && page->next < sizeof(begin) - 4096) {
		page = (void *)(begin + page->next);
		if (page->kind == KIPT_CRASH_SIGNAL)
			return (void *)page;
	}
	return NULL;
}

/* Return: the number-th mapping, or NULL. */
static const struct kipt_crash_map *
map_get(const struct kipt_crash_signal *signal, unsigned int number)
{
	const struct kipt_crash_maps *maps;
	uint64_t at = signal->page.more;

	while (at && at <= sizeof(begin) - 4096) {
		maps = (void *)(begin + at);
		if (maps->page.kind != KIPT_CRASH_MAPS)
			return NULL;
		if (number < maps->nr_here)
			return &maps->maps[number];
		number -= maps->nr_here;
		at = maps->page.more;
	}
	return NULL;
}

static const struct kipt_crash_map *
map_at(const struct kipt_crash_signal *signal, uint64_t address)
{
	const struct kipt_crash_map *map;
	unsigned int i;

	for (i = 0; (map = map_get(signal, i)); i++)
		if (map->start <= address && address < map->end)
			return map;
	return NULL;
}

/* Of that who was killed by @run. */
static const struct kipt_crash_signal *signal_of(struct kipt_nl *nl,
						 struct list *list,
						 void (*run)(void))
{
	const struct kept *kept;
	pid_t process;

	end_of(run, &process);
	kept = await(nl, list, process);
	return kept ? read_signal(nl, kept->id) : NULL;
}

TEST_F_TIMEOUT(killed, ten_thousand_mappings_are_bounded, 900)
{
	const struct kipt_crash_signal *signal;

	signal = signal_of(&self->nl, &self->list, many_mappings);
	ASSERT_NE(NULL, signal);
	/* At most: those that nobody looked at may be of any kind. */
	EXPECT_LE(10000 - 240, signal->maps_lost);
	EXPECT_GT(20100, signal->maps_lost);
	EXPECT_NE(NULL, map_get(signal, 239));
	EXPECT_EQ(NULL, map_get(signal, 240));
	EXPECT_TRUE(map_get(signal, 0)->start <= signal->ip &&
		    signal->ip < map_get(signal, 0)->end);
}

/* Of more pages than anybody looks at. */
static void vast_mapping(void)
{
	mmap(NULL, 64ULL << 40, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	read_nothing();
}

TEST_F_TIMEOUT(killed, a_vast_mapping, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kipt_crash_map *map;
	unsigned int i, vast = 0;

	signal = signal_of(&self->nl, &self->list, vast_mapping);
	ASSERT_NE(NULL, signal);
	EXPECT_EQ(0, signal->maps_lost);
	for (i = 0; (map = map_get(signal, i)); i++)
		vast += map->end - map->start >= 64ULL << 40 && !map->dev &&
			!map->path[0];
	EXPECT_EQ(1, vast);
}

TEST_F_TIMEOUT(killed, mappings_name_their_files, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kipt_crash_map *map;
	char path[4096] = "";
	struct stat file;

	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	ASSERT_EQ(0, stat(path, &file));
	signal = signal_of(&self->nl, &self->list, read_nothing);
	ASSERT_NE(NULL, signal);
	map = map_get(signal, 0);
	ASSERT_NE(NULL, map);
	EXPECT_TRUE(map->start <= signal->ip && signal->ip < map->end);
	EXPECT_STREQ(path, (const char *)map->path);
	EXPECT_EQ((uint32_t)file.st_dev, map->dev);
	EXPECT_EQ(file.st_ino, map->inode);
	EXPECT_EQ(20, map->build_id_bytes);
	EXPECT_EQ(0, map->changed);
}

/* Another program's code, at an address that is known. */
#define CODE_AT		((void *)0x200000000000)
#define CODE_BYTES	(8 * 4096L)

static bool map_code(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	return mmap(CODE_AT, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE |
		    MAP_FIXED, fd, 0) == CODE_AT;
}

static void patched(void)
{
	volatile char *byte = (char *)CODE_AT + 2 * 4096;

	if (!map_code() || mprotect(CODE_AT, CODE_BYTES, PROT_READ |
				    PROT_WRITE | PROT_EXEC))
		_exit(99);
	*byte = *byte;
	read_nothing();
}

TEST_F_TIMEOUT(killed, code_that_was_patched_is_in_no_file, 900)
{
	const struct kipt_crash_signal *signal;
	uint64_t at = (uint64_t)CODE_AT;
	const struct kipt_crash_map *map;
	unsigned int i;

	signal = signal_of(&self->nl, &self->list, patched);
	ASSERT_NE(NULL, signal);
	for (i = 0; i < 8; i++) {
		map = map_at(signal, at + i * 4096);
		ASSERT_NE(NULL, map) TH_LOG("page %u", i);
		EXPECT_EQ(i == 2, map->changed);
		EXPECT_EQ(map->start - at, map->offset);
		EXPECT_EQ(20, map->build_id_bytes);
	}
}

extern char _start[];

/* In a page of its own, after the one where the program begins. */
__attribute__((aligned(4096), noinline)) static void divide_elsewhere(void)
{
	divide();
}

/* As a uprobe or a breakpoint in a page of the program before that of its end. */
static void patched_before(void)
{
	volatile char *byte = (char *)((uintptr_t)_start & ~4095ULL);
	/* All of it, for one mapping. */
	size_t size = (char *)divide_elsewhere + 4096 - byte;

	if ((void *)byte >= (void *)divide_elsewhere ||
	    mprotect((void *)byte, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		_exit(99);
	*byte = *byte;
	divide_elsewhere();
}

TEST_F_TIMEOUT(killed, file_of_code_that_was_patched_elsewhere, 900)
{
	const struct kept *kept;
	char path[4096] = "";
	pid_t process;

	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	ASSERT_EQ(SIGFPE, end_of(patched_before, &process));
	kept = await(&self->nl, &self->list, process);
	ASSERT_NE(NULL, kept);
	EXPECT_STREQ(path, kept->file);
}

#define OVERLAY		"/tmp/kipt-overlay"

/* A mount that nobody else sees, and that ends with the process. */
static void in_overlay(void)
{
	int fd;

	mkdir(OVERLAY, 0755);
	if (unshare(CLONE_NEWNS) || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) ||
	    mount("overlay", OVERLAY, "overlay", 0, "lowerdir=/usr/bin:/usr/sbin"))
		_exit(98);
	fd = open(OVERLAY "/env", O_RDONLY | O_CLOEXEC);
	if (mmap(CODE_AT, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != CODE_AT)
		_exit(99);
	read_nothing();
}

/* The path that the process opened, and not that of a layer. */
TEST_F_TIMEOUT(killed, files_of_an_overlay, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kipt_crash_map *map;
	int status = 0;

	run_as(0, in_overlay, &status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 98)
		SKIP(return, "no overlay can be mounted");
	signal = signal_of(&self->nl, &self->list, in_overlay);
	rmdir(OVERLAY);
	ASSERT_NE(NULL, signal);
	map = map_at(signal, (uint64_t)CODE_AT);
	ASSERT_NE(NULL, map);
	EXPECT_STREQ(OVERLAY "/env", (const char *)map->path);
}

static void unlinked(void)
{
	char command[128], name[64];
	int fd;

	snprintf(name, sizeof(name), "/tmp/killed.%d", getpid());
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), name);
	if (system(command))
		_exit(99);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (mmap(CODE_AT, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE |
		 MAP_FIXED, fd, 0) != CODE_AT || unlink(name))
		_exit(99);
	read_nothing();
}

TEST_F_TIMEOUT(killed, a_file_that_is_gone_says_so, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kipt_crash_map *map;

	signal = signal_of(&self->nl, &self->list, unlinked);
	ASSERT_NE(NULL, signal);
	map = map_at(signal, (uint64_t)CODE_AT);
	ASSERT_NE(NULL, map);
	EXPECT_NE(NULL, strstr((const char *)map->path, " (deleted)"));
}

static void *change_mappings(void *unused)
{
	for (;;)
		munmap(mmap(NULL, 64 << 12, PROT_READ, MAP_PRIVATE |
			    MAP_ANONYMOUS | MAP_POPULATE, -1, 0), 64 << 12);
	return unused;
}

static void while_others_change_mappings(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&thread, NULL, change_mappings, NULL);
	wait_ms(20);
	read_nothing();
}

/* The snapshot has the mappings, or says that it lost them all. */
TEST_F_TIMEOUT(killed, mappings_that_somebody_changes, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kipt_crash_map *map;
	unsigned int i, known = 0;

	for (i = 0; i < unless_short(20, 5); i++) {
		signal = signal_of(&self->nl, &self->list,
				   while_others_change_mappings);
		ASSERT_NE(NULL, signal);
		map = map_get(signal, 0);
		known += map != NULL;
		EXPECT_TRUE(map ? map->start <= signal->ip &&
				  signal->ip < map->end :
				  signal->maps_lost == ~0U);
	}
	TH_LOG("known %u of %u times", known, i);
}

TEST_F(killed, a_child_of_vfork)
{
	volatile pid_t child = vfork();

	if (!child)
		undefined();
	waitpid(child, NULL, 0);
	EXPECT_NE(NULL, await(&self->nl, &self->list, child));
}

/* Fails when the old program is gone: a part at no user address. */
static void exec_in_vain(void)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr part;
	} program = {
		.head = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = 0x400000,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.part = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = 0xffff000000000000,
			.p_filesz = 4096,
			.p_memsz = 4096,
			.p_align = 4096,
		},
	};
	char *const none[] = { NULL };
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (write(fd, &program, sizeof(program)) == sizeof(program))
		fexecve(fd, none, none);
	_exit(97);
}

TEST_F(killed, in_the_middle_of_exec)
{
	pid_t process;

	EXPECT_EQ(SIGSEGV, end_of(exec_in_vain, &process));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
}

/* UD2 in 32-bit code. */
static void die_in_32bit(void)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE |
				   PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS |
				   MAP_32BIT, -1, 0);

	code[0] = 0x0f;
	code[1] = 0x0b;
	asm volatile("pushq $0x23; pushq %0; lretq" : : "r"(code) : "memory");
}

TEST_F(killed, in_32_bit_code)
{
	pid_t process;

	EXPECT_EQ(SIGILL, end_of(die_in_32bit, &process));
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
}

static int list_as_user(void *arg)
{
	struct kipt_nl *nl = arg;
	struct list list;

	if (setresuid(1000, 1000, 1000))
		return 1;
	return list_all(nl, &list) == -EPERM && !list.count ? 0 : 2;
}

TEST_F(killed, a_user_may_not_even_see_its_own)
{
	struct kipt_nl nl;
	int status;
	pid_t process = run_as(1000, read_nothing, &status);

	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	ASSERT_EQ(0, kipt_nl_open(&nl));
	EXPECT_EQ(0, in_child(list_as_user, &nl));
	kipt_nl_close(&nl);
}

static pid_t crash_all_the_time(void)
{
	pid_t child = fork();
	unsigned int i;
	int status;

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0;; i++)
		run_as(5000 + i % 1000, read_nothing, &status);
}

TEST_F_TIMEOUT(killed, disarmed_while_programs_die, 900)
{
	pid_t child = crash_all_the_time();
	int i;

	for (i = 0; i < 20; i++) {
		wait_ms(50);
		EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
		kipt_snapshots_delete(&self->nl);
		self->id = kipt_session_run(&self->nl, &self->want);
		ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_F_TIMEOUT(killed, cpus_come_and_go_while_programs_die, 900)
{
	pid_t child;
	int i;

	TAKES_CPU1();
	child = crash_all_the_time();
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(0, knob_set(CPU1_ONLINE, "0"));
		wait_ms(100);
		kipt_snapshots_delete(&self->nl);
		EXPECT_EQ(0, knob_back());
		wait_ms(100);
		kipt_snapshots_delete(&self->nl);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Of all that a session may want, this one is only for what traces all. */
TEST(killed_needs_an_armed_session_that_traces_all)
{
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
		.flags = KIPT_SESSION_FLAGS_USER,
	};
	struct kipt_nl nl;

	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	ASSERT_EQ(0, kipt_nl_open(&nl));
	EXPECT_EQ(-EINVAL, kipt_session_new(&nl, &want));
	EXPECT_TRUE(says(&nl, "user") && says(&nl, "armed"));
	want.flags = ARMED_USER;
	want.ctl = CTL_BASIC & ~CTL_OS;
	EXPECT_EQ(-EINVAL, kipt_session_new(&nl, &want));
	EXPECT_TRUE(says(&nl, "OS"));
	want.ctl = CTL_BASIC & ~CTL_USER;
	EXPECT_EQ(-EINVAL, kipt_session_new(&nl, &want));
	want.ctl = CTL_BASIC;
	want.pid = (uint32_t)getpid();
	EXPECT_EQ(-EINVAL, kipt_session_new(&nl, &want));
	EXPECT_EQ(0, kipt_session_count(&nl));
	kipt_nl_close(&nl);
}

#include "kipt_main.h"
