// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that takes no interrupts for seconds is stopped by an NMI, and not
 * waited for at a start or when a session is deleted. What keeps interrupts off
 * is a BPF program in a tracepoint of the timer interrupt that copies memory.
 * Runs on a machine with PT, two CPUs and the module loaded, in the virtual one
 * by preference; skips elsewhere.
 */
#include <linux/bpf.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kipt_test.h"
#include "machine_state.h"

#define STUCK_CPU	1
/* Some milliseconds, so that as many as there may be take long enough. */
#define COPY_BYTES	(16U << 20)
#define COPIES_MAX	512

/* Offsets in the value of the map. */
#define WANTED		0
#define DONE		4
#define READY		8
#define COPY		16

/* Values at WANTED. */
#define STOP		0
#define GO		1
#define GOING		2

#define INSN(_code, _dst, _src, _off, _imm)				\
	((struct bpf_insn){ .code = _code, .dst_reg = _dst,		\
			    .src_reg = _src, .off = _off, .imm = _imm })
#define MOV(dst, src)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOVI(dst, imm)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define ADDI(dst, imm)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm)
#define LOAD(dst, src, off) INSN(BPF_LDX | BPF_W | BPF_MEM, dst, src, off, 0)
#define STORE(dst, off, imm) INSN(BPF_ST | BPF_W | BPF_MEM, dst, 0, off, imm)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define JNE(reg, imm, off) INSN(BPF_JMP | BPF_JNE | BPF_K, reg, 0, off, imm)
#define JEQ(reg, imm, off) INSN(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, off, imm)
#define JGE(reg, imm, off) INSN(BPF_JMP | BPF_JGE | BPF_K, reg, 0, off, imm)
#define JA(off)		INSN(BPF_JMP | BPF_JA, 0, 0, off, 0)
#define EXIT		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = COPY_BYTES + COPY,
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/*
 * Once, on STUCK_CPU, when it is wanted: copies as long as it is, but ends,
 * because a program must be seen to, and what a test waits for may wait for it.
 */
static int load_program(int map)
{
	struct bpf_insn code[] = {
		CALL(BPF_FUNC_get_smp_processor_id),
		JNE(0, STUCK_CPU, 26),
		STORE(10, -4, 0),
		MOV(2, 10),
		ADDI(2, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		JEQ(0, 0, 19),
		MOV(7, 0),
		LOAD(1, 7, WANTED),
		JNE(1, GO, 16),
		STORE(7, WANTED, GOING),
		MOVI(6, 0),
		/* The loop. */
		JGE(6, COPIES_MAX, 10),
		LOAD(1, 7, WANTED),
		JNE(1, GOING, 8),
		MOV(1, 7),
		ADDI(1, COPY),
		MOVI(2, COPY_BYTES),
		MOV(3, 7),
		ADDI(3, COPY),
		CALL(BPF_FUNC_probe_read_kernel),
		ADDI(6, 1),
		JA(-11),
		STORE(7, DONE, 1),
		MOVI(0, 0),
		EXIT,
		MOVI(0, 0),
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)code,
		.insn_cnt = sizeof(code) / sizeof(code[0]),
		.license = (uintptr_t)"GPL",
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		printf("# BPF: %s\n", strerror(errno));
	return fd;
}

static int attach(int program)
{
	union bpf_attr attr = {
		.raw_tracepoint = {
			.name = (uintptr_t)"hrtimer_expire_entry",
			.prog_fd = program,
		},
	};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static const char *why_not(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	if (CPU_COUNT(&set) < 2)
		return "there is one CPU only";
	return NULL;
}

FIXTURE(stuck)
{
	struct kipt_nl nl;
	struct kipt_want want;
	volatile uint32_t *shared;
	int link;
	int complaints;
};

FIXTURE_SETUP(stuck)
{
	int map, program;

	NEED(kipt_missing());
	SKIP_IF(why_not());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	map = make_map();
	if (map < 0)
		SKIP(return, "no BPF: %s", strerror(errno));
	program = load_program(map);
	ASSERT_LE(0, program);
	self->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			    map, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
	self->link = attach(program);
	ASSERT_LE(0, self->link);
	self->want = (struct kipt_want){
		.cpus = "0-1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
	self->complaints = machine_complaints(false);
	pin_to(0);
}

FIXTURE_TEARDOWN(stuck)
{
	close(self->link);
	kipt_nl_close(&self->nl);
}

static long ms_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000 +
	       (now.tv_nsec - begin->tv_nsec) / 1000000;
}

/*
 * Let STUCK_CPU copy. A fork, and much else, would wait for it to go on.
 *
 * Return: once it has begun.
 */
static void stick(volatile uint32_t *shared)
{
	pid_t child;

	shared[DONE / 4] = 0;
	shared[READY / 4] = 0;
	/* Timers have to expire there. */
	child = fork();
	if (!child) {
		pin_to(STUCK_CPU);
		shared[READY / 4] = 1;
		for (;;)
			wait_ms(1);
	}
	while (!shared[READY / 4])
		wait_ms(1);
	shared[WANTED / 4] = GO;
	while (shared[WANTED / 4] == GO)
		wait_ms(1);
	kill(child, SIGKILL);
}

static bool is_stuck(const volatile uint32_t *shared)
{
	return !shared[DONE / 4];
}

static void unstick(volatile uint32_t *shared)
{
	shared[WANTED / 4] = STOP;
	while (is_stuck(shared))
		wait_ms(5);
	/* The child that was killed is waited for when its CPU runs again. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

TEST_F_TIMEOUT(stuck, stop_does_not_wait_for_it, 120)
{
	struct timespec begin;
	long took;
	int id, ret;

	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	stick(self->shared);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ret = kipt_session_stop(&self->nl, id);
	took = ms_since(&begin);
	EXPECT_TRUE(is_stuck(self->shared));
	unstick(self->shared);
	printf("# stopped in %ld ms\n", took);
	EXPECT_EQ(0, ret) TH_LOG("%s", self->nl.why);
	EXPECT_EQ(self->complaints, machine_complaints(true));
	/* It is as good as ever. */
	EXPECT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, id));
}

