// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses and answers session-new. Netlink's policies (family.c) have refused what is out
 * of the ranges of uapi/kipt.yaml. Here it is checked that the attributes that are required
 * are there, that lists can be read, and that attributes and flags go together; in
 * session/setup.c what depends on this machine, its CPUs, processes and memory; in
 * hw/hw_check.c which registers these CPUs take. Owns what a dump remembers from one call
 * to the next. Process context.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "reply.h"
#include "../hw/rtit_regs.h"
#include "../session/setup.h"

static int parse_cpus(struct nlattr *attr, struct cpumask *cpus,
		      struct kipt_refusal *refusal)
{
	const char *text = nla_data(attr);
	int err = cpulist_parse(text, cpus);

	if (err == -ERANGE || err == -EOVERFLOW)
		return kipt_refuse(refusal, attr, -ENXIO,
				   "CPU list \"%.64s\" names a CPU that does not exist; online CPUs: %*pbl",
				   text, cpumask_pr_args(cpu_online_mask));
	if (err)
		return kipt_refuse(refusal, attr, -EINVAL,
				   "CPU list \"%.64s\" is malformed; write it like 0-3,6",
				   text);
	if (cpumask_empty(cpus))
		return kipt_refuse(refusal, attr, -EINVAL,
				   "attribute \"cpus\": the list is empty; online CPUs: %*pbl",
				   cpumask_pr_args(cpu_online_mask));
	return 0;
}

static int parse_filter(struct nlattr *nest,
			struct kipt_hw_range *filter,
			struct kipt_refusal *refusal)
{
	struct nlattr *attrs[KIPT_A_FILTER_MAX + 1];
	int err;

	/* Its attributes were checked by the policy with the request. */
	err = nla_parse_nested(attrs, KIPT_A_FILTER_MAX, nest, NULL, NULL) ?:
	      kipt_reply_missing(attrs[KIPT_A_FILTER_KIND], "filter/kind", refusal) ?:
	      kipt_reply_missing(attrs[KIPT_A_FILTER_FIRST], "filter/first", refusal) ?:
	      kipt_reply_missing(attrs[KIPT_A_FILTER_LAST], "filter/last", refusal);
	if (err)
		return err;
	filter->kind = nla_get_u32(attrs[KIPT_A_FILTER_KIND]);
	filter->first = nla_get_u64(attrs[KIPT_A_FILTER_FIRST]);
	filter->last = nla_get_u64(attrs[KIPT_A_FILTER_LAST]);
	if (filter->first <= filter->last)
		return 0;
	return kipt_refuse(refusal, nest, -EINVAL,
			   "filter %#llx-%#llx ends before it begins",
			   filter->first, filter->last);
}

/* A parsed request has one attribute of each type, but filters may be more. */
static int parse_filters(struct netlink_callback *cb,
			 struct kipt_request *request,
			 struct kipt_refusal *refusal)
{
	struct kipt_hw_config *hw = &request->config.hw;
	struct nlattr *attr;
	int rest, err;

	nlmsg_for_each_attr(attr, cb->nlh, GENL_HDRLEN, rest) {
		if (nla_type(attr) != KIPT_A_SESSION_FILTER)
			continue;
		if (hw->nr_ranges == KIPT_FILTERS_MAX)
			return kipt_refuse(refusal, attr, -EINVAL,
					   "more than %u filters",
					   KIPT_FILTERS_MAX);
		err = parse_filter(attr, &hw->ranges[hw->nr_ranges], refusal);
		if (err)
			return err;
		hw->nr_ranges++;
	}
	return 0;
}

static int parse_process(struct nlattr **attrs,
			 struct kipt_request *request,
			 struct kipt_refusal *refusal)
{
	struct nlattr *pid = attrs[KIPT_A_SESSION_PID];
	struct nlattr *cr3 = attrs[KIPT_A_SESSION_CR3];

