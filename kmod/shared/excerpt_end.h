/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which record of a trace is where execution died: what a dying kernel and a
 * reader of its dump agree on. Pure functions, any context.
 */
#ifndef KIPT_EXCERPT_END_H
#define KIPT_EXCERPT_END_H

#include "../decode/port.h"
#include "../../uapi/linux/kipt_crash.h"

/* Bytes of a near call that may lead to the end of the machine. */
#define KIPT_EXCERPT_CALL_MIN	2U
#define KIPT_EXCERPT_CALL_MAX	7U

/**
 * struct kipt_excerpt_end - where execution died
 * @ip: instruction that faulted, or that called, or the address after that
 *	call
 * @known: @ip is valid; else the end is where tracing stopped
 * @faulted: @ip is of an instruction that faulted
 * @nmi: it did not die, @ip is where an NMI met it; @faulted does not count
 */
struct kipt_excerpt_end {
	u64 ip;
	bool known;
	bool faulted;
	bool nmi;
};

/**
 * kipt_excerpt_end_of() - where the execution of a CPU ended
 * @event: what died
 * @stop: how tracing of the CPU stopped
 * @died: it died there; else an NMI met it
 */
static inline struct kipt_excerpt_end
kipt_excerpt_end_of(const struct kipt_crash_event *event, const struct kipt_crash_stop *stop,
		    bool died)
{
	if (!died)
		return (struct kipt_excerpt_end){
			.ip = stop->ip,
			.known = stop->ip,
			.nmi = true,
		};
	return (struct kipt_excerpt_end){
		.ip = event->ip,
		/* A call to 0 faults there. */
		.known = event->ip || event->faulted,
		.faulted = event->faulted,
	};
}

/**
 * kipt_excerpt_ends() - is this where execution died
 * @end: where
 * @record: any record
 *
 * The last one of a trace for which this holds is the end.
 *
 * Return: true if @record is the exception of the instruction that faulted, the
 * call, or the NMI; where an NMI came in user code, also if the trace begins
 * anew, since that may be untraced.
 */
static inline bool kipt_excerpt_ends(const struct kipt_excerpt_end *end,
				     const struct kipt_record *record)
{
	u64 after = end->ip - record->ip;

	if (end->known && end->nmi && !(end->ip >> 63) &&
	    record->type == KIPT_RECORD_ENABLE)
		return true;
	if (!end->known || record->type != KIPT_RECORD_BRANCH ||
	    record->flags & KIPT_RF_NO_IP)
		return false;
	if (end->faulted || end->nmi)
		return record->kind == KIPT_BRANCH_EVENT && !after;
	if (record->kind != KIPT_BRANCH_CALL &&
	    record->kind != KIPT_BRANCH_CALL_IND)
		return false;
	return !after ||
	       (after >= KIPT_EXCERPT_CALL_MIN && after <= KIPT_EXCERPT_CALL_MAX);
}

/**
 * kipt_record_counts_insns() - whether @aux is instructions since the last record that counted them
 * @record: any
 *
 * Return: as uapi/linux/kipt_record.h has the rule.
 */
static inline bool kipt_record_counts_insns(const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH || record->type == KIPT_RECORD_DISABLE ||
	       (record->type == KIPT_RECORD_SYNC && record->kind == KIPT_SYNC_REACHED);
}

#endif /* KIPT_EXCERPT_END_H */
