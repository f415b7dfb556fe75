/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The decoded record stream: what the decoder says a CPU did, in the order
 * it did it. The same 24-byte records leave the kernel over netlink, the
 * decoder core in user space, and are in record files.
 *
 * All members are in the byte order of the machine. A record whose @type a
 * reader does not know is to be skipped; numbers are never reused.
 */
#ifndef _UAPI_LINUX_KIPT_RECORD_H
#define _UAPI_LINUX_KIPT_RECORD_H

#include <linux/types.h>

#define KIPT_RECORD_VERSION	3

/**
 * struct kipt_record - one thing that happened
 * @type: enum kipt_record_type
 * @kind: meaning depends on @type: enum kipt_branch_kind, enum kipt_gap_kind,
 *	enum kipt_power_kind, enum kipt_exec_kind ...
 * @flags: KIPT_RF_*
 * @aux: small value, meaning depends on @type
 * @ip: address the record is about; 0 with KIPT_RF_NO_IP
 * @value: second address or value, meaning depends on @type
 */
struct kipt_record {
	__u8  type;
	__u8  kind;
	__u16 flags;
	__u32 aux;
	__u64 ip;
	__u64 value;
};

/**
 * enum kipt_record_type - what a record says
 * @KIPT_RECORD_BRANCH: control went from @ip to @value; @kind is enum
 *	kipt_branch_kind; @aux counts the instructions that executed since the
 *	previous BRANCH, ENABLE or SYNC record, the branch itself included
 *	(an EVENT is not an instruction; 0xffffffff: that many or more). A not-taken conditional branch makes no record.
 * @KIPT_RECORD_ENABLE: execution is at @ip from here on (TIP.PGE, or the
 *	address after an overflow or a gap). @kind is enum kipt_enable_kind.
 * @KIPT_RECORD_DISABLE: tracing ends. @kind is enum kipt_disable_kind. @ip:
 *	the last branch, or the instruction an asynchronous disable hit (after
 *	a GAP it may not be known: KIPT_RF_NO_IP);
 *	@value: the target of the branch that left (KIPT_RF_NO_VALUE if the
 *	trace does not say); @aux as in BRANCH.
 * @KIPT_RECORD_CONTEXT: the address space is now @value (CR3, low bits as in
 *	PIP); KIPT_RF_NR: VMX non-root; effective at @ip
 * @KIPT_RECORD_TASK: the thread is now @aux (tid), of process @value (tgid);
 *	comes from the kernel's scheduler, not from the trace. KIPT_RF_NO_VALUE
 *	when unknown.
 * @KIPT_RECORD_MODE: execution mode: @kind enum kipt_exec_kind; KIPT_RF_IF
 *	with Event Trace
 * @KIPT_RECORD_TSX: @kind enum kipt_tsx_kind, at @ip
 * @KIPT_RECORD_TIME: @value: estimated TSC; @aux: bound of its error in TSC
 *	ticks (0xffffffff: unknown). Applies to what follows, but direct jumps
 *	and calls that follow at once may have been before: they make no packet.
 *	@ip is no address: core cycles of the CYC packets since the time
 *	before, or the PSB
 *	@kind is enum kipt_time_kind, 0 for times of the trace
 * @KIPT_RECORD_CBR: core:bus ratio is now @aux
 * @KIPT_RECORD_PTWRITE: PTWRITE at @ip wrote @value, @aux bytes wide (4, 8)
 * @KIPT_RECORD_POWER: @kind enum kipt_power_kind; @ip where the CPU stopped;
 *	MWAIT: @aux hints, @value extensions; PWRE: @aux = (state << 4 |
 *	sub-state), KIPT_RF_HW if hardware started it; PWRX: @aux = (last << 4
 *	| deepest), @value wake reason bits
 * @KIPT_RECORD_EVENT: Event Trace: @kind CFE type, @aux vector, @ip if bound
 * @KIPT_RECORD_EVENT_DATA: Event Trace: @kind EVD type, @value payload
 * @KIPT_RECORD_VMCS: VMCS base is now @value
 * @KIPT_RECORD_TRACESTOP: tracing entered a TraceStop range
 * @KIPT_RECORD_BLOCK: PEBS block item: @kind block type, @aux item id, @value;
 *	@kind 0: the record of the items before is complete, it is about @ip
 * @KIPT_RECORD_TRIG: trigger: @aux trigger bits, @value instructions to it from where
 *	the last TNT, TIP, FUP or TRIG packet is; KIPT_RF_MULT: others fired too, and are not in @aux
 * @KIPT_RECORD_GAP: something is missing here; @kind enum kipt_gap_kind;
 *	@aux: enum kipt_status of the decoder for DECODE and CODE gaps; @ip:
 *	last address known; @value: offset in the trace of the offending byte,
 *	or the number of bytes or records lost. Nothing is implied about how
 *	control went across a gap.
 * @KIPT_RECORD_CPU: what follows is of CPU @aux; @value: offset in its trace
 * @KIPT_RECORD_INSN: instruction mode only: @ip executed; @aux its length
 * @KIPT_RECORD_SYNC: the trace has a PSB here, at offset @value; @ip: where
 *	execution was (KIPT_RF_NO_IP: tracing was off); @kind is enum
 *	kipt_sync_kind. A PSB makes up to two: KIPT_SYNC_REACHED says that the
 *	flow before led to @ip, @aux instructions after the last BRANCH, ENABLE
 *	or SYNC record; KIPT_SYNC_START that decoding starts from here whatever
 *	was before (@aux 0; with an @ip it is an ENABLE too), and is followed
 *	by the CONTEXT, MODE, TSX, VMCS, TIME and CBR records that restate what
 *	PSB+ says.
 * @KIPT_RECORD_PATH: in streams of version 2 only: names a path: the @value
 *	records after it, BRANCH, ENABLE, DISABLE and PATHS, and then @ip
 *	instructions executed, are path number @aux from here on, whatever that
 *	was before. They do not happen here, only where a PATHS record says so.
 *	PATHS records among them name paths that have none.
 * @KIPT_RECORD_PATHS: in streams of version 2 only: @flags instructions
 *	executed, then @kind (0..5) paths were taken, one after the other; their
 *	numbers are five __u32 from @aux on. The instructions of @flags and of
 *	the ends of paths count for later records, as those of WALK records do.
 * @KIPT_RECORD_DICTIONARY: numbers of nodes and paths, and the slots of return
 *	addresses, belong to dictionary @aux from here on; before the first such
 *	record it is 0. Each keeps what it has to the end of the stream.
 * @KIPT_RECORD_EDGE: control went from @ip to @value @aux times more than was
 *	reported before, in no order; @kind is enum kipt_branch_kind. The same edge
 *	may come again. It belongs to the address space that the last SPACE
 *	record named; in a stream of EDGE records one comes before the first.
 * @KIPT_RECORD_CODE: what runs from @ip on is version @aux of the code; the decoder
 *	makes none
 * @KIPT_RECORD_SPACE: the EDGE records that follow belong to address space
 *	@value, as the reader's source of code names it (in the kernel the
 *	physical address of its page table, CR3 without its low bits); 0: to all
 *	of them, both ends are in the kernel; KIPT_RF_NO_VALUE: nobody knows
 *	which; KIPT_RF_NR with that: they are a guest's. @aux: the process it is
 *	of (tgid), 0 unknown. Says nothing of where the CPU is, and of no other record.
 * @KIPT_RECORD_NODE: defines node @aux of the code from here on, whatever that
 *	was before: control enters it at @value, executes its instructions, and
 *	leaves it by the last, which is at @ip. @kind is enum kipt_node_kind,
 *	@flags says how many instructions, which branch, and whether its return
 *	address is kept (kipt_node_insns() and its like). Says nothing of what
 *	happened.
 * @KIPT_RECORD_LINK: where node @aux, or the return address in slot @aux, leads:
 *	to node @value, which is defined before control goes there; @kind is enum
 *	kipt_link_kind. Links of a node are forgotten where a NODE record defines it
 *	anew.
 * @KIPT_RECORD_WALK: what happened, as steps from node to node; see
 *	kipt_record_walk()
 */
