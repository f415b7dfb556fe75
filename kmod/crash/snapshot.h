/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs did before an event that the machine survived: a warning, an oops
 * that killed a task, a lockup, a task that hangs. Each armed CPU pauses itself,
 * copies the end of its trace into memory that exists since the session was
 * made, and goes on. Nobody waits, nothing is allocated, no CPU stays paused.
 *
 * The parameter snapshots says how many events are kept at a time. When there is
 * no room, the newest event replaces the one before it if that is a second old, so
 * that the first ones and the last one are there. Programs that a signal killed are in
 * the same list; killed.c takes those, in slots of their own, so that they take no room
 * from the others.
 *
 * A snapshot is read as pages of uapi/linux/kipt_crash.h and the trace after them,
 * in which an address is an offset from the begin of the snapshot. Its pages have
 * a magic of their own, so that nobody takes them for those of a crash; checksums
 * are those of pages with the other magic.
 */
#ifndef KIPT_SNAPSHOT_H
#define KIPT_SNAPSHOT_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

struct kipt_excerpt_source;
struct kipt_trace;

/**
 * struct kipt_snapshot_killed - of a program that was killed
 * @signal: what killed it; 0: this is no such snapshot
 * @process: whose thread @pid is
 * @uid: real user id
 * @file: what its instruction is in; "": not known
 * @file_offset: where
 */
struct kipt_snapshot_killed {
	u32 signal;
	u32 process;
	u32 uid;
	char file[KIPT_CRASH_PATH_BYTES];
	u64 file_offset;
};

/**
 * struct kipt_snapshot - one of them; constant while somebody has a reference
 * @dump: its number, from 1, never used again; when, and what happened; and how many
 *	events there were between the snapshot before this and this one, of which nothing
 *	is kept. A dump of the machine says the same
 * @cpus: whose trace it has
 * @pid: thread on the first CPU, 0 if that had no trace
 * @comm: its name
 * @killed: of a program that was killed
 * @size: bytes that kipt_snapshot_read() gives
 */
struct kipt_snapshot {
	struct kipt_crash_slot dump;
	u32 cpus;
	u32 pid;
	char comm[16];
	struct kipt_snapshot_killed killed;
	size_t size;
};

/**
 * kipt_snapshot_prepare() - make memory for what a CPU will copy
 * @trace: of an armed session; its buffer and crash pages are whole
 *
 * Context: may sleep.
 *
 * Return: 0, or -ENOMEM; kipt_snapshot_withdraw() in both cases.
 */
int kipt_snapshot_prepare(struct kipt_trace *trace);

/**
 * kipt_snapshot_withdraw() - the CPU copies nothing more
 * @trace: has not been attached to its CPU for a grace period
 *
 * What it has copied stays until its snapshots are deleted. Context: may sleep.
 */
void kipt_snapshot_withdraw(struct kipt_trace *trace);

/**
 * kipt_snapshot_bytes() - memory that kipt_snapshot_prepare() takes
 * @ring: bytes of the buffer of the CPU
 *
 * Context: any.
 */
u64 kipt_snapshot_bytes(u64 ring);

/**
 * kipt_snapshot_take() - have all armed CPUs copy the end of their traces
 * @event: what happened; members asked and answered are not looked at
 * @ip: where this CPU is
 *
 * This CPU copies before it returns, or, if the event is inside a change of its
 * registers, right after that; the others do so in an NMI that they are sent.
 * Does nothing while no session is armed.
 *
 * Context: any, also NMI; interrupts are off. Takes as long as copying snapshot_trace
 * KiB and sending an NMI to each armed CPU.
 */
void kipt_snapshot_take(const struct kipt_crash_event *event, u64 ip);

/**
 * kipt_snapshot_fault() - the kernel said which instruction faulted
 * @ip: its address
 * @trap: vector of the exception
 *
 * Counts for the snapshot of the oops of this thread, if its place is not known.
 * Context: as kipt_snapshot_take().
 */
void kipt_snapshot_fault(u64 ip, u32 trap);

/**
 * kipt_snapshot_miss() - count an event of which nothing can be kept
 *
 * Context: any, also NMI.
 */
void kipt_snapshot_miss(void);

/**
 * kipt_snapshot_forget_local() - this CPU has nothing to copy any more
 *
 * Context: this CPU, interrupts off, or an NMI.
 */
void kipt_snapshot_forget_local(void);

/**
 * kipt_snapshot_nmi_local() - an NMI came; copy if that is asked for
 * @trace: of this CPU, or NULL
 * @ip: where the NMI met it
 *
 * Context: NMI.
 */
void kipt_snapshot_nmi_local(struct kipt_trace *trace, u64 ip);

/**
 * kipt_snapshot_copy_local() - copy, into each snapshot that this CPU is asked for
 * @trace: of this CPU; it does not trace just now, and nobody changes that
 *
 * Context: this CPU, interrupts off, or an NMI.
 */
