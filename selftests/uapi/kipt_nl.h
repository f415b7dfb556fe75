/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tests' own client of the kipt netlink family, over a bare socket: it
 * shares nothing with the tool, and lets a test send what no library would.
 * One socket per struct; not for use by two threads at once.
 */
#ifndef KIPT_NL_H
#define KIPT_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/netlink.h>

#include <linux/kipt.h>

#define KIPT_NL_BUFFER	65536

/* The largest block that the kernel's allocator gives. */
#define KIPT_BLOCK_MAX	(4ULL << 20)

/* Bits of IA32_RTIT_CTL the tests use; Intel SDM Vol. 3C, "IA32_RTIT_CTL". */
#define CTL_OS		(1ULL << 2)
#define CTL_USER	(1ULL << 3)
#define CTL_PWREVTEN	(1ULL << 4)
#define CTL_FUPONPTW	(1ULL << 5)
#define CTL_TSCEN	(1ULL << 10)
#define CTL_DISRETC	(1ULL << 11)
#define CTL_PTWEN	(1ULL << 12)
#define CTL_BRANCHEN	(1ULL << 13)
#define CTL_BASIC	(CTL_OS | CTL_USER | CTL_BRANCHEN)

/**
 * struct kipt_nl - a connection
 * @fd: the socket
 * @family: number of the family
 * @group: number of the "events" group
 * @seq: of the last request
 * @why: the kernel's sentence for the last refusal, or ""
 * @why_offset: offset of the attribute it names, or 0
 * @reply: the last message that was not an acknowledgement
 * @reply_len: its bytes; 0: there was none
 * @room: bytes it offers to each recv(); KIPT_NL_BUFFER unless a test wants less
 * @named: messages name their receiver, the kernel, as those of libnl do
 * @queue: events that came while something else was awaited
 * @queued: how many
 * @part: messages of a dump that were received and not looked at yet
 * @part_len: bytes of them
 * @part_at: where the next one begins
 */
struct kipt_nl {
	int fd;
	uint16_t family;
	uint32_t group;
	uint32_t seq;
	char why[256];
	uint32_t why_offset;
	unsigned char reply[KIPT_NL_BUFFER];
	size_t reply_len;
	size_t room;
	bool named;
	unsigned char *queue[64];
	unsigned int queued;
	unsigned char part[KIPT_NL_BUFFER];
	unsigned int part_len;
	unsigned int part_at;
};

/**
 * struct kipt_msg - a request being written
 * @data: the message
 * @len: bytes so far
 */
struct kipt_msg {
	unsigned char data[4096];
	size_t len;
};

/* Open a connection. Return: 0, or -ENOENT without the family. */
int kipt_nl_open(struct kipt_nl *nl);

void kipt_nl_close(struct kipt_nl *nl);

/* Begin a request for command @cmd. */
void kipt_msg_begin(struct kipt_msg *msg, uint8_t cmd);

void kipt_msg_put(struct kipt_msg *msg, uint16_t type, const void *data,
		  size_t len);
void kipt_msg_u32(struct kipt_msg *msg, uint16_t type, uint32_t value);
void kipt_msg_u64(struct kipt_msg *msg, uint16_t type, uint64_t value);
void kipt_msg_string(struct kipt_msg *msg, uint16_t type, const char *text);

/* Send and wait for the verdict. Return: 0 or a negative errno; see @why. */
int kipt_nl_call(struct kipt_nl *nl, struct kipt_msg *msg);

/* Dump; @each is called per message. Return: messages, or negative errno. */
int kipt_nl_dump(struct kipt_nl *nl, struct kipt_msg *msg,
		 void (*each)(struct kipt_nl *nl, void *ctx), void *ctx);

/* Send a dump request, to be read with kipt_nl_next(). Return: 0 or -errno. */
int kipt_nl_dump_begin(struct kipt_nl *nl, struct kipt_msg *msg);

/*
 * The next message of a dump, into @reply. Return: 1; 0 when it is over; or a
 * negative errno, which ended it unless it is -ETIMEDOUT; see @why.
 */
int kipt_nl_next(struct kipt_nl *nl, int timeout_ms);

/*
 * Wait for the next message that nobody asked for, into @reply. Return: its
 * command, -ETIMEDOUT, or another negative errno.
 */
int kipt_nl_event(struct kipt_nl *nl, int timeout_ms);

/* Join the "events" group. */
int kipt_nl_join(struct kipt_nl *nl);

/* Attribute @type of the last reply, or NULL. @len: its payload's bytes. */
const void *kipt_nl_attr(const struct kipt_nl *nl, uint16_t type, size_t *len);

/* Attribute @inner inside the first nested attribute @outer. */
const void *kipt_nl_nested(const struct kipt_nl *nl, uint16_t outer,
			   uint16_t inner, size_t *len);

/* The same as a number of four or eight bytes; @missing if it is not there. */
uint64_t kipt_nl_inner(const struct kipt_nl *nl, uint16_t outer,
		       uint16_t inner, uint64_t missing);

