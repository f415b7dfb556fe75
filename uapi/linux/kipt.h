/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	uapi/kipt.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_KIPT_H
#define _UAPI_LINUX_KIPT_H

#define KIPT_FAMILY_NAME	"kipt"
#define KIPT_FAMILY_VERSION	1

/**
 * enum kipt_mode - What a session does when its buffers are full.
 * @KIPT_MODE_RING: overwrite the oldest trace (flight recorder)
 * @KIPT_MODE_ONCE: stop tracing that CPU
 */
enum kipt_mode {
	KIPT_MODE_RING = 1,
	KIPT_MODE_ONCE,
};

/**
 * enum kipt_state - Life of a session.
 * @KIPT_STATE_NEW: never started
 * @KIPT_STATE_RUNNING: tracing, or full in mode once
 * @KIPT_STATE_STOPPED: holds the trace of its last run
 */
enum kipt_state {
	KIPT_STATE_NEW = 1,
	KIPT_STATE_RUNNING,
	KIPT_STATE_STOPPED,
};

/**
 * enum kipt_stop_cause - Why tracing of a CPU ended.
 * @KIPT_STOP_CAUSE_USER: session-stop or session-del
 * @KIPT_STOP_CAUSE_FULL: the buffer is full, in mode once
 * @KIPT_STOP_CAUSE_OFFLINE: the CPU went offline
 * @KIPT_STOP_CAUSE_SUSPEND: the machine is suspended or hibernated
 * @KIPT_STOP_CAUSE_REBOOT: the machine is shut down
 * @KIPT_STOP_CAUSE_OUTSIDE: someone else cleared TraceEn (VMXON, a write of
 *   the register) or wrote the output registers
 * @KIPT_STOP_CAUSE_ERROR: IA32_RTIT_STATUS.Error, see the attribute status
 * @KIPT_STOP_CAUSE_STUCK: the CPU answered neither interrupt nor NMI
 * @KIPT_STOP_CAUSE_FILTER: the CPU ran code in a range of kind stop
 */
enum kipt_stop_cause {
	KIPT_STOP_CAUSE_USER = 1,
	KIPT_STOP_CAUSE_FULL,
	KIPT_STOP_CAUSE_OFFLINE,
	KIPT_STOP_CAUSE_SUSPEND,
	KIPT_STOP_CAUSE_REBOOT,
	KIPT_STOP_CAUSE_OUTSIDE,
	KIPT_STOP_CAUSE_ERROR,
	KIPT_STOP_CAUSE_STUCK,
	KIPT_STOP_CAUSE_FILTER,
};

/**
 * enum kipt_session_flags - How long things live.
 * @KIPT_SESSION_FLAGS_DETACHED: outlive the socket that made the session
 * @KIPT_SESSION_FLAGS_KEEP_MM: keep the address spaces of traced tasks (at
 *   most max-mms) until the session is destroyed, so that code of tasks that
 *   exited can be read
 */
enum kipt_session_flags {
	KIPT_SESSION_FLAGS_DETACHED = 1,
	KIPT_SESSION_FLAGS_KEEP_MM = 2,
};

/**
 * enum kipt_output - Which records a fetch makes; gaps, context, ptwrite,
 *   power always.
 * @KIPT_OUTPUT_BRANCHES: every taken branch
 * @KIPT_OUTPUT_CALLS: calls, returns, far transfers and events
 * @KIPT_OUTPUT_INSNS: every instruction
 * @KIPT_OUTPUT_TIME: estimated time and frequency
 */
enum kipt_output {
	KIPT_OUTPUT_BRANCHES = 1,
	KIPT_OUTPUT_CALLS = 2,
	KIPT_OUTPUT_INSNS = 4,
	KIPT_OUTPUT_TIME = 8,
};

