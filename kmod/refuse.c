// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the sentences of refusals until netlink has copied them into the
 * ack, which it does right after the handler returned. A ring of buffers
 * serves the requests that are under way at the same time. Process context.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/netlink.h>

#include "refuse.h"

/* More than requests that can be between refusal and ack at one time. */
#define SENTENCES	256
#define SENTENCE_BYTES	256

static char sentences[SENTENCES][SENTENCE_BYTES];
static atomic_t next_sentence = ATOMIC_INIT(0);

int kipt_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
		int err, const char *format, ...)
{
	char *text;
	va_list args;

	if (!extack)
		return err;
	text = sentences[(u32)atomic_inc_return(&next_sentence) % SENTENCES];
	va_start(args, format);
	vsnprintf(text, SENTENCE_BYTES, format, args);
	va_end(args);
	extack->_msg = text;
	if (attr)
		extack->bad_attr = attr;
	return err;
}
