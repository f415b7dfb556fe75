// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dies by a signal, or does not: what is in its arguments. Functions call each
 * other in an order that the program prints, so that the end is known.
 * Usage: crash KIND [ROUNDS]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long zero;
static volatile long sum;

NOINLINE static void round_of_work(long n)
{
	sum += n;
	if (n % 7 == 3)
		sum ^= n << 3;
}

NOINLINE static void work(long rounds)
{
	long i;

	for (i = 0; i < rounds; i++)
		round_of_work(i);
}

NOINLINE static void die_reading(void)
{
	sum += *(volatile long *)(zero + 0x10);
}

NOINLINE static void die_dividing(void)
{
	sum = 7 / zero;
}

NOINLINE static void die_calling(void)
{
	((void (*)(void))zero)();
}

NOINLINE static void die_undefined(void)
{
	__builtin_trap();
}

NOINLINE static void die_aborting(void)
{
	abort();
}

NOINLINE static void die_beyond_file(void)
{
	FILE *file = tmpfile();
	char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);

	sum += *(volatile char *)page;
}

NOINLINE static void die_deep(long depth)
{
	volatile char room[512];

	room[0] = depth;
	/* Always, but no compiler knows. */
	if (!zero)
		die_deep(depth + 1);
	sum += room[0];
}

static void handled(int number)
{
	(void)number;
	_exit(3);
}

/* Code that is in no file: xor %eax,%eax; mov (%rax),%eax; ret */
NOINLINE static void die_compiled(void)
{
	static const unsigned char code[] = { 0x31, 0xc0, 0x8b, 0x00, 0xc3 };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	((void (*)(void))memcpy(page, code, sizeof(code)))();
}

/* With 1 GiB of memory of which two pages were written to: all of it is in a core dump. */
NOINLINE static void die_large(void)
{
	size_t size = (size_t)1 << 30;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memory[0] = 1;
	memory[size - 1] = 1;
	die_reading();
}

NOINLINE static void die(const char *kind)
{
	if (!strcmp(kind, "read"))
		die_reading();
	else if (!strcmp(kind, "divide"))
		die_dividing();
	else if (!strcmp(kind, "call"))
		die_calling();
	else if (!strcmp(kind, "undefined"))
		die_undefined();
	else if (!strcmp(kind, "abort"))
		die_aborting();
	else if (!strcmp(kind, "bus"))
		die_beyond_file();
	else if (!strcmp(kind, "deep"))
		die_deep(0);
	else if (!strcmp(kind, "compiled"))
		die_compiled();
	else if (!strcmp(kind, "large"))
		die_large();
	else if (!strcmp(kind, "sent"))
		kill(getpid(), SIGSEGV);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	long rounds = argc > 2 ? atol(argv[2]) : 20;
	const struct rlimit stack = { 1 << 20, 1 << 20 };
	int status;

	setrlimit(RLIMIT_STACK, &stack);
	if (!strcmp(kind, "handled")) {
		signal(SIGSEGV, handled);
		work(rounds);
		die_reading();
	}
	if (!strcmp(kind, "child")) {
		if (!fork()) {
			work(rounds);
			die_reading();
		}
		wait(&status);
		work(rounds);
		return 0;
	}
	work(rounds);
	die(kind);
	return 0;
}
