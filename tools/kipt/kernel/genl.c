// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink, see genl.h. A request is sent and its answer awaited on one
 * socket. What takes long is a dump: the kernel works while its messages are
 * read. What sessions mean is the callers'.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "capabilities.h"
#include "cpuid.h"
#include "genl.h"

/* Messages of a dump are as large as the reader's buffer, up to 32 KiB. */
#define MESSAGE_BUFFER	(64 << 10)
#define REQUEST_BYTES	8192

struct genl {
	struct nl_sock *sock;
	struct nl_cb *cb;
	int family;
	/* The request that is waited for, as it was sent. */
	u32 awaited;
	unsigned char request[REQUEST_BYTES];
	size_t request_len;
	bool answered;
	int err;
	char what[KIPT_CPUS_TEXT + 64];
	void (*reply)(struct genl *genl, struct nlattr **attrs);
	void *reply_to;
	struct nlmsghdr *reply_head;
	/* The fetch. */
	void (*piece)(void *ctx, const struct kipt_piece *piece);
	void *piece_ctx;
};

static u32 attr_u32(struct nlattr *attr)
{
	return attr && nla_len(attr) >= 4 ? nla_get_u32(attr) : 0;
}

static u64 attr_u64(struct nlattr *attr)
{
	return attr && nla_len(attr) >= 8 ? nla_get_u64(attr) : 0;
}

static void attr_text(struct nlattr *attr, char *text, size_t size)
{
	size_t len = attr ? strnlen(nla_data(attr), nla_len(attr)) : 0;

	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(text, nla_data(attr), len);
	text[len] = 0;
}

/* A list that is longer than any request may have is none any more: "0,2,...",
 * which args_cpus() and the kernel refuse.
 */
static void attr_cpus(struct nlattr *attr, char *text)
{
	static const char cut[] = "...";
	size_t at;

	attr_text(attr, text, KIPT_CPUS_TEXT);
	if (!attr || strnlen(nla_data(attr), nla_len(attr)) < KIPT_CPUS_TEXT)
		return;
	at = KIPT_CPUS_TEXT - sizeof(cut);
	while (at && text[at - 1] != ',')
		at--;
	memcpy(text + at, cut, sizeof(cut));
}

/* Names of the attributes a request may have, as uapi/kipt.yaml has them. */
static const char *const session_names[] = {
	[KIPT_A_SESSION_ID] = "id",
	[KIPT_A_SESSION_CPUS] = "cpus",
	[KIPT_A_SESSION_MODE] = "mode",
	[KIPT_A_SESSION_SIZE] = "size",
	[KIPT_A_SESSION_CTL] = "ctl",
	[KIPT_A_SESSION_FLAGS] = "flags",
	[KIPT_A_SESSION_FILTER] = "filter",
	[KIPT_A_SESSION_PID] = "pid",
	[KIPT_A_SESSION_CR3] = "cr3",
	[KIPT_A_SESSION_PRINT_BRANCHES] = "print-branches",
	[KIPT_A_SESSION_PRINT_CPUS] = "print-cpus",
	[KIPT_A_SESSION_PRINT_USER] = "print-user",
};

static const char *const fetch_names[] = {
	[KIPT_A_FETCH_ID] = "id",
	[KIPT_A_FETCH_FETCH] = "fetch",
	[KIPT_A_FETCH_CPU] = "cpu",
	[KIPT_A_FETCH_OUTPUT] = "output",
	[KIPT_A_FETCH_MEMORY] = "memory",
};

/* The attribute at an offset of the request, or NULL. */
static const char *attr_name(const struct genl *genl, u32 offset)
{
	const struct nlmsghdr *head = (const void *)genl->request;
	const struct nlattr *attr = (const void *)(genl->request + offset);
	bool fetch = genlmsg_hdr((struct nlmsghdr *)head)->cmd ==
		     KIPT_CMD_FETCH;
	size_t count = fetch ? ARRAY_SIZE(fetch_names) :
			       ARRAY_SIZE(session_names);
	u32 type;

	if (offset < NLMSG_HDRLEN + GENL_HDRLEN ||
	    offset + sizeof(*attr) > genl->request_len)
		return NULL;
	type = attr->nla_type & NLA_TYPE_MASK;
	if (type >= count)
		return NULL;
	return fetch ? fetch_names[type] : session_names[type];
}

/* What netlink's own check of a number allows. */
static void range_add(struct nlattr *policy, char *text, size_t size)
{
	struct nlattr *p[NL_POLICY_TYPE_ATTR_MAX + 1];
	size_t len = strlen(text);

	if (!policy ||
	    nla_parse_nested(p, NL_POLICY_TYPE_ATTR_MAX, policy, NULL) < 0)
		return;
	if (p[NL_POLICY_TYPE_ATTR_MIN_VALUE_U] &&
	    p[NL_POLICY_TYPE_ATTR_MAX_VALUE_U])
		snprintf(text + len, size - len, "; allowed: %llu to %llu",
			 (unsigned long long)attr_u64(p[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]),
			 (unsigned long long)attr_u64(p[NL_POLICY_TYPE_ATTR_MAX_VALUE_U]));
	else if (p[NL_POLICY_TYPE_ATTR_MASK])
		snprintf(text + len, size - len, "; allowed bits: 0x%llx",
			 (unsigned long long)attr_u64(p[NL_POLICY_TYPE_ATTR_MASK]));
}

