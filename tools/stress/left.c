// SPDX-License-Identifier: GPL-2.0-only
/*
 * left: says what of kipt is still there, and nothing when all of it is gone:
 * sessions, CPUs that are held, bytes in use. Waits some seconds for what is
 * freed after its owner's end. Runs in the test machine as root.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/kipt.h>

#include "session_calls.h"

#define TRIES	100

static char text[4096];

static void tell_info(struct client *client, const void *attrs, size_t len,
		      uint8_t command)
{
	uint64_t memory = client_number(attrs, len, "info", "memory", 0);
	size_t n = 0;
	const char *busy = client_find(attrs, len, KIPT_A_INFO_BUSY, &n);

	(void)client;
	(void)command;
	if (memory)
		sprintf(text + strlen(text), "%llu bytes are in use\n",
			(unsigned long long)memory);
	if (busy && n > 1)
		snprintf(text + strlen(text), 512, "CPUs %s are held\n", busy);
}

static void tell_session(struct client *client, const void *attrs, size_t len,
			 uint8_t command)
{
	(void)client;
	(void)command;
	if (strlen(text) < sizeof(text) / 2 &&
	    client_number(attrs, len, "session", "state", 0))
		sprintf(text + strlen(text), "session %u is there\n",
			(unsigned int)client_number(attrs, len, "session", "id",
						    0));
}

static int ask(struct client *client, const char *name, bool dump,
	       void (*each)(struct client *client, const void *attrs,
			    size_t len, uint8_t command))
{
	static struct message message;

	client->each = each;
	message_begin(&message, &client->known, message_command(name), dump);
	return client_call(client, &message);
}

static int look(void)
{
	struct client client;
	int ret = client_open(&client);

	text[0] = 0;
	if (!ret)
		ret = ask(&client, "session-get", true, tell_session);
	if (!ret)
		ret = ask(&client, "get-info", false, tell_info);
	if (!session_ok(&client, "look", ret))
		return 1;
	client_close(&client);
	return 0;
}

int main(void)
{
	unsigned int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (look())
			return 1;
		if (!text[0])
			return 0;
		usleep(100000);
	}
	fputs(text, stdout);
	return 0;
}
