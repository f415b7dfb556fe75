/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities in words, for people and as JSON.
 */
#ifndef KIPT_INFO_SHOW_H
#define KIPT_INFO_SHOW_H

#include <stdio.h>

#include "session_words.h"

/**
 * info_show() - print what the module says, or CPUID alone
 * @info: what
 * @loaded: the module is there; else only @info->caps is from CPUID
 * @out: where to
 */
void info_show(const struct kipt_info *info, bool loaded, FILE *out);

/**
 * info_show_json() - the same as one line of JSON
 * @info: what
 * @loaded: as for info_show()
 * @out: where to
 */
void info_show_json(const struct kipt_info *info, bool loaded, FILE *out);

#endif /* KIPT_INFO_SHOW_H */
