/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record that only this tool makes, between those of the interface: a sample of
 * another event that perf recorded. It is shown, and never written to a file; one in a
 * file is of no known event.
 */
#ifndef KIPT_SAMPLE_RECORD_H
#define KIPT_SAMPLE_RECORD_H

/*
 * Its type: @ip is the address, unless KIPT_RF_NO_IP; @value the number of the event,
 * which names_event() names.
 */
#define RECORD_SAMPLE	0xff

#endif /* KIPT_SAMPLE_RECORD_H */
