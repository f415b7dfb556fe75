/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions in words, for people and as JSON, on standard output.
 */
#ifndef KIPT_SESSION_SHOW_H
#define KIPT_SESSION_SHOW_H

#include "session_words.h"

/**
 * session_show() - print a session, its CPUs and buffers
 * @session: as reported by the kernel
 */
void session_show(const struct kipt_session *session);

/**
 * session_show_json() - print the same as one line of JSON
 * @session: as reported by the kernel
 */
void session_show_json(const struct kipt_session *session);

#endif /* KIPT_SESSION_SHOW_H */
