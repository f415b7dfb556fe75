/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arming when the module is loaded, as its parameters arm, arm_cpus, arm_size,
 * arm_all and arm_print say.
 */
#ifndef KIPT_ARM_LOAD_H
#define KIPT_ARM_LOAD_H

/**
 * kipt_arm_load() - make and start an armed session, if that is asked for
 *
 * A failure is in the log, and so is why a kernel that saves the dump of
 * another does not do it. Context: the module is loaded, all of it is ready;
 * may sleep as long as the allocation of the buffers takes.
 */
void kipt_arm_load(void);

#endif /* KIPT_ARM_LOAD_H */
