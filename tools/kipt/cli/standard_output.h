/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether what the tool wrote got to its standard output.
 */
#ifndef KIPT_STANDARD_OUTPUT_H
#define KIPT_STANDARD_OUTPUT_H

#include <stdio.h>

/**
 * stdout_error() - whether standard output lost something
 *
 * To be called soon after it was written to: C keeps no reason of its own.
 *
 * Return: 0, or the errno of the first loss that was seen; -1: it is not known.
 */
int stdout_error(void);

/**
 * output_flush() - write what is in a buffer
 * @out: standard output, or a file
 *
 * Return: 0 if nothing was lost. stdout_error() has the reason if standard output lost something.
 */
int output_flush(FILE *out);

#endif /* KIPT_STANDARD_OUTPUT_H */
