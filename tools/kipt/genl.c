// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink, see genl.h. A request is sent and its answer awaited on one
 * socket; "records" messages of a running fetch may come at any time between
 * and go to the callback of the fetch. What sessions mean is the callers'.
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

#include "caps.h"
#include "genl.h"
#include "hardware.h"
#include "say.h"

/* Large enough for a credit's worth of 32 KiB messages as the kernel counts
 * them.
 */
#define RECEIVE_BUFFER	(16 << 20)
#define MESSAGE_BUFFER	(128 << 10)
/* Idle waits after which a refused credit is believed. */
#define ASYNC_WAITS	20

struct genl {
	struct nl_sock *sock;
	struct nl_cb *cb;
	int family;
	/* The request that is waited for. */
	u32 awaited;
	bool answered;
	int err;
	const char *what;
	void (*reply)(struct genl *genl, struct nlattr **attrs);
	void *reply_to;
	struct nlmsghdr *reply_head;
	/* The fetch. */
	u32 fetch_id;
	void (*batch)(void *ctx, const struct kipt_batch *b);
	void *batch_ctx;
	/* What the kernel said to a credit. It may cross the last message,
	 * after which there is no fetch any more.
	 */
	int async_err;
	char async_text[512];
	unsigned int async_waits;
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

/* The sentence of an extended ack: attributes behind the error message,
 * which carries the whole request unless it was capped.
 */
static void extack_text(const struct nlmsgerr *err, char *text, size_t size)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)err - 1;
	struct nlattr *attrs[NLMSGERR_ATTR_MAX + 1];
	size_t skip = sizeof(*err);

	text[0] = 0;
	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len) - sizeof(err->msg);
	if (NLMSG_HDRLEN + skip > head->nlmsg_len)
		return;
	if (nla_parse(attrs, NLMSGERR_ATTR_MAX,
		      (struct nlattr *)((char *)err + skip),
		      head->nlmsg_len - NLMSG_HDRLEN - skip, NULL) < 0)
		return;
	attr_text(attrs[NLMSGERR_ATTR_MSG], text, size);
}

static void refusal_tell(const char *what, int err, const char *text)
{
	if (text[0])
		say_error("cannot %s: %s (%s)", what, text,
			  say_errno_name(err));
	else if (err == EPERM || err == EACCES)
		say_error("cannot %s: needs CAP_PERFMON or CAP_SYS_ADMIN (%s)",
			  what, say_errno_name(err));
	else
		say_errno(err, "cannot %s", what);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct genl *genl = arg;
	char text[512];

	(void)from;
	extack_text(err, text, sizeof(text));
	if (err->msg.nlmsg_seq == genl->awaited) {
		genl->answered = true;
		genl->err = err->error;
		refusal_tell(genl->what, -err->error, text);
	} else {
		genl->async_err = err->error;
		memcpy(genl->async_text, text, sizeof(text));
	}
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
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct genl *genl = arg;

	if (head->nlmsg_seq != genl->awaited)
		return NL_SKIP;
	genl->answered = true;
	if (nlmsg_datalen(head) >= (int)sizeof(int) &&
	    *(int *)nlmsg_data(head) < 0) {
		genl->err = *(int *)nlmsg_data(head);
		refusal_tell(genl->what, -genl->err, "");
	}
	return NL_SKIP;
}

