// SPDX-License-Identifier: GPL-2.0-only
/*
 * What genl.c is where there is no libnl: nobody gets a connection, so that the
 * functions that need one are never called.
 */
#include <errno.h>

#include "../cli/messages.h"
#include "cpuid.h"
#include "genl.h"

static int absent(struct genl *genl)
{
	(void)genl;
	return -EOPNOTSUPP;
}

struct genl *genl_open(bool quiet)
{
	if (!quiet)
		say_error("%sthis kipt was built without libnl, by which it talks with the module; build it where libnl-3-dev and libnl-genl-3-dev are",
			  hardware_has_pt() ? "" :
			  "no PT on this CPU (CPUID.07H:EBX[25] is 0), and ");
	return NULL;
}

void genl_close(struct genl *genl)
{
	(void)genl;
}

int genl_info(struct genl *genl, struct kipt_info *info)
{
	(void)info;
	return absent(genl);
}

bool genl_version_fits(const struct kipt_info *info)
{
	(void)info;
	return false;
}

int genl_session_new(struct genl *genl, struct kipt_session *session,
		     void (*progress)(const struct kipt_session *session))
{
	(void)session;
	(void)progress;
	return absent(genl);
}

int genl_session_start(struct genl *genl, u32 id)
{
	(void)id;
	return absent(genl);
}

int genl_session_stop(struct genl *genl, u32 id)
{
	(void)id;
	return absent(genl);
}

int genl_session_delete(struct genl *genl, u32 id)
{
	(void)id;
	return absent(genl);
}

int genl_session_get(struct genl *genl, u32 id, struct kipt_session *session)
{
	(void)session;
	(void)id;
	return absent(genl);
}

int genl_session_each(struct genl *genl,
		      void (*found)(void *ctx, const struct kipt_session *s),
		      void *ctx)
{
	(void)found;
	(void)ctx;
	return absent(genl);
}

int genl_snapshot_each(struct genl *genl,
		       void (*found)(void *ctx,
				     const struct kipt_snapshot *snapshot),
		       void *ctx)
{
	(void)found;
	(void)ctx;
	return absent(genl);
}

int genl_snapshot_get(struct genl *genl, u32 id,
		      struct kipt_snapshot *snapshot)
{
	(void)snapshot;
	(void)id;
	return absent(genl);
}

int genl_snapshot_delete(struct genl *genl, u32 id)
{
	(void)id;
	return absent(genl);
}

int genl_fetch_start(struct genl *genl, const struct genl_fetch *fetch,
		     void (*piece)(void *ctx, const struct kipt_piece *piece),
		     void *ctx)
{
	(void)fetch;
	(void)piece;
	(void)ctx;
	return absent(genl);
}

int genl_fetch_wait(struct genl *genl, int timeout_ms)
{
	(void)timeout_ms;
	return absent(genl);
}

bool genl_fetch_over(const struct genl *genl)
{
	(void)genl;
	return true;
}