enum {
	KIPT_A_CAP_LEAF0_EAX = 1,
	KIPT_A_CAP_LEAF0_EBX,
	KIPT_A_CAP_LEAF0_ECX,
	KIPT_A_CAP_LEAF1_EAX,
	KIPT_A_CAP_LEAF1_EBX,
	KIPT_A_CAP_TSC_DEN,
	KIPT_A_CAP_TSC_NUM,
	KIPT_A_CAP_CRYSTAL_HZ,
	KIPT_A_CAP_TSC_KHZ,
	KIPT_A_CAP_MAX_NONTURBO_RATIO,
	KIPT_A_CAP_CPU_FAMILY,
	KIPT_A_CAP_CPU_MODEL,
	KIPT_A_CAP_VMX_PT,
	KIPT_A_CAP_CTL_ALLOWED,
	KIPT_A_CAP_PAD,

	__KIPT_A_CAP_MAX,
	KIPT_A_CAP_MAX = (__KIPT_A_CAP_MAX - 1)
};

enum {
	KIPT_A_CPU_ID = 1,
	KIPT_A_CPU_STATE,
	KIPT_A_CPU_SIZE,
	KIPT_A_CPU_BYTES,
	KIPT_A_CPU_HEAD,
	KIPT_A_CPU_WRAPPED,
	KIPT_A_CPU_STATUS,
	KIPT_A_CPU_BLOCKS,
	KIPT_A_CPU_BLOCK_MIN,
	KIPT_A_CPU_BLOCK_MAX,
	KIPT_A_CPU_PMIS,
	KIPT_A_CPU_OFFLINE,
	KIPT_A_CPU_RECORDS,
	KIPT_A_CPU_CAUSE,
	KIPT_A_CPU_PAD,

	__KIPT_A_CPU_MAX,
	KIPT_A_CPU_MAX = (__KIPT_A_CPU_MAX - 1)
};

enum {
	KIPT_A_SESSION_ID = 1,
	KIPT_A_SESSION_CPUS,
	KIPT_A_SESSION_MODE,
	KIPT_A_SESSION_SIZE,
	KIPT_A_SESSION_CTL,
	KIPT_A_SESSION_FLAGS,
	KIPT_A_SESSION_STATE,
	KIPT_A_SESSION_CPU,
	KIPT_A_SESSION_CAPS,
	KIPT_A_SESSION_SIZE_MIN,
	KIPT_A_SESSION_SIZE_MAX,
	KIPT_A_SESSION_MAX_MMS,
	KIPT_A_SESSION_VERSION,
	KIPT_A_SESSION_ABI,
	KIPT_A_SESSION_RECORD_VERSION,
	KIPT_A_SESSION_ONLINE,
	KIPT_A_SESSION_BUSY,
	KIPT_A_SESSION_OUTPUT,
	KIPT_A_SESSION_CREDIT,
	KIPT_A_SESSION_SEQ,
	KIPT_A_SESSION_CPU_ID,
	KIPT_A_SESSION_DATA,
	KIPT_A_SESSION_LOST,
	KIPT_A_SESSION_DONE,
	KIPT_A_SESSION_TOTAL,
	KIPT_A_SESSION_TRACE_BYTES,
	KIPT_A_SESSION_TRACE_DONE,
	KIPT_A_SESSION_PAD,

	__KIPT_A_SESSION_MAX,
	KIPT_A_SESSION_MAX = (__KIPT_A_SESSION_MAX - 1)
};

enum {
	KIPT_CMD_GET_INFO = 1,
	KIPT_CMD_SESSION_NEW,
	KIPT_CMD_SESSION_START,
	KIPT_CMD_SESSION_STOP,
	KIPT_CMD_SESSION_DEL,
	KIPT_CMD_SESSION_GET,
	KIPT_CMD_FETCH,
	KIPT_CMD_CREDIT,
	KIPT_CMD_FETCH_CANCEL,
	KIPT_CMD_RECORDS,
	KIPT_CMD_SESSION_EVENT,

	__KIPT_CMD_MAX,
	KIPT_CMD_MAX = (__KIPT_CMD_MAX - 1)
};

#define KIPT_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_KIPT_H */
