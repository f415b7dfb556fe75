// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation that the module makes fails once: the first of a request,
 * the second, and so on until the request makes no more. Each refusal comes with
 * a sentence and leaks nothing, and the same request then succeeds. Another
 * session exists all the time and keeps the module's probes registered: kprobes
 * warn when they get no memory, and only injected failures keep it from them.
 * Runs on a kernel that can make allocations fail (the kernel `debug`), with PT
 * and the module loaded; skips elsewhere.
 */
#include <linux/kipt_raw.h>
#include <linux/kipt_record.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kipt_test.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define FAIL_NTH	"/proc/thread-self/fail-nth"
/* Far more than any request makes. */
#define NTH_MOST	20000U
#define ARENA_LEAST	262144ULL
#define KERNEL_BEGIN	0x8000000000000000ULL
/* Requests that may fail at any allocation, and how many percent do. */
#define CYCLES		12U
#define CYCLES_SHORT	4U
#define PERCENT		"2"

/* All that counts the calls of a task; failing is limited to the module's. */
static const char *const capabilities[] = {
	"failslab", "fail_page_alloc", "fail_usercopy", "fail_futex",
	"fail_io_timeout", "fail_make_request", "fail_skb_realloc",
};

#define CAPABILITIES	(sizeof(capabilities) / sizeof(capabilities[0]))

static int set_knob(const char *capability, const char *knob,
		    const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", capability, knob);
	return write_file(path, value);
}

static const char *why_not(void)
{
	if (access(FAIL_NTH, W_OK) ||
	    access(DEBUGFS "failslab/require-start", W_OK) ||
	    access(DEBUGFS "fail_page_alloc/require-start", W_OK))
		return "this kernel cannot make allocations fail";
	return NULL;
}

/* Where the module's code begins and ends, if it is loaded. */
static unsigned long long module_begin, module_end;

/* Once, before the harness forks for each test: on the kernel `debug` it takes a second. */
static void __attribute__((constructor)) find_module(void)
{
	unsigned long long begin = ~0ULL, end = 0;
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long addr;
	char line[512], kind;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[kipt]") ||
		    sscanf(line, "%llx %c", &addr, &kind) != 2 ||
		    (kind != 't' && kind != 'T'))
			continue;
		begin = addr < begin ? addr : begin;
		end = addr > end ? addr : end;
	}
	if (f)
		fclose(f);
	module_begin = begin;
	/* No other module's code is so close after the last function. */
	module_end = end + 4096;
}

static bool only_the_module(void)
{
	char first[32], last[32];
	unsigned int i;

	if (!module_begin || module_begin >= module_end)
		return false;
	snprintf(first, sizeof(first), "%#llx", module_begin);
	snprintf(last, sizeof(last), "%#llx", module_end);
	for (i = 0; i < CAPABILITIES; i++) {
		set_knob(capabilities[i], "require-start", first);
		set_knob(capabilities[i], "require-end", last);
		set_knob(capabilities[i], "stacktrace-depth", "32");
		set_knob(capabilities[i], "task-filter", "N");
		set_knob(capabilities[i], "verbose", "0");
		set_knob(capabilities[i], "probability", "0");
	}
	/* Also what could have waited for memory. */
	return !set_knob("failslab", "ignore-gfp-wait", "N") &&
	       !set_knob("fail_page_alloc", "ignore-gfp-wait", "N") &&
	       !set_knob("fail_page_alloc", "ignore-gfp-highmem", "N") &&
	       !set_knob("fail_page_alloc", "min-order", "0");
}

static void let_fail(const char *percent)
{
	static const char *const both[] = { "failslab", "fail_page_alloc" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		set_knob(both[i], "interval", "1");
		set_knob(both[i], "times", "-1");
		set_knob(both[i], "probability", percent);
	}
}

FIXTURE(shortage)
{
	struct kipt_nl nl;
	struct kipt_nl other;
	struct kipt_want want;
	uint64_t used;
	int fail_nth;
};

FIXTURE_SETUP(shortage)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	SKIP_IF(why_not());
	ASSERT_TRUE(only_the_module());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	ASSERT_EQ(0, kipt_nl_open(&self->other));
	self->fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fail_nth);
	self->want = (struct kipt_want){
		.cpus = "1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	ASSERT_LT(0, kipt_session_new(&self->other, &self->want));
	self->used = kipt_memory(&self->other);
	self->want.cpus = "0";
	pin_to(0);
}

