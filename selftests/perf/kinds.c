// SPDX-License-Identifier: GPL-2.0-only
/*
 * kinds KIND: a program without a library that does what a kind of recording is about.
 * What else it starts runs beside it and is no child that perf traces, where the
 * recording has --no-inherit. The exit status is 0, or 1 if the kernel refused something.
 */
#include <linux/bpf.h>
#include <linux/sched.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define SIGCHLD 17
#define SIGUSR2 12
#define O_WRONLY 1

/*
 * Kinds that trace the kernel, or as soon as it may be too much, sleep for so long first, and perf enables its events amid
 * that: exec, and what it frees of perf's memory, would be most of their trace.
 */
#define UNTIL_TRACED 3000

static long call6(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static long call(long number, long a, long b, long c)
{
	return call6(number, a, b, c, 0, 0);
}

static void leave(long status)
{
	for (;;)
		call(SYS_exit_group, status, 0, 0);
}

/* Returns: what the kernel gave; it ends the program if that is an error. */
static long must(long result)
{
	if (result < 0 && result > -4096)
		leave(1);
	return result;
}

__attribute__((noinline)) static unsigned long twice(unsigned long n)
{
	__asm__ volatile("");
	return n * 2;
}

__attribute__((noinline)) static unsigned long plus(unsigned long n)
{
	__asm__ volatile("");
	return n + 1;
}

__attribute__((noinline)) static unsigned long depth(unsigned long n)
{
	if (n < 2)
		return n;
	return depth(n - 1) + depth(n - 2);
}

static unsigned long (*volatile steps[])(unsigned long) = { twice, plus };

static volatile unsigned long sink;

__attribute__((noinline)) static void work(int rounds)
{
	unsigned long n = 1;
	int i;

	for (i = 0; i < rounds; i++) {
		n = steps[n & 1](n);
		if (n % 3 == 0)
			n = plus(n);
	}
	sink = n + depth(8);
}

static void sleep_ms(long ms)
{
	struct { long seconds, ns; } time = { ms / 1000, ms % 1000 * 1000000 };

	call(SYS_nanosleep, (long)&time, 0, 0);
}

static void run_on(unsigned int cpu)
{
	unsigned long mask = 1UL << cpu;

	must(call(SYS_sched_setaffinity, 0, sizeof(mask), (long)&mask));
}

/* A new process that shares open files. Returns: 0 in it. */
static long start_process(void)
{
	return must(call6(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0));
}

static void wait_all(void)
{
	int status;

	while (call6(SYS_wait4, -1, (long)&status, 0, 0, 0) > 0) {
		if (status)
			leave(1);
	}
}

static void open_pipe(int ends[2])
{
	must(call(SYS_pipe, (long)ends, 0, 0));
}

static int take_number(int from)
{
	int number = 0;

	must(call(SYS_read, from, (long)&number, sizeof(number)));
	return number;
}

static void give_number(int to, int number)
{
	must(call(SYS_write, to, (long)&number, sizeof(number)));
}

static void system_calls(int rounds)
{
	int ends[2], i;

	sleep_ms(UNTIL_TRACED);
	open_pipe(ends);
	for (i = 0; i < rounds; i++) {
		work(3);
		call(SYS_getppid, 0, 0, 0);
		give_number(ends[1], i);
		if (take_number(ends[0]) != i)
			leave(1);
	}
}

/* Children on both CPUs, which then change places; one becomes another program. */
static void processes(const char *program, char **envp)
{
	const char *const other[] = { program, "work", NULL };

	run_on(0);
	work(20);
	if (!start_process()) {
		run_on(1);
		work(40);
		run_on(0);
		work(20);
		must(call(SYS_execve, (long)program, (long)other, (long)envp));
	}
	if (!start_process()) {
		work(30);
		run_on(1);
		work(30);
		leave(0);
	}
	run_on(1);
	work(10);
	wait_all();
	work(10);
}

/*
 * A file of tracefs switches a tracepoint on and off; system calls of each state. What is
 * traced is further from each change than it is uncertain when that was.
 */
static void tracepoints(const char *file)
{
	int ask[2], answer[2], i, fd;

	open_pipe(ask);
	open_pipe(answer);
	fd = must(call(SYS_openat, -100, (long)file, O_WRONLY));
	sleep_ms(UNTIL_TRACED);
	if (!start_process()) {
		for (i = 0; i < 4; i++) {
			const char *state = take_number(ask[0]) ? "1" : "0";

			sleep_ms(200);
			must(call(SYS_write, fd, (long)state, 1));
			sleep_ms(200);
			give_number(answer[1], i);
		}
		leave(0);
	}
	for (i = 0; i < 4; i++) {
		call(SYS_getppid, 0, 0, 0);
		call(SYS_sched_yield, 0, 0, 0);
		give_number(ask[1], !(i % 2));
		take_number(answer[0]);
		call(SYS_getppid, 0, 0, 0);
		call(SYS_sched_yield, 0, 0, 0);
	}
	wait_all();
}

static int load_filter(unsigned int length)
{
	static const char license[] = "GPL";
	/* Keeps so many bytes of each packet. */
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = length },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .imm = 0, .off = 1 },
		{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	char *at = (char *)&attr;
	size_t i;

	for (i = 0; i < sizeof(attr); i++)
		((volatile char *)at)[i] = 0;
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (unsigned long)license;
	return must(call(SYS_bpf, BPF_PROG_LOAD, (long)&attr, sizeof(attr)));
}

