// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program without a library, for recordings that are kept: direct and indirect
 * calls, returns, loops and system calls, all in one small file.
 */

static long call_kernel(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
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

void _start(void);

/* Enters with the stack of a process, not of a function. */
__attribute__((force_align_arg_pointer)) void _start(void)
{
	unsigned long n = 1, i;

	for (i = 0; i < 400; i++) {
		n = steps[n & 1](n);
		if (n % 3 == 0)
			n = plus(n);
		if (i % 50 == 0)
			call_kernel(39, 0, 0, 0);
	}
	n += depth(12);
	call_kernel(60, n == 0, 0, 0);
	for (;;)
		;
}
