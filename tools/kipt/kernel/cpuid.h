/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID says to user space, for when the module is not there to ask.
 */
#ifndef KIPT_CPUID_H
#define KIPT_CPUID_H

#include <stdbool.h>

#include "session_words.h"

/**
 * hardware_has_pt() - CPUID.(EAX=07H,ECX=0):EBX[25] of this CPU
 *
 * Return: true if it has Intel PT.
 */
bool hardware_has_pt(void);

/**
 * hardware_caps() - what CPUID says of PT here
 * @caps: filled; fields that need an MSR or the module are 0
 */
void hardware_caps(struct kipt_caps *caps);

#endif /* KIPT_CPUID_H */