/* A process that is not traced loads BPF programs; each filters packets of this one. */
static void bpf(void)
{
	int ask[2], answer[2], pair[2], i, fd;
	static char packet[16];

	open_pipe(ask);
	open_pipe(answer);
	must(call6(SYS_socketpair, 1, SOCK_DGRAM, 0, (long)pair, 0));
	sleep_ms(UNTIL_TRACED);
	if (!start_process()) {
		for (i = 0; i < 2; i++)
			give_number(answer[1], load_filter(take_number(ask[0])));
		leave(0);
	}
	for (i = 0; i < 2; i++) {
		give_number(ask[1], 4 + i);
		fd = take_number(answer[0]);
		must(call6(SYS_setsockopt, pair[1], SOL_SOCKET, 50 /* SO_ATTACH_BPF */,
			   (long)&fd, sizeof(fd)));
		must(call(SYS_close, fd, 0, 0));
		must(call(SYS_write, pair[0], (long)packet, sizeof(packet)));
		if (call(SYS_read, pair[1], (long)packet, sizeof(packet)) != 3 + i)
			leave(1);
		/* perf copies a program while it is loaded. */
		sleep_ms(1000);
	}
	wait_all();
}

/* perf, which started this program, is to keep what its buffers have. */
static void snapshots(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		work(20 + 10 * i);
		must(call(SYS_kill, call(SYS_getppid, 0, 0, 0), SIGUSR2, 0));
		sleep_ms(1000);
	}
}

/* Its events resume tracing at uname and pause it at getppid. */
static void pauses(void)
{
	static char names[6 * 65];
	int i;

	for (i = 0; i < 3; i++) {
		work(5);
		must(call(SYS_uname, (long)names, 0, 0));
		work(10);
		call(SYS_getppid, 0, 0, 0);
		work(5);
	}
}

/* Memory is touched for the first time, between branches. */
static void faults(void)
{
	static char memory[16 * 4096];
	int i;

	for (i = 0; i < 16; i++) {
		((volatile char *)memory)[i * 4096] = 1;
		work(50);
	}
}

/* More than buffers have room for. */
static void too_much(void)
{
	sleep_ms(UNTIL_TRACED);
	sink = depth(20);
}

static int same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

__attribute__((used)) void begin(long *stack)
{
	char **argv = (char **)(stack + 1), **envp = argv + stack[0] + 1;
	const char *kind = stack[0] > 1 ? argv[1] : "";

	if (same(kind, "work"))
		work(100);
	else if (same(kind, "calls"))
		system_calls(4);
	else if (same(kind, "processes") && stack[0] > 2)
		processes(argv[2], envp);
	else if (same(kind, "tracepoints") && stack[0] > 2)
		tracepoints(argv[2]);
	else if (same(kind, "bpf"))
		bpf();
	else if (same(kind, "snapshots"))
		snapshots();
	else if (same(kind, "pauses"))
		pauses();
	else if (same(kind, "faults"))
		faults();
	else if (same(kind, "long"))
		too_much();
	else
		leave(2);
	leave(0);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
