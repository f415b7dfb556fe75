/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the decoded records of a session from the kernel: credits, order,
 * progress, Ctrl-C. Nothing that was lost goes unsaid.
 */
#ifndef KIPT_FETCH_H
#define KIPT_FETCH_H

#include "genl.h"
#include "output.h"

/**
 * fetch_run() - decode a session in the kernel and take the records
 * @genl: connection
 * @id: a stopped session
 * @cpu: only this CPU, or -1
 * @output: where records go; its options say which ones
 *
 * Ctrl-C ends it early; what came until then went to @output.
 *
 * Return: true if all of it came, or false after a sentence.
 */
bool fetch_run(struct genl *genl, u32 id, int cpu, struct output *output);

#endif /* KIPT_FETCH_H */
