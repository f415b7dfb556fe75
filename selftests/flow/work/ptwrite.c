// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptwrite [CPU]: executes PTWRITE with known operands, 4 and 8 bytes wide,
 * from registers and memory, and prints "VALUE WIDTH" for each in order. A CPU
 * without PTWRITE refuses the instruction, and this exits 4. Runs in the
 * guest, traced.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define VALUES	64

static void on_illegal(int signal)
{
	(void)signal;
	static const char text[] = "ptwrite: this CPU has no PTWRITE\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(4);
}

/* PTWRITE RAX: F3 REX.W 0F AE /4, Intel SDM Vol. 2B. */
static void write_register64(uint64_t value)
{
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a"(value));
}

/* PTWRITE ECX */
static void write_register32(uint32_t value)
{
	__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xe1" : : "c"(value));
}

/* PTWRITE qword [RDX] */
static void write_memory64(const uint64_t *value)
{
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0x22"
			 : : "d"(value) : "memory");
}

/* PTWRITE dword [RSI + 8] */
static void write_memory32(uint32_t value)
{
	uint32_t values[3] = { 0, 0, value };

	__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0x66, 0x08"
			 : : "S"(values) : "memory");
}

static void write_one(unsigned int i, uint64_t value)
{
	uint32_t narrow = (uint32_t)value;

	switch (i % 4) {
	case 0:
		write_register64(value);
		break;
	case 1:
		write_register32(narrow);
		break;
	case 2:
		write_memory64(&value);
		break;
	default:
		write_memory32(narrow);
		break;
	}
	printf("%016llx %d\n",
	       (unsigned long long)(i % 2 ? narrow : value), i % 2 ? 4 : 8);
}

int main(int argc, char **argv)
{
	uint64_t value = 0x0123456789abcdefULL;
	unsigned int i;

	if (argc > 1) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argv[1]), &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("ptwrite");
			return 1;
		}
	}
	signal(SIGILL, on_illegal);
	for (i = 0; i < VALUES; i++) {
		write_one(i, value);
		value = value * 6364136223846793005ULL + 1442695040888963407ULL;
	}
	return 0;
}
