/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core calls in the kernel and finds nowhere in user space, or not in
 * that form: retpolines in their slowest form, which a CPU without a cheaper
 * remedy runs, and memcpy() and memset() without SIMD.
 */
	.text

	.macro THUNK register
	.globl	__x86_indirect_thunk_\register
	.type	__x86_indirect_thunk_\register, @function
	.balign	32
__x86_indirect_thunk_\register:
	call	2f
1:	pause
	lfence
	jmp	1b
	.balign	16
2:	mov	%\register, (%rsp)
	ret
	int3
	.size	__x86_indirect_thunk_\register, . - __x86_indirect_thunk_\register
	.endm

	.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	THUNK \register
	.endr

/* Where function entries may be patched; five bytes of nothing otherwise. */
	.globl	__fentry__
	.type	__fentry__, @function
__fentry__:
	ret
	.size	__fentry__, . - __fentry__

/* What the kernel takes on CPUs with fast string instructions. */
	.globl	memcpy
	.type	memcpy, @function
	.balign	16
memcpy:
	mov	%rdi, %rax
	mov	%rdx, %rcx
	rep movsb
	ret
	.size	memcpy, . - memcpy

	.globl	memset
	.type	memset, @function
	.balign	16
memset:
	mov	%rdi, %r8
	mov	%esi, %eax
	mov	%rdx, %rcx
	rep stosb
	mov	%r8, %rax
	ret
	.size	memset, . - memset

	.section .note.GNU-stack, "", @progbits