TEST_F_TIMEOUT(stuck, start_is_refused_and_leaves_nothing_on, 120)
{
	uint64_t ctl = 0;
	int id, ret;

	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	stick(self->shared);
	ret = kipt_session_start(&self->nl, id);
	EXPECT_TRUE(is_stuck(self->shared));
	EXPECT_EQ(-ETIMEDOUT, ret);
	EXPECT_TRUE(says(&self->nl, "CPU 1"));
	unstick(self->shared);
	/* The call that came too late starts nothing. */
	wait_ms(20);
	EXPECT_TRUE(machine_rtit_ctl(0, &ctl));
	EXPECT_EQ(0, ctl & 1);
	EXPECT_TRUE(machine_rtit_ctl(STUCK_CPU, &ctl));
	EXPECT_EQ(0, ctl & 1);
	EXPECT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* A thread that starts a session when it is let, and how that ended. */
struct starter {
	struct kipt_nl nl;
	int id;
	pid_t tid;
	bool go;
	bool done;
	int ret;
};

static void *start_when_let(void *ctx)
{
	struct starter *starter = ctx;

	__atomic_store_n(&starter->tid, gettid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&starter->go, __ATOMIC_ACQUIRE))
		wait_ms(1);
	starter->ret = kipt_session_start(&starter->nl, starter->id);
	__atomic_store_n(&starter->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* In which functions of the kernel a thread sleeps; none while it runs. */
static void read_stack(pid_t tid, char *text, size_t size)
{
	ssize_t len = -1;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", tid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		len = read(fd, text, size - 1);
		close(fd);
	}
	text[len < 0 ? 0 : len] = 0;
}

/* Return: once it waits in the module's start, its stack; or it has ended. */
static bool waits_in_start(struct starter *starter, char *text, size_t size)
{
	do {
		wait_ms(1);
		read_stack(starter->tid, text, size);
		if (strstr(text, "kipt_session_start"))
			return true;
	} while (!__atomic_load_n(&starter->done, __ATOMIC_ACQUIRE));
	return false;
}

/*
 * While a start waits for a CPU that does not answer, it holds up neither
 * generic netlink's lock, with which genl_rcv() calls a request, nor what is
 * asked about its session, nor the start of another one.
 */
TEST_F_TIMEOUT(stuck, start_that_waits_holds_up_no_request, 120)
{
	static struct starter starter;
	static char stack[8192];
	int state, other, started;
	pthread_t thread;
	bool waited, done;

	self->want.cpus = "0";
	other = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, other);
	self->want.cpus = "1";
	ASSERT_EQ(0, kipt_nl_open(&starter.nl));
	starter.id = kipt_session_new(&starter.nl, &self->want);
	ASSERT_LT(0, starter.id);
	ASSERT_EQ(0, pthread_create(&thread, NULL, start_when_let, &starter));
	while (!__atomic_load_n(&starter.tid, __ATOMIC_ACQUIRE))
		wait_ms(1);
	stick(self->shared);
	__atomic_store_n(&starter.go, true, __ATOMIC_RELEASE);
	waited = waits_in_start(&starter, stack, sizeof(stack));
	state = kipt_session_state(&self->nl, starter.id);
	started = kipt_session_start(&self->nl, other);
	done = __atomic_load_n(&starter.done, __ATOMIC_ACQUIRE);
	EXPECT_TRUE(is_stuck(self->shared));
	unstick(self->shared);
	pthread_join(thread, NULL);
	printf("# the start waits in:\n%s", stack);
	EXPECT_TRUE(waited);
	EXPECT_TRUE(strstr(stack, "netlink_recvmsg"));
	EXPECT_FALSE(strstr(stack, "genl_rcv"));
	/* Asked meanwhile, answered meanwhile. */
	EXPECT_EQ(KIPT_STATE_NEW, state);
	EXPECT_EQ(0, started) TH_LOG("%s", self->nl.why);
	EXPECT_FALSE(done);
	/* It starts, unless it gave up before. */
	EXPECT_TRUE(!starter.ret || starter.ret == -ETIMEDOUT);
	kipt_nl_close(&starter.nl);
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* perf's event of that CPU can go only when it takes interrupts again. */
TEST_F_TIMEOUT(stuck, delete_does_not_wait_for_it, 120)
{
	struct timespec begin;
	long took;
	int id;

	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	stick(self->shared);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	took = ms_since(&begin);
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_TRUE(is_stuck(self->shared));
	unstick(self->shared);
	printf("# deleted in %ld ms\n", took);
	/* Its CPUs are free now. */
	id = kipt_session_new(&self->nl, &self->want);
	EXPECT_LT(0, id) TH_LOG("%s", self->nl.why);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

#include "kipt_main.h"
