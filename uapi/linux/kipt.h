/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	uapi/kipt.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_KIPT_H
#define _UAPI_LINUX_KIPT_H

#define KIPT_FAMILY_NAME	"kipt"
#define KIPT_FAMILY_VERSION	1

#define KIPT_SIZE_MIN		65536
#define KIPT_SIZE_MAX		1073741824
#define KIPT_CPUS_LEN		4095
#define KIPT_FILTERS_MAX	4
#define KIPT_PRINT_BRANCHES_MAX	1000
#define KIPT_PRINT_USER_MAX	64
#define KIPT_ABI		3

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
 * enum kipt_part - Parts that a module can be built without.
 * @KIPT_PART_DECODE: the decoder; a fetch is refused
 * @KIPT_PART_CRASH: what captures crashes; no session can be armed
 */
enum kipt_part {
	KIPT_PART_DECODE = 1,
	KIPT_PART_CRASH = 2,
};

/**
 * enum kipt_state - Life of a session, and of the trace of one of its CPUs.
 * @KIPT_STATE_NEW: never started
 * @KIPT_STATE_RUNNING: tracing; a session runs until it is stopped, even when
 *   all of its CPUs have stopped by themselves
 * @KIPT_STATE_STOPPED: holds the trace of its last run
 * @KIPT_STATE_SETUP: session-new is allocating its buffers
 */
enum kipt_state {
	KIPT_STATE_NEW = 1,
	KIPT_STATE_RUNNING,
	KIPT_STATE_STOPPED,
	KIPT_STATE_SETUP,
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
 * @KIPT_STOP_CAUSE_LENT: of an armed session: perf may use Intel PT for a
 *   while
 * @KIPT_STOP_CAUSE_YIELDED: of an armed session: another session has the CPU
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
	KIPT_STOP_CAUSE_LENT,
	KIPT_STOP_CAUSE_YIELDED,
};

/**
 * enum kipt_session_flags - How long a session and what it knows live, and
 *   what it follows.
 * @KIPT_SESSION_FLAGS_DETACHED: outlive the socket that made the session
 * @KIPT_SESSION_FLAGS_KEEP_CODE: refused (EINVAL): which files programs had
 *   mapped is what the reader of a trace says, by KIPT_RAW_IMAGES of
 *   linux/kipt_raw.h
 * @KIPT_SESSION_FLAGS_FOLLOW_FORK: with pid, trace the processes it makes too
 * @KIPT_SESSION_FLAGS_ARMED: for crashes: CPUs that are offline are traced
 *   when they come online, and all again after a suspend; with mode ring and
 *   detached only
 * @KIPT_SESSION_FLAGS_USER: keep the end of the trace of programs that a
 *   signal kills; with armed, and with User and OS in ctl only
 * @KIPT_SESSION_FLAGS_YIELD: sessions that are not armed may have its CPUs, as
 *   long as they live; with armed only
 */
enum kipt_session_flags {
	KIPT_SESSION_FLAGS_DETACHED = 1,
	KIPT_SESSION_FLAGS_KEEP_CODE = 2,
	KIPT_SESSION_FLAGS_FOLLOW_FORK = 4,
	KIPT_SESSION_FLAGS_ARMED = 8,
	KIPT_SESSION_FLAGS_USER = 16,
	KIPT_SESSION_FLAGS_YIELD = 32,
};

/**
 * enum kipt_filter_kind - What an address range is for.
 * @KIPT_FILTER_KIND_TRACE: only code in ranges of this kind is traced
 *   (FilterEn)
 * @KIPT_FILTER_KIND_STOP: code in it ends the tracing of the CPU (TraceStop)
 */
enum kipt_filter_kind {
	KIPT_FILTER_KIND_TRACE = 1,
	KIPT_FILTER_KIND_STOP,
};

/**
 * enum kipt_output - Which records a fetch makes; gaps, context, ptwrite,
 *   power always. branches, calls, insns go together; packed encodes what
 *   branches or calls ask for; counts goes without all of these.
 * @KIPT_OUTPUT_BRANCHES: every taken branch
 * @KIPT_OUTPUT_CALLS: calls, returns, far transfers and events
 * @KIPT_OUTPUT_INSNS: every instruction
 * @KIPT_OUTPUT_TIME: estimated time and frequency
 * @KIPT_OUTPUT_PACKED: as NODE, LINK and WALK records
 * @KIPT_OUTPUT_COUNTS: SPACE and EDGE records, how often each branch went
 *   where
 */
