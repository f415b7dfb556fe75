// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches ROUNDS: every kind of control transfer that user code can make,
 * with the corner cases that a decoder gets wrong: recursion deeper than the
 * CPU's return stack, returns that match no call, tail calls, jump tables,
 * conditional branches to the next instruction, LOOP and JRCXZ, longjmp,
 * signals out of the middle of it. Built for 64-bit and 32-bit code. A round
 * makes about 9000 transfers. Runs in the guest, traced.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned int sink;
static volatile unsigned int seed = 12345;

static unsigned int next_random(void)
{
	unsigned int x = seed;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	seed = x;
	return x;
}

/* 64 entries is all the CPU keeps: go to 60, 64, 65, and far beyond. */
static NOINLINE unsigned int recurse(unsigned int depth)
{
	unsigned int below;

	if (!depth) {
		sink++;
		return 1;
	}
	below = recurse(depth - 1);
	sink += below;
	return below + (depth & 1);
}

static NOINLINE unsigned int recurse_two(unsigned int n)
{
	if (n < 2)
		return n;
	return recurse_two(n - 1) + recurse_two(n - 2);
}

static NOINLINE unsigned int add_one(unsigned int x)
{
	return x + 1;
}

static NOINLINE unsigned int add_two(unsigned int x)
{
	return x + 2;
}

static NOINLINE unsigned int halve(unsigned int x)
{
	return x / 2;
}

static NOINLINE unsigned int triple(unsigned int x)
{
	return x * 3;
}

static unsigned int (*const volatile table[])(unsigned int) = {
	add_one, add_two, halve, triple,
};

static NOINLINE unsigned int call_indirect(unsigned int n)
{
	unsigned int x = n, i;

	for (i = 0; i < n; i++)
		x = table[(x + i) & 3](x);
	return x;
}

/* The compiler makes a jump of the last call. */
static NOINLINE unsigned int tail_direct(unsigned int x)
{
	sink = x;
	return add_one(x);
}

static NOINLINE unsigned int tail_indirect(unsigned int x)
{
	sink = x;
	return table[x & 3](x);
}

static NOINLINE unsigned int choose(unsigned int x)
{
	switch (x & 15) {
	case 0:
		return x + 3;
	case 1:
		return x ^ 0x55;
	case 2:
		sink++;
		return x - 9;
	case 3:
		return x * 5;
	case 4:
		return ~x;
	case 5:
		sink += x;
		return 7;
	case 6:
		return x << 2;
	case 7:
		return x >> 3;
	case 8:
		return x | 0x100;
	case 9:
		sink--;
		return x & 0xfff;
	case 10:
		return x + sink;
	case 11:
		return x - 1;
	case 12:
		return x % 17;
	case 13:
		return x / 3;
	case 14:
		return x * x;
	default:
		return 1;
	}
}

/*
 * Jcc +0: taken or not, it goes to the next instruction, and the trace still
 * has a bit for it.
 */
static NOINLINE void jump_to_next(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		__asm__ volatile("test $1, %0\n\t"
				 "jz 1f\n"
				 "1:\tjnz 2f\n"
				 "2:\tjmp 3f\n"
				 "3:\ttest $2, %0\n\t"
				 ".byte 0x74, 0x00\n\t"
				 ".byte 0x0f, 0x85, 0, 0, 0, 0\n\t"
				 : : "r"(i) : "cc");
}

/* CALL +0 is no call for return compression; POP takes its address. */
static NOINLINE uintptr_t call_next(void)
{
	uintptr_t ip;

#ifdef __x86_64__
	/* Step over the red zone. */
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "call 1f\n"
			 "1:\tpop %0\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=r"(ip) : : "memory");
#else
	__asm__ volatile("call 1f\n"
			 "1:\tpop %0"
			 : "=r"(ip) : : "memory");
#endif
	return ip;
}

/* RET to an address no CALL pushed, as retpolines and unwinders do. */
static NOINLINE void return_elsewhere(void)
{
#ifdef __x86_64__
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "lea 1f(%%rip), %%rax\n\t"
			 "push %%rax\n\t"
			 "ret\n\t"
			 "ud2\n"
			 "1:\tcall 2f\n\t"
			 "ud2\n"
			 "2:\tlea 3f(%%rip), %%rax\n\t"
			 "mov %%rax, (%%rsp)\n\t"
			 "ret\n\t"
			 "ud2\n"
			 "3:\tlea 128(%%rsp), %%rsp"
			 : : : "rax", "memory", "cc");