enum kipt_record_type {
	KIPT_RECORD_BRANCH = 1,
	KIPT_RECORD_ENABLE,
	KIPT_RECORD_DISABLE,
	KIPT_RECORD_CONTEXT,
	KIPT_RECORD_TASK,
	KIPT_RECORD_MODE,
	KIPT_RECORD_TSX,
	KIPT_RECORD_TIME,
	KIPT_RECORD_CBR,
	KIPT_RECORD_PTWRITE,
	KIPT_RECORD_POWER,
	KIPT_RECORD_EVENT,
	KIPT_RECORD_EVENT_DATA,
	KIPT_RECORD_VMCS,
	KIPT_RECORD_TRACESTOP,
	KIPT_RECORD_BLOCK,
	KIPT_RECORD_TRIG,
	KIPT_RECORD_GAP,
	KIPT_RECORD_CPU,
	KIPT_RECORD_INSN,
	KIPT_RECORD_SYNC,
	KIPT_RECORD_PATH,
	KIPT_RECORD_PATHS,
	KIPT_RECORD_DICTIONARY,
	KIPT_RECORD_EDGE,
	KIPT_RECORD_CODE,
	KIPT_RECORD_SPACE,
	KIPT_RECORD_NODE,
	KIPT_RECORD_LINK,
	KIPT_RECORD_WALK,

