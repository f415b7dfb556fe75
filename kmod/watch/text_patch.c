// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds the log of patches. Every change of running text goes through
 * __text_poke(); a kprobe there sees it before it is made. Text that nobody
 * could run yet is written in other ways: of that, only the place is logged,
 * when it is announced and when it goes away. By modules' notifier: modules
 * and their init text. By a kprobe on perf_event_ksymbol(): trampolines of
 * BPF and ftrace, pages of kprobes. What BPF programs are written and freed
 * with goes through __text_poke(), too long for its bytes to be kept.
 *
 * Where one of these cannot be watched kernel text is unknown: while root keeps
 * kprobes from firing, and for good where a probe was refused, or where a call of
 * __text_poke(), which is static, is not like its prototype.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/nops.h>

#include "../lib/compat.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../shared/patch_log.h"
#include "../lib/probe.h"
#include "text_patch.h"
#include "../../uapi/linux/kipt_crash.h"

static struct kipt_patch_log *patch_log;
/* Makes its writers one after the other, and guards @misses_seen. */
static DEFINE_RAW_SPINLOCK(writer_lock);
static unsigned long misses_seen;
/* Number of the first patch of the next log. */
static u64 next_number;

/* Nothing the kernel writes at once is longer. */
#define POKE_MOST	(2UL << 20)

static DEFINE_MUTEX(users_lock);
static u32 users;

static struct kprobe poke_probe, ksymbol_probe;
/* A call was seen whose arguments are not those of __text_poke(). */
static bool poke_is_other;
/* Bit 0: the log says that nobody listens. */
static unsigned long deaf_logged;

static unsigned long misses(void)
{
	return READ_ONCE(poke_probe.nmissed) +
	       READ_ONCE(ksymbol_probe.nmissed);
}

/*
 * ftrace turns the probe on again, and did not let it see patches before. Of
 * its three writes this is the second, from whose INT3 the probe is called.
 */
static bool is_revival(u64 addr, u64 len, const u8 *before)
{
	static const u8 off[] = { BYTES_NOP5 };

	return addr == (u64)poke_probe.addr + 1 && len == sizeof(off) - 1 &&
	       before && !memcmp(before, off + 1, len);
}

static void log_patch(u64 addr, u64 len, const u8 *before)
{
	unsigned long flags, missed;

	raw_spin_lock_irqsave(&writer_lock, flags);
	missed = misses();
	if (missed != misses_seen || is_revival(addr, len, before) ||
	    READ_ONCE(poke_is_other))
		kipt_patch_log_missed(patch_log);
	WRITE_ONCE(misses_seen, missed);
	kipt_patch_log_add(patch_log, rdtsc(), addr, len, before);
	raw_spin_unlock_irqrestore(&writer_lock, flags);
}

/*
 * __text_poke(func, addr, src, len): a compiler that leaves an argument out has
 * another one in each register after it.
 */
static bool is_text_poke(const struct pt_regs *regs)
{
	return (s64)regs->di < 0 && (s64)regs->si < 0 && (s64)regs->dx < 0 &&
	       regs->cx && regs->cx <= POKE_MOST;
}

static int kipt_text_patch_on_poke(struct kprobe *probe, struct pt_regs *regs)
{
	u8 before[KIPT_CRASH_PATCH_BYTES];
	bool known = regs->cx <= KIPT_CRASH_PATCH_BYTES &&
		!copy_from_kernel_nofault(before, (void *)regs->si, regs->cx);

	if (!is_text_poke(regs))
		WRITE_ONCE(poke_is_other, true);
	log_patch(regs->si, regs->cx, known ? before : NULL);
	return 0;
}

/* perf_event_ksymbol(type, addr, len, unregister, name) */
static int kipt_text_patch_on_ksymbol(struct kprobe *probe,
				      struct pt_regs *regs)
{
	if ((u32)regs->dx)
		log_patch(regs->si, (u32)regs->dx, NULL);
	return 0;
}

static_assert(__same_type(perf_event_ksymbol,
			  void (u16, u64, u32, bool, const char *)));

static int kipt_text_patch_on_module(struct notifier_block *block,
				     unsigned long what, void *data)
{
	struct module *module = data;
	unsigned long base;
	u32 len;

	/* Init text, which is freed once the module lives, and the text that stays. */
	len = kipt_compat_module_text(module, true, &base);
	if (len)
		log_patch(base, len, NULL);
	len = kipt_compat_module_text(module, false, &base);
	if (len && what != MODULE_STATE_LIVE)
		log_patch(base, len, NULL);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = kipt_text_patch_on_module,
};