/* The sentence of an extended ack. What the module refuses names the thing
 * itself; what netlink's policies refuse, does not.
 */
static void extack_read(const struct genl *genl, struct nlattr *tlvs, int len,
			char *text, size_t size)
{
	struct nlattr *a[NLMSGERR_ATTR_MAX + 1];
	const char *name;
	size_t used = 0;

	text[0] = 0;
	if (len <= 0 || nla_parse(a, NLMSGERR_ATTR_MAX, tlvs, len, NULL) < 0 ||
	    !a[NLMSGERR_ATTR_MSG])
		return;
	name = a[NLMSGERR_ATTR_POLICY] && a[NLMSGERR_ATTR_OFFS] ?
	       attr_name(genl, attr_u32(a[NLMSGERR_ATTR_OFFS])) : NULL;
	if (name)
		used = snprintf(text, size, "%s: ", name);
	attr_text(a[NLMSGERR_ATTR_MSG], text + used, size - used);
	range_add(a[NLMSGERR_ATTR_POLICY], text, size);
}

/* It is after the error message, which carries the whole request unless
 * it was capped.
 */
static void ack_text(const struct genl *genl, const struct nlmsgerr *err,
		     char *text, size_t size)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)err - 1;
	size_t skip = sizeof(*err);

	text[0] = 0;
	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len) - sizeof(err->msg);
	extack_read(genl, (struct nlattr *)((char *)err + skip),
		    (int)head->nlmsg_len - (int)(NLMSG_HDRLEN + skip), text,
		    size);
}

/*
 * The module says why it refuses. Errors without a sentence are netlink's: ENOENT where the family
 * is gone, EPROTONOSUPPORT where its module is being unloaded.
 */
static void refusal_tell(const char *what, int err, const char *text)
{
	if (text[0])
		say_error("cannot %s: %s (%s)", what, text,
			  say_errno_name(err));
	else if (err == EPERM || err == EACCES)
		say_error("cannot %s: needs CAP_PERFMON or CAP_SYS_ADMIN (%s)",
			  what, say_errno_name(err));
	else if (err == EPROTONOSUPPORT || err == ENOENT)
		say_error("cannot %s: the kipt module is being removed (%s)",
			  what, say_errno_name(err));
	else
		say_errno(err, "cannot %s", what);
}

static void failed(struct genl *genl, int err, const char *text)
{
	genl->answered = true;
	genl->err = err;
	refusal_tell(genl->what, -err, text);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct genl *genl = arg;
	char text[512];

	(void)from;
	if (err->msg.nlmsg_seq != genl->awaited)
		return NL_SKIP;
	ack_text(genl, err, text, sizeof(text));
	failed(genl, err->error, text);
	return NL_SKIP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct genl *genl = arg;

	if (nlmsg_hdr(msg)->nlmsg_seq == genl->awaited)
		genl->answered = true;
	return NL_OK;
}

/* A dump may end with an error of its own. */
static void finish_take(struct genl *genl, struct nlmsghdr *head)
{
	int *err = nlmsg_data(head);
	char text[512] = "";

	if (head->nlmsg_seq != genl->awaited)
		return;
	genl->answered = true;
	if (nlmsg_datalen(head) < (int)sizeof(*err) || *err >= 0)
		return;
	if (head->nlmsg_flags & NLM_F_ACK_TLVS)
		extack_read(genl, (struct nlattr *)(err + 1),
			    nlmsg_datalen(head) - (int)sizeof(*err), text,
			    sizeof(text));
	failed(genl, *err, text);
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	finish_take(arg, nlmsg_hdr(msg));
	return NL_SKIP;
}

static void piece_take(struct genl *genl, struct nlattr **a)
{
	struct nlattr *records = a[KIPT_A_FETCH_RECORDS];
	struct kipt_piece piece = {
		.fetch = attr_u32(a[KIPT_A_FETCH_FETCH]),
		.total = attr_u64(a[KIPT_A_FETCH_TOTAL]),
		.done = attr_u64(a[KIPT_A_FETCH_DONE]),
		.in_chunk = a[KIPT_A_FETCH_CHUNK],
		.cpu = attr_u32(a[KIPT_A_FETCH_CPU]),
		.chunk = attr_u64(a[KIPT_A_FETCH_CHUNK]),
		.from = attr_u64(a[KIPT_A_FETCH_FROM]),
		.to = attr_u64(a[KIPT_A_FETCH_TO]),
		.lost = attr_u64(a[KIPT_A_FETCH_LOST]),
		.end = a[KIPT_A_FETCH_END],
	};

	if (records) {
		piece.records = nla_data(records);
		piece.count = nla_len(records) / sizeof(*piece.records);
	}
	if (genl->piece)
		genl->piece(genl->piece_ctx, &piece);
}

