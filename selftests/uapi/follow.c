// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following processes and filtering addresses: what is traced is theirs, all
 * of it and nothing else, across threads, fork and exec. Runs on a machine
 * with PT and the module loaded; skips elsewhere.
 */
#include <linux/futex.h>
#include <linux/kipt_record.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "images.h"
#include "kipt_test.h"
#include "machine_state.h"

#define CTL_CR3FILTER	(1ULL << 7)
/* Code of the tests is below, the kernel above. */
#define KERNEL_BEGIN	0x8000000000000000ULL

/*
 * Each kind of process runs one of these functions, so that a trace shows which
 * one ran. Each function has a page of its own, so that an address is enough to
 * know it, and takes @rounds - 1 branches.
 */
#define CODE(name)							\
	static void __attribute__((noipa, used, aligned(4096)))	\
	name##_code(unsigned int rounds)				\
	{								\
		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds));	\
	}

CODE(followed)
CODE(other)
CODE(thread)
CODE(forked)
/* Ends the last page. */
CODE(unused)

/*
 * Branches of a fetch, by where they come from. @gap_processes: those a gap
 * says were not followed. @alive, @lost, @switches_lost: what the session's
 * status says.
 */
struct tally {
	uint64_t followed, other, thread, forked, kernel, user;
	uint64_t gaps;
	uint64_t gap_processes, alive, lost, switches_lost;
	bool wrapped;
};

static bool in_page(uint64_t ip, void (*code)(unsigned int))
{
	return ip >> 12 == (uint64_t)(uintptr_t)code >> 12;
}

static void count_branch(struct tally *tally, uint64_t ip)
{
	if (ip >= KERNEL_BEGIN)
		tally->kernel++;
	else
		tally->user++;
	tally->followed += in_page(ip, followed_code);
	tally->other += in_page(ip, other_code);
	tally->thread += in_page(ip, thread_code);
	tally->forked += in_page(ip, forked_code);
}

static void count_records(struct kipt_nl *nl, void *ctx)
{
	const struct kipt_record *r;
	struct tally *tally = ctx;
	size_t len, i;

	r = kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len);
	for (i = 0; r && i < len / sizeof(*r); i++) {
		if (r[i].type == KIPT_RECORD_BRANCH)
			count_branch(tally, r[i].ip);
		else if (r[i].type == KIPT_RECORD_GAP &&
			 r[i].kind == KIPT_GAP_PROCESSES)
			tally->gap_processes = r[i].value;
		else if (r[i].type == KIPT_RECORD_GAP &&
			 r[i].kind == KIPT_GAP_RING)
			tally->wrapped = true;
		else if (r[i].type == KIPT_RECORD_GAP) {
			printf("# gap %u, aux %u, ip %#llx\n", r[i].kind,
			       r[i].aux, (unsigned long long)r[i].ip);
			tally->gaps++;
		}
	}
}

static void show(const char *name, const struct tally *tally)
{
	printf("# %s: followed %llu, other %llu, thread %llu, forked %llu, kernel %llu, user %llu, gaps %llu\n",
	       name, (unsigned long long)tally->followed,
	       (unsigned long long)tally->other,
	       (unsigned long long)tally->thread,
	       (unsigned long long)tally->forked,
	       (unsigned long long)tally->kernel,
	       (unsigned long long)tally->user,
	       (unsigned long long)tally->gaps);
}

#define ROUNDS	2000

/* What a followed process does when the test asks, then it waits to be killed. */
enum deed {
	JUST_RUN, MAKE_THREAD, FORK, FORK_MANY, FORK_IN_TURN, EXEC, VFORK, REST,
};

/* Others that talk while the followed one rests: more than a log has room for. */
#define CHATS	4000

/* In memory all share: how often they still shall, and whether they have. */
struct chat {
	unsigned int left;
	unsigned int over;
	/* Of FORK, the child; of EXEC, when it came. */
	pid_t forked;
	uint64_t exec;
};