enum kipt_output {
	KIPT_OUTPUT_BRANCHES = 1,
	KIPT_OUTPUT_CALLS = 2,
	KIPT_OUTPUT_INSNS = 4,
	KIPT_OUTPUT_TIME = 8,
	KIPT_OUTPUT_PACKED = 16,
	KIPT_OUTPUT_COUNTS = 32,
};

enum {
	KIPT_A_INFO_VERSION = 1,
	KIPT_A_INFO_ABI,
	KIPT_A_INFO_RECORD_VERSION,
	KIPT_A_INFO_CPUS,
	KIPT_A_INFO_CAP,
	KIPT_A_INFO_LIMITS,
	KIPT_A_INFO_BUSY,
	KIPT_A_INFO_MEMORY,
	KIPT_A_INFO_LATCH,
	KIPT_A_INFO_PAD,
	KIPT_A_INFO_ABSENT,

	__KIPT_A_INFO_MAX,
	KIPT_A_INFO_MAX = (__KIPT_A_INFO_MAX - 1)
};

enum {
	KIPT_A_LIMITS_SIZE_MIN = 1,
	KIPT_A_LIMITS_SIZE_MAX,
	KIPT_A_LIMITS_MEMORY,
	KIPT_A_LIMITS_KEEP_CODE,
	KIPT_A_LIMITS_SPACES,
	KIPT_A_LIMITS_SWITCHES,
	KIPT_A_LIMITS_PATCHES,
	KIPT_A_LIMITS_ARENA,
	KIPT_A_LIMITS_PROCESSES,
	KIPT_A_LIMITS_PAD,

	__KIPT_A_LIMITS_MAX,
	KIPT_A_LIMITS_MAX = (__KIPT_A_LIMITS_MAX - 1)
};

enum {
	KIPT_A_CAP_CPUS = 1,
	KIPT_A_CAP_LEAF0_EAX,
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
	KIPT_A_CAP_CPU_STEPPING,
	KIPT_A_CAP_CORE_TYPE,
	KIPT_A_CAP_VMX_PT,
	KIPT_A_CAP_CTL_ALLOWED,
	KIPT_A_CAP_PAD,

	__KIPT_A_CAP_MAX,
	KIPT_A_CAP_MAX = (__KIPT_A_CAP_MAX - 1)
};

enum {
	KIPT_A_SESSION_ID = 1,
	KIPT_A_SESSION_CPUS,
	KIPT_A_SESSION_MODE,
	KIPT_A_SESSION_SIZE,
	KIPT_A_SESSION_CTL,
	KIPT_A_SESSION_FLAGS,
	KIPT_A_SESSION_FILTER,
	KIPT_A_SESSION_PID,
	KIPT_A_SESSION_CR3,
	KIPT_A_SESSION_STATE,
	KIPT_A_SESSION_CAUSE,
	KIPT_A_SESSION_GENERATION,
	KIPT_A_SESSION_UID,
	KIPT_A_SESSION_MEMORY,
	KIPT_A_SESSION_MEMORY_TOTAL,
	KIPT_A_SESSION_SPACES_LOST,
	KIPT_A_SESSION_SWITCHES_LOST,
	KIPT_A_SESSION_CODE_KEPT,
	KIPT_A_SESSION_CODE_DROPPED,
	KIPT_A_SESSION_PROCESSES,
	KIPT_A_SESSION_PROCESSES_LOST,
	KIPT_A_SESSION_PRINT_BRANCHES,
	KIPT_A_SESSION_HOOKS_LOST,
	KIPT_A_SESSION_CPU,
	KIPT_A_SESSION_PAD,
	KIPT_A_SESSION_PRINT_CPUS,
	KIPT_A_SESSION_PRINT_USER,
	KIPT_A_SESSION_SNAPSHOTS,
	KIPT_A_SESSION_SNAPSHOTS_SIZE,

	__KIPT_A_SESSION_MAX,
	KIPT_A_SESSION_MAX = (__KIPT_A_SESSION_MAX - 1)
};