void kipt_snapshot_copy_local(struct kipt_trace *trace);

/**
 * kipt_snapshot_before() - the newest snapshot, if it may belong to a death
 * @death: what the machine dies of; no CPU copies any more
 * @event: filled: what happened
 * @source: filled: the end of the trace of the CPU that met it
 *
 * It does if it is not older than ten seconds, or a minute if the thread that dies
 * made it, by the TSC: not from before a sleep in which that began anew.
 *
 * Context: any, also NMI.
 *
 * Return: its number; 0 if there is none, or the CPU that met it had no trace.
 */
u32 kipt_snapshot_before(const struct kipt_crash_event *death,
			 struct kipt_crash_event *event,
			 struct kipt_excerpt_source *source);

/**
 * kipt_snapshot_killed_prepare() - make memory for programs that are killed
 *
 * For as many as the parameter user_snapshots_all says. Context: may sleep.
 *
 * Return: 0, or -ENOMEM; kipt_snapshot_killed_withdraw() in both cases.
 */
int kipt_snapshot_killed_prepare(void);

/**
 * kipt_snapshot_killed_withdraw() - none will be kept any more
 *
 * Those that are kept stay until they are deleted. Context: may sleep; nobody is in
 * a function below.
 */
void kipt_snapshot_killed_withdraw(void);

/**
 * kipt_snapshot_killed_take() - take a slot, whatever it has
 * @number: of the slot; negative: there is none
 *
 * What it had counts as missed; so does this program if the slot is not to be had.
 * Context: preemption off, to kipt_snapshot_killed_end(); between
 * kipt_snapshot_killed_prepare() and _withdraw(), as are all functions of programs below.
 *
 * Return: the caller's until kipt_snapshot_killed_end(), who fills @dump.event and
 * @killed; or NULL.
 */
struct kipt_snapshot *kipt_snapshot_killed_take(int number);

/**
 * kipt_snapshot_killed_copy() - pause this CPU, copy the end of its trace, go on
 * @snapshot: from kipt_snapshot_killed_take()
 * @trace: of this CPU
 * @ip: where the program was
 *
 * Context: interrupts off, no NMI.
 *
 * Return: false if there is no trace.
 */
bool kipt_snapshot_killed_copy(struct kipt_snapshot *snapshot,
			       struct kipt_trace *trace, u64 ip);

/**
 * kipt_snapshot_killed_end() - the snapshot may be read, or is nothing
 * @snapshot: from kipt_snapshot_killed_take()
 * @keep: it is whole
 *
 * The log says so; of those that replace others in a slot it names the first one.
 * Context: any.
 */
void kipt_snapshot_killed_end(struct kipt_snapshot *snapshot, bool keep);

/**
 * kipt_snapshot_next() - the snapshot with the next higher number
 * @id: where to go on; 0 at first
 *
 * Waits up to a tenth of a second for CPUs that are about to copy. Context: may
 * sleep.
 *
 * Return: referenced for the caller, or NULL.
 */
struct kipt_snapshot *kipt_snapshot_next(u32 id);

/**
 * kipt_snapshot_find() - the snapshot of a number
 * @id: the number
 *
 * Context: as kipt_snapshot_next().
 *
 * Return: referenced for the caller, or NULL.
 */
struct kipt_snapshot *kipt_snapshot_find(u32 id);

/**
 * kipt_snapshot_read() - bytes of a snapshot
 * @snapshot: referenced by the caller
 * @offset: of the first
 * @to: where to
 * @len: how many; @offset + @len is at most @snapshot->size
 *
 * Context: may sleep.
 */
void kipt_snapshot_read(const struct kipt_snapshot *snapshot, u64 offset,
			u8 *to, u64 len);

/**
 * kipt_snapshot_put() - drop a reference
 * @snapshot: from kipt_snapshot_next() or _find()
 *
 * Context: may sleep.
 */
void kipt_snapshot_put(struct kipt_snapshot *snapshot);

/**
 * kipt_snapshot_delete() - make room for another
 * @snapshot: referenced by the caller; may be deleted already
 *
 * It is gone when the last reference is. Context: may sleep.
 */
void kipt_snapshot_delete(struct kipt_snapshot *snapshot);

/**
 * kipt_snapshot_listen() - have a function called when an event is kept
 * @kept: gets the number of the newest snapshot that is no program's, and may sleep;
 *	NULL: none, and none runs any more
 *
 * Context: may sleep.
 */
void kipt_snapshot_listen(void (*kept)(u32 id));

/**
 * kipt_snapshot_init() - before all other functions
 *
 * Context: may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_snapshot_init(void);

/**
 * kipt_snapshot_uninit() - free all; nobody takes or reads one any more
 *
 * Context: may sleep.
 */
void kipt_snapshot_uninit(void);

#endif /* KIPT_SNAPSHOT_H */