static struct chat *chat;

/* Children of FORK_IN_TURN, each of which ends before the next is made. */
#define IN_TURN	500
/* More than 64 that ended take, which is as many as are kept. */
#define ENDED_BYTES	8192

/* Children of FORK_MANY beyond those there is room for. */
#define TOO_MANY	20

/*
 * A child of FORK_MANY. They end one after the other, where a thousand at once
 * would keep each other waiting: each passes a byte on to the next, and
 * @begins does so when their parent has ended.
 */
static void end_in_turn(const int *ends, bool begins)
{
	char byte = 0;
	sigset_t set;
	int sig;

	if (begins) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		prctl(PR_SET_PDEATHSIG, SIGUSR1);
		sigwait(&set, &sig);
	} else if (read(ends[0], &byte, 1) != 1) {
		_exit(1);
	}
	_exit(write(ends[1], &byte, 1) != 1);
}

/* Its own entry is one of those there is room for. */
static void fork_many(void)
{
	uint64_t count = machine_parameter("processes") + TOO_MANY - 1, i;
	int ends[2];

	if (pipe(ends))
		_exit(1);
	for (i = 0; i < count; i++)
		if (!fork())
			end_in_turn(ends, !i);
}

static void fork_in_turn(void)
{
	unsigned int i;
	pid_t child;

	for (i = 0; i < IN_TURN; i++) {
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static void *run_thread(void *arg)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		thread_code(ROUNDS);
		sched_yield();
	}
	return arg;
}