	request->pid = pid ? nla_get_u32(pid) : 0;
	request->config.by_cr3 = cr3;
	request->config.cr3 = cr3 ? nla_get_u64(cr3) : 0;
	if (pid && cr3)
		return kipt_refuse(refusal, cr3, -EINVAL,
				   "attributes \"pid\" and \"cr3\" exclude each other");
	if (request->config.flags & KIPT_SESSION_FLAGS_FOLLOW_FORK && !pid)
		return kipt_refuse(refusal, attrs[KIPT_A_SESSION_FLAGS],
				   -EINVAL,
				   "flag follow-fork needs attribute \"pid\"");
	return 0;
}

/* Which process runs is seen by the kernel's code alone. With a process, an address space or
 * ranges, the end of a program that is killed may not be traced.
 */
static int check_user(struct nlattr **attrs,
		      const struct kipt_request *request,
		      struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &request->config;
	const u64 needed = RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_BRANCHEN;
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];

	if (!(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag user needs flag armed");
	if (attrs[KIPT_A_SESSION_PID] || attrs[KIPT_A_SESSION_CR3] ||
	    attrs[KIPT_A_SESSION_FILTER])
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag user excludes \"pid\", \"cr3\" and \"filter\": any program may be killed");
	if ((config->ctl & needed) == needed)
		return 0;
	return kipt_refuse(refusal, attrs[KIPT_A_SESSION_CTL], -EINVAL,
			   "flag user needs User, OS and BranchEn in IA32_RTIT_CTL");
}

/* What is printed at a crash is that of armed sessions. */
static int parse_print(const struct nlattr *attr, const char *name,
		       const struct kipt_config *config, u32 *value,
		       struct kipt_refusal *refusal)
{
	*value = attr ? nla_get_u32(attr) : 0;
	if (!attr || config->flags & KIPT_SESSION_FLAGS_ARMED)
		return 0;
	return kipt_refuse(refusal, attr, -EINVAL, "attribute \"%s\" needs flag armed", name);
}

static int parse_prints(struct nlattr **attrs, struct kipt_config *config,
			struct kipt_refusal *refusal)
{
	return parse_print(attrs[KIPT_A_SESSION_PRINT_BRANCHES], "print-branches", config,
			   &config->print_branches, refusal) ?:
	       parse_print(attrs[KIPT_A_SESSION_PRINT_CPUS], "print-cpus", config,
			   &config->print_cpus, refusal) ?:
	       parse_print(attrs[KIPT_A_SESSION_PRINT_USER], "print-user", config,
			   &config->print_user, refusal);
}

