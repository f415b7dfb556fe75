// SPDX-License-Identifier: GPL-2.0-only
/*
 * The messages of an ordinary session. Runs in user space of the test machine.
 */
#include "session_calls.h"

#include <stdio.h>
#include <string.h>

#include <linux/kipt.h>

static struct message message;

static void begin(struct message *m, struct client *client, const char *name)
{
	const struct spec_command *command = message_command(name);

	message_begin(m, &client->known, command, false);
}

static void take_id(struct client *client, const void *attrs, size_t len,
		    uint8_t command)
{
	uint32_t *id = client->ctx;

	(void)command;
	*id = (uint32_t)client_number(attrs, len, "session", "id", *id);
}

int session_new(struct client *client, const struct session_wish *wish,
		uint32_t *id)
{
	int ret;

	begin(&message, client, "session-new");
	message_string(&message, "cpus", wish->cpus);
	message_u32(&message, "mode", wish->mode);
	message_u64(&message, "size", wish->size);
	message_u64(&message, "ctl", CTL_BASIC);
	message_u32(&message, "flags", wish->flags);
	*id = 0;
	client->each = take_id;
	client->ctx = id;
	ret = client_call(client, &message);
	client->each = NULL;
	return ret;
}

static int ask(struct client *client, const char *name, uint32_t id)
{
	begin(&message, client, name);
	message_u32(&message, "id", id);
	return client_call(client, &message);
}

int session_start(struct client *client, uint32_t id)
{
	return ask(client, "session-start", id);
}

int session_stop(struct client *client, uint32_t id)
{
	return ask(client, "session-stop", id);
}

int session_del(struct client *client, uint32_t id)
{
	return ask(client, "session-del", id);
}

void session_fetch_message(struct message *m, struct client *client,
			   uint32_t id, uint32_t output)
{
	begin(m, client, "fetch");
	message_u32(m, "id", id);
	message_u32(m, "output", output);
}

int session_fetch(struct client *client, uint32_t id, uint32_t output,
		  void (*each)(struct client *client, const void *attrs,
			       size_t len, uint8_t command))
{
	int ret;

	session_fetch_message(&message, client, id, output);
	client->each = each;
	ret = client_call(client, &message);
	client->each = NULL;
	return ret;
}

bool session_ok(const struct client *client, const char *what, int ret)
{
	if (ret)
		printf("# %s: %s: %s\n", what, strerror(-ret), client->why);
	return !ret;
}
