/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of IA32_RTIT_CTL by the names the manual gives them ("IA32_RTIT_CTL
 * MSR") or by the config terms of perf's intel_pt, as text and as bits. Whether the CPU has them is the module's
 * matter, which refuses what it has not.
 */
#ifndef KIPT_CTL_FIELDS_H
#define KIPT_CTL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "session_words.h"

/**
 * ctl_default() - what is set when nobody says anything
 * @caps: what all of the CPUs have
 *
 * Return: as rtit_ctl_default(), without what a session may not set.
 */
u64 ctl_default(const struct kipt_caps *caps);

/**
 * ctl_parse() - fields from text
 * @text: names with commas between, NAME=VALUE for the numbers. If each one
 *	begins with + or -, the default is changed, else nothing else is set.
 * @start: the default
 * @ctl: filled on success
 *
 * Return: true, or false after a sentence that names what is allowed.
 */
bool ctl_parse(const char *text, u64 start, u64 *ctl);

/**
 * ctl_format() - fields as text that ctl_parse() reads
 * @ctl: bits; unknown ones are shown as a number
 * @text: buffer
 * @size: its bytes, 256 are always enough
 */
void ctl_format(u64 ctl, char *text, size_t size);

#endif /* KIPT_CTL_FIELDS_H */