/* Attributes a message of a set has at most. */
#define ATTRS_MAX	64

static int on_message(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[ATTRS_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct genl *genl = arg;

	if (head->nlmsg_type != genl->family ||
	    head->nlmsg_seq != genl->awaited ||
	    genlmsg_parse(head, 0, attrs, ATTRS_MAX, NULL) < 0)
		return NL_SKIP;
	if (genlmsg_hdr(head)->cmd == KIPT_CMD_FETCH) {
		piece_take(genl, attrs);
	} else if (genl->reply) {
		genl->reply_head = head;
		genl->reply(genl, attrs);
	}
	return NL_OK;
}

/* What is left of a dump that was given up is not an error. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static void callbacks_set(struct genl *genl)
{
	nl_cb_set(genl->cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, genl);
	nl_cb_set(genl->cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, genl);
	nl_cb_set(genl->cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, genl);
	/* A list that changed meanwhile is as good as a later one. */
	nl_cb_set(genl->cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_sequence, genl);
	nl_cb_set(genl->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, genl);
	nl_cb_err(genl->cb, NL_CB_CUSTOM, on_error, genl);
}

static void buffers_set(struct genl *genl)
{
	int fd = nl_socket_get_fd(genl->sock), one = 1;

	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_set_msg_buf_size(genl->sock, MESSAGE_BUFFER);
}

static void absent_tell(void)
{
	if (!hardware_has_pt())
		say_error("no PT on this CPU (CPUID.07H:EBX[25] is 0); 'kipt doctor' says what to do, and 'kipt open' needs no PT");
	else if (!access("/sys/module/kipt", F_OK))
		say_error("the kipt module is loaded, but not visible in this network namespace: run kipt in the initial one");
	else
		say_error("the kipt module is not loaded: modprobe kipt");
}

static bool socket_connect(struct genl *genl)
{
	int err;

	genl->sock = nl_socket_alloc();
	genl->cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!genl->sock || !genl->cb) {
		say_errno(ENOMEM, "cannot open a netlink socket");
		return false;
	}
	err = genl_connect(genl->sock);
	if (err)
		say_error("cannot open a netlink socket: %s",
			  nl_geterror(err));
	return !err;
}

/* Asked once in a process: a module cannot be exchanged while it is used. */
static bool version_fits(struct genl *genl)
{
	static bool fits;
	struct kipt_info info;

	if (!fits && !genl_info(genl, &info))
		fits = genl_version_fits(&info);
	return fits;
}

struct genl *genl_open(bool quiet)
{
	struct genl *genl = calloc(1, sizeof(*genl));

	if (!genl || !socket_connect(genl)) {
		genl_close(genl);
		return NULL;
	}
	genl->family = genl_ctrl_resolve(genl->sock, KIPT_FAMILY_NAME);
	if (genl->family < 0) {
		if (!quiet)
			absent_tell();
		genl_close(genl);
		return NULL;
	}
	buffers_set(genl);
	callbacks_set(genl);
	if (quiet || version_fits(genl))
		return genl;
	genl_close(genl);
	return NULL;
}

void genl_close(struct genl *genl)
{
	if (!genl)
		return;
	if (genl->cb)
		nl_cb_put(genl->cb);
	if (genl->sock)
		nl_socket_free(genl->sock);
	free(genl);
}

/* Take what has come. Lost messages are no error of the socket itself. */
static int messages_take(struct genl *genl)
{
	int err;

	errno = 0;
	err = nl_recvmsgs(genl->sock, genl->cb);
	if (err >= 0)
		return 0;
	if (errno == ENOBUFS)
		return -ENOBUFS;
	if (errno == EINTR || errno == EAGAIN)
		return 0;
	say_error("cannot receive from the kernel: %s", nl_geterror(err));
	return -EIO;
}

static struct nl_msg *request_make(struct genl *genl, u8 command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_BYTES);

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, genl->family,
			       0, flags, command, KIPT_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	say_errno(ENOMEM, "cannot make a message");
	return NULL;
}

static int request_send(struct genl *genl, struct nl_msg *msg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	int err;

	nl_complete_msg(genl->sock, msg);
	genl->awaited = head->nlmsg_seq;
	genl->request_len = head->nlmsg_len < sizeof(genl->request) ?
			    head->nlmsg_len : sizeof(genl->request);
	memcpy(genl->request, head, genl->request_len);
	genl->answered = false;
	genl->err = 0;
	err = nl_send(genl->sock, msg);
	nlmsg_free(msg);
	if (err >= 0)
		return 0;
	say_error("cannot send to the kernel: %s", nl_geterror(err));
	return -EIO;
}

/* Without memory for an answer the kernel ends a dump nowhere: it would neither
 * go on nor let another one begin. A session that belongs to the socket ends.
 */
static void reconnect(struct genl *genl)
{
	say_error("cannot %s: the kernel has no memory for its answer (ENOBUFS)",
		  genl->what);
	nl_close(genl->sock);
	if (!genl_connect(genl->sock))
		buffers_set(genl);
}