static void fork_and_wait(bool share)
{
	pid_t child = share ? vfork() : fork();
	unsigned int i;

	if (child > 0)
		chat->forked = child;

	if (!child) {
		for (i = 0; i < 20; i++) {
			forked_code(ROUNDS);
			sched_yield();
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void run_followed(unsigned int times)
{
	while (times--) {
		followed_code(ROUNDS);
		sched_yield();
	}
}

static void chat_once(int from, int to)
{
	char byte = 0;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		_exit(0);
	if (__atomic_sub_fetch(&chat->left, 1, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&chat->over, 1, __ATOMIC_RELAXED);
	syscall(SYS_futex, &chat->over, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Two processes on CPU 0, each of which wakes the other; they end with us. */
static void start_chat(void)
{
	int there[2], back[2];

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_to(0);
	close_range(3, ~0U, 0);
	if (pipe(there) || pipe(back) || write(back[1], "", 1) != 1)
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			chat_once(there[0], back[1]);
	}
	for (;;)
		chat_once(back[0], there[1]);
}

/* It is not woken before: its own switches take room, however long that lasts. */
static void rest(void)
{
	__atomic_store_n(&chat->left, CHATS, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&chat->over, __ATOMIC_RELAXED))
		syscall(SYS_futex, &chat->over, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void do_deed(enum deed deed)
{
	pthread_t thread;

	run_followed(10);
	switch (deed) {
	case MAKE_THREAD:
		if (!pthread_create(&thread, NULL, run_thread, NULL))
			pthread_join(thread, NULL);
		break;
	case FORK:
		fork_and_wait(false);
		break;
	case FORK_MANY:
		fork_many();
		break;
	case FORK_IN_TURN:
		fork_in_turn();
		break;
	case VFORK:
		fork_and_wait(true);
		break;
	case REST:
		rest();
		break;
	case EXEC:
		chat->exec = __builtin_ia32_rdtsc();
		execl("/proc/self/exe", "follow", "--followed", NULL);
		_exit(1);
	default:
		break;
	}
	run_followed(10);
}

/* Ends of pipes: a byte to @go starts the deed, a byte from @done says it is done. */
static pid_t start_followed(enum deed deed, int *go, int *done)
{
	int to[2], from[2];
	pid_t child;
	char byte;

	if (pipe(to) || pipe(from))
		return -1;
	child = fork();
	if (child) {
		*go = to[1];
		*done = from[0];
		return child;
	}
	pin_to(0);
	dup2(from[1], 3);
	if (read(to[0], &byte, 1) != 1)
		_exit(1);
	/* The session's socket too: it is to end with the test. */
	close_range(4, ~0U, 0);
	do_deed(deed);
	if (write(3, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* The end of EXEC; the same address space layout is not to be expected. */
static void __attribute__((constructor)) on_exec(void)
{
	static char line[64];
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (n < 18 || strcmp(line, "follow") || strcmp(line + 7, "--followed"))
		return;
	for (n = 0; n < 20; n++)
		thread_code(ROUNDS);
	if (write(3, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

FIXTURE(follow)
{
	struct kipt_nl nl;
	struct kipt_want want;
	pid_t other;
	pid_t child;
};

FIXTURE_SETUP(follow)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = size_up_to(8 * SIZE_USUAL),
		.ctl = CTL_BASIC | CTL_TSCEN,
	};
	chat = mmap(NULL, sizeof(*chat), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, chat);
	self->other = fork();
	ASSERT_LE(0, self->other);
	if (self->other)
		return;
	pin_to(0);
	for (;;) {
		other_code(ROUNDS);
		sched_yield();
	}
}

FIXTURE_TEARDOWN(follow)
{
	kill(self->other, SIGKILL);
	waitpid(self->other, NULL, 0);
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	munmap(chat, sizeof(*chat));
	kipt_nl_close(&self->nl);
}

static int fetch_tally(struct kipt_nl *nl, int id, const char *name,
		       struct tally *tally)
{
	int ret;

	memset(tally, 0, sizeof(*tally));
	ret = kipt_fetch(nl, id, KIPT_OUTPUT_BRANCHES, count_records, tally);
	show(name, tally);
	return ret < 0 ? ret : 0;
}

/* Of what has ended until then the code is where this program has it. */
static int give_images(int id, pid_t child)
{
	struct images images = { 0 };
	int err = images_own(&images);
	struct kipt_raw_space spaces[3] = {
		{ .tgid = (uint32_t)child, .count = images.ranges },
	};
	unsigned int count = 1;

	/* Of this one the code is in its memory yet. */
	if (chat->exec)
		spaces[count++] = (struct kipt_raw_space){
			.tgid = (uint32_t)child,
			.flags = KIPT_RAW_SPACE_NEW,
			.from = chat->exec,
		};
	if (chat->forked)
		spaces[count++] = (struct kipt_raw_space){
			.tgid = (uint32_t)chat->forked,
			.count = images.ranges,
		};
	if (!err)
		err = images_give(&images, id, 0, spaces, count);
	images_free(&images);
	return err;
}

/* A run that traces what a child does. Return: 0 or a negative errno. */
static int trace_deed(struct kipt_nl *nl, struct kipt_want *want,
		      enum deed deed, pid_t *child, struct tally *tally)
{
	int go, done, id, err;
	char byte;

	pin_to(1);
	*child = start_followed(deed, &go, &done);
	want->pid = (uint32_t)*child;
	id = kipt_session_new(nl, want);
	if (id < 0)
		return id;
	err = kipt_session_start(nl, id);
	if (err)
		return err;
	if (write(go, "", 1) != 1 || read(done, &byte, 1) != 1)
		return -EPIPE;
	/* The others go on; none of it may be in the trace. */
	wait_ms(50);
	err = kipt_session_stop(nl, id);
	if (!err && kipt_cpu_u64(nl, id, 0, KIPT_A_CPU_CAUSE) !=
	    KIPT_STOP_CAUSE_USER)
		err = -EPROTO;
	if (!err && (chat->forked || chat->exec))
		err = give_images(id, *child);
	if (!err)
		err = fetch_tally(nl, id, "trace", tally);
	if (!err)
		err = kipt_session_get(nl, id);
	tally->alive = kipt_nl_u32(nl, KIPT_A_SESSION_PROCESSES, 0);
	tally->lost = kipt_nl_u64(nl, KIPT_A_SESSION_PROCESSES_LOST, ~0ULL);
	tally->switches_lost = kipt_nl_u64(nl, KIPT_A_SESSION_SWITCHES_LOST,
					   ~0ULL);
	close(go);
	close(done);
	return err;
}

/* Taken branches followed_code() makes at least: its loop's. Other code of this
 * program lies in the same pages and makes less than one loop.
 */
#define BRANCHES(times)	((uint64_t)(times) * (ROUNDS - 1))

/*
 * Branches of so many rounds. What a kernel full of checks does meanwhile may
 * fill the ring; then the newest are there.
 */
static uint64_t least(const struct tally *tally, unsigned int times)
{
	if (slowness() > 1 && tally->wrapped)
		times = 1;
	return BRANCHES(times);
}

FIXTURE_VARIANT(follow)
{
	uint64_t without;
};

FIXTURE_VARIANT_ADD(follow, kernel_and_user) { .without = 0 };
FIXTURE_VARIANT_ADD(follow, user_only) { .without = CTL_OS };

TEST_F_TIMEOUT(follow, all_of_the_process_and_nothing_else, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, JUST_RUN,
				&self->child, &tally))
		TH_LOG("%s", self->nl.why);
	EXPECT_LE(least(&tally, 20), tally.followed);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
	EXPECT_EQ(!variant->without, !!tally.kernel);
}

TEST_F_TIMEOUT(follow, threads_are_of_the_process, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, MAKE_THREAD,
				&self->child, &tally));
	EXPECT_LE(least(&tally, 20), tally.followed);
	EXPECT_LE(least(&tally, 20), tally.thread);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
}

TEST_F_TIMEOUT(follow, children_are_others, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, FORK, &self->child,
				&tally));
	EXPECT_LE(least(&tally, 20), tally.followed);
	EXPECT_GT(BRANCHES(1), tally.forked);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
}

TEST_F_TIMEOUT(follow, children_are_followed_if_asked_for, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	self->want.flags = KIPT_SESSION_FLAGS_FOLLOW_FORK;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, FORK, &self->child,
				&tally));
	EXPECT_LE(least(&tally, 20), tally.followed);
	EXPECT_LE(least(&tally, 20), tally.forked);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
}

/* Also before the session has probes. What was forked earlier is not: @other. */
TEST_F_TIMEOUT(follow, children_are_followed_from_the_request_on, 120)
{
	struct kipt_msg msg;
	int id = 0, ret;

	self->want.ctl &= ~variant->without;
	self->want.flags = KIPT_SESSION_FLAGS_FOLLOW_FORK;
	self->want.pid = (uint32_t)getpid();
	kipt_want_put(&msg, &self->want);
	ASSERT_EQ(0, kipt_nl_dump_begin(&self->nl, &msg));
	self->child = fork();
	ASSERT_LE(0, self->child);
	while (!self->child)
		pause();
	while ((ret = kipt_nl_next(&self->nl, 5000)) == 1)
		id = (int)kipt_nl_u32(&self->nl, KIPT_A_SESSION_ID, 0);
	EXPECT_EQ(0, ret);
	ASSERT_EQ(0, kipt_session_get(&self->nl, id));
	EXPECT_EQ(2, kipt_nl_u32(&self->nl, KIPT_A_SESSION_PROCESSES, 0));
}

TEST_F_TIMEOUT(follow, children_beyond_the_limit_are_reported, 300)
{
	struct tally tally;

	if (machine_parameter("processes") == ~0ULL)
		SKIP(return, "the module's parameter cannot be read");
	self->want.ctl &= ~variant->without;
	self->want.flags = KIPT_SESSION_FLAGS_FOLLOW_FORK;
	/* What so many forks take in the kernel is not looked at. */
	self->want.size = SIZE_MIN;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, FORK_MANY,
				&self->child, &tally));
	EXPECT_EQ(machine_parameter("processes"), tally.alive);
	EXPECT_EQ(TOO_MANY, tally.lost);
	EXPECT_EQ(TOO_MANY, tally.gap_processes);
}

