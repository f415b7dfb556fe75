// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who takes part in a fetch, see fetch.h. A session has one fetch at a time;
 * it ends with its last reader. Leaves decoding to fetch_reader.c, rights and
 * messages to fetch_message.c.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/timex.h>

#include "fetch_reader.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../lib/refuse.h"
#include "../hw/rtit_regs.h"
#include "../session/session.h"
#include "../shared/tsc_extend.h"

/*
 * Large against the distance of PSBs, so small that the records of one chunk
 * for each reader are no burden to who puts them in order.
 */
#define CHUNK_BYTES		(64U << 10)
#define CHUNK_BYTES_PACKED	(256U << 10)
#define CHUNK_BYTES_COUNTS	(1U << 20)

static u64 chunk_bytes(u32 output)
{
	if (output & KIPT_OUTPUT_COUNTS)
		return CHUNK_BYTES_COUNTS;
	return output & KIPT_OUTPUT_PACKED ? CHUNK_BYTES_PACKED : CHUNK_BYTES;
}

static void free_fetch(struct kipt_fetch *fetch)
{
	kipt_chunks_uninit(&fetch->chunks);
	kipt_code_bytes_destroy(fetch->bytes);
	kipt_memory_free(fetch, sizeof(*fetch));
}

/* 0 is the number of no fetch. */
static atomic_t last_id;

static struct kipt_fetch *make_fetch(struct kipt_session *session,
				     const struct kipt_fetch_request *request)
{
	struct kipt_fetch *fetch = kipt_memory_alloc(sizeof(*fetch));
	int err;

	if (!fetch)
		return NULL;
	fetch->session = session;
	fetch->id = atomic_inc_return(&last_id) ?: atomic_inc_return(&last_id);
	fetch->output = request->output;
	fetch->memory = request->memory ?: kipt_limits()->arena;
	fetch->near = kipt_tsc_of_run(session->group.started);
	fetch->in_order = !(session->group.config.ctl & RTIT_CTL_TSCEN);
	err = kipt_chunks_init(&fetch->chunks, session->traces,
			       session->nr_traces, request->only_cpu,
			       chunk_bytes(request->output));
	fetch->bytes = kipt_code_bytes_create(session->group.sideband);
	if (!err && fetch->bytes)
		return fetch;
	free_fetch(fetch);
	return NULL;
}

static int check_state(const struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	switch (session->state) {
	case KIPT_STATE_STOPPED:
		return 0;
	case KIPT_STATE_RUNNING:
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "session %u is running; stop it first",
				   session->group.id);
	case KIPT_STATE_SETUP:
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "session %u is not ready yet", session->group.id);
	default:
		return kipt_refuse(refusal, NULL, -ENODATA,
				   "session %u never ran", session->group.id);
	}
}

static int begin_fetch(struct kipt_session *session,
		       const struct kipt_fetch_request *request,
		       struct kipt_refusal *refusal)
{
	if (session->fetch)
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "fetch %u of session %u is under way; take part in it, let it end or close its sockets",
				   session->fetch->id, session->group.id);
	if (request->only_cpu != KIPT_FETCH_ALL_CPUS &&
	    !kipt_session_trace(session, request->only_cpu))
		return kipt_refuse(refusal, NULL, -ENXIO,
				   "session %u has no CPU %u; its CPUs: %*pbl",
				   session->group.id, request->only_cpu,
				   cpumask_pr_args(session->cpus));
	session->fetch = make_fetch(session, request);
	if (session->fetch)
		return 0;
	return kipt_memory_refuse(refusal, "a fetch", sizeof(*session->fetch));
}

static int find_fetch(struct kipt_session *session,
		      const struct kipt_fetch_request *request,
		      struct kipt_refusal *refusal)
{
	int err = kipt_session_check_gone(session, refusal) ?: check_state(session, refusal);

	if (err)
		return err;
	if (!request->fetch)
		return begin_fetch(session, request, refusal);
	if (session->fetch && session->fetch->id == request->fetch)
		return 0;
	return kipt_refuse(refusal, NULL, -ENOENT,
			   "session %u has no fetch %u under way",
			   session->group.id, request->fetch);
}

static int join_locked(struct kipt_session *session,
		       const struct kipt_fetch_request *request,
		       struct kipt_refusal *refusal,
		       struct kipt_fetch_reader *reader)
{
	struct kipt_fetch *fetch;
	int err;

	lockdep_assert_held(&session->lock);
	err = find_fetch(session, request, refusal);
	if (err)
		return err;
	fetch = session->fetch;
	fetch->readers++;
	reader->fetch = fetch;
	reader->number = fetch->next_reader++;
	kipt_session_pin(session);
	return 0;
}

int kipt_fetch_join(struct kipt_session *session,
		    const struct kipt_fetch_request *request,
		    struct kipt_refusal *refusal,
		    struct kipt_fetch_reader **reader)
{
	struct kipt_fetch_reader *made = kipt_memory_alloc(sizeof(*made));
	int err;

	if (!made)
		return kipt_memory_refuse(refusal, "a reader of a fetch", sizeof(*made));
	mutex_lock(&session->lock);
	err = join_locked(session, request, refusal, made);
	mutex_unlock(&session->lock);
	if (err)
		kipt_memory_free(made, sizeof(*made));
	else
		*reader = made;
	return err;
}

void kipt_fetch_leave(struct kipt_fetch_reader *reader)
{
	struct kipt_fetch *fetch = reader->fetch;
	struct kipt_session *session = fetch->session;
	bool last;

	kipt_fetch_reader_uninit(reader);
	kipt_memory_free(reader, sizeof(*reader));
	mutex_lock(&session->lock);
	last = !--fetch->readers;
	/* The fetch goes with its last reader. */
	if (last)
		session->fetch = NULL;
	mutex_unlock(&session->lock);
	if (last)
		free_fetch(fetch);
	kipt_session_unpin(session);
}
