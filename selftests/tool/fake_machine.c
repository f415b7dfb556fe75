// SPDX-License-Identifier: GPL-2.0-only
/*
 * Machines for `kipt info`: linked around CPUID and the connection to the module
 * (--wrap). FAKE_PT set: the CPU has PT. FAKE_MODULE: the module is loaded, and answers
 * as to someone who may trace ("all") or may not ("few"); "none": it is loaded, and
 * no CPU has PT. Whatever is not set is as it is here. With the module there are two
 * sessions and three snapshots, which have each member that sessions and snapshots can
 * have, and a session that is made has number 3; FAKE_START=refused: it does not start,
 * FAKE_START=again: Ctrl-C comes when it starts again. FAKE_STOP set: Ctrl-C comes when it stops.
 * A fetch gives one branch; with FAKE_FETCH=endless more seem to come, and none do. With FAKE_LEND
 * armed sessions lend Intel PT.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/hw/rtit_regs.h"
#include "../../uapi/linux/kipt_crash.h"
#include "../../uapi/linux/kipt_raw.h"
#include "../../tools/kipt/cli/kipt.h"
#include "../../tools/kipt/cli/messages.h"
#include "../../tools/kipt/kernel/capabilities.h"
#include "../../tools/kipt/kernel/cpuid.h"
#include "../../tools/kipt/kernel/genl.h"
#include "../../tools/kipt/kernel/raw_device.h"

bool __wrap_hardware_has_pt(void);
void __wrap_hardware_caps(struct kipt_caps *caps);
struct genl *__wrap_genl_open(bool quiet);
struct genl *__real_genl_open(bool quiet);
int __wrap_genl_info(struct genl *genl, struct kipt_info *info);
void __wrap_genl_close(struct genl *genl);
void __real_genl_close(struct genl *genl);
int __wrap_genl_session_each(struct genl *genl,
			     void (*found)(void *ctx, const struct kipt_session *s),
			     void *ctx);
int __wrap_genl_session_get(struct genl *genl, u32 id, struct kipt_session *session);
int __wrap_genl_session_new(struct genl *genl, struct kipt_session *session,
			    void (*progress)(const struct kipt_session *session));
int __wrap_genl_session_start(struct genl *genl, u32 id);
int __wrap_genl_session_stop(struct genl *genl, u32 id);
int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_genl_session_delete(struct genl *genl, u32 id);
int __wrap_genl_snapshot_each(struct genl *genl,
			      void (*found)(void *ctx, const struct kipt_snapshot *s),
			      void *ctx);
int __wrap_genl_fetch_start(struct genl *genl, const struct genl_fetch *fetch,
			    void (*piece)(void *ctx, const struct kipt_piece *piece),
			    void *ctx);
int __wrap_genl_fetch_wait(struct genl *genl, int timeout_ms);
bool __wrap_genl_fetch_over(const struct genl *genl);

/* A fake connection; nobody reads it. */
static char connection;

bool __wrap_hardware_has_pt(void)
{
	return getenv("FAKE_PT");
}

/* Of a Skylake. */
void __wrap_hardware_caps(struct kipt_caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	caps->leaf0_eax = 1;
	caps->leaf0_ebx = 0xf;
	caps->leaf0_ecx = RTIT_CAP_TOPA | RTIT_CAP_TOPA_MULTI;
	caps->leaf1_eax = 0x02490002;
	caps->leaf1_ebx = 0x003f3fff;
	caps_settle(caps);
	caps->tsc_khz = 2000000;
}

struct genl *__wrap_genl_open(bool quiet)
{
	return getenv("FAKE_MODULE") ? (struct genl *)&connection :
				       __real_genl_open(quiet);
}

int __wrap_genl_info(struct genl *genl, struct kipt_info *info)
{
	const char *module = getenv("FAKE_MODULE");

	(void)genl;
	memset(info, 0, sizeof(*info));
	strcpy(info->version, "fake");
	info->abi = KIPT_ABI;
	info->record_version = KIPT_RECORD_VERSION;
	info->has_use = strcmp(module, "few");
	if (!strcmp(module, "none"))
		return 0;
	__wrap_hardware_caps(&info->kind[0]);
	info->kind_count = 1;
	info->caps = info->kind[0];
	strcpy(info->online, "0-1");
	return 0;
}