enum {
	KIPT_A_FILTER_KIND = 1,
	KIPT_A_FILTER_FIRST,
	KIPT_A_FILTER_LAST,
	KIPT_A_FILTER_PAD,

	__KIPT_A_FILTER_MAX,
	KIPT_A_FILTER_MAX = (__KIPT_A_FILTER_MAX - 1)
};

enum {
	KIPT_A_CPU_CPU = 1,
	KIPT_A_CPU_STATE,
	KIPT_A_CPU_CAUSE,
	KIPT_A_CPU_SIZE,
	KIPT_A_CPU_HEAD,
	KIPT_A_CPU_TAIL,
	KIPT_A_CPU_STATUS,
	KIPT_A_CPU_BLOCKS,
	KIPT_A_CPU_BLOCK_MIN,
	KIPT_A_CPU_BLOCK_MAX,
	KIPT_A_CPU_PMIS,
	KIPT_A_CPU_PAD,

	__KIPT_A_CPU_MAX,
	KIPT_A_CPU_MAX = (__KIPT_A_CPU_MAX - 1)
};

enum {
	KIPT_A_FETCH_ID = 1,
	KIPT_A_FETCH_FETCH,
	KIPT_A_FETCH_CPU,
	KIPT_A_FETCH_OUTPUT,
	KIPT_A_FETCH_MEMORY,
	KIPT_A_FETCH_TOTAL,
	KIPT_A_FETCH_DONE,
	KIPT_A_FETCH_CHUNK,
	KIPT_A_FETCH_FROM,
	KIPT_A_FETCH_TO,
	KIPT_A_FETCH_RECORDS,
	KIPT_A_FETCH_END,
	KIPT_A_FETCH_LOST,
	KIPT_A_FETCH_PAD,

	__KIPT_A_FETCH_MAX,
	KIPT_A_FETCH_MAX = (__KIPT_A_FETCH_MAX - 1)
};

enum {
	KIPT_A_EVENT_ID = 1,
	KIPT_A_EVENT_STATE,
	KIPT_A_EVENT_CPU,
	KIPT_A_EVENT_CAUSE,

	__KIPT_A_EVENT_MAX,
	KIPT_A_EVENT_MAX = (__KIPT_A_EVENT_MAX - 1)
};

enum {
	KIPT_A_SNAPSHOT_ID = 1,
	KIPT_A_SNAPSHOT_TIME,
	KIPT_A_SNAPSHOT_HOOK,
	KIPT_A_SNAPSHOT_CPU,
	KIPT_A_SNAPSHOT_IP,
	KIPT_A_SNAPSHOT_TRAP,
	KIPT_A_SNAPSHOT_PID,
	KIPT_A_SNAPSHOT_COMM,
	KIPT_A_SNAPSHOT_CPUS,
	KIPT_A_SNAPSHOT_SIZE,
	KIPT_A_SNAPSHOT_OFFSET,
	KIPT_A_SNAPSHOT_DATA,
	KIPT_A_SNAPSHOT_PAD,
	KIPT_A_SNAPSHOT_SIGNAL,
	KIPT_A_SNAPSHOT_PROCESS,
	KIPT_A_SNAPSHOT_UID,
	KIPT_A_SNAPSHOT_FILE,
	KIPT_A_SNAPSHOT_FILE_OFFSET,
	KIPT_A_SNAPSHOT_MISSED,

	__KIPT_A_SNAPSHOT_MAX,
	KIPT_A_SNAPSHOT_MAX = (__KIPT_A_SNAPSHOT_MAX - 1)
};

enum {
	KIPT_CMD_GET_INFO = 1,
	KIPT_CMD_SESSION_NEW,
	KIPT_CMD_SESSION_START,
	KIPT_CMD_SESSION_STOP,
	KIPT_CMD_SESSION_DEL,
	KIPT_CMD_SESSION_GET,
	KIPT_CMD_FETCH,
	KIPT_CMD_SESSION_EVENT,
	KIPT_CMD_SNAPSHOT_GET,
	KIPT_CMD_SNAPSHOT_DEL,

	__KIPT_CMD_MAX,
	KIPT_CMD_MAX = (__KIPT_CMD_MAX - 1)
};

#define KIPT_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_KIPT_H */
