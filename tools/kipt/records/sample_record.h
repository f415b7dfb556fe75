/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record that only this tool makes, between those of the interface: a sample of
 * another event that perf recorded. It is shown, and never in a file.
 */
#ifndef KIPT_SAMPLE_RECORD_H
#define KIPT_SAMPLE_RECORD_H

#include "../../../kmod/decode/port.h"

/*
 * Its type: @ip is the address, unless KIPT_RF_NO_IP; @value the address of the event's
 * name, a string that lives as long as records are shown.
 */
#define RECORD_SAMPLE	0xff

/**
 * sample_name() - the event that was sampled
 * @record: of type RECORD_SAMPLE
 *
 * Return: as perf calls it.
 */
static inline const char *sample_name(const struct kipt_record *record)
{
	return (const char *)(uintptr_t)record->value;
}

#endif /* KIPT_SAMPLE_RECORD_H */
