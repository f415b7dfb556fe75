/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of CPUs as the scheduler sees them, and as text.
 */
#ifndef KIPT_AFFINITY_H
#define KIPT_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * cpus_own() - the CPUs this process may run on, of those in a list
 * @list: CPU list
 * @text: filled with a CPU list
 * @size: bytes of @text
 *
 * Return: true, or false after a sentence if there are none.
 */
bool cpus_own(const char *list, char *text, size_t size);

/**
 * cpus_present() - the CPUs of this machine, online or not
 * @with_pt: CPU list: those that are online and have PT
 * @text: filled with a CPU list, without those that are online and have none;
 *	it is @with_pt if the others are not known
 * @size: bytes of @text
 */
void cpus_present(const char *with_pt, char *text, size_t size);

/**
 * cpus_pin() - let this process run on these CPUs only
 * @list: CPU list
 *
 * Return: 0 or a negative errno.
 */
int cpus_pin(const char *list);

/**
 * cpus_try() - whether this process may run on any of these CPUs
 * @list: CPU list
 *
 * It runs where it did before afterwards.
 *
 * Return: 0 or a negative errno.
 */
int cpus_try(const char *list);

/**
 * cpus_leave() - let this process run on other CPUs only, if it may
 * @list: CPU list
 */
void cpus_leave(const char *list);

#endif /* KIPT_AFFINITY_H */