FIXTURE_TEARDOWN(shortage)
{
	let_fail("0");
	close(self->fail_nth);
	kipt_nl_close(&self->other);
	kipt_nl_close(&self->nl);
}

/* Has all gone but what the other session holds? */
static bool is_as_before(struct kipt_nl *nl, uint64_t used)
{
	int tries;

	for (tries = 0; tries < 250 * slowness() && kipt_memory(nl) != used;
	     tries++)
		wait_ms(20);
	if (kipt_memory(nl) != used)
		printf("# %llu bytes in use, %llu before\n",
		       (unsigned long long)kipt_memory(nl),
		       (unsigned long long)used);
	return kipt_memory(nl) == used && kipt_session_count(nl) == 1;
}

/* What a request finds. */
enum before { NOTHING, MADE, RUNNING, STOPPED };

/* struct request - one that is made again and again */
struct request {
	enum before before;
	int (*make)(struct kipt_nl *nl, const struct kipt_want *want, int id);
};

static int make_session(struct kipt_nl *nl, const struct kipt_want *want,
			int id)
{
	(void)id;
	return kipt_session_new(nl, want);
}

static int start(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	(void)want;
	return kipt_session_start(nl, id);
}

static int stop(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	(void)want;
	return kipt_session_stop(nl, id);
}

static int delete(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	(void)want;
	return kipt_session_del(nl, id);
}

static int get(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	(void)want;
	return kipt_session_get(nl, id);
}

static int list(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	int count = kipt_session_count(nl);

	(void)want;
	(void)id;
	return count < 0 ? count : count == 2 ? 0 : -EPROTO;
}

static int info(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	(void)want;
	(void)id;
	return kipt_info(nl);
}

/* Gaps of the last fetch: user code that was not there. */
static unsigned int no_code;

static void count_no_code(struct kipt_nl *nl, void *ctx)
{
	const struct kipt_record *r;
	size_t len, i;

	(void)ctx;
	r = kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len);
	for (i = 0; r && i < len / sizeof(*r); i++)
		no_code += r[i].type == KIPT_RECORD_GAP &&
			   r[i].kind == KIPT_GAP_NO_CODE &&
			   !(r[i].flags & KIPT_RF_NO_IP) &&
			   r[i].ip < KERNEL_BEGIN;
}

static int fetch_as(struct kipt_nl *nl, int id, uint32_t output)
{
	struct kipt_msg msg;
	int ret;

	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_FETCH_ID, (uint32_t)id);
	kipt_msg_u32(&msg, KIPT_A_FETCH_OUTPUT, output);
	kipt_msg_u64(&msg, KIPT_A_FETCH_MEMORY, ARENA_LEAST);
	no_code = 0;
	ret = kipt_nl_dump(nl, &msg, count_no_code, NULL);
	return ret < 0 ? ret : 0;
}

static int fetch_branches(struct kipt_nl *nl, const struct kipt_want *want,
			  int id)
{
	int ret = fetch_as(nl, id, KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_TIME);

	(void)want;
	/* A shortage of memory must not be reported as missing code. */
	if (ret || !no_code)
		return ret;
	printf("# %u gaps for want of code\n", no_code);
	nl->why[0] = 0;
	return -ENODATA;
}

static int fetch_counts(struct kipt_nl *nl, const struct kipt_want *want,
			int id)
{
	(void)want;
	return fetch_as(nl, id, KIPT_OUTPUT_COUNTS);
}

/* The device has errno and no sentence. */
static int map_device(struct kipt_nl *nl, const struct kipt_want *want, int id)
{
	struct kipt_raw_attach attach = { .session = (uint32_t)id };
	int fd = open("/dev/kipt", O_RDWR | O_CLOEXEC), ret = 0;
	void *map = MAP_FAILED;

	if (fd < 0 || ioctl(fd, KIPT_RAW_ATTACH, &attach))
		ret = -errno;
	if (!ret)
		map = mmap(NULL, want->size, PROT_READ, MAP_SHARED, fd, 0);
	if (!ret && map == MAP_FAILED)
		ret = -errno;
	if (map != MAP_FAILED)
		munmap(map, want->size);
	if (fd >= 0)
		close(fd);
	if (ret)
		snprintf(nl->why, sizeof(nl->why), "errno");
	return ret;
}

