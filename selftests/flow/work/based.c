// SPDX-License-Identifier: GPL-2.0-only
/*
 * based ROUNDS: 32-bit code in a code segment of a local descriptor table
 * that does not begin at address 0. CPUs with LIP trace its linear addresses,
 * the others its offsets in the segment. At these offsets other code is
 * mapped, which takes other ways: a decoder that reads there goes wrong.
 * Prints the first and the last address of the segment. A round makes seven
 * transfers. Runs in the guest, traced. The process that executed the code stays:
 * the code is in no file, and can be read from its memory alone.
 */
#include <asm/ldt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BASE	0x20000000UL
/* Above what the kernel leaves unmapped at address 0. */
#define OFFSET	0x20000UL
#define PAGE	4096UL
/* Outside of the segment: 64-bit code to return by, and a stack. */
#define BACK	(BASE - 16 * PAGE)

/* Entry 0 of the local table, for CPL 3. */
#define SELECTOR	((0 << 3) | 4 | 3)

/*
 * The code, copied to BASE + OFFSET, and altered to OFFSET. ECX: rounds; EDX:
 * offset of based_indirect.
 */
__asm__(
"	.pushsection .rodata\n"
"	.code32\n"
"based_begin:\n"
"1:	call	based_leaf\n"
"	call	*%edx\n"
"	testb	$1, %cl\n"
"	jz	2f\n"
"	nop\n"
"based_jump:\n"
"2:	jmp	3f\n"
"	nop\n"
"	nop\n"
"3:	dec	%ecx\n"
"	jnz	1b\n"
"	.byte	0xea\n"
"based_return:\n"
"	.long	0\n"
"	.word	0x33\n"
"based_leaf:\n"
"	nop\n"
"	ret\n"
"based_indirect:\n"
"	call	based_leaf\n"
"	ret\n"
"based_end:\n"
"	.code64\n"
"based_back:\n"
"	mov	%r15, %rsp\n"
"	jmp	*%r14\n"
"based_back_end:\n"
"	.popsection\n");

extern const uint8_t based_begin[], based_jump[], based_return[];
extern const uint8_t based_indirect[], based_end[];
extern const uint8_t based_back[], based_back_end[];

struct far_pointer {
	uint32_t offset;
	uint16_t selector;
} __attribute__((packed));

static uint8_t *map_at(unsigned long address)
{
	void *p = mmap((void *)address, PAGE,
		       PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == (void *)address)
		return p;
	perror("based: cannot map a page where it must be");
	exit(1);
}

/* 64-bit code in the page of the stack is where it returns to. */
static void put_code(uint8_t *page)
{
	uint32_t back = BACK;

	memcpy(page, based_begin, (size_t)(based_end - based_begin));
	memcpy(page + (based_return - based_begin), &back, sizeof(back));
}

static void make_segment(void)
{
	struct user_desc segment = {
		.base_addr = BASE,
		.limit = 0xff,
		.seg_32bit = 1,
		.contents = MODIFY_LDT_CONTENTS_CODE,
		.limit_in_pages = 1,
	};

	if (syscall(SYS_modify_ldt, 0x11, &segment, sizeof(segment)) == 0)
		return;
	perror("based: modify_ldt");
	exit(1);
}

static void run(uint32_t rounds, uint8_t *stack)
{
	static const struct far_pointer entry = {
		.offset = OFFSET,
		.selector = SELECTOR,
	};
	uint64_t indirect = OFFSET + (uint64_t)(based_indirect - based_begin);

	__asm__ volatile("lea	1f(%%rip), %%r14\n\t"
			 "mov	%%rsp, %%r15\n\t"
			 "mov	%[stack], %%rsp\n\t"
			 "ljmp	*(%[entry])\n\t"
			 "1:"
			 : "+c"(rounds), "+d"(indirect)
			 : [stack] "r"(stack), [entry] "r"(&entry)
			 : "r14", "r15", "cc", "memory");
}

static void run_all(uint32_t rounds)
{
	uint8_t *decoy = map_at(OFFSET);
	uint8_t *stack = map_at(BACK);

	memcpy(stack, based_back, (size_t)(based_back_end - based_back));
	put_code(map_at(BASE + OFFSET));
	put_code(decoy);
	/* The direct jump goes a byte less far. */
	decoy[based_jump - based_begin + 1]--;
	make_segment();
	printf("%lx-%lx\n", BASE, BASE + 0xfffff);
	fflush(stdout);
	run(rounds ? rounds : 1, stack + PAGE - 16);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000;
	int done[2], fd;
	char byte = 0;

	if (pipe(done)) {
		perror("based: pipe");
		return 1;
	}
	switch (fork()) {
	case -1:
		perror("based: fork");
		return 1;
	case 0:
		run_all(rounds);
		for (fd = 0; fd < 3; fd++)
			close(fd);
		if (write(done[1], &byte, 1) != 1)
			return 1;
		for (;;)
			pause();
	}
	/* At its end, if the child failed. */
	close(done[1]);
	return read(done[0], &byte, 1) != 1;
}