/* Send a request and wait for its end; consumes @msg. */
static int request_do(struct genl *genl, struct nl_msg *msg, const char *what,
		      void (*reply)(struct genl *genl, struct nlattr **attrs),
		      void *reply_to)
{
	int err;

	if (!msg)
		return -ENOMEM;
	snprintf(genl->what, sizeof(genl->what), "%s", what);
	genl->reply = reply;
	genl->reply_to = reply_to;
	err = request_send(genl, msg);
	while (!err && !genl->answered)
		err = messages_take(genl);
	if (err == -ENOBUFS)
		reconnect(genl);
	genl->awaited = 0;
	genl->reply = NULL;
	return err ? err : genl->err;
}

static int session_request(struct genl *genl, u8 command, u32 id,
			   const char *what)
{
	struct nl_msg *msg = request_make(genl, command, NLM_F_DUMP);
	char text[64];

	if (msg)
		nla_put_u32(msg, KIPT_A_SESSION_ID, id);
	snprintf(text, sizeof(text), "%s session %u", what, id);
	return request_do(genl, msg, text, NULL, NULL);
}

int genl_session_start(struct genl *genl, u32 id)
{
	return session_request(genl, KIPT_CMD_SESSION_START, id, "start");
}

int genl_session_stop(struct genl *genl, u32 id)
{
	return session_request(genl, KIPT_CMD_SESSION_STOP, id, "stop");
}

int genl_session_delete(struct genl *genl, u32 id)
{
	return session_request(genl, KIPT_CMD_SESSION_DEL, id, "delete");
}

static void caps_read(struct nlattr *nest, struct kipt_caps *caps)
{
	struct nlattr *a[KIPT_A_CAP_MAX + 1];

	if (nla_parse_nested(a, KIPT_A_CAP_MAX, nest, NULL) < 0)
		return;
	*caps = (struct kipt_caps){
		.leaf0_eax = attr_u32(a[KIPT_A_CAP_LEAF0_EAX]),
		.leaf0_ebx = attr_u32(a[KIPT_A_CAP_LEAF0_EBX]),
		.leaf0_ecx = attr_u32(a[KIPT_A_CAP_LEAF0_ECX]),
		.leaf1_eax = attr_u32(a[KIPT_A_CAP_LEAF1_EAX]),
		.leaf1_ebx = attr_u32(a[KIPT_A_CAP_LEAF1_EBX]),
		.tsc_den = attr_u32(a[KIPT_A_CAP_TSC_DEN]),
		.tsc_num = attr_u32(a[KIPT_A_CAP_TSC_NUM]),
		.crystal_hz = attr_u32(a[KIPT_A_CAP_CRYSTAL_HZ]),
		.tsc_khz = attr_u32(a[KIPT_A_CAP_TSC_KHZ]),
		.max_nonturbo_ratio =
			attr_u32(a[KIPT_A_CAP_MAX_NONTURBO_RATIO]),
		.family = attr_u32(a[KIPT_A_CAP_CPU_FAMILY]),
		.model = attr_u32(a[KIPT_A_CAP_CPU_MODEL]),
		.stepping = attr_u32(a[KIPT_A_CAP_CPU_STEPPING]),
		.core_type = attr_u32(a[KIPT_A_CAP_CORE_TYPE]),
		.vmx_pt = attr_u32(a[KIPT_A_CAP_VMX_PT]),
		.ctl_allowed = attr_u64(a[KIPT_A_CAP_CTL_ALLOWED]),
	};
	attr_cpus(a[KIPT_A_CAP_CPUS], caps->cpus);
	caps_settle(caps);
}

/* Calls @read for each attribute of a type: the parser keeps one of each. */
static void each_attr(struct genl *genl, int type,
		      void (*read)(struct nlattr *attr, void *to), void *to)
{
	struct genlmsghdr *head = nlmsg_data(genl->reply_head);
	struct nlattr *attr;
	int rest;

	nla_for_each_attr(attr, genlmsg_attrdata(head, 0),
			  genlmsg_attrlen(head, 0), rest)
		if (nla_type(attr) == type)
			read(attr, to);
}

static void kind_read(struct nlattr *attr, void *to)
{
	struct kipt_info *info = to;

	if (info->kind_count < KIPT_KINDS_MAX)
		caps_read(attr, &info->kind[info->kind_count++]);
}

static void limits_read(struct nlattr *nest, struct kipt_limits *limits)
{
	struct nlattr *a[KIPT_A_LIMITS_MAX + 1];

	if (!nest || nla_parse_nested(a, KIPT_A_LIMITS_MAX, nest, NULL) < 0)
		return;
	*limits = (struct kipt_limits){
		.size_min = attr_u64(a[KIPT_A_LIMITS_SIZE_MIN]),
		.size_max = attr_u64(a[KIPT_A_LIMITS_SIZE_MAX]),
		.memory = attr_u64(a[KIPT_A_LIMITS_MEMORY]),
		.spaces = attr_u32(a[KIPT_A_LIMITS_SPACES]),
		.switches = attr_u32(a[KIPT_A_LIMITS_SWITCHES]),
		.patches = attr_u32(a[KIPT_A_LIMITS_PATCHES]),
		.arena = attr_u64(a[KIPT_A_LIMITS_ARENA]),
		.processes = attr_u32(a[KIPT_A_LIMITS_PROCESSES]),
	};
}