/* They ended long before the limit: what they took is free again. */
TEST_F_TIMEOUT(follow, ended_children_are_let_go_of, 600)
{
	uint64_t before, after = 0;
	int go, done, id, tries;
	char byte;

	if (machine_parameter("processes") < IN_TURN)
		SKIP(return, "there is no room for so many");
	self->want.ctl &= ~variant->without;
	self->want.flags = KIPT_SESSION_FLAGS_FOLLOW_FORK;
	self->want.size = SIZE_MIN;
	/* Sets of tests before this one are freed a while later. */
	ASSERT_TRUE(memory_is_free(&self->nl));
	self->child = start_followed(FORK_IN_TURN, &go, &done);
	self->want.pid = (uint32_t)self->child;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	before = kipt_memory(&self->nl);
	ASSERT_EQ(1, write(go, "", 1));
	ASSERT_EQ(1, read(done, &byte, 1));
	/* Freed after a grace period. */
	for (tries = 0; tries < 100; tries++) {
		after = kipt_memory(&self->nl);
		if (after <= before + ENDED_BYTES)
			break;
		wait_ms(50);
	}
	TH_LOG("%llu bytes more", (unsigned long long)(after - before));
	/* The last are there still, or they are not counted. */
	EXPECT_LT(before, after);
	EXPECT_GE(before + ENDED_BYTES, after);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	close(go);
	close(done);
}

