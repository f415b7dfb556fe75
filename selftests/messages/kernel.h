/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the kernel as kmod/netlink/session_message.c needs in user space: types
 * that structs are made of, and messages that are full when they are full.
 * Each header the file asks for is this one. Nothing is locked.
 */
#ifndef KIPT_MESSAGES_KERNEL_H
#define KIPT_MESSAGES_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/decode/port.h"

#define __printf(format, first)
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
/* Pairs with nothing: there is one thread. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define BUILD_BUG_ON(wrong)	static_assert(!(wrong), #wrong)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))
#define PAGE_SIZE		4096UL
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0

static inline void *kzalloc(size_t bytes, int flags)
{
	(void)flags;
	return calloc(1, bytes);
}

static inline void kfree(void *memory)
{
	free(memory);
}

#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-4095)

static inline long PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR_VALUE(pointer) ? (long)pointer : 0;
}

/* What the structs of sessions and traces are made of. */
typedef struct { long counter; } atomic64_t;
typedef struct { int held; } spinlock_t;
typedef struct { u32 val; } kuid_t;
typedef struct { int unused; } wait_queue_head_t;
typedef void (*work_func_t)(void *work);
struct mutex { int unused; };
struct kref { int count; };
struct irq_work { int unused; };
struct work_struct { int unused; };
struct delayed_work { int unused; };
struct list_head { struct list_head *next; };
struct hlist_node { struct hlist_node *next; };
struct user_namespace { int unused; };

extern struct user_namespace init_user_ns;

static inline long atomic64_read(const atomic64_t *number)
{
	return number->counter;
}


static inline kuid_t current_euid(void)
{
	return (kuid_t){ 0 };
}

struct pid { int number; };
struct pid_namespace { int unused; };
#define current	NULL

static inline struct pid_namespace *task_active_pid_ns(const void *task)
{
	(void)task;
	return NULL;
}

static inline int pid_nr_ns(const struct pid *pid, struct pid_namespace *ns)
{
	(void)ns;
	return pid ? pid->number : 0;
}

static inline u32 from_kuid_munged(struct user_namespace *ns, kuid_t uid)
{
	(void)ns;
	return uid.val;
}

#define CPUS_MAX	8192U

struct cpumask {
	bool set[CPUS_MAX];
};
typedef struct cpumask *cpumask_var_t;

extern const struct cpumask *cpu_online_mask;

#define cpumask_pr_args(mask)	(int)CPUS_MAX, (const void *)(mask)
#define for_each_online_cpu(cpu) \
	for ((cpu) = 0; (cpu) < CPUS_MAX; (cpu)++) \
		if (cpu_online_mask->set[cpu])

static inline bool zalloc_cpumask_var(cpumask_var_t *mask, int flags)
{
	*mask = kzalloc(sizeof(**mask), flags);
	return *mask;
}

static inline void free_cpumask_var(cpumask_var_t mask)
{
	kfree(mask);
}

bool cpumask_empty(const struct cpumask *mask);
int cpulist_parse(const char *text, struct cpumask *mask);

/* Netlink. */
struct nlattr {
	u16 nla_len;
	u16 nla_type;
};

struct nlmsghdr {
	u32 nlmsg_len;
	u16 nlmsg_type;
	u16 nlmsg_flags;
	u32 nlmsg_seq;
	u32 nlmsg_pid;
};

struct genlmsghdr {
	u8 cmd;
	u8 version;
	u16 reserved;
};

struct netlink_ext_ack {
	const char *_msg;
	const struct nlattr *bad_attr;
};

struct sock;

struct netlink_skb_parms {
	struct sock *sk;
	u32 portid;
};

/**
 * struct sk_buff - a datagram that is being written
 * @data: its bytes
 * @len: how many there are
 * @room: how many there may be
 * @parms: whose it is
 */
struct sk_buff {
	u8 *data;
	u32 len;
	u32 room;
	struct netlink_skb_parms parms;
};

#define NETLINK_CB(skb)	((skb)->parms)

struct netlink_callback {
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct netlink_ext_ack *extack;
	u32 seq;
	u32 prev_seq;
	long ctx[6];
};

struct genl_info {
	struct nlattr **attrs;
};

#define NLA_ALIGN(n)	(((n) + 3U) & ~3U)
#define NLA_HDRLEN	4U
#define NLMSG_HDRLEN	16U
#define GENL_HDRLEN	4U

int nla_put(struct sk_buff *skb, int type, int len, const void *data);
struct nlattr *nla_nest_start(struct sk_buff *skb, int type);
void nla_nest_end(struct sk_buff *skb, struct nlattr *nest);
void genlmsg_end(struct sk_buff *skb, void *header);
void genlmsg_cancel(struct sk_buff *skb, void *header);

static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_string(struct sk_buff *skb, int type,
				 const char *text)
{
	return nla_put(skb, type, strlen(text) + 1, text);
}

/* Where unaligned access is cheap, nothing is put before it. */
static inline int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value,
				    int pad)
{
	(void)pad;
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_type(const struct nlattr *attr)
{
	return attr->nla_type & 0x3fff;
}

static inline int nla_len(const struct nlattr *attr)
{
	return attr->nla_len - (int)NLA_HDRLEN;
}

static inline void *nla_data(const struct nlattr *attr)
{
	return (char *)attr + NLA_HDRLEN;
}

static inline u32 nla_get_u32(const struct nlattr *attr)
{
	u32 value;

	memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

static inline u64 nla_get_u64(const struct nlattr *attr)
{
	u64 value;

	memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

static inline bool nla_ok(const struct nlattr *attr, int rest)
{
	return rest >= (int)NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN &&
	       attr->nla_len <= rest;
}

static inline struct nlattr *nla_next(const struct nlattr *attr, int *rest)
{
	u32 total = NLA_ALIGN(attr->nla_len);

	*rest -= (int)total;
	return (struct nlattr *)((char *)attr + total);
}

#define nla_for_each_attr(attr, head, len, rest) \
	for ((attr) = (void *)(head), (rest) = (int)(len); \
	     nla_ok(attr, rest); (attr) = nla_next(attr, &(rest)))
#define nlmsg_for_each_attr(attr, nlh, headers, rest) \
	nla_for_each_attr(attr, (char *)(nlh) + NLMSG_HDRLEN + (headers), \
			  (nlh)->nlmsg_len - NLMSG_HDRLEN - (headers), rest)

/* What the file calls besides, but not for a dump of sessions. */
int nla_parse_nested(struct nlattr **attrs, int max, const struct nlattr *nest,
		     const void *policy, struct netlink_ext_ack *extack);
int genlmsg_reply(struct sk_buff *skb, struct genl_info *info);
void nlmsg_free(struct sk_buff *skb);

/* In the kernel this marks a message if the list changed since the last one. */
#define genl_dump_check_consistent(cb, header) ((void)(header))

#endif /* KIPT_MESSAGES_KERNEL_H */