static void info_read(struct genl *genl, struct nlattr **a)
{
	struct kipt_info *info = genl->reply_to;

	each_attr(genl, KIPT_A_INFO_CAP, kind_read, info);
	caps_of_cpus(info, NULL, &info->caps);
	attr_text(a[KIPT_A_INFO_VERSION], info->version,
		  sizeof(info->version));
	info->abi = attr_u32(a[KIPT_A_INFO_ABI]);
	info->record_version = attr_u32(a[KIPT_A_INFO_RECORD_VERSION]);
	limits_read(a[KIPT_A_INFO_LIMITS], &info->limits);
	attr_cpus(a[KIPT_A_INFO_CPUS], info->online);
	info->has_use = a[KIPT_A_INFO_BUSY];
	attr_cpus(a[KIPT_A_INFO_BUSY], info->busy);
	info->memory = attr_u64(a[KIPT_A_INFO_MEMORY]);
	info->latch = attr_u32(a[KIPT_A_INFO_LATCH]);
	info->absent = attr_u32(a[KIPT_A_INFO_ABSENT]);
}

int genl_info(struct genl *genl, struct kipt_info *info)
{
	memset(info, 0, sizeof(*info));
	return request_do(genl, request_make(genl, KIPT_CMD_GET_INFO,
					     NLM_F_ACK),
			  "get the module's capabilities", info_read, info);
}

bool genl_version_fits(const struct kipt_info *info)
{
	if (info->abi == KIPT_ABI &&
	    info->record_version == KIPT_RECORD_VERSION)
		return true;
	say_error("the module, version %s, has interface %u and records %u; this kipt, version %s, is for interface %u and records %u: use the kipt that was built with the module",
		  info->version, info->abi, info->record_version,
		  KIPT_VERSION, KIPT_ABI, KIPT_RECORD_VERSION);
	return false;
}

/**
 * struct making - a session that is being made
 * @session: what is asked for, and how far it is
 * @progress: who is called, or NULL
 */
struct making {
	struct kipt_session *session;
	void (*progress)(const struct kipt_session *session);
};

static void making_read(struct genl *genl, struct nlattr **a)
{
	struct making *making = genl->reply_to;
	struct kipt_session *session = making->session;

	session->id = attr_u32(a[KIPT_A_SESSION_ID]);
	session->state = attr_u32(a[KIPT_A_SESSION_STATE]);
	session->memory = attr_u64(a[KIPT_A_SESSION_MEMORY]);
	session->memory_total = attr_u64(a[KIPT_A_SESSION_MEMORY_TOTAL]);
	if (making->progress)
		making->progress(session);
}

static void filters_put(struct nl_msg *msg, const struct kipt_session *session)
{
	const struct kipt_range *range;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < session->filter_count; i++) {
		range = &session->filter[i];
		nest = nla_nest_start(msg, KIPT_A_SESSION_FILTER | NLA_F_NESTED);
		nla_put_u32(msg, KIPT_A_FILTER_KIND, range->kind);
		nla_put_u64(msg, KIPT_A_FILTER_FIRST, range->first);
		nla_put_u64(msg, KIPT_A_FILTER_LAST, range->last);
		nla_nest_end(msg, nest);
	}
}

static void wishes_put(struct nl_msg *msg, const struct kipt_session *session)
{
	nla_put_string(msg, KIPT_A_SESSION_CPUS, session->cpus);
	nla_put_u32(msg, KIPT_A_SESSION_MODE, session->mode);
	nla_put_u64(msg, KIPT_A_SESSION_SIZE, session->size);
	nla_put_u64(msg, KIPT_A_SESSION_CTL, session->ctl);
	nla_put_u32(msg, KIPT_A_SESSION_FLAGS, session->flags);
	filters_put(msg, session);
	if (session->pid)
		nla_put_u32(msg, KIPT_A_SESSION_PID, session->pid);
	if (session->cr3)
		nla_put_u64(msg, KIPT_A_SESSION_CR3, session->cr3);
	if (session->flags & KIPT_SESSION_FLAGS_ARMED)
		nla_put_u32(msg, KIPT_A_SESSION_PRINT_BRANCHES,
			    session->print_branches);
	/* A module that does not know them can do without. */
	if (session->print_cpus)
		nla_put_u32(msg, KIPT_A_SESSION_PRINT_CPUS,
			    session->print_cpus);
	if (session->print_user)
		nla_put_u32(msg, KIPT_A_SESSION_PRINT_USER,
			    session->print_user);
}

