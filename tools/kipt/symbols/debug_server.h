/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Servers of debug files, which the variable DEBUGINFOD_URLS names. libdwfl asks
 * them; this bounds how long all of it takes together.
 */
#ifndef KIPT_DEBUG_SERVER_H
#define KIPT_DEBUG_SERVER_H

#include <elfutils/libdwfl.h>

#include "build_id.h"

/**
 * debug_server_begin() - before libdwfl may ask a server
 * @dwfl: asks it
 * @ask: false: until debug_server_end() it does not
 *
 * All that is asked for waits DEBUG_SERVER_SECONDS in total for a server that
 * sends nothing; each file that comes gives the time back. Then, and after
 * Ctrl-C, no server is asked again. One thread at a time is let in, until
 * debug_server_end(); in between the environment may be read.
 */
void debug_server_begin(struct Dwfl *dwfl, bool ask);

/**
 * debug_server_end() - libdwfl has asked, or did not need to
 * @found: there is a file
 */
void debug_server_end(bool found);

/**
 * debug_server_code() - ask for a file that code is in
 * @id: its build id
 *
 * Return: its path on this machine, which the caller frees; NULL if there is none,
 * or no server.
 */
char *debug_server_code(const struct build_id *id);

#endif /* KIPT_DEBUG_SERVER_H */