/* Return: the session's id, 0 where none is needed, or a negative errno. */
static int go_to(struct kipt_nl *nl, const struct kipt_want *want,
		 enum before before)
{
	int id = before == NOTHING ? 0 : kipt_session_new(nl, want), ret = 0;

	if (id > 0 && before >= RUNNING)
		ret = kipt_session_start(nl, id);
	if (!ret && before == STOPPED) {
		work(unless_short(20, 5));
		ret = kipt_session_stop(nl, id);
	}
	return ret ? ret : id;
}

static void arm(int fd, unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		abort();
}

/* Return: whether one failed since. */
static bool disarm(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		abort();
	arm(fd, 0);
	return !atoi(text);
}

static void end_session(struct kipt_nl *nl, int id)
{
	if (id > 0)
		kipt_session_del(nl, id);
}

/*
 * Makes allocation @nth of the request fail. Return: 1: it was refused; 0: it
 * succeeded all the same; 2: it makes fewer allocations; or a negative errno,
 * where something is wrong.
 */
static int fail_once(struct kipt_nl *nl, const struct kipt_want *want,
		     const struct request *request, int fd, unsigned int nth)
{
	int id = go_to(nl, want, request->before), ret;
	bool failed;

	if (id < 0)
		return id;
	arm(fd, nth);
	ret = request->make(nl, want, id);
	failed = disarm(fd);
	if (ret < 0 && (!failed || !nl->why[0])) {
		printf("# allocation %u: %s, '%s'\n", nth, strerror(-ret),
		       nl->why);
		return ret;
	}
	end_session(nl, id ? id : ret);
	if (!failed)
		return 2;
	return ret < 0;
}

/* Each fetch needs a trace of its own, which takes a second in a kernel full of
 * checks: where less is to be done one allocation in six fails there.
 */
static unsigned int step_of(const struct request *request)
{
	bool fetch = request->make == fetch_branches ||
		     request->make == fetch_counts;

	return fetch && how_short() && slowness() > 1 ? 6 : 1;
}

/* Return: how many were refused, or a negative errno. */
static int fail_each(struct kipt_nl *nl, const struct kipt_want *want,
		     const struct request *request, int fd, const char *name)
{
	unsigned int step = step_of(request), nth, tried = 0, refused = 0;
	int ret = 0;

	for (nth = 1; nth < NTH_MOST && ret >= 0 && ret != 2; nth += step) {
		ret = fail_once(nl, want, request, fd, nth);
		refused += ret == 1;
		tried += ret != 2;
	}
	printf("# %s: %u allocations failed, %u of them refuse it\n", name,
	       tried, refused);
	return ret == 2 ? (int)refused : ret < 0 ? ret : -EOVERFLOW;
}