/* The same as numbers and text; @missing when it is not there. */
uint32_t kipt_nl_u32(const struct kipt_nl *nl, uint16_t type, uint32_t missing);
uint64_t kipt_nl_u64(const struct kipt_nl *nl, uint16_t type, uint64_t missing);
const char *kipt_nl_string(const struct kipt_nl *nl, uint16_t type);

/**
 * struct kipt_want_filter - an address range
 * @kind: enum kipt_filter_kind
 * @first: its first byte
 * @last: its last byte
 */
struct kipt_want_filter {
	uint32_t kind;
	uint64_t first;
	uint64_t last;
};

/**
 * struct kipt_want - what a session-new asks for
 * @cpus: CPU list, or NULL to leave it out
 * @mode: enum kipt_mode, or 0 to leave it out
 * @size: bytes per CPU, or 0 to leave it out
 * @ctl: bits of IA32_RTIT_CTL
 * @flags: enum kipt_session_flags
 * @pid: process to follow, or 0
 * @print_branches: lines printed at a crash, or 0 to leave it out
 * @print_cpus: the same of each other CPU
 * @print_user: the same of user code
 * @nr_filters: how many of @filters
 * @filters: address ranges
 */
struct kipt_want {
	const char *cpus;
	uint32_t mode;
	uint64_t size;
	uint64_t ctl;
	uint32_t flags;
	uint32_t pid;
	uint64_t cr3;
	uint32_t print_branches;
	uint32_t print_cpus;
	uint32_t print_user;
	uint32_t nr_filters;
	struct kipt_want_filter filters[KIPT_FILTERS_MAX];
};

/* The request of a session-new. */
void kipt_want_put(struct kipt_msg *msg, const struct kipt_want *want);

/* Make a session, and wait until it is. Return: its id, or negative errno. */
int kipt_session_new(struct kipt_nl *nl, const struct kipt_want *want);

/* The same, and start it; there is none if that fails. */
int kipt_session_run(struct kipt_nl *nl, const struct kipt_want *want);

int kipt_session_start(struct kipt_nl *nl, int id);
int kipt_session_stop(struct kipt_nl *nl, int id);
int kipt_session_del(struct kipt_nl *nl, int id);
int kipt_session_get(struct kipt_nl *nl, int id);

/* session-get of one session with its CPUs, up to CPU @cpu, into @reply. */
int kipt_session_cpu(struct kipt_nl *nl, int id, uint32_t cpu);

/* A number of KIPT_A_CPU_* of that CPU; ~0 if the reply does not have it. */
uint64_t kipt_cpu_u64(struct kipt_nl *nl, int id, uint32_t cpu, uint16_t type);

/* Wait for the next event of a CPU. Return: its cause; 0: it is not of @cpu, or none came. */
uint32_t kipt_cpu_event(struct kipt_nl *nl, uint32_t cpu);

/* Begin a fetch of all CPUs; kipt_nl_next() reads it. Return: 0 or -errno. */
int kipt_fetch_begin(struct kipt_nl *nl, int id, uint32_t output);

/* A whole fetch; @each is called per message. Return: messages, or -errno. */
int kipt_fetch(struct kipt_nl *nl, int id, uint32_t output,
	       void (*each)(struct kipt_nl *nl, void *ctx), void *ctx);

/* get-info, into @reply. */
int kipt_info(struct kipt_nl *nl);

/* Bytes in use by all sessions, fetches and files; ~0 if the reply has none. */
uint64_t kipt_memory(struct kipt_nl *nl);

/* State of a session, or a negative errno. */
int kipt_session_state(struct kipt_nl *nl, int id);

/* Trace bytes in the buffer of a CPU of the session, or 0. */
uint64_t kipt_cpu_bytes(struct kipt_nl *nl, int id, uint32_t cpu);

/* How many sessions there are, or a negative errno. */
int kipt_session_count(struct kipt_nl *nl);

/* Delete what is kept of one thing. Return: 0 or a negative errno. */
int kipt_snapshot_del(struct kipt_nl *nl, uint32_t id);

/* Number of the newest thing that is kept, or 0. */
uint32_t kipt_snapshot_newest(struct kipt_nl *nl);

/* Delete all that is kept of programs, oopses and warnings. */
void kipt_snapshots_delete(struct kipt_nl *nl);

/*
 * Why these tests cannot run here: no root, no module, no PT. NULL if they
 * can. The text is constant.
 */
const char *kipt_missing(void);

/* Why a test cannot run that needs a part (enum kipt_part) of the module, or NULL. */
const char *kipt_absent(uint32_t part);

/*
 * Why a buffer is a single block of KIPT_BLOCK_MAX bytes at most, and a ring:
 * NULL where it is not. Of the CPU this runs on.
 */
const char *kipt_one_block(void);

/* Why there are no address ranges. NULL where there are. */
const char *kipt_no_ranges(void);

/* Whether Linux says that the CPU has PT; clearcpuid= takes it away. */
bool kipt_cpu_has_pt(void);

/* The same for tests of a machine without PT. */
const char *kipt_module_missing(void);

#endif /* KIPT_NL_H */