TEST_F_TIMEOUT(follow, switches_of_others_take_no_room, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	/* Its log has room for less than they do. */
	self->want.size = 64 << 10;
	start_chat();
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, REST, &self->child,
				&tally));
	EXPECT_EQ(0, tally.switches_lost);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
	EXPECT_LE(least(&tally, 10), tally.followed);
}

/* It runs in its parent's address space, so its CR3 is the same. */
TEST_F_TIMEOUT(follow, child_of_vfork_is_another, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, VFORK, &self->child,
				&tally));
	EXPECT_LE(least(&tally, 20), tally.followed);
	EXPECT_GT(BRANCHES(1), tally.forked);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
}

TEST_F_TIMEOUT(follow, exec_is_followed, 120)
{
	struct tally tally;

	self->want.ctl &= ~variant->without;
	ASSERT_EQ(0, trace_deed(&self->nl, &self->want, EXEC, &self->child,
				&tally));
	/* After exec the code lies elsewhere: only the number of branches is known. */
	EXPECT_LE(least(&tally, 10), tally.followed);
	EXPECT_LE(least(&tally, 30), tally.user);
	EXPECT_EQ(0, tally.other);
	EXPECT_EQ(0, tally.gaps);
}

TEST_F(follow, cr3_filter_is_used_for_user_code)
{
	uint64_t ctl = 0;
	int go, done, id;

	NEED(machine_no_msr(0));
	self->want.ctl &= ~variant->without;
	self->child = start_followed(JUST_RUN, &go, &done);
	self->want.pid = (uint32_t)self->child;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	pin_to(1);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_TRUE(machine_msr_read(0, MSR_IA32_RTIT_CTL, &ctl));
	EXPECT_EQ(variant->without ? CTL_CR3FILTER : 0, ctl & CTL_CR3FILTER);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
}

/* Its low bits say other things than where the page table is. */
TEST_F(follow, any_value_of_cr3_can_be_matched)
{
	int id;

	self->want.ctl &= ~CTL_OS;
	self->want.cr3 = 0x12345fff;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id) TH_LOG("%s", self->nl.why);
	EXPECT_EQ(0, kipt_session_start(&self->nl, id))
		TH_LOG("%s", self->nl.why);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
}

TEST_F(follow, no_such_process_is_refused)
{
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	ASSERT_EQ(gone, waitpid(gone, NULL, 0));
	self->want.pid = (uint32_t)gone;
	EXPECT_EQ(-ESRCH, kipt_session_new(&self->nl, &self->want));
	/* Threads of the kernel have no process. */
	self->want.pid = 2;
	EXPECT_GT(0, kipt_session_new(&self->nl, &self->want));
}

