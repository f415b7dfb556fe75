/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of record types and kinds, as the tool and the tests print them: the
 * initialisers of arrays that are indexed by the constants.
 */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include "../../../uapi/linux/kipt_record.h"

#define RECORD_TYPE_NAMES {						\
	[KIPT_RECORD_BRANCH] = "branch",				\
	[KIPT_RECORD_ENABLE] = "enable",				\
	[KIPT_RECORD_DISABLE] = "disable",				\
	[KIPT_RECORD_CONTEXT] = "context",				\
	[KIPT_RECORD_TASK] = "task",					\
	[KIPT_RECORD_MODE] = "mode",					\
	[KIPT_RECORD_TSX] = "tsx",					\
	[KIPT_RECORD_TIME] = "time",					\
	[KIPT_RECORD_CBR] = "cbr",					\
	[KIPT_RECORD_PTWRITE] = "ptwrite",				\
	[KIPT_RECORD_POWER] = "power",					\
	[KIPT_RECORD_EVENT] = "event",					\
	[KIPT_RECORD_EVENT_DATA] = "event-data",			\
	[KIPT_RECORD_VMCS] = "vmcs",					\
	[KIPT_RECORD_TRACESTOP] = "tracestop",				\
	[KIPT_RECORD_BLOCK] = "block",					\
	[KIPT_RECORD_TRIG] = "trig",					\
	[KIPT_RECORD_GAP] = "gap",					\
	[KIPT_RECORD_CPU] = "cpu",					\
	[KIPT_RECORD_INSN] = "insn",					\
	[KIPT_RECORD_SYNC] = "sync",					\
	[KIPT_RECORD_PATH] = "path",					\
	[KIPT_RECORD_PATHS] = "paths",					\
	[KIPT_RECORD_DICTIONARY] = "dictionary",			\
	[KIPT_RECORD_EDGE] = "edge",					\
	[KIPT_RECORD_CODE] = "code",					\
	[KIPT_RECORD_SPACE] = "space",					\
	[KIPT_RECORD_NODE] = "node",					\
	[KIPT_RECORD_LINK] = "link",					\
	[KIPT_RECORD_WALK] = "walk",					\
}

#define RECORD_BRANCH_NAMES {						\
	[KIPT_BRANCH_COND] = "cond",					\
	[KIPT_BRANCH_JUMP] = "jump",					\
	[KIPT_BRANCH_CALL] = "call",					\
	[KIPT_BRANCH_JUMP_IND] = "jump-ind",				\
	[KIPT_BRANCH_CALL_IND] = "call-ind",				\
	[KIPT_BRANCH_RET] = "ret",					\
	[KIPT_BRANCH_SYSCALL] = "syscall",				\
	[KIPT_BRANCH_SYSRET] = "sysret",				\
	[KIPT_BRANCH_IRET] = "iret",					\
	[KIPT_BRANCH_FAR] = "far",					\
	[KIPT_BRANCH_VMENTRY] = "vmentry",				\
	[KIPT_BRANCH_EVENT] = "event",					\
	[KIPT_BRANCH_TSX_ABORT] = "tsx-abort",				\
	[KIPT_BRANCH_VMEXIT] = "vmexit",				\
}

#define RECORD_GAP_NAMES {						\
	[KIPT_GAP_OVERFLOW] = "overflow",				\
	[KIPT_GAP_DECODE] = "decode",					\
	[KIPT_GAP_NO_CODE] = "no-code",					\
	[KIPT_GAP_CODE_CHANGED] = "code-changed",			\
	[KIPT_GAP_RING] = "ring",					\
	[KIPT_GAP_TRUNCATED] = "truncated",				\
	[KIPT_GAP_STOPPED] = "stopped",					\
	[KIPT_GAP_HW_ERROR] = "hw-error",				\
	[KIPT_GAP_OFFLINE] = "offline",					\
	[KIPT_GAP_SUSPEND] = "suspend",					\
	[KIPT_GAP_REBOOT] = "reboot",					\
	[KIPT_GAP_OUTSIDE] = "outside",					\
	[KIPT_GAP_STUCK] = "stuck",					\
	[KIPT_GAP_SWITCHES] = "switches",				\
	[KIPT_GAP_SPACES] = "spaces",					\
	[KIPT_GAP_CODE_DROPPED] = "code-dropped",			\
	[KIPT_GAP_PATCHES] = "patches",					\
	[KIPT_GAP_PROCESSES] = "processes",				\
	[KIPT_GAP_MISSING] = "missing",					\
}

#endif /* RECORD_NAMES_H */