int genl_session_new(struct genl *genl, struct kipt_session *session,
		     void (*progress)(const struct kipt_session *session))
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SESSION_NEW,
					  NLM_F_DUMP);
	struct making making = { .session = session, .progress = progress };
	char what[KIPT_CPUS_TEXT + 32];

	if (msg)
		wishes_put(msg, session);
	snprintf(what, sizeof(what), "make a session on CPUs %s",
		 session->cpus);
	return request_do(genl, msg, what, making_read, &making);
}

static void cpu_read(struct nlattr *nest, struct kipt_cpu *cpu)
{
	struct nlattr *a[KIPT_A_CPU_MAX + 1];

	if (nla_parse_nested(a, KIPT_A_CPU_MAX, nest, NULL) < 0)
		return;
	*cpu = (struct kipt_cpu){
		.id = attr_u32(a[KIPT_A_CPU_CPU]),
		.state = attr_u32(a[KIPT_A_CPU_STATE]),
		.cause = attr_u32(a[KIPT_A_CPU_CAUSE]),
		.size = attr_u64(a[KIPT_A_CPU_SIZE]),
		.head = attr_u64(a[KIPT_A_CPU_HEAD]),
		.tail = attr_u64(a[KIPT_A_CPU_TAIL]),
		.status = attr_u64(a[KIPT_A_CPU_STATUS]),
		.blocks = attr_u32(a[KIPT_A_CPU_BLOCKS]),
		.block_min = attr_u32(a[KIPT_A_CPU_BLOCK_MIN]),
		.block_max = attr_u32(a[KIPT_A_CPU_BLOCK_MAX]),
		.pmis = attr_u64(a[KIPT_A_CPU_PMIS]),
	};
}

static void cpu_add(struct kipt_session *session, struct nlattr *nest)
{
	struct kipt_cpu *more;

	if (session->cpu_count >= KIPT_CPUS_MAX)
		return;
	more = realloc(session->cpu, (session->cpu_count + 1) * sizeof(*more));
	if (!more)
		return;
	session->cpu = more;
	cpu_read(nest, &more[session->cpu_count++]);
}

static void filter_read(struct nlattr *nest, void *to)
{
	struct nlattr *a[KIPT_A_FILTER_MAX + 1];
	struct kipt_session *session = to;

	if (session->filter_count == KIPT_FILTERS_MAX ||
	    nla_parse_nested(a, KIPT_A_FILTER_MAX, nest, NULL) < 0)
		return;
	session->filter[session->filter_count++] = (struct kipt_range){
		.kind = attr_u32(a[KIPT_A_FILTER_KIND]),
		.first = attr_u64(a[KIPT_A_FILTER_FIRST]),
		.last = attr_u64(a[KIPT_A_FILTER_LAST]),
	};
}

static void session_fields_read(struct genl *genl, struct nlattr **a,
				struct kipt_session *session)
{
	*session = (struct kipt_session){
		.id = attr_u32(a[KIPT_A_SESSION_ID]),
		.mode = attr_u32(a[KIPT_A_SESSION_MODE]),
		.size = attr_u64(a[KIPT_A_SESSION_SIZE]),
		.ctl = attr_u64(a[KIPT_A_SESSION_CTL]),
		.flags = attr_u32(a[KIPT_A_SESSION_FLAGS]),
		.pid = attr_u32(a[KIPT_A_SESSION_PID]),
		.cr3 = attr_u64(a[KIPT_A_SESSION_CR3]),
		.state = attr_u32(a[KIPT_A_SESSION_STATE]),
		.cause = attr_u32(a[KIPT_A_SESSION_CAUSE]),
		.generation = attr_u64(a[KIPT_A_SESSION_GENERATION]),
		.uid = attr_u32(a[KIPT_A_SESSION_UID]),
		.memory = attr_u64(a[KIPT_A_SESSION_MEMORY]),
		.spaces_lost = attr_u64(a[KIPT_A_SESSION_SPACES_LOST]),
		.switches_lost = attr_u64(a[KIPT_A_SESSION_SWITCHES_LOST]),
		.processes = attr_u32(a[KIPT_A_SESSION_PROCESSES]),
		.processes_lost = attr_u64(a[KIPT_A_SESSION_PROCESSES_LOST]),
		.print_branches = attr_u32(a[KIPT_A_SESSION_PRINT_BRANCHES]),
		.print_cpus = attr_u32(a[KIPT_A_SESSION_PRINT_CPUS]),
		.print_user = attr_u32(a[KIPT_A_SESSION_PRINT_USER]),
		.snapshots = attr_u32(a[KIPT_A_SESSION_SNAPSHOTS]),
		.snapshots_size = attr_u64(a[KIPT_A_SESSION_SNAPSHOTS_SIZE]),
	};
	attr_cpus(a[KIPT_A_SESSION_CPUS], session->cpus);
	if (a[KIPT_A_SESSION_HOOKS_LOST])
		nla_strlcpy(session->hooks_lost, a[KIPT_A_SESSION_HOOKS_LOST],
			    sizeof(session->hooks_lost));
	each_attr(genl, KIPT_A_SESSION_FILTER, filter_read, session);
}

/**
 * struct listing - sessions that are being listed
 * @session: the one under way; its id is 0 before the first
 * @found: who is called
 * @ctx: its first argument
 */
