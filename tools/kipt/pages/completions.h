/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shells complete: verbs, their options, and what follows these.
 */
#ifndef KIPT_COMPLETIONS_H
#define KIPT_COMPLETIONS_H

#include <stdio.h>

/**
 * complete_bash() - write the completion of bash
 * @out: where to
 */
void complete_bash(FILE *out);

/**
 * complete_zsh() - write the completion of zsh
 * @out: where to
 */
void complete_zsh(FILE *out);

/**
 * complete_fish() - write the completion of fish
 * @out: where to
 */
void complete_fish(FILE *out);

#endif /* KIPT_COMPLETIONS_H */