static void batch_take(struct genl *genl, struct nlattr **attrs)
{
	struct nlattr *data = attrs[KIPT_A_SESSION_DATA];
	struct kipt_batch batch = {
		.id = attr_u32(attrs[KIPT_A_SESSION_ID]),
		.cpu = attr_u32(attrs[KIPT_A_SESSION_CPU_ID]),
		.has_cpu = attrs[KIPT_A_SESSION_CPU_ID],
		.seq = attr_u64(attrs[KIPT_A_SESSION_SEQ]),
		.lost = attr_u64(attrs[KIPT_A_SESSION_LOST]),
		.trace_done = attr_u64(attrs[KIPT_A_SESSION_TRACE_DONE]),
		.last = attrs[KIPT_A_SESSION_DONE],
		.done = attr_u32(attrs[KIPT_A_SESSION_DONE]),
		.total = attr_u64(attrs[KIPT_A_SESSION_TOTAL]),
	};

	if (!genl->batch || batch.id != genl->fetch_id)
		return;
	if (data) {
		batch.records = nla_data(data);
		batch.count = nla_len(data) / sizeof(*batch.records);
	}
	genl->batch(genl->batch_ctx, &batch);
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[KIPT_A_SESSION_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct genl *genl = arg;

	if (head->nlmsg_type != genl->family ||
	    genlmsg_parse(head, 0, attrs, KIPT_A_SESSION_MAX, NULL) < 0)
		return NL_SKIP;
	if (genlmsg_hdr(head)->cmd == KIPT_CMD_RECORDS) {
		batch_take(genl, attrs);
	} else if (head->nlmsg_seq == genl->awaited && genl->reply) {
		genl->reply_head = head;
		genl->reply(genl, attrs);
	}
	return NL_OK;
}

/* Batches are not answers: libnl must not compare their numbers. */
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
	nl_cb_set(genl->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, genl);
	nl_cb_err(genl->cb, NL_CB_CUSTOM, on_error, genl);
}

static void buffers_set(struct genl *genl)
{
	int fd = nl_socket_get_fd(genl->sock), size = RECEIVE_BUFFER, one = 1;

	/* Beyond rmem_max only with CAP_NET_ADMIN; less is slower, no more. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_set_msg_buf_size(genl->sock, MESSAGE_BUFFER);
}

static void absent_tell(void)
{
	if (!hardware_has_pt())
		say_error("no PT on this CPU (CPUID.07H:EBX[25] is 0)");
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
	return genl;
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
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, genl->family,
			       0, flags, command, KIPT_FAMILY_VERSION))
		return msg;
	nlmsg_free(msg);
	say_errno(ENOMEM, "cannot make a message");
	return NULL;
}

static int request_send(struct genl *genl, struct nl_msg *msg)
{
	int err;

	nl_complete_msg(genl->sock, msg);
	genl->awaited = nlmsg_hdr(msg)->nlmsg_seq;
	err = nl_send(genl->sock, msg);
	nlmsg_free(msg);
	if (err >= 0)
		return 0;
	say_error("cannot send to the kernel: %s", nl_geterror(err));
	return -EIO;
}

/* Send a request and wait for its end; consumes @msg. */
static int request_do(struct genl *genl, struct nl_msg *msg, const char *what,
		      void (*reply)(struct genl *genl, struct nlattr **attrs),
		      void *reply_to)
{
	int err;

	if (!msg)
		return -ENOMEM;
	genl->what = what;
	genl->reply = reply;
	genl->reply_to = reply_to;
	genl->answered = false;
	genl->err = 0;
	err = request_send(genl, msg);
	while (!err && !genl->answered) {
		err = messages_take(genl);
		/* The answer may be among what was dropped: go on reading,
		 * the kernel answers each request it has seen.
		 */
		if (err == -ENOBUFS)
			err = 0;
	}
	genl->awaited = 0;
	genl->reply = NULL;
	return err ? err : genl->err;
}

static int session_request(struct genl *genl, u8 command, u32 id,
			   const char *what)
{
	struct nl_msg *msg = request_make(genl, command, NLM_F_ACK);
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

	if (!nest || nla_parse_nested(a, KIPT_A_CAP_MAX, nest, NULL) < 0)
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
		.vmx_pt = attr_u32(a[KIPT_A_CAP_VMX_PT]),
		.ctl_allowed = attr_u64(a[KIPT_A_CAP_CTL_ALLOWED]),
	};
}

static void info_read(struct genl *genl, struct nlattr **a)
{
	struct kipt_info *info = genl->reply_to;

	caps_read(a[KIPT_A_SESSION_CAPS], &info->kind[0]);
	caps_settle(&info->kind[0]);
	info->kind_count = 1;
	caps_of_cpus(info, NULL, &info->caps);
	attr_text(a[KIPT_A_SESSION_VERSION], info->version,
		  sizeof(info->version));
	info->abi = attr_u32(a[KIPT_A_SESSION_ABI]);
	info->record_version = attr_u32(a[KIPT_A_SESSION_RECORD_VERSION]);
	info->size_min = attr_u64(a[KIPT_A_SESSION_SIZE_MIN]);
	info->size_max = attr_u64(a[KIPT_A_SESSION_SIZE_MAX]);
	info->max_mms = attr_u32(a[KIPT_A_SESSION_MAX_MMS]);
	attr_text(a[KIPT_A_SESSION_ONLINE], info->online,
		  sizeof(info->online));
	attr_text(a[KIPT_A_SESSION_BUSY], info->busy, sizeof(info->busy));
}