#else
	__asm__ volatile("call 4f\n"
			 "4:\tpop %%eax\n\t"
			 "add $1f-4b, %%eax\n\t"
			 "push %%eax\n\t"
			 "ret\n\t"
			 "ud2\n"
			 "1:\tcall 2f\n\t"
			 "ud2\n"
			 "2:\taddl $3f-2b+2, (%%esp)\n\t"
			 "ret\n\t"
			 "ud2\n"
			 "3:"
			 : : : "eax", "memory", "cc");
#endif
}

static NOINLINE void loop_instructions(unsigned int n)
{
	uintptr_t count = n;

	__asm__ volatile("1:\tloop 1b\n\t"
			 "mov %1, %0\n"
			 "2:\tcmp $0, %0\n\t"
			 "loopne 2b\n\t"
#ifdef __x86_64__
			 "jrcxz 3f\n\t"
#else
			 "jecxz 3f\n\t"
#endif
			 "nop\n"
			 "3:\t"
			 : "+c"(count) : "r"((uintptr_t)n) : "cc");
}

static jmp_buf escape;

static volatile int armed = 1;

static NOINLINE void jump_out(unsigned int depth)
{
	if (!depth) {
		if (armed)
			longjmp(escape, 1);
		return;
	}
	jump_out(depth - 1);
	sink++;
}

static NOINLINE void leave_by_longjmp(unsigned int depth)
{
	if (!setjmp(escape))
		jump_out(depth);
}

static volatile sig_atomic_t signals_seen;

static void on_signal(int signal)
{
	(void)signal;
	signals_seen++;
	sink += recurse(3);
}

static sigjmp_buf fault_escape;

static void on_fault(int signal)
{
	(void)signal;
	signals_seen++;
	siglongjmp(fault_escape, 1);
}

static void raise_signals(void)
{
	volatile int *volatile nowhere = (volatile int *)16;

	kill(getpid(), SIGUSR1);
	if (!sigsetjmp(fault_escape, 1))
		__asm__ volatile("ud2");
	if (!sigsetjmp(fault_escape, 1))
		*nowhere = 1;
	if (!sigsetjmp(fault_escape, 1))
		__asm__ volatile("xor %%ecx, %%ecx\n\t"
				 "div %%ecx"
				 : : : "eax", "ecx", "edx", "cc");
	__asm__ volatile("int3");
}

/* The three ways into the kernel that a 32-bit program has, or the one. */
static void system_calls(void)
{
	long result;

	syscall(SYS_getppid);
#ifndef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(SYS_getpid));
#else
	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getpid)
			 : "rcx", "r11", "memory");
#endif
	sink += (unsigned int)result;
}

static void string_instructions(void)
{
	static char from[300], to[300];
	void *s = from, *d = to;
	uintptr_t n = sizeof(from);

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n)
			 : : "memory");
	n = sizeof(to);
	d = to;
	__asm__ volatile("repe scasb" : "+D"(d), "+c"(n) : "a"(0)
			 : "memory", "cc");
}

static void one_round(unsigned int round)
{
	static const unsigned int depths[] = { 3, 60, 63, 64, 65, 66, 130, 200 };
	unsigned int i;

	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		sink += recurse(depths[i]);
	sink += recurse_two(12);
	sink += call_indirect(100);
	for (i = 0; i < 400; i++) {
		unsigned int x = next_random();

		sink += choose(x);
		sink += x & 64 ? tail_direct(x) : tail_indirect(x);
	}
	jump_to_next(100);
	loop_instructions(100);
	sink += (unsigned int)call_next();
	return_elsewhere();
	leave_by_longjmp(round % 90);
	string_instructions();
	system_calls();
	if (round % 16 == 0)
		raise_signals();
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 1, i;

	signal(SIGUSR1, on_signal);
	signal(SIGTRAP, on_signal);
	signal(SIGILL, on_fault);
	signal(SIGSEGV, on_fault);
	signal(SIGFPE, on_fault);
	for (i = 0; i < rounds; i++)
		one_round(i);
	if (signals_seen != (int)((rounds + 15) / 16) * 5) {
		fprintf(stderr, "branches: %d signals, %u wanted\n",
			(int)signals_seen, (rounds + 15) / 16 * 5);
		return 1;
	}
	return 0;
}