struct listing {
	struct kipt_session session;
	void (*found)(void *ctx, const struct kipt_session *s);
	void *ctx;
};

static void listing_flush(struct listing *listing)
{
	if (listing->session.id)
		listing->found(listing->ctx, &listing->session);
	session_free(&listing->session);
	listing->session.id = 0;
}

/* A session has one message, then each of its CPUs by one. */
static void listing_read(struct genl *genl, struct nlattr **a)
{
	struct listing *listing = genl->reply_to;

	if (a[KIPT_A_SESSION_CPU]) {
		cpu_add(&listing->session, a[KIPT_A_SESSION_CPU]);
		return;
	}
	listing_flush(listing);
	session_fields_read(genl, a, &listing->session);
}

static int sessions_list(struct genl *genl, u32 id, const char *what,
			 struct listing *listing)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SESSION_GET,
					  NLM_F_DUMP);
	int err;

	if (msg && id)
		nla_put_u32(msg, KIPT_A_SESSION_ID, id);
	err = request_do(genl, msg, what, listing_read, listing);
	if (!err)
		listing_flush(listing);
	session_free(&listing->session);
	return err;
}

/* The CPUs go with it. */
static void session_keep(void *ctx, const struct kipt_session *found)
{
	struct kipt_session *session = ctx;
	size_t size = found->cpu_count * sizeof(*found->cpu);

	*session = *found;
	session->cpu = size ? malloc(size) : NULL;
	if (session->cpu)
		memcpy(session->cpu, found->cpu, size);
	else
		session->cpu_count = 0;
}

int genl_session_get(struct genl *genl, u32 id, struct kipt_session *session)
{
	struct listing listing = { .found = session_keep, .ctx = session };
	char what[64];

	memset(session, 0, sizeof(*session));
	snprintf(what, sizeof(what), "look at session %u", id);
	return sessions_list(genl, id, what, &listing);
}

int genl_session_each(struct genl *genl,
		      void (*found)(void *ctx, const struct kipt_session *s),
		      void *ctx)
{
	struct listing listing = { .found = found, .ctx = ctx };

	return sessions_list(genl, 0, "list the sessions", &listing);
}

static void snapshot_fields_read(struct nlattr **a,
				 struct kipt_snapshot *snapshot)
{
	*snapshot = (struct kipt_snapshot){
		.id = attr_u32(a[KIPT_A_SNAPSHOT_ID]),
		.time = attr_u64(a[KIPT_A_SNAPSHOT_TIME]),
		.hook = attr_u32(a[KIPT_A_SNAPSHOT_HOOK]),
		.cpu = attr_u32(a[KIPT_A_SNAPSHOT_CPU]),
		.ip = attr_u64(a[KIPT_A_SNAPSHOT_IP]),
		.has_trap = a[KIPT_A_SNAPSHOT_TRAP],
		.trap = attr_u32(a[KIPT_A_SNAPSHOT_TRAP]),
		.pid = attr_u32(a[KIPT_A_SNAPSHOT_PID]),
		.cpus = attr_u32(a[KIPT_A_SNAPSHOT_CPUS]),
		.missed = attr_u32(a[KIPT_A_SNAPSHOT_MISSED]),
		.signal = attr_u32(a[KIPT_A_SNAPSHOT_SIGNAL]),
		.process = attr_u32(a[KIPT_A_SNAPSHOT_PROCESS]),
		.uid = attr_u32(a[KIPT_A_SNAPSHOT_UID]),
		.file_offset = attr_u64(a[KIPT_A_SNAPSHOT_FILE_OFFSET]),
		.size = attr_u64(a[KIPT_A_SNAPSHOT_SIZE]),
	};
	if (a[KIPT_A_SNAPSHOT_COMM])
		nla_strlcpy(snapshot->comm, a[KIPT_A_SNAPSHOT_COMM],
			    sizeof(snapshot->comm));
	plain_text(snapshot->comm);
	if (a[KIPT_A_SNAPSHOT_FILE])
		nla_strlcpy(snapshot->file, a[KIPT_A_SNAPSHOT_FILE],
			    sizeof(snapshot->file));
	plain_text(snapshot->file);
}

/**
 * struct snapshot_listing - snapshots that are being listed
 * @found: who is called
 * @ctx: its first argument
 */
struct snapshot_listing {
	void (*found)(void *ctx, const struct kipt_snapshot *snapshot);
	void *ctx;
};

static void snapshot_listed(struct genl *genl, struct nlattr **a)
{
	struct snapshot_listing *listing = genl->reply_to;
	struct kipt_snapshot snapshot;

	snapshot_fields_read(a, &snapshot);
	listing->found(listing->ctx, &snapshot);
}

int genl_snapshot_each(struct genl *genl,
		       void (*found)(void *ctx,
				     const struct kipt_snapshot *snapshot),
		       void *ctx)
{
	struct snapshot_listing listing = { .found = found, .ctx = ctx };

	return request_do(genl, request_make(genl, KIPT_CMD_SNAPSHOT_GET,
					     NLM_F_DUMP),
			  "list the snapshots", snapshot_listed, &listing);
}