void __wrap_genl_close(struct genl *genl)
{
	if (genl != (struct genl *)&connection)
		__real_genl_close(genl);
}

static const struct kipt_cpu cpus[] = {
	{ .id = 0, .state = KIPT_STATE_RUNNING, .size = 1 << 20, .head = 70000,
	  .blocks = 1, .block_min = 1 << 20, .block_max = 1 << 20 },
	{ .id = 1, .state = KIPT_STATE_STOPPED, .cause = KIPT_STOP_CAUSE_OFFLINE,
	  .size = 1 << 20, .head = 3 << 20, .tail = 2 << 20, .status = 1 << 5,
	  .blocks = 2, .block_min = 1 << 18, .block_max = 3 << 18, .pmis = 4 },
};

/* Armed, and something keeps it from seeing a crash. */
static const struct kipt_session armed = {
	.id = 1, .cpus = "0-1", .mode = KIPT_MODE_RING, .size = 1 << 20,
	.ctl = RTIT_CTL_BRANCHEN, .state = KIPT_STATE_RUNNING, .generation = 1,
	.flags = KIPT_SESSION_FLAGS_DETACHED | KIPT_SESSION_FLAGS_ARMED |
		 KIPT_SESSION_FLAGS_USER | KIPT_SESSION_FLAGS_YIELD,
	.print_branches = 40, .print_cpus = 2, .print_user = 8, .snapshots = 4,
	.snapshots_size = 1 << 16, .hooks_lost = "kprobes are disabled",
	.memory = 3 << 20,
};

/* Of a process and those that it makes, with address ranges. */
static const struct kipt_session of_process = {
	.id = 2, .cpus = "0-1", .mode = KIPT_MODE_ONCE, .size = 1 << 20,
	.ctl = RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN, .state = KIPT_STATE_STOPPED,
	.cause = KIPT_STOP_CAUSE_FULL, .generation = 2, .uid = 1000,
	.flags = KIPT_SESSION_FLAGS_FOLLOW_FORK, .memory = 3 << 20,
	.filter = { { .kind = KIPT_FILTER_KIND_TRACE, .first = 0x401000,
		      .last = 0x401fff },
		    { .kind = KIPT_FILTER_KIND_STOP, .first = 0xffffffff81000000,
		      .last = 0xffffffff81000fff } },
	.filter_count = 2, .pid = 4711, .processes = 3, .processes_lost = 1,
	.cr3 = 0x1ab455000, .spaces_lost = 5, .switches_lost = 6,
};

/* Something that the machine survived, a program that was killed, and what is known least. */
static const struct kipt_snapshot snapshots[] = {
	{ .id = 1, .time = 1700000000123456789, .hook = KIPT_CRASH_HOOK_OOPS, .cpu = 1,
	  .ip = 0xffffffff81000010, .has_trap = true, .trap = 14, .pid = 4712,
	  .comm = "worker", .cpus = 2, .size = 1 << 16 },
	{ .id = 2, .time = 1700000001123456789, .hook = KIPT_CRASH_HOOK_SIGNAL,
	  .ip = 0x401005, .pid = 4714, .comm = "server", .cpus = 1, .missed = 7,
	  .signal = 11, .process = 4713, .uid = 1000, .file = "/usr/bin/server",
	  .file_offset = 0x1005, .size = 1 << 14 },
	{ .id = 3, .time = 1700000002123456789, .hook = KIPT_CRASH_HOOK_LOCKUP,
	  .size = 1 << 12 },
};

/* A copy that session_free() can free. */
static void session_copy(struct kipt_session *session, const struct kipt_session *from)
{
	*session = *from;
	session->cpu = malloc(sizeof(cpus));
	if (!session->cpu)
		abort();
	memcpy(session->cpu, cpus, sizeof(cpus));
	session->cpu_count = sizeof(cpus) / sizeof(*cpus);
}

