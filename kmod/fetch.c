// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetches, which this state of the module refuses. Process context.
 */
#include <linux/errno.h>

#include "fetch.h"
#include "refuse.h"
#include "session.h"

int kipt_fetch_join(struct kipt_session *session,
		    const struct kipt_fetch_request *request,
		    struct netlink_ext_ack *extack,
		    struct kipt_fetch_reader **reader)
{
	return kipt_refuse(extack, NULL, -EOPNOTSUPP,
			   "session %u cannot be decoded here", session->id);
}

void kipt_fetch_progress(struct kipt_fetch_reader *reader,
			 struct kipt_fetch_piece *piece)
{
}

int kipt_fetch_read(struct kipt_fetch_reader *reader, u32 max_records,
		    struct kipt_fetch_piece *piece,
		    struct netlink_ext_ack *extack)
{
	return 0;
}

void kipt_fetch_leave(struct kipt_fetch_reader *reader)
{
}
