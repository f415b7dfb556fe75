// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out whether a kprobe fires, see probe.h: by the two switches that root has, which
 * are exported to nobody, and by the text that is probed.
 */
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "probe.h"

/* debugfs' kprobes/enabled, the other way round, and kernel.ftrace_enabled. */
static const bool *all_disarmed;
static const int *ftrace_on;

void kipt_probe_init(void)
{
	all_disarmed = kipt_probe_variable("kprobes_all_disarmed");
	ftrace_on = kipt_probe_variable("ftrace_enabled");
}

static bool are_all_disarmed(void)
{
	bool value;

	return all_disarmed && !get_kernel_nofault(value, all_disarmed) &&
	       value;
}

static bool is_ftrace_off(void)
{
	int value;

	return ftrace_on && !get_kernel_nofault(value, ftrace_on) &&
	       !value;
}

bool kipt_probe_is_armed(const struct kprobe *probe)
{
	u8 opcode;

	if (are_all_disarmed() ||
	    (probe->flags & KPROBE_FLAG_FTRACE && is_ftrace_off()))
		return false;
	if (copy_from_kernel_nofault(&opcode, probe->addr, sizeof(opcode)))
		return false;
	return opcode == INT3_INSN_OPCODE || opcode == CALL_INSN_OPCODE ||
	       opcode == JMP32_INSN_OPCODE;
}
