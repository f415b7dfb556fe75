/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a kprobe fires. One at a function's ftrace site is registered
 * without an error, and counts no miss, while root keeps ftrace or kprobes
 * turned off.
 */
#ifndef KIPT_PROBE_H
#define KIPT_PROBE_H

#include <linux/kprobes.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

/**
 * kipt_probe_is_armed() - whether a kprobe stands in the text it is to probe
 * @probe: registered
 *
 * Another user of the same ftrace site looks like it. Context: any.
 *
 * Return: false if it does not fire.
 */
static inline bool kipt_probe_is_armed(const struct kprobe *probe)
{
	u8 opcode;

	if (copy_from_kernel_nofault(&opcode, probe->addr, sizeof(opcode)))
		return false;
	return opcode == INT3_INSN_OPCODE || opcode == CALL_INSN_OPCODE ||
	       opcode == JMP32_INSN_OPCODE;
}

#endif /* KIPT_PROBE_H */