int genl_info(struct genl *genl, struct kipt_info *info)
{
	memset(info, 0, sizeof(*info));
	return request_do(genl, request_make(genl, KIPT_CMD_GET_INFO,
					     NLM_F_ACK),
			  "get the module's capabilities", info_read, info);
}

static void id_read(struct genl *genl, struct nlattr **a)
{
	struct kipt_session *session = genl->reply_to;

	session->id = attr_u32(a[KIPT_A_SESSION_ID]);
}

int genl_session_new(struct genl *genl, struct kipt_session *session)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SESSION_NEW,
					  NLM_F_ACK);
	char what[KIPT_CPUS_TEXT + 32];

	if (msg) {
		nla_put_string(msg, KIPT_A_SESSION_CPUS, session->cpus);
		nla_put_u32(msg, KIPT_A_SESSION_MODE, session->mode);
		nla_put_u64(msg, KIPT_A_SESSION_SIZE, session->size);
		nla_put_u64(msg, KIPT_A_SESSION_CTL, session->ctl);
		nla_put_u32(msg, KIPT_A_SESSION_FLAGS, session->flags);
	}
	snprintf(what, sizeof(what), "make a session on CPUs %s",
		 session->cpus);
	return request_do(genl, msg, what, id_read, session);
}

static void cpu_read(struct nlattr *nest, struct kipt_cpu *cpu)
{
	struct nlattr *a[KIPT_A_CPU_MAX + 1];

	if (nla_parse_nested(a, KIPT_A_CPU_MAX, nest, NULL) < 0)
		return;
	*cpu = (struct kipt_cpu){
		.id = attr_u32(a[KIPT_A_CPU_ID]),
		.state = attr_u32(a[KIPT_A_CPU_STATE]),
		.size = attr_u64(a[KIPT_A_CPU_SIZE]),
		.bytes = attr_u64(a[KIPT_A_CPU_BYTES]),
		.head = attr_u64(a[KIPT_A_CPU_HEAD]),
		.wrapped = attr_u32(a[KIPT_A_CPU_WRAPPED]),
		.status = attr_u64(a[KIPT_A_CPU_STATUS]),
		.blocks = attr_u32(a[KIPT_A_CPU_BLOCKS]),
		.block_min = attr_u32(a[KIPT_A_CPU_BLOCK_MIN]),
		.block_max = attr_u32(a[KIPT_A_CPU_BLOCK_MAX]),
		.pmis = attr_u64(a[KIPT_A_CPU_PMIS]),
		.offline = attr_u32(a[KIPT_A_CPU_OFFLINE]),
		.records = attr_u64(a[KIPT_A_CPU_RECORDS]),
	};
}

/* The parser keeps one attribute of each type, but CPUs are many. */
static void cpus_read(struct nlmsghdr *head, struct kipt_session *session)
{
	struct genlmsghdr *genl_head = nlmsg_data(head);
	struct nlattr *attr;
	struct kipt_cpu *more;
	int rest;

	nla_for_each_attr(attr, genlmsg_attrdata(genl_head, 0),
			  genlmsg_attrlen(genl_head, 0), rest) {
		if (nla_type(attr) != KIPT_A_SESSION_CPU ||
		    session->cpu_count >= KIPT_CPUS_MAX)
			continue;
		more = realloc(session->cpu, (session->cpu_count + 1) *
			       sizeof(*more));
		if (!more)
			return;
		session->cpu = more;
		cpu_read(attr, &more[session->cpu_count++]);
	}
}

static void session_fields_read(struct genl *genl, struct nlattr **a,
				struct kipt_session *session)
{
	cpus_read(genl->reply_head, session);
	session->id = attr_u32(a[KIPT_A_SESSION_ID]);
	attr_text(a[KIPT_A_SESSION_CPUS], session->cpus,
		  sizeof(session->cpus));
	session->mode = attr_u32(a[KIPT_A_SESSION_MODE]);
	session->size = attr_u64(a[KIPT_A_SESSION_SIZE]);
	session->ctl = attr_u64(a[KIPT_A_SESSION_CTL]);
	session->flags = attr_u32(a[KIPT_A_SESSION_FLAGS]);
	session->state = attr_u32(a[KIPT_A_SESSION_STATE]);
}

