/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink messages made from the specification: right ones, likely ones, and
 * ones that are wrong in all ways there are. Every choice comes from the
 * stream of random numbers that the caller gives. Sends nothing.
 */
#ifndef KIPT_STRESS_MESSAGE_H
#define KIPT_STRESS_MESSAGE_H

#include <stddef.h>

#include "../../selftests/random/rng.h"
#include "spec.h"

#define MESSAGE_MAX	65536
#define MESSAGE_IDS	4

/**
 * struct message_known - what the sender knows, so that some messages fit
 * @family: number of the netlink family
 * @ctl: bits of IA32_RTIT_CTL a session may set
 * @cpus: CPUs of the machine
 * @cpu: the one that this sender keeps to, mostly
 * @ids: ids of sessions it made or saw, the newest first; 0: none
 * @fetch: number of the last fetch it saw
 */
struct message_known {
	uint16_t family;
	uint64_t ctl;
	unsigned int cpus;
	unsigned int cpu;
	uint32_t ids[MESSAGE_IDS];
	uint32_t fetch;
};

/**
 * struct message - a message, and what is known of it
 * @data: its bytes, beginning with struct nlmsghdr
 * @len: how many are to be sent
 * @command: its command; NULL when there is no such
 * @flags: its NLM_F_* flags
 * @cut: its headers are not whole
 */
struct message {
	unsigned char data[MESSAGE_MAX];
	size_t len;
	const struct spec_command *command;
	uint16_t flags;
	bool cut;
};

/**
 * message_command() - a command by its name
 * @name: as in the specification
 *
 * Return: it, or NULL.
 */
const struct spec_command *message_command(const char *name);

/**
 * message_find() - an attribute by its name
 * @set: number of its set
 * @name: as in the specification
 *
 * Return: its number, or 0.
 */
uint16_t message_find(unsigned int set, const char *name);

/* Begin a request; @dump: as a dump, which commands that have nothing else always are. */
void message_begin(struct message *m, const struct message_known *known,
		   const struct spec_command *command, bool dump);

/* Add an attribute by its name; one that is unknown is left out. */
void message_u32(struct message *m, const char *name, uint32_t value);
void message_u64(struct message *m, const char *name, uint64_t value);
void message_string(struct message *m, const char *name, const char *text);

/* Add an attribute by its number, and one that holds those that follow. */
void message_put(struct message *m, uint16_t number, const void *data,
		 size_t len);
size_t message_nest(struct message *m, uint16_t number);
void message_nest_end(struct message *m, size_t nest);

/* A request whose values are as a rule allowed. */
void message_likely(struct message *m, struct rng *rng,
		    const struct message_known *known);

/* A request that is wrong in one or more ways. */
void message_broken(struct message *m, struct rng *rng,
		    const struct message_known *known);

#endif /* KIPT_STRESS_MESSAGE_H */
