/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A netlink socket to kipt that can send anything and returns what came back,
 * the kernel's sentence included. One socket per struct, one process at a
 * time.
 */
#ifndef KIPT_STRESS_CLIENT_H
#define KIPT_STRESS_CLIENT_H

#include "message.h"

#define CLIENT_BUFFER	65536

/**
 * enum client_end - how far an answer has come
 * @CLIENT_OPEN: more may follow, or nothing comes
 * @CLIENT_DONE: the verdict is there
 * @CLIENT_LOST: the socket lost messages, or the datagram was cut off
 */
enum client_end {
	CLIENT_OPEN,
	CLIENT_DONE,
	CLIENT_LOST,
};

/**
 * struct client - a connection
 * @fd: the socket
 * @seq: of the last request
 * @known: what messages are made with; the family is filled in
 * @group: number of the group "events"
 * @error: of the last verdict: 0 or a negative errno
 * @why: its sentence, or ""
 * @each: called for each message of the family, or NULL
 * @ctx: handed to @each
 */
struct client {
	int fd;
	uint32_t seq;
	struct message_known known;
	uint32_t group;
	int error;
	char why[256];
	void (*each)(struct client *client, const void *attrs, size_t len,
		     uint8_t command);
	void *ctx;
};

/* Open a socket. Return: 0, or -ENOENT without the family. */
int client_open(struct client *client);

void client_close(struct client *client);

/* Listen to the group "events". Return: 0 or a negative errno. */
int client_join(struct client *client);

/* Number and send a message. Return: 0 or a negative errno. */
int client_send(struct client *client, struct message *m);

/*
 * Take one datagram that answers the last request, @room bytes of it at most,
 * within @timeout_ms. Return: -EAGAIN, when there is none, or enum client_end.
 */
int client_take(struct client *client, size_t room, int timeout_ms);

/* Send, and take all of the answer. Return: 0 or a negative errno; see why. */
int client_call(struct client *client, struct message *m);

/* An attribute by its number, among attributes; NULL: it is not there. */
const void *client_find(const void *attrs, size_t len, uint16_t number,
			size_t *found_len);

/* The same as a number by its name, or @missing. */
uint64_t client_number(const void *attrs, size_t len, const char *set,
		       const char *name, uint64_t missing);

#endif /* KIPT_STRESS_CLIENT_H */