static void add_filter(struct kipt_want *want, uint32_t kind,
		       void (*code)(unsigned int))
{
	struct kipt_want_filter *filter = &want->filters[want->nr_filters++];

	filter->kind = kind;
	filter->first = (uint64_t)(uintptr_t)code;
	filter->last = filter->first + 4095;
}

/* Runs all four pieces of code on CPU 0, in this process. */
static int trace_all(struct kipt_nl *nl, const struct kipt_want *want, int *id)
{
	int err;

	pin_to(0);
	*id = kipt_session_new(nl, want);
	if (*id < 0)
		return *id;
	err = kipt_session_start(nl, *id);
	followed_code(ROUNDS);
	other_code(ROUNDS);
	thread_code(ROUNDS);
	forked_code(ROUNDS);
	return err ? err : kipt_session_stop(nl, *id);
}

TEST_F_TIMEOUT(follow, filter_keeps_its_ranges, 120)
{
	struct tally tally;
	int id;

	SKIP_IF(kipt_no_ranges());
	self->want.ctl &= ~variant->without;
	add_filter(&self->want, KIPT_FILTER_KIND_TRACE, followed_code);
	add_filter(&self->want, KIPT_FILTER_KIND_TRACE, thread_code);
	ASSERT_EQ(0, trace_all(&self->nl, &self->want, &id))
		TH_LOG("%s", self->nl.why);
	ASSERT_EQ(0, fetch_tally(&self->nl, id, "filter", &tally));
	EXPECT_LE(BRANCHES(1), tally.followed);
	EXPECT_LE(BRANCHES(1), tally.thread);
	EXPECT_EQ(0, tally.forked);
	EXPECT_EQ(tally.user, tally.followed + tally.thread + tally.other);
	EXPECT_EQ(0, tally.kernel);
	EXPECT_EQ(0, tally.gaps);
}

TEST_F_TIMEOUT(follow, stop_range_ends_the_trace, 120)
{
	struct tally tally;
	int id;

	SKIP_IF(kipt_no_ranges());
	self->want.ctl &= ~variant->without;
	add_filter(&self->want, KIPT_FILTER_KIND_STOP, thread_code);
	ASSERT_EQ(0, trace_all(&self->nl, &self->want, &id));
	EXPECT_EQ(KIPT_STOP_CAUSE_FILTER,
		  kipt_cpu_u64(&self->nl, id, 0, KIPT_A_CPU_CAUSE));
	ASSERT_EQ(0, fetch_tally(&self->nl, id, "stop range", &tally));
	EXPECT_LE(BRANCHES(1), tally.followed);
	EXPECT_EQ(0, tally.thread);
	EXPECT_GT(BRANCHES(1), tally.forked);
}

TEST_F(follow, bad_ranges_are_refused)
{
	int ret;

	SKIP_IF(kipt_no_ranges());
	self->want.nr_filters = 1;
	self->want.filters[0] = (struct kipt_want_filter){
		.kind = KIPT_FILTER_KIND_TRACE, .first = 0x2000, .last = 0x1000,
	};
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "ends before"));
	self->want.filters[0].first = 0x0f00000000000000;
	self->want.filters[0].last = 0x0f00000000001000;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "canonical"));
	self->want.filters[0].first = 0x1000;
	self->want.filters[0].last = 0x2000;
	for (; self->want.nr_filters < 4; self->want.nr_filters++)
		self->want.filters[self->want.nr_filters] =
			self->want.filters[0];
	ret = kipt_session_new(&self->nl, &self->want);
	if (ret > 0)
		SKIP(return, "this CPU has as many ranges as there can be");
	EXPECT_EQ(-EOPNOTSUPP, ret);
	EXPECT_TRUE(says(&self->nl, "ranges"));
}

#include "kipt_main.h"
