// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranges ROUNDS [fork]: enters and leaves a piece of code, inner, in every way
 * there is, for traces with address ranges: by call, jump, conditional branch,
 * return, system call, exception, interrupt, and by running over its edges.
 * Then two pieces that touch, and stop_here() as the last thing. With "fork" a
 * child does it, too. Runs in the guest, traced.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* How inner is entered, and left: enter(how, leave). */
enum { ENTER_CALL, ENTER_CALL_IND, ENTER_JUMP, ENTER_COND, ENTER_RET,
	ENTER_FALL, ENTER_COUNT };
enum { LEAVE_RET, LEAVE_JUMP, LEAVE_COND, LEAVE_JUMP_IND, LEAVE_CALL,
	LEAVE_CALL_IND, LEAVE_SYSCALL, LEAVE_UD2, LEAVE_INT3, LEAVE_FAULT,
	LEAVE_FALL, LEAVE_SPIN, LEAVE_COUNT };

void enter(unsigned long how, unsigned long leave);
void half_a(unsigned long rounds);
void stop_here(void);
extern const char fault_insn[], after_fault[];

__asm__(
"	.text\n"
"	.balign 64\n"
"	.globl enter\n"
"	.type enter, @function\n"
/* rdi: how; rsi: how it is left. */
"enter:\n"
"	push %rbx\n"
"	lea enter_ways(%rip), %rdx\n"
"	movslq (%rdx,%rdi,4), %rax\n"
"	add %rdx, %rax\n"
"	mov %rsi, %rdi\n"
"	jmp *%rax\n"
"enter_call:\n"
"	call inner\n"
"	pop %rbx\n"
"	ret\n"
"enter_call_ind:\n"
"	lea inner(%rip), %rax\n"
"	call *%rax\n"
"	pop %rbx\n"
"	ret\n"
"enter_jump:\n"
"	pop %rbx\n"
"	jmp inner\n"
"enter_cond:\n"
"	pop %rbx\n"
"	test %esp, %esp\n"
"	jnz inner\n"
"	ud2\n"
"enter_ret:\n"
"	pop %rbx\n"
"	lea inner(%rip), %rax\n"
"	push %rax\n"
"	ret\n"
"enter_fall:\n"
"	call before\n"
"	pop %rbx\n"
"	ret\n"
"	.size enter, . - enter\n"
"	.balign 64\n"
"	.type before, @function\n"
"before:\n"
"	nop\n"
"	nop\n"
"	.size before, . - before\n"
"	.globl inner\n"
"	.type inner, @function\n"
"inner:\n"
"	mov $3, %ecx\n"
"1:	dec %ecx\n"
"	jnz 1b\n"
"	lea leave_ways(%rip), %rdx\n"
"	movslq (%rdx,%rdi,4), %rax\n"
"	add %rdx, %rax\n"
"	jmp *%rax\n"
"leave_jump:\n"
"	jmp outer\n"
"leave_cond:\n"
"	test %esp, %esp\n"
"	jz leave_ret\n"
"	jnz outer\n"
"leave_jump_ind:\n"
"	lea outer(%rip), %rdx\n"
"	jmp *%rdx\n"
"leave_call:\n"
"	call outer\n"
"	ret\n"
"leave_call_ind:\n"
"	lea outer(%rip), %rdx\n"
"	call *%rdx\n"
"	ret\n"
"leave_syscall:\n"
"	mov $39, %eax\n"
"	syscall\n"
"	ret\n"
"leave_ud2:\n"
"	ud2\n"
"	ret\n"
"leave_int3:\n"
"	int3\n"
"	ret\n"
"leave_fault:\n"
"	xor %eax, %eax\n"
"	.globl fault_insn, after_fault\n"
"fault_insn:\n"
"	mov (%rax), %eax\n"
"after_fault:\n"
"	ret\n"
"leave_spin:\n"
"	mov $300000, %ecx\n"
"1:	dec %ecx\n"
"	jnz 1b\n"
"leave_ret:\n"
"	ret\n"
"leave_fall:\n"
"	nop\n"
"	.size inner, . - inner\n"
"	.type after_inner, @function\n"
"after_inner:\n"
"	nop\n"
"	test %esp, %esp\n"
"	jz after_inner\n"
"	ret\n"
"	.size after_inner, . - after_inner\n"
"	.balign 64\n"
"	.type outer, @function\n"
"outer:\n"
"	nop\n"
"	ret\n"
"	.size outer, . - outer\n"
"	.balign 64\n"
/* Two functions without a gap: direct, conditional, indirect and over the
 * edge they go from one to the other.
 */
"	.globl half_a, half_b\n"
"	.type half_a, @function\n"
"half_a:\n"
"	mov %rdi, %rcx\n"
"2:	dec %rcx\n"
"	jz 3f\n"
"	jmp 4f\n"
"5:	lea 6f(%rip), %rax\n"
"	jmp *%rax\n"
"7:	call half_leaf\n"
"	nop\n"
"	.size half_a, . - half_a\n"
"	.type half_b, @function\n"
"half_b:\n"
"	test %esp, %esp\n"
"	jnz 2b\n"
"4:	test %esp, %esp\n"
"	jnz 5b\n"
"6:	jmp 7b\n"
"3:	ret\n"
"half_leaf:\n"
"	ret\n"
"	.size half_b, . - half_b\n"
"	.balign 64\n"
"	.globl stop_here\n"
"	.type stop_here, @function\n"
"stop_here:\n"
"	nop\n"
"	ret\n"
"	.size stop_here, . - stop_here\n"
"	.section .rodata\n"
"	.balign 4\n"
"enter_ways:\n"
"	.long enter_call - enter_ways, enter_call_ind - enter_ways\n"
"	.long enter_jump - enter_ways, enter_cond - enter_ways\n"
"	.long enter_ret - enter_ways, enter_fall - enter_ways\n"
"leave_ways:\n"
"	.long leave_ret - leave_ways, leave_jump - leave_ways\n"
"	.long leave_cond - leave_ways, leave_jump_ind - leave_ways\n"
"	.long leave_call - leave_ways, leave_call_ind - leave_ways\n"
"	.long leave_syscall - leave_ways, leave_ud2 - leave_ways\n"
"	.long leave_int3 - leave_ways, leave_fault - leave_ways\n"
"	.long leave_fall - leave_ways, leave_spin - leave_ways\n"
"	.text\n");

/* INT3 is a trap; the others are gone over. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	if (number != SIGTRAP)
		regs[REG_RIP] += 2;
}

static void handlers_set(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGILL, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

static void work(unsigned long rounds)
{
	unsigned long round, how, leave;

	for (round = 0; round < rounds; round++) {
		for (how = 0; how < ENTER_COUNT; how++) {
			for (leave = 0; leave < LEAVE_SPIN; leave++)
				enter(how, leave);
		}
		half_a(5);
	}
	/* Long enough for some timer interrupts. */
	enter(ENTER_CALL, LEAVE_SPIN);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	pid_t child = -1;

	handlers_set();
	if (argc > 2 && !strcmp(argv[2], "fork"))
		child = fork();
	work(rounds);
	if (child > 0)
		waitpid(child, NULL, 0);
	stop_here();
	work(1);
	return 0;
}
