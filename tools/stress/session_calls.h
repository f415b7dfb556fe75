/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of an ordinary session, for tests that mean no harm. Each returns
 * 0 or a negative errno; the kernel's sentence is in the client.
 */
#ifndef KIPT_STRESS_SESSION_CALLS_H
#define KIPT_STRESS_SESSION_CALLS_H

#include "client.h"

/* OS, User and BranchEn of IA32_RTIT_CTL; Intel SDM Vol. 3C. */
#define CTL_BASIC	0x200cULL

/**
 * struct session_wish - what a session is made with
 * @cpus: list of CPUs
 * @mode: enum kipt_mode
 * @flags: enum kipt_session_flags
 * @size: bytes a CPU
 */
struct session_wish {
	const char *cpus;
	uint32_t mode;
	uint32_t flags;
	uint64_t size;
};

/* Make one; @id is its number. */
int session_new(struct client *client, const struct session_wish *wish,
		uint32_t *id);

int session_start(struct client *client, uint32_t id);
int session_stop(struct client *client, uint32_t id);
int session_del(struct client *client, uint32_t id);

/* Fetch all of it; @each, when not NULL, gets each message. */
int session_fetch(struct client *client, uint32_t id, uint32_t output,
		  void (*each)(struct client *client, const void *attrs,
			       size_t len, uint8_t command));

/* Prepare the same for who sends and takes by himself. */
void session_fetch_message(struct message *m, struct client *client,
			   uint32_t id, uint32_t output);

/* Say what went wrong. Return: whether @ret is 0. */
bool session_ok(const struct client *client, const char *what, int ret);

#endif /* KIPT_STRESS_SESSION_CALLS_H */