/* The first message says what it is, the others its data. */
static void snapshot_part_read(struct genl *genl, struct nlattr **a)
{
	struct kipt_snapshot *snapshot = genl->reply_to;
	struct nlattr *data = a[KIPT_A_SNAPSHOT_DATA];
	u64 offset = attr_u64(a[KIPT_A_SNAPSHOT_OFFSET]);

	if (!data) {
		free(snapshot->data);
		snapshot_fields_read(a, snapshot);
		snapshot->data = malloc(snapshot->size);
		return;
	}
	if (!snapshot->data || offset != snapshot->got ||
	    (u64)nla_len(data) > snapshot->size - offset)
		return;
	memcpy(snapshot->data + offset, nla_data(data), nla_len(data));
	snapshot->got += nla_len(data);
}

int genl_snapshot_get(struct genl *genl, u32 id,
		      struct kipt_snapshot *snapshot)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SNAPSHOT_GET,
					  NLM_F_DUMP);
	char what[64];
	int err;

	memset(snapshot, 0, sizeof(*snapshot));
	if (msg)
		nla_put_u32(msg, KIPT_A_SNAPSHOT_ID, id);
	snprintf(what, sizeof(what), "read snapshot %u", id);
	err = request_do(genl, msg, what, snapshot_part_read, snapshot);
	if (!err && snapshot->got != snapshot->size) {
		err = snapshot->data || !snapshot->size ? -EIO : -ENOMEM;
		say_errno(-err, "cannot read snapshot %u", id);
	}
	if (err) {
		free(snapshot->data);
		snapshot->data = NULL;
	}
	return err;
}

int genl_snapshot_delete(struct genl *genl, u32 id)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SNAPSHOT_DEL,
					  NLM_F_ACK);
	char what[64];

	if (msg)
		nla_put_u32(msg, KIPT_A_SNAPSHOT_ID, id);
	snprintf(what, sizeof(what), "delete snapshot %u", id);
	return request_do(genl, msg, what, NULL, NULL);
}

int genl_fetch_start(struct genl *genl, const struct genl_fetch *fetch,
		     void (*piece)(void *ctx, const struct kipt_piece *piece),
		     void *ctx)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_FETCH, NLM_F_DUMP);

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, KIPT_A_FETCH_ID, fetch->id);
	if (fetch->fetch) {
		nla_put_u32(msg, KIPT_A_FETCH_FETCH, fetch->fetch);
	} else {
		nla_put_u32(msg, KIPT_A_FETCH_OUTPUT, fetch->output);
		if (fetch->cpu >= 0)
			nla_put_u32(msg, KIPT_A_FETCH_CPU, fetch->cpu);
		if (fetch->memory)
			nla_put_u64(msg, KIPT_A_FETCH_MEMORY, fetch->memory);
	}
	genl->piece = piece;
	genl->piece_ctx = ctx;
	snprintf(genl->what, sizeof(genl->what), "fetch session %u",
		 fetch->id);
	return request_send(genl, msg);
}

/* A message of the fetch, or its end. */
static void fetch_message(struct genl *genl, struct nlmsghdr *head)
{
	struct nlattr *attrs[ATTRS_MAX + 1];

	if (head->nlmsg_seq != genl->awaited)
		return;
	if (head->nlmsg_type == NLMSG_DONE)
		finish_take(genl, head);
	else if (head->nlmsg_type == NLMSG_ERROR)
		on_error(NULL, nlmsg_data(head), genl);
	else if (head->nlmsg_type == genl->family &&
		 !genlmsg_parse(head, 0, attrs, ATTRS_MAX, NULL))
		piece_take(genl, attrs);
}

/* One message at a time, where it is: libnl would copy each, and come back when
 * all of a dump was read.
 */
static int fetch_receive(struct genl *genl)
{
	unsigned char buffer[MESSAGE_BUFFER]
		__attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *head = (struct nlmsghdr *)buffer;
	ssize_t got = recv(nl_socket_get_fd(genl->sock), buffer,
			   sizeof(buffer), MSG_DONTWAIT);
	int left = (int)got;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got < 0) {
		failed(genl, -errno, "");
		return genl->err;
	}
	for (; nlmsg_ok(head, left); head = nlmsg_next(head, &left))
		fetch_message(genl, head);
	return genl->err ? genl->err : 1;
}

/* Each message is made while the one before is taken, so one is there nearly
 * always, and nothing is to be waited for.
 */
int genl_fetch_wait(struct genl *genl, int timeout_ms)
{
	struct pollfd fd = {
		.fd = nl_socket_get_fd(genl->sock),
		.events = POLLIN,
	};
	int got;

	if (genl->answered)
		return genl->err;
	got = fetch_receive(genl);
	if (got || poll(&fd, 1, timeout_ms) <= 0)
		return got;
	return fetch_receive(genl);
}

bool genl_fetch_over(const struct genl *genl)
{
	return genl->answered;
}