static void session_read(struct genl *genl, struct nlattr **a)
{
	session_fields_read(genl, a, genl->reply_to);
}

int genl_session_get(struct genl *genl, u32 id, struct kipt_session *session)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_SESSION_GET,
					  NLM_F_ACK);
	char what[64];
	int err;

	memset(session, 0, sizeof(*session));
	if (msg)
		nla_put_u32(msg, KIPT_A_SESSION_ID, id);
	snprintf(what, sizeof(what), "look at session %u", id);
	err = request_do(genl, msg, what, session_read, session);
	if (err)
		session_free(session);
	return err;
}

struct each {
	void (*found)(void *ctx, const struct kipt_session *s);
	void *ctx;
};

static void each_read(struct genl *genl, struct nlattr **a)
{
	struct kipt_session session = { 0 };
	struct each *each = genl->reply_to;

	session_fields_read(genl, a, &session);
	each->found(each->ctx, &session);
	session_free(&session);
}

int genl_session_each(struct genl *genl,
		      void (*found)(void *ctx, const struct kipt_session *s),
		      void *ctx)
{
	struct each each = { .found = found, .ctx = ctx };

	return request_do(genl, request_make(genl, KIPT_CMD_SESSION_GET,
					     NLM_F_ACK | NLM_F_DUMP),
			  "list the sessions", each_read, &each);
}

static void fetch_read(struct genl *genl, struct nlattr **a)
{
	struct genl_fetch *fetch = genl->reply_to;

	fetch->trace_bytes = attr_u64(a[KIPT_A_SESSION_TRACE_BYTES]);
}

int genl_fetch_start(struct genl *genl, struct genl_fetch *fetch,
		     void (*batch)(void *ctx, const struct kipt_batch *b),
		     void *ctx)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_FETCH, NLM_F_ACK);
	char what[64];

	if (msg) {
		nla_put_u32(msg, KIPT_A_SESSION_ID, fetch->id);
		if (fetch->cpu >= 0)
			nla_put_u32(msg, KIPT_A_SESSION_CPU_ID, fetch->cpu);
		nla_put_u32(msg, KIPT_A_SESSION_OUTPUT, fetch->output);
		nla_put_u32(msg, KIPT_A_SESSION_CREDIT, fetch->credit);
	}
	genl->fetch_id = fetch->id;
	genl->async_err = 0;
	genl->async_waits = 0;
	genl->batch = batch;
	genl->batch_ctx = ctx;
	snprintf(what, sizeof(what), "fetch session %u", fetch->id);
	return request_do(genl, msg, what, fetch_read, fetch);
}

int genl_fetch_wait(struct genl *genl, int timeout_ms)
{
	struct pollfd fd = {
		.fd = nl_socket_get_fd(genl->sock),
		.events = POLLIN,
	};
	int err;

	if (poll(&fd, 1, timeout_ms) <= 0) {
		if (!genl->async_err || ++genl->async_waits < ASYNC_WAITS)
			return 0;
		refusal_tell("go on with the fetch", -genl->async_err,
			     genl->async_text);
		return genl->async_err;
	}
	err = messages_take(genl);
	return err ? err : 1;
}

int genl_fetch_credit(struct genl *genl, u32 id, u32 credit)
{
	struct nl_msg *msg = request_make(genl, KIPT_CMD_CREDIT, 0);
	int err;

	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, KIPT_A_SESSION_ID, id);
	nla_put_u32(msg, KIPT_A_SESSION_CREDIT, credit);
	err = request_send(genl, msg);
	genl->awaited = 0;
	return err;
}

void genl_fetch_end(struct genl *genl)
{
	genl->batch = NULL;
	genl->fetch_id = 0;
}

int genl_fetch_cancel(struct genl *genl, u32 id)
{
	return session_request(genl, KIPT_CMD_FETCH_CANCEL, id,
			       "cancel the fetch of");
}