int __wrap_genl_session_get(struct genl *genl, u32 id, struct kipt_session *session)
{
	(void)genl;
	session_copy(session, id == 1 ? &armed : &of_process);
	return 0;
}

int __wrap_genl_session_each(struct genl *genl,
			     void (*found)(void *ctx, const struct kipt_session *s),
			     void *ctx)
{
	struct kipt_session session;
	u32 id;

	for (id = 1; id <= 2; id++) {
		__wrap_genl_session_get(genl, id, &session);
		found(ctx, &session);
		session_free(&session);
	}
	return 0;
}

int __wrap_genl_session_new(struct genl *genl, struct kipt_session *session,
			    void (*progress)(const struct kipt_session *session))
{
	(void)genl;
	(void)progress;
	session->id = 3;
	return 0;
}

int __wrap_genl_session_start(struct genl *genl, u32 id)
{
	const char *start = getenv("FAKE_START");
	static int count;

	(void)genl;
	if (!start)
		return 0;
	if (!strcmp(start, "again"))
		return count++ ? raise(SIGINT) : 0;
	say_error("cannot start session %u", id);
	return -EBUSY;
}

int __wrap_genl_session_stop(struct genl *genl, u32 id)
{
	(void)genl;
	(void)id;
	return getenv("FAKE_STOP") ? raise(SIGINT) : 0;
}

int __wrap_genl_session_delete(struct genl *genl, u32 id)
{
	(void)genl;
	(void)id;
	return 0;
}

int __wrap_genl_snapshot_each(struct genl *genl,
			      void (*found)(void *ctx, const struct kipt_snapshot *s),
			      void *ctx)
{
	size_t i;

	(void)genl;
	for (i = 0; i < sizeof(snapshots) / sizeof(*snapshots); i++)
		found(ctx, &snapshots[i]);
	return 0;
}

/* The fetch that was started. */
static void (*fetch_piece)(void *ctx, const struct kipt_piece *piece);
static void *fetch_ctx;
static bool fetch_given;

int __wrap_genl_fetch_start(struct genl *genl, const struct genl_fetch *fetch,
			    void (*piece)(void *ctx, const struct kipt_piece *piece),
			    void *ctx)
{
	(void)genl;
	(void)fetch;
	fetch_piece = piece;
	fetch_ctx = ctx;
	return 0;
}

int __wrap_genl_fetch_wait(struct genl *genl, int timeout_ms)
{
	static struct kipt_record records[] = {
		{ .type = KIPT_RECORD_CPU, .flags = KIPT_RF_NO_IP },
		{ .type = KIPT_RECORD_TIME, .value = 1000 },
		{ .type = KIPT_RECORD_ENABLE, .kind = 1, .ip = 0x401000 },
		{ .type = KIPT_RECORD_TIME, .value = 2000 },
		{ .type = KIPT_RECORD_BRANCH, .kind = KIPT_BRANCH_JUMP, .aux = 1,
		  .ip = 0x401000, .value = 0x401005 },
	};
	const struct kipt_piece piece = {
		.fetch = 1, .total = 100, .done = 50, .in_chunk = true, .records = records,
		.count = sizeof(records) / sizeof(*records), .end = !getenv("FAKE_FETCH"),
	};

	(void)genl;
	(void)timeout_ms;
	if (fetch_given)
		return 0;
	fetch_given = true;
	fetch_piece(fetch_ctx, &piece);
	return 1;
}

bool __wrap_genl_fetch_over(const struct genl *genl)
{
	(void)genl;
	return fetch_given && !getenv("FAKE_FETCH");
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return __real_open(getenv("FAKE_LEND") && !strcmp(path, RAW_DEVICE) ? "/dev/null" : path,
			   flags, mode);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return request == KIPT_RAW_LEND ? 0 : __real_ioctl(fd, request, arg);
}