static int parse_armed(struct nlattr **attrs,
		       struct kipt_request *request,
		       struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &request->config;
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];
	int err = parse_prints(attrs, &request->config, refusal);

	if (!err && config->flags & KIPT_SESSION_FLAGS_KEEP_CODE)
		err = kipt_refuse(refusal, flags, -EINVAL,
				  "flag keep-code is gone: the reader of a trace says which files programs had mapped (KIPT_RAW_IMAGES; kipt start --maps)");
	if (!err && config->flags & KIPT_SESSION_FLAGS_USER)
		err = check_user(attrs, request, refusal);
	if (err)
		return err;
	if (!(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return !(config->flags & KIPT_SESSION_FLAGS_YIELD) ? 0 :
		       kipt_refuse(refusal, flags, -EINVAL,
				   "flag yield needs flag armed");
	if (!(config->flags & KIPT_SESSION_FLAGS_DETACHED))
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag armed needs flag detached: what is kept for a crash must outlive its maker");
	if (config->mode != KIPT_MODE_RING)
		return kipt_refuse(refusal, attrs[KIPT_A_SESSION_MODE], -EINVAL,
				   "flag armed needs mode ring: it keeps what came last");
	return 0;
}

static int check_present(struct nlattr **attrs, struct kipt_refusal *refusal)
{
	return kipt_reply_missing(attrs[KIPT_A_SESSION_CPUS], "cpus", refusal) ?:
	       kipt_reply_missing(attrs[KIPT_A_SESSION_SIZE], "size", refusal) ?:
	       kipt_reply_missing(attrs[KIPT_A_SESSION_CTL], "ctl", refusal);
}

static int parse_new(struct netlink_callback *cb, struct nlattr **attrs,
		     struct kipt_request *request,
		     struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	int err;

	err = check_present(attrs, refusal) ?:
	      parse_cpus(attrs[KIPT_A_SESSION_CPUS], request->cpus, refusal);
	if (err)
		return err;
	config->mode = attrs[KIPT_A_SESSION_MODE] ?
		       nla_get_u32(attrs[KIPT_A_SESSION_MODE]) :
		       KIPT_MODE_RING;
	config->size = nla_get_u64(attrs[KIPT_A_SESSION_SIZE]);
	config->ctl = nla_get_u64(attrs[KIPT_A_SESSION_CTL]);
	config->flags = attrs[KIPT_A_SESSION_FLAGS] ?
			nla_get_u32(attrs[KIPT_A_SESSION_FLAGS]) : 0;
	request->uid = current_euid();
	request->sk = NETLINK_CB(cb->skb).sk;
	request->portid = NETLINK_CB(cb->skb).portid;
	return parse_process(attrs, request, refusal) ?:
	       parse_armed(attrs, request, refusal) ?:
	       parse_filters(cb, request, refusal);
}

static int check_pt(struct kipt_refusal *refusal)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (kipt_caps_cpu_has_pt(cpu))
			return 0;
	return kipt_refuse(refusal, NULL, -ENODEV,
			   "no CPU here has Intel PT (CPUID.07H:EBX[25] is 0)");
}

static int new_start(struct netlink_callback *cb, struct nlattr **attrs,
		     struct kipt_refusal *refusal)
{
	struct kipt_session *session = NULL;
	struct kipt_request *request;
	int err;

	err = kipt_permission_trace(cb->skb, refusal) ?: check_pt(refusal);
	if (err)
		return err;
	request = kzalloc(sizeof(*request), GFP_KERNEL_ACCOUNT);
	if (!request || !zalloc_cpumask_var(&request->cpus, GFP_KERNEL)) {
		kfree(request);
		return -ENOMEM;
	}
	err = parse_new(cb, attrs, request, refusal);
	if (!err) {
		session = kipt_setup_begin(request, refusal);
		err = PTR_ERR_OR_ZERO(session);
	}
	if (!err)
		kipt_reply_dump(cb)->session = session;
	free_cpumask_var(request->cpus);
	kfree(request);
	return err;
}

static int put_progress(struct sk_buff *skb, struct netlink_callback *cb,
			struct kipt_session *session, bool ready)
{
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_SESSION_NEW);

	if (!header || nla_put_u32(skb, KIPT_A_SESSION_ID, session->group.id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_STATE,
			ready ? KIPT_STATE_NEW : KIPT_STATE_SETUP) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_MEMORY, session->setup_done) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_MEMORY_TOTAL,
			       session->group.config.size * session->nr_traces))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return skb->len;
}

/* The first call comes within the request, which is not to take long. */
static int new_fill(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_refusal *refusal)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);
	int ret;

	/* The last message was written when it left that state. */
	if (READ_ONCE(dump->session->state) != KIPT_STATE_SETUP)
		return 0;
	ret = kipt_permission_trace(cb->skb, refusal);
	if (!ret && dump->begun)
		ret = kipt_setup_step(dump->session, refusal);
	if (ret < 0)
		return ret;
	dump->begun = true;
	return put_progress(skb, cb, dump->session, ret);
}

static void new_done(struct netlink_callback *cb)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);

	/* Drops the reference too. */
	kipt_setup_end(dump->session);
	dump->session = NULL;
}

const struct kipt_reply_dump_ops kipt_session_new_dump = {
	.start = new_start,
	.fill = new_fill,
	.done = new_done,
};