/* Return: 0, or -ENOMEM. Without such a symbol @probe->pre_handler stays NULL. */
static int probe_symbol(struct kprobe *probe, const char *symbol,
			kprobe_pre_handler_t handler)
{
	int err;

	*probe = (struct kprobe) {
		.symbol_name = symbol,
		.pre_handler = handler,
	};
	err = register_kprobe(probe);
	if (!err)
		return 0;
	probe->pre_handler = NULL;
	if (err == -ENOMEM)
		return err;
	pr_warn_once("%s cannot be probed (%pe): what kernel code was when is not known\n",
		     symbol, ERR_PTR(err));
	return 0;
}

static void unprobe(struct kprobe *probe)
{
	if (probe->pre_handler)
		unregister_kprobe(probe);
	probe->pre_handler = NULL;
}

static size_t log_bytes(void)
{
	return kipt_patch_log_size(kipt_limits()->patches);
}

static void end_log(void)
{
	lockdep_assert_held(&users_lock);
	unregister_module_notifier(&module_notifier);
	unprobe(&ksymbol_probe);
	unprobe(&poke_probe);
	next_number = kipt_patch_log_count(patch_log);
	kipt_memory_free(patch_log, log_bytes());
	patch_log = NULL;
}

/* @memory: log_bytes() zeroed bytes, the log's from now on. */
static int begin_log(void *memory)
{
	int err;

	lockdep_assert_held(&users_lock);
	patch_log = kipt_patch_log_init(memory, kipt_limits()->patches,
					next_number);
	misses_seen = 0;
	clear_bit(0, &deaf_logged);
	err = probe_symbol(&poke_probe, "__text_poke", kipt_text_patch_on_poke) ?:
	      probe_symbol(&ksymbol_probe, "perf_event_ksymbol",
			   kipt_text_patch_on_ksymbol);
	/* This fails only for a block that is registered already. */
	register_module_notifier(&module_notifier);
	if (err)
		end_log();
	return err;
}

/* Memory may be long in coming, and others wait for the lock. */
int kipt_text_patch_get(void)
{
	void *memory = NULL;
	int err = 0;

	mutex_lock(&users_lock);
	while (!users && !memory) {
		mutex_unlock(&users_lock);
		memory = kipt_memory_alloc(log_bytes());
		if (!memory)
			return -ENOMEM;
		mutex_lock(&users_lock);
	}
	if (!users) {
		err = begin_log(memory);
		memory = NULL;
	}
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	kipt_memory_free(memory, log_bytes());
	return err;
}

void kipt_text_patch_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		end_log();
	mutex_unlock(&users_lock);
}

/* Return: false if patches are made that nobody logs; dmesg says it once. */
static bool is_listening(void)
{
	bool watched = poke_probe.pre_handler && ksymbol_probe.pre_handler &&
		       !READ_ONCE(poke_is_other);

	if (watched && kipt_probe_is_armed(&poke_probe) &&
	    kipt_probe_is_armed(&ksymbol_probe))
		return true;
	if (!test_and_set_bit(0, &deaf_logged))
		pr_warn("what kernel code was when is not known, since %s\n", watched ?
			KIPT_PROBES_OFF :
			"this kernel's changes of it cannot be watched");
	return false;
}

u64 kipt_text_patch_begin(void)
{
	unsigned long flags;

	if (!is_listening()) {
		raw_spin_lock_irqsave(&writer_lock, flags);
		kipt_patch_log_missed(patch_log);
		raw_spin_unlock_irqrestore(&writer_lock, flags);
	}
	return kipt_text_patch_count();
}

bool kipt_text_patch_unseen(void)
{
	return misses() != READ_ONCE(misses_seen);
}

u64 kipt_text_patch_count(void)
{
	return kipt_patch_log_count(patch_log);
}

const struct kipt_patch_log *kipt_text_patch_log(void)
{
	return patch_log;
}

static_assert(sizeof(poke_probe.nmissed) == sizeof(u64));
static_assert(sizeof(misses_seen) == sizeof(u64));

void kipt_text_patch_describe(struct kipt_crash_logs *logs)
{
	kipt_patch_log_where(patch_log, logs);
	logs->patches_unseen[0] = (unsigned long)&poke_probe.nmissed;
	logs->patches_unseen[1] = (unsigned long)&ksymbol_probe.nmissed;
	logs->patches_unseen_count = (unsigned long)&misses_seen;
}

bool kipt_text_patch_undo(u64 first, u64 ip, u8 *buf, u32 len)
{
	/* A patch that nobody logged, after all that are. */
	if (kipt_text_patch_unseen() || !is_listening())
		return false;
	/* The bytes were read before the log is. */
	smp_rmb();
	return kipt_patch_log_undo(patch_log, first, ip, buf, len);
}
