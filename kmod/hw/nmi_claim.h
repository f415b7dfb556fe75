/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs that the module causes: those of ToPA PMIs and those that one CPU sends to
 * another. Counts how many of them may still come, so that each is claimed and no
 * other one is.
 */
#ifndef KIPT_NMI_CLAIM_H
#define KIPT_NMI_CLAIM_H

#include <linux/types.h>

/**
 * kipt_nmi_send() - send an NMI to a CPU
 * @cpu: online; may be this one
 *
 * The handlers of nmi.c run there. Context: any.
 */
void kipt_nmi_send(unsigned int cpu);

/**
 * kipt_nmi_take_local() - whether one of the awaited NMIs has come
 *
 * It is awaited no more. Context: this CPU, NMI.
 */
bool kipt_nmi_take_local(void);

/**
 * kipt_nmi_pmi_local() - take a ToPA PMI off its register, if there is one
 *
 * kipt_nmi_unmask_local() has to follow in an NMI. Context: this CPU, interrupts off
 * or an NMI.
 *
 * Return: whether there was one.
 */
bool kipt_nmi_pmi_local(void);

/**
 * kipt_nmi_unmask_local() - let PMIs come again after kipt_nmi_pmi_local()
 *
 * Context: this CPU, NMI; perf's handler ran.
 */
void kipt_nmi_unmask_local(void);

/**
 * kipt_nmi_stopped_local() - tracing was switched off, or is about to be programmed
 *
 * Takes a ToPA PMI off its register; its NMI is on its way and will be claimed.
 * Context: this CPU, interrupts off or an NMI.
 */
void kipt_nmi_stopped_local(void);

#endif /* KIPT_NMI_CLAIM_H */