	__KIPT_RECORD_TYPE_MAX,
	KIPT_RECORD_TYPE_MAX = __KIPT_RECORD_TYPE_MAX - 1
};

#define KIPT_RECORD_PATHS_MAX	5

/**
 * kipt_record_paths() - the numbers in a PATHS record
 * @record: of type KIPT_RECORD_PATHS
 *
 * Return: @record->kind numbers.
 */
#define kipt_record_paths(record) \
	((const __u32 *)(const void *)(record) + 1)

/**
 * enum kipt_node_kind - how control leaves a node
 * @KIPT_NODE_COND: by a conditional branch; an outcome says whether to
 *	KIPT_LINK_TARGET or to KIPT_LINK_FALL_THROUGH
 * @KIPT_NODE_RET: by a near RET; an outcome, which is "taken", says to the return
 *	address kept last, which is used up; a target says where to, and the return
 *	address kept last is dropped
 * @KIPT_NODE_CALL: by a direct CALL to KIPT_LINK_TARGET
 * @KIPT_NODE_JUMP: by a direct JMP to KIPT_LINK_TARGET
 * @KIPT_NODE_ON: without a record, to KIPT_LINK_FALL_THROUGH, which is the address after
 *	it, or the target of the direct JMP in which it ends
 * @KIPT_NODE_TARGET: by any other branch; a target says where to
 * @KIPT_NODE_SLOW: nothing but its first address is known: other records say
 *	what happens from there
 *
 * Streams have these numbers: a new kind is the last, after KIPT_NODE_SLOW, and what takes
 * that for the last is to be changed (docs/decoder.md, "To add a kind of node").
 */
enum kipt_node_kind {
	KIPT_NODE_COND = 1,
	KIPT_NODE_RET,
	KIPT_NODE_CALL,
	KIPT_NODE_JUMP,
	KIPT_NODE_ON,
	KIPT_NODE_TARGET,
	KIPT_NODE_SLOW,
};

/* struct kipt_record.flags of a NODE record: the kind of the BRANCH record that is made
 * when its branch is taken (enum kipt_branch_kind; 0: none is made), ...
 */
