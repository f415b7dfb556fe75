/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ends tracing on all CPUs at once: suspend, hibernation, reboot, kexec; armed
 * sessions trace until right before a reboot. Owns the notifiers; leaves sessions to
 * session.c and arm.c, and what keeps tracing off to latch.c.
 */
#ifndef KIPT_POWER_H
#define KIPT_POWER_H

/**
 * kipt_power_init() - listen to the power management and to reboots
 *
 * Return: 0.
 */
int kipt_power_init(void);

/**
 * kipt_power_uninit() - listen no more
 */
void kipt_power_uninit(void);

#endif /* KIPT_POWER_H */