/* Refusals that must at least be seen: what needs memory at all. */
#define SHORTAGE_TEST(_name, _before, _make, _refusals)			\
	TEST_F_TIMEOUT(shortage, _name, 900)				\
	{								\
		struct request request = { _before, _make };		\
		int refused = fail_each(&self->nl, &self->want,		\
					&request, self->fail_nth,	\
					#_name);			\
									\
		/* Of those that are tried. */				\
		EXPECT_LE(_refusals / (int)step_of(&request), refused);	\
		EXPECT_TRUE(is_as_before(&self->nl, self->used));	\
	}

SHORTAGE_TEST(session_new, NOTHING, make_session, 10)
SHORTAGE_TEST(session_start, MADE, start, 0)
SHORTAGE_TEST(session_stop, RUNNING, stop, 0)
SHORTAGE_TEST(session_del, MADE, delete, 0)
SHORTAGE_TEST(session_del_of_one_that_runs, RUNNING, delete, 0)
SHORTAGE_TEST(session_get, STOPPED, get, 1)
SHORTAGE_TEST(session_list, STOPPED, list, 1)
SHORTAGE_TEST(get_info, NOTHING, info, 1)
SHORTAGE_TEST(fetch_of_branches, STOPPED, fetch_branches, 3)
SHORTAGE_TEST(fetch_of_counts, STOPPED, fetch_counts, 3)
SHORTAGE_TEST(mapped_device, STOPPED, map_device, 1)

/* session-new that follows a process, with filters, and by user code alone. */
TEST_F_TIMEOUT(shortage, session_new_of_a_process, 900)
{
	struct request request = { NOTHING, make_session };

	self->want.pid = (uint32_t)getpid();
	self->want.flags |= KIPT_SESSION_FLAGS_FOLLOW_FORK;
	EXPECT_LE(10, fail_each(&self->nl, &self->want, &request,
				self->fail_nth, "session_new_of_a_process"));
	EXPECT_TRUE(is_as_before(&self->nl, self->used));
}

/* session-new that keeps what the programs it traces die of. */
TEST_F_TIMEOUT(shortage, session_new_that_keeps_programs, 900)
{
	struct request request = { NOTHING, make_session };

	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	self->want.flags = ARMED_USER;
	EXPECT_LE(10, fail_each(&self->nl, &self->want, &request,
				self->fail_nth,
				"session_new_that_keeps_programs"));
	EXPECT_TRUE(is_as_before(&self->nl, self->used));
}

/* Whether it is kept or not, a program dies as it would have. */
TEST_F_TIMEOUT(shortage, programs_that_die, 900)
{
	unsigned int cycles = unless_short(CYCLES, CYCLES_SHORT), i;
	int id;

	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	self->want.flags = ARMED_USER;
	for (i = 0; i < cycles; i++) {
		id = kipt_session_run(&self->nl, &self->want);
		ASSERT_LT(0, id) TH_LOG("%s", self->nl.why);
		let_fail(PERCENT);
		EXPECT_TRUE(child_is_killed() && child_is_killed() &&
			    child_is_killed());
		let_fail("0");
		EXPECT_EQ(0, kipt_session_del(&self->nl, id));
		wait_ms(50);
		kipt_snapshots_delete(&self->nl);
	}
	EXPECT_TRUE(is_as_before(&self->nl, self->used));
}

static void some_processes(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		pid_t child = fork();

		if (!child) {
			work(5);
			execl("/bin/true", "true", (char *)NULL);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

/*
 * What a request is refused with must say why; but where there was no memory
 * for the answer either, netlink says so with ENOBUFS alone.
 */
static unsigned int unexplained;

static int said(const struct kipt_nl *nl, int ret)
{
	if (ret < 0 && ret != -ENOBUFS && !nl->why[0]) {
		printf("# %s without a sentence\n", strerror(-ret));
		unexplained++;
	}
	return ret;
}

/*
 * The module deletes a session without memory, but netlink needs some before it hands
 * the request over, and the module some for its answer: one asks again.
 */
static void delete_session(struct kipt_nl *nl, int id)
{
	int i, ret;

	for (i = 0; i < 100; i++) {
		ret = kipt_session_del(nl, id);
		/* It was deleted, and only the answer had no memory. */
		if (i && ret == -ENOENT)
			return;
		if (ret != -ENOBUFS && ret != -ENOMEM)
			break;
	}
	if (ret) {
		printf("# delete: %s: %s\n", strerror(-ret), nl->why);
		unexplained++;
	}
}

static bool cycle(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = said(nl, kipt_session_new(nl, want));
	bool whole = id > 0;

	if (!whole)
		return false;
	if (!said(nl, kipt_session_start(nl, id))) {
		some_processes();
		whole = !said(nl, kipt_session_stop(nl, id)) &&
			!said(nl, fetch_as(nl, id, KIPT_OUTPUT_BRANCHES));
	}
	delete_session(nl, id);
	return whole;
}

/* What work items and probes allocate fails as well. */
TEST_F_TIMEOUT(shortage, any_allocation_of_anybody, 900)
{
	unsigned int enough = unless_short(CYCLES, CYCLES_SHORT);
	unsigned int i, whole = 0;

	unexplained = 0;
	let_fail(PERCENT);
	/* Until something failed, too. */
	for (i = 0; i < CYCLES && (i < enough || whole == i); i++)
		whole += cycle(&self->nl, &self->want);
	let_fail("0");
	printf("# %u of %u cycles were whole with " PERCENT " %% of allocations failing\n",
	       whole, i);
	EXPECT_EQ(0, unexplained);
	EXPECT_LT(whole, i);
	EXPECT_TRUE(is_as_before(&self->nl, self->used));
	EXPECT_TRUE(cycle(&self->nl, &self->want));
}

#include "kipt_main.h"