#define kipt_node_branch(flags)	((flags) & 15U)
/* ... is the node of its KIPT_LINK_FALL_THROUGH a return address that is kept when it is
 * left, ...
 */
#define KIPT_NODE_PUSHES	(1U << 4)
/* ... and the number of instructions. */
#define KIPT_NODE_INSNS_SHIFT	5
#define kipt_node_insns(flags)	((__u32)(flags) >> KIPT_NODE_INSNS_SHIFT)

/**
 * enum kipt_link_kind - what a LINK record says
 * @KIPT_LINK_FALL_THROUGH: after the last instruction of node @aux is node @value; of a
 *	KIPT_NODE_ON that ends in a direct JMP, at its target
 * @KIPT_LINK_TARGET: the target of its direct branch is node @value
 * @KIPT_LINK_RETURN: the return address in slot @aux (0..63) is that of node
 *	@value; a later WALK record uses it
 */
enum kipt_link_kind {
	KIPT_LINK_FALL_THROUGH,
	KIPT_LINK_TARGET,
	KIPT_LINK_RETURN,
};

/* Bytes a WALK record has room for, from @flags on. */
#define KIPT_RECORD_WALK_MAX	22
/* Slots of return addresses. */
#define KIPT_WALK_SLOTS		64
/* Nodes, at most, that are left one after the other without outcome or target. */
#define KIPT_WALK_REACH		64

/**
 * kipt_record_walk() - the steps in a WALK record
 * @record: of type KIPT_RECORD_WALK
 *
 * NODE and LINK records may come before WALK records whose steps are older than they,
 * and change nothing that these steps use.
 *
 * The bytes are items (kipt_walk_size()), none of which continues in another record:
 *  an even byte	1 to 6 outcomes as in a short TNT: the lowest bit is unused,
 *			below the highest bit that is set are the outcomes, the
 *			oldest first, 1: taken
 *  KIPT_WALK_TARGET	and a __u32: control goes to that node
 *  KIPT_WALK_NEAR	and a __u16: likewise
 *  KIPT_WALK_UPTO	and a __u32: up to that node no outcome or target is used
 *  KIPT_WALK_START	and a __u32, a byte and a __u32: control is at that node,
 *			the next return address goes to that slot, and so many
 *			instructions (0xffffffff: that many or more) were executed that no
 *			record has counted
 *
 * An outcome or target is used by the first node on the way whose kind uses it;
 * nodes before it are left without. Nodes that make a BRANCH record make it as the
 * decoder does without packing: @ip that of the NODE record, @value the first address
 * of the next node, @aux the instructions since the last record that counted them,
 * KIPT_RF_COMPRESSED where a RET used an outcome. A return address that is kept goes
 * to the next slot, modulo KIPT_WALK_SLOTS, and one that is used or dropped makes
 * its slot the next; so does a target that a RET uses if none is known.
 *
 * Instructions that no BRANCH record has counted are to be added to @aux of the
 * BRANCH, DISABLE or SYNC record that comes next by itself; ENABLE and GAP records and
 * SYNC records of kind KIPT_SYNC_START drop them.
 *
 * Return: @record->kind bytes.
 */
#define kipt_record_walk(record) \
	((const __u8 *)(const void *)(record) + 2)

#define KIPT_WALK_START		1
#define KIPT_WALK_TARGET	3
#define KIPT_WALK_UPTO		5
#define KIPT_WALK_NEAR		7

/* Bytes of the item that begins with byte @item; 0: there is no such item. */
#define kipt_walk_size(item)						\
	((item) == KIPT_WALK_START ? 10U :				\
	 (item) == KIPT_WALK_TARGET || (item) == KIPT_WALK_UPTO ? 5U :	\
	 (item) == KIPT_WALK_NEAR ? 3U :				\
	 (item) && !((item) & 1) ? 1U : 0U)

