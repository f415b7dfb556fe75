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
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "kipt_test.h"
#include "machine_state.h"
#include <linux/kipt_crash.h>

/* The module's defaults. */
#define OF_USER		4
#define OF_ALL		32

/* One of those that are kept. */
struct kept {
	uint32_t id;
	uint32_t hook;
	uint32_t cpu;
	uint32_t signal;
	uint32_t process;
	uint32_t uid;
	uint64_t size;
};

struct list {
	struct kept kept[128];
	unsigned int count;
};

static void see(struct kipt_nl *nl, void *ctx)
{
	struct list *list = ctx;

	if (list->count == 128)
		return;
	list->kept[list->count++] = (struct kept){
		.id = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_ID, 0),
		.hook = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_HOOK, 0),
		.cpu = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_CPU, 99),
		.signal = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_SIGNAL, 0),
		.process = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_PROCESS, 0),
		.uid = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_UID, ~0U),
		.size = kipt_nl_u64(nl, KIPT_A_SNAPSHOT_SIZE, 0),
	};
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

/* What was about to be kept comes after the session is gone. */
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

/* That of a process, which a work item makes: within five seconds. */
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

/*
 * Run @run as a user in a process, and wait for its end.
 * Return: the process; *status is as waitpid() says.
 */
static pid_t run_as(uid_t uid, void (*run)(void), int *status)
{
	pid_t child = fork();

	if (!child) {
		if (uid && setresuid(uid, uid, uid))
			_exit(99);
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

static void divide(void)
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
	pid_t child = fork();

	if (!child) {
		pin_to(1);
		pause();
		_exit(0);
	}
	pin_to(0);
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

#define NO_ROOM	"kipt: programs of user 1000 that are killed are not kept any more"

/* The first ones of a user stay, others have theirs, and it is told once. */
TEST_F_TIMEOUT(killed, a_thousand_crashes_of_one_user, 900)
{
	int told = log_count(NO_ROOM), i, rounds = 1000 / slowness();
	pid_t first[OF_USER], process, other;
	uint64_t memory;
	int status;

	TAKES_LONG();
	other = run_as(1001, read_nothing, &status);
	ASSERT_NE(NULL, await(&self->nl, &self->list, other));
	for (i = 0; i < OF_USER; i++) {
		first[i] = run_as(1000, read_nothing, &status);
		ASSERT_NE(NULL, await(&self->nl, &self->list, first[i]));
	}
	memory = kipt_memory(&self->nl);
	for (i = 0; i < rounds; i++) {
		run_as(1000, read_nothing, &status);
		if (WTERMSIG(status) != SIGSEGV)
			break;
	}
	EXPECT_EQ(rounds, i);
	EXPECT_EQ(told + 1, log_count(NO_ROOM));
	EXPECT_EQ(memory, kipt_memory(&self->nl));
	list_all(&self->nl, &self->list);
	EXPECT_EQ(OF_USER + 1, self->list.count);
	for (i = 0; i < OF_USER; i++)
		EXPECT_NE(NULL, find(&self->list, first[i]));
	process = run_as(1001, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(0, kipt_snapshot_del(&self->nl, find(&self->list, first[1])->id));
	process = run_as(1000, read_nothing, &status);
	EXPECT_NE(NULL, await(&self->nl, &self->list, process));
	EXPECT_EQ(OF_USER, count_of(&self->list, 1000));
}

TEST_F_TIMEOUT(killed, all_users_together_have_a_bound, 900)
{
	const struct kept *kept = NULL;
	int i, status;

	for (i = 0; i < OF_ALL + 4; i++) {
		pid_t process = run_as(3000 + i, read_nothing, &status);

		if (i < OF_ALL)
			kept = await(&self->nl, &self->list, process);
		ASSERT_NE(NULL, kept) TH_LOG("user %d", 3000 + i);
	}
	wait_ms(200);
	list_all(&self->nl, &self->list);
	EXPECT_EQ(OF_ALL, self->list.count);
}

/* User 1000 in a namespace, where it is as many users as it likes. */
static void many_users_in_one(int go)
{
	char byte;
	int i;

	if (setresuid(1000, 1000, 1000) || prctl(PR_SET_DUMPABLE, 1) ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) || read(go, &byte, 1) != 1)
		_exit(98);
	for (i = 0; i < 2 * OF_USER; i++) {
		if (!fork()) {
			if (setresuid(i, i, i))
				_exit(97);
			read_nothing();
		}
		wait(NULL);
		wait_ms(100);
	}
	_exit(0);
}

TEST_F_TIMEOUT(killed, who_has_a_namespace_is_one_user, 900)
{
	int go[2], status = 0;
	unsigned int i;
	char path[64];
	pid_t child;

	ASSERT_EQ(0, pipe(go));
	child = fork();
	if (!child)
		many_users_in_one(go[0]);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	/* Until there is a namespace it is that of all. */
	for (i = 0; i < 250 && write_file(path, "0 20000 100"); i++)
		wait_ms(20);
	ASSERT_EQ(1, write(go[1], "", 1));
	waitpid(child, &status, 0);
	if (WEXITSTATUS(status) == 98)
		SKIP(return, "user namespaces cannot be made");
	wait_ms(500);
	list_all(&self->nl, &self->list);
	EXPECT_EQ(OF_USER, self->list.count);
	for (i = 0; i < self->list.count; i++)
		EXPECT_EQ(20000 + i, self->list.kept[i].uid);
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

TEST_F_TIMEOUT(killed, ten_thousand_mappings_are_bounded, 900)
{
	const struct kept *kept;
	pid_t process;

	TAKES_LONG();
	EXPECT_EQ(SIGSEGV, end_of(many_mappings, &process));
	kept = await(&self->nl, &self->list, process);
	ASSERT_NE(NULL, kept);
	EXPECT_GT(8U << 20, kept->size);
}

/* The begin of a snapshot, in which all but code is. */
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

/* Return: the page that tells of the signal, or NULL. */
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

/* Of as many pages as 32 bits can count, and a few more. */
static void vast_mapping(void)
{
	mmap(NULL, 64ULL << 40, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	read_nothing();
}

TEST_F_TIMEOUT(killed, what_is_lost_of_a_vast_mapping_is_told, 900)
{
	const struct kipt_crash_signal *signal;
	const struct kept *kept;
	pid_t process;

	EXPECT_EQ(SIGSEGV, end_of(vast_mapping, &process));
	kept = await(&self->nl, &self->list, process);
	ASSERT_NE(NULL, kept);
	signal = read_signal(&self->nl, kept->id);
	ASSERT_NE(NULL, signal);
	EXPECT_EQ((uint32_t)process, signal->pid);
	EXPECT_EQ(~0U, signal->code_lost);
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
