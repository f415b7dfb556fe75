// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides who may do what, by capabilities in the initial user namespace, by
 * user id, and by who owns a session. Owns nothing.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/security.h>
#include <net/sock.h>

#include "permission.h"
#include "../lib/refuse.h"
#include "session.h"

/*
 * Both the task and who opened the socket, so that neither a socket that was
 * passed on nor a privileged program that was handed one gives away a right.
 * netlink_capable() does not ask the latter of messages that name their
 * receiver, as those of libnl do.
 */
static bool both_may(struct sk_buff *request, int cap)
{
	const struct socket *socket = NETLINK_CB(request).sk->sk_socket;

	return capable(cap) &&
	       file_ns_capable(socket->file, &init_user_ns, cap);
}

int kipt_permission_load(struct kipt_refusal *refusal)
{
	if (security_locked_down(LOCKDOWN_PERF))
		return kipt_refuse(refusal, NULL, -EPERM,
				   "kernel lockdown forbids tracing: boot without lockdown=confidentiality");
	return 0;
}

int kipt_permission_trace(struct sk_buff *request, struct kipt_refusal *refusal)
{
	if (!both_may(request, CAP_PERFMON) &&
	    !both_may(request, CAP_SYS_ADMIN))
		return kipt_refuse(refusal, NULL, -EPERM,
				   "needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace");
	return kipt_permission_load(refusal);
}

/* A question that refuses nothing leaves no line in the audit log. */
bool kipt_permission_sees(struct sk_buff *request)
{
	return (ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
		ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN)) &&
	       !kipt_permission_trace(request, NULL);
}

static bool is_owner(struct sk_buff *request, struct kipt_session *session)
{
	return READ_ONCE(session->sk) == NETLINK_CB(request).sk;
}

static bool is_maker(const struct kipt_session *session)
{
	return uid_eq(session->uid, current_euid());
}

/* A program that runs as its maker may have got the socket from anybody. */
static bool both_made(struct sk_buff *request,
		      const struct kipt_session *session)
{
	const struct socket *socket = NETLINK_CB(request).sk->sk_socket;

	return is_maker(session) &&
	       uid_eq(session->uid, socket->file->f_cred->euid);
}

static int refuse(struct kipt_session *session, struct kipt_refusal *refusal)
{
	if (session->group.config.flags & KIPT_SESSION_FLAGS_DETACHED)
		return kipt_refuse(refusal, NULL, -EPERM,
				   "session %u was made by another user; acting on it needs CAP_SYS_ADMIN",
				   session->group.id);
	return kipt_refuse(refusal, NULL, -EPERM,
			   "session %u belongs to another socket; acting on it needs CAP_SYS_ADMIN",
			   session->group.id);
}

int kipt_permission_control(struct sk_buff *request,
			    struct kipt_session *session,
			    struct kipt_refusal *refusal)
{
	int err = kipt_permission_trace(request, refusal);

	if (err || is_owner(request, session) ||
	    (session->group.config.flags & KIPT_SESSION_FLAGS_DETACHED &&
	     both_made(request, session)) ||
	    both_may(request, CAP_SYS_ADMIN))
		return err;
	return refuse(session, refusal);
}

int kipt_permission_read(struct sk_buff *request,
			 struct kipt_session *session,
			 struct kipt_refusal *refusal)
{
	int err = kipt_permission_trace(request, refusal);

	if (err || is_owner(request, session) || both_made(request, session) ||
	    both_may(request, CAP_SYS_ADMIN))
		return err;
	return kipt_refuse(refusal, NULL, -EPERM,
			   "session %u was made by another user; reading it needs CAP_SYS_ADMIN",
			   session->group.id);
}

int kipt_permission_all(struct sk_buff *request, struct kipt_refusal *refusal)
{
	int err = kipt_permission_trace(request, refusal);

	if (err || both_may(request, CAP_SYS_ADMIN))
		return err;
	return kipt_refuse(refusal, NULL, -EPERM,
			   "snapshots have traces of all users; they need CAP_SYS_ADMIN");
}

int kipt_permission_file(const struct kipt_session *session)
{
	if (!perfmon_capable() || security_locked_down(LOCKDOWN_PERF))
		return -EPERM;
	if (session && !is_maker(session) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	return 0;
}