/* struct kipt_record.flags */
#define KIPT_RF_NO_IP		(1U << 0)
#define KIPT_RF_NO_VALUE	(1U << 1)
#define KIPT_RF_NR		(1U << 2)
#define KIPT_RF_HW		(1U << 3)
#define KIPT_RF_IF		(1U << 4)
#define KIPT_RF_TSX		(1U << 5)	/* inside a transaction */
#define KIPT_RF_COMPRESSED	(1U << 6)	/* RET taken from the stack */
#define KIPT_RF_MULT		(1U << 7)	/* TRIG: others fired, not reported */

/**
 * enum kipt_branch_kind - how control moved
 * @KIPT_BRANCH_COND: taken Jcc, LOOPcc, JrCXZ
 * @KIPT_BRANCH_JUMP: direct near JMP
 * @KIPT_BRANCH_CALL: direct near CALL
 * @KIPT_BRANCH_JUMP_IND: indirect near JMP (JMPABS too)
 * @KIPT_BRANCH_CALL_IND: indirect near CALL
 * @KIPT_BRANCH_RET: near RET
 * @KIPT_BRANCH_SYSCALL: SYSCALL, SYSENTER
 * @KIPT_BRANCH_SYSRET: SYSRET, SYSEXIT
 * @KIPT_BRANCH_IRET: IRET and its 16 and 32-bit forms, UIRET, ERETS, ERETU
 * @KIPT_BRANCH_FAR: far JMP, CALL, RET
 * @KIPT_BRANCH_VMENTRY: VMLAUNCH, VMRESUME: @value is an address of the guest
 * @KIPT_BRANCH_EVENT: interrupt, exception, NMI, INT n: FUP then TIP; VM exit, where no PIP
 *	says that it is one
 * @KIPT_BRANCH_TSX_ABORT: from where a transaction was aborted to its fallback
 * @KIPT_BRANCH_VMEXIT: VM exit: @ip is an address of the guest
 */
enum kipt_branch_kind {
	KIPT_BRANCH_COND = 1,
	KIPT_BRANCH_JUMP,
	KIPT_BRANCH_CALL,
	KIPT_BRANCH_JUMP_IND,
	KIPT_BRANCH_CALL_IND,
	KIPT_BRANCH_RET,
	KIPT_BRANCH_SYSCALL,
	KIPT_BRANCH_SYSRET,
	KIPT_BRANCH_IRET,
	KIPT_BRANCH_FAR,
	KIPT_BRANCH_VMENTRY,
	KIPT_BRANCH_EVENT,
	KIPT_BRANCH_TSX_ABORT,
	KIPT_BRANCH_VMEXIT,

	__KIPT_BRANCH_KIND_MAX,
	KIPT_BRANCH_KIND_MAX = __KIPT_BRANCH_KIND_MAX - 1
};

enum kipt_enable_kind {
	KIPT_ENABLE_PGE = 1,	/* TIP.PGE */
	KIPT_ENABLE_SYNC,	/* reserved: KIPT_SYNC_START says it */
	KIPT_ENABLE_OVERFLOW,	/* after a hardware overflow */
	KIPT_ENABLE_RESUME,	/* after a gap, at an address the trace gave */
	KIPT_ENABLE_CHOSEN,	/* what the reader left out is over; KIPT_RF_NO_IP
				 * if the task goes on where it was
				 */
};

enum kipt_time_kind {
	KIPT_TIME_FIRST = 1,	/* first of its CPU, which the reader left out */
	KIPT_TIME_CUT,		/* where the reader began or ended, in between */
};

enum kipt_sync_kind {
	KIPT_SYNC_START = 1,
	KIPT_SYNC_REACHED,
};

enum kipt_disable_kind {
	KIPT_DISABLE_BRANCH = 1,	/* by the branch at @ip */
	KIPT_DISABLE_ASYNC,		/* event, or TraceEn cleared, at @ip */
	KIPT_DISABLE_OTHERS,		/* the reader left others out; KIPT_RF_NO_IP */
};

