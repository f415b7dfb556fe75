// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding calls in code and on the stack, see crash_calls.h.
 */
#include <linux/kern_levels.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "crash_calls.h"
#include "crash_words.h"

/* Of a format that goes on with an argument: "BUG: %s". */
#define FORMAT_LEAST	5U
/* Before a call, in which its format is loaded. */
#define CODE_BYTES	96
/* A call may go to the padding before a function. */
#define PADDING_BYTES	16
/* Words of the stack that are looked through for a return address. */
#define STACK_WORDS	512U

u64 kipt_crash_call_before(u64 function, unsigned long next)
{
	u8 opcode;
	s32 distance;
	u64 target;

	if (get_kernel_nofault(opcode, (u8 *)next - CALL_INSN_SIZE) ||
	    get_kernel_nofault(distance, (s32 *)next - 1) ||
	    opcode != CALL_INSN_OPCODE)
		return next;
	/*
	 * Either may be the address of ENDBR, the other that of what follows; and
	 * there may be padding before it that is called.
	 */
	target = next + distance;
	if (target > function + ENDBR_INSN_SIZE ||
	    target + ENDBR_INSN_SIZE + PADDING_BYTES < function)
		return next;
	return next - CALL_INSN_SIZE;
}

const char *kipt_crash_read_format(u64 address, char *bytes, size_t size)
{
	if (copy_from_kernel_nofault(bytes, (void *)address, size))
		return NULL;
	bytes[size - 1] = 0;
	return bytes[0] == KERN_SOH_ASCII && bytes[1] ? bytes + 2 : bytes;
}

/* Whether a format begins as a report does: up to its first argument, at least. */
static bool is_format(u64 address, const char *words)
{
	char bytes[KIPT_CRASH_WORDS_BYTES + 2];
	const char *at = kipt_crash_read_format(address, bytes, sizeof(bytes));
	u32 same = 0;

	if (!at)
		return false;
	while (words[same] && at[same] == words[same])
		same++;
	return !words[same] || (at[same] == '%' && same >= FORMAT_LEAST);
}

/*
 * Whether a call of _printk() has such a format: "mov $format, %rdi" or "lea
 * format(%rip), %rdi" is a few instructions before it.
 */
static bool prints(u64 call, const char *words)
{
	u8 code[CODE_BYTES];
	s32 value;
	u32 i;

	if (copy_from_kernel_nofault(code, (void *)(call - CODE_BYTES),
				     CODE_BYTES))
		return false;
	for (i = 0; i + 7 <= CODE_BYTES; i++) {
		memcpy(&value, code + i + 3, sizeof(value));
		if (code[i] != 0x48)
			continue;
		if (code[i + 1] == 0xc7 && code[i + 2] == 0xc7 &&
		    is_format((s64)value, words))
			return true;
		if (code[i + 1] == 0x8d && code[i + 2] == 0x3d &&
		    is_format(call - CODE_BYTES + i + 7 + value, words))
			return true;
	}
	return false;
}

u64 kipt_crash_call_of_printk(const char *words)
{
	const unsigned long *word = __builtin_frame_address(0);
	unsigned long next;
	u64 call;
	u32 i;

	for (i = 0; i < STACK_WORDS; i++) {
		if (get_kernel_nofault(next, word + i))
			return 0;
		if (next < __START_KERNEL_map || next >= MODULES_VADDR)
			continue;
		call = kipt_crash_call_before((unsigned long)_printk, next);
		if (call != next && prints(call, words))
			return call;
	}
	return 0;
}
