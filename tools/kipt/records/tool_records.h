/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that only this tool makes, between those of the interface. They are never
 * written to a file.
 */
#ifndef KIPT_TOOL_RECORDS_H
#define KIPT_TOOL_RECORDS_H

/*
 * The type of a sample of another event that perf recorded. One in a file is of no known
 * event. @ip is the address, unless KIPT_RF_NO_IP; @value the number of the event,
 * which names_event() names.
 */
#define RECORD_SAMPLE	0xff

/*
 * The type of what KIPT_FLOW_NO_COND made no records of since the last such record:
 * @value branches, @ip instructions. It is counted and not shown where the flow was made
 * so, see struct tally; in a file it is a record of no known type.
 */
#define RECORD_SUMS	0xfe

/*
 * @aux of a CPU record, where a trace is of a thread and nobody knows on which CPUs that ran.
 */
#define RECORD_CPU_UNKNOWN	(~0U)

#endif /* KIPT_TOOL_RECORDS_H */
