/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of the running kernel and its modules, through /proc/kcore.
 */
#ifndef KIPT_KCORE_H
#define KIPT_KCORE_H

#include <stdbool.h>

/**
 * kcore_save_text() - write all text pages as a page dump
 * @name: path without suffix
 *
 * Return: true, or false after a sentence.
 */
bool kcore_save_text(const char *name);

#endif /* KIPT_KCORE_H */