enum kipt_exec_kind {
	KIPT_EXEC_64 = 1,
	KIPT_EXEC_32,
	KIPT_EXEC_16,
};

enum kipt_tsx_kind {
	KIPT_TSX_BEGIN = 1,
	KIPT_TSX_COMMIT,
	KIPT_TSX_ABORT,
};

enum kipt_power_kind {
	KIPT_POWER_MWAIT = 1,
	KIPT_POWER_PWRE,
	KIPT_POWER_EXSTOP,
	KIPT_POWER_PWRX,
};

/**
 * enum kipt_gap_kind - why something is missing
 * @KIPT_GAP_OVERFLOW: the CPU lost packets (OVF)
 * @KIPT_GAP_DECODE: the packets make no sense here; decoding went on at the
 *	next PSB or uncompressed address, a FUP's too; @aux says why
 * @KIPT_GAP_NO_CODE: no code bytes at @ip; decoding went on at the next PSB
 *	or address the trace gives
 * @KIPT_GAP_CODE_CHANGED: the code at @ip was patched while it was traced; of either
 *	kind, too, is a gap at a RET that returns to a CALL in such a gap before it
 * @KIPT_GAP_RING: older trace was overwritten; @value bytes if known
 * @KIPT_GAP_TRUNCATED: the trace ends inside a packet (@value: its offset)
 * @KIPT_GAP_STOPPED: the buffer was full and tracing stopped
 * @KIPT_GAP_HW_ERROR: IA32_RTIT_STATUS.Error; @value holds the register
 * @KIPT_GAP_OFFLINE: the CPU went offline, tracing stopped there
 * @KIPT_GAP_SUSPEND: tracing stopped for suspend or hibernation
 * @KIPT_GAP_REBOOT: tracing stopped for a shutdown
 * @KIPT_GAP_OUTSIDE: someone else ended tracing (VMXON, a write of the
 *	register); @value: IA32_RTIT_CTL as it was found
 * @KIPT_GAP_STUCK: the CPU did not answer the stop; what it wrote last is not
 *	known
 * @KIPT_GAP_SWITCHES: @value task switches of this CPU had no room in the log,
 *	and the trace begins before the oldest that is left, or has no times:
 *	until the next TASK record it is not known who ran
 * @KIPT_GAP_SPACES: @value address spaces were not noted; their user code
 *	cannot be read
 * @KIPT_GAP_CODE_DROPPED: @value bytes of code of ended processes, at most,
 *	were dropped; in records of older versions only
 * @KIPT_GAP_PATCHES: @value patches of kernel text are not in the log any more
 * @KIPT_GAP_PROCESSES: @value processes that others had made were not
 *	followed: what they did is not in the trace
 * @KIPT_GAP_MISSING: @value bytes of the trace are not in the dump it is read
 *	from
 */
enum kipt_gap_kind {
	KIPT_GAP_OVERFLOW = 1,
	KIPT_GAP_DECODE,
	KIPT_GAP_NO_CODE,
	KIPT_GAP_CODE_CHANGED,
	KIPT_GAP_RING,
	KIPT_GAP_TRUNCATED,
	KIPT_GAP_STOPPED,
	KIPT_GAP_HW_ERROR,
	KIPT_GAP_OFFLINE,
	KIPT_GAP_SUSPEND,
	KIPT_GAP_REBOOT,
	KIPT_GAP_OUTSIDE,
	KIPT_GAP_STUCK,
	KIPT_GAP_SWITCHES,
	KIPT_GAP_SPACES,
	KIPT_GAP_CODE_DROPPED,
	KIPT_GAP_PATCHES,
	KIPT_GAP_PROCESSES,
	KIPT_GAP_MISSING,

	__KIPT_GAP_KIND_MAX,
	KIPT_GAP_KIND_MAX = __KIPT_GAP_KIND_MAX - 1
};

#endif /* _UAPI_LINUX_KIPT_RECORD_H */
