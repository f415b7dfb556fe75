/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels the module is built for (6.1 to 7.3):
 * the only file with version tests. Leaves everything else to its users; all
 * of it is inline and runs where the wrapped function may.
 */
#ifndef KIPT_COMPAT_H
#define KIPT_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>
#include <net/genetlink.h>

#define KIPT_SINCE(major, minor) \
	(LINUX_VERSION_CODE - KERNEL_VERSION(major, minor, 0) >= 0)

#if KIPT_SINCE(6, 4)
#include <asm/mmu_context.h>
#endif

/* Who may dump went from struct mm_struct to the task in 7.x. */
#ifndef MMF_DUMPABLE_MASK
#include <linux/sched/exec_state.h>
#endif

#if KIPT_SINCE(6, 9)
#include <linux/vmcore_info.h>
#else
#include <linux/crash_core.h>
#endif

#if KIPT_SINCE(6, 16)
#include <asm/tsc.h>
#else
#include <asm/msr.h>
#endif

/* The kernel's CPUID functions moved in 6.15. */
#if KIPT_SINCE(6, 15)
#include <asm/cpuid/api.h>
#else
#include <asm/cpuid.h>
#endif

/* MAX_ORDER was exclusive until 6.4 and got its new name in 6.8. */
#if KIPT_SINCE(6, 8)
#define KIPT_MAX_ORDER	MAX_PAGE_ORDER
#elif KIPT_SINCE(6, 4)
#define KIPT_MAX_ORDER	MAX_ORDER
#else
#define KIPT_MAX_ORDER	(MAX_ORDER - 1)
#endif

/**
 * kipt_compat_vma_read_only() - a mapping of page frames, never writable
 * @vma: a mapping that is being made
 *
 * Context: the mmap file operation. vm_flags is read-only since 6.3.
 */
static inline void kipt_compat_vma_read_only(struct vm_area_struct *vma)
{
#if KIPT_SINCE(6, 3)
	vm_flags_mod(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE);
#else
	vma->vm_flags |= VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
}

/**
 * kipt_compat_lam_bits() - bits of CR3 that mask bits of user addresses
 * @mm: an address space
 *
 * Context: any. Linear address masking came in 6.4.
 *
 * Return: the bits it has set.
 */
static inline u64 kipt_compat_lam_bits(const struct mm_struct *mm)
{
#if KIPT_SINCE(6, 4)
	return mm_lam_cr3_mask((struct mm_struct *)mm);
#else
	return 0;
#endif
}

/**
 * kipt_compat_module_text() - where a module's text is
 * @module: it exists
 * @init: its init text, not that which stays
 * @base: first address
 *
 * Context: any. One layout became several memories in 6.4.
 *
 * Return: bytes, 0 if it has none or it is freed.
 */
static inline u32 kipt_compat_module_text(const struct module *module, bool init,
					  unsigned long *base)
{
#if KIPT_SINCE(6, 4)
	const struct module_memory *text = &module->mem[init ? MOD_INIT_TEXT : MOD_TEXT];

	*base = (unsigned long)text->base;
	return text->size;
#else
	const struct module_layout *layout = init ? &module->init_layout : &module->core_layout;

	*base = (unsigned long)layout->base;
	return layout->text_size;
#endif
}

/* Where struct module has the address of its text, and its bytes, a u32. */
#if KIPT_SINCE(6, 4)
#define KIPT_COMPAT_MODULE_TEXT \
	offsetof(struct module, mem[MOD_TEXT].base)
#define KIPT_COMPAT_MODULE_TEXT_SIZE \
	offsetof(struct module, mem[MOD_TEXT].size)
#else
#define KIPT_COMPAT_MODULE_TEXT \
	offsetof(struct module, core_layout.base)
#define KIPT_COMPAT_MODULE_TEXT_SIZE \
	offsetof(struct module, core_layout.text_size)
#endif

/**
 * kipt_compat_user_path() - the path by which a process opened a file that it maps
 * @file: that of a mapping; of a file in an overlay it is the layer's file since 6.7
 * @to: for the path
 * @size: bytes there
 *
 * Context: any that d_path() may be called in.
 *
 * Return: as d_path().
 */
static inline char *kipt_compat_user_path(struct file *file, char *to, int size)
{
#if KIPT_SINCE(6, 7)
	return d_path(file_user_path(file), to, size);
#else
	return file_path(file, to, size);
#endif
}

/*
 * Whether the tracepoint console may have a probe. Up to 6.2 the kernel warns of its
 * own tracepoint when it prints in an NMI while that has one.
 */
#define KIPT_COMPAT_CONSOLE	KIPT_SINCE(6, 3)

/**
 * kipt_compat_vmcoreinfo() - where the kernel's ELF note VMCOREINFO is
 *
 * Context: any. Its option was renamed in 6.9.
 *
 * Return: the physical address, 0 if the kernel has none.
 */
static inline u64 kipt_compat_vmcoreinfo(void)
{
#if defined(CONFIG_VMCORE_INFO) || defined(CONFIG_CRASH_CORE)
	return paddr_vmcoreinfo_note();
#else
	return 0;
#endif
}

/**
 * kipt_compat_dump_attrs() - attributes of the request that began a dump
 * @cb: the dump
 *
 * Context: process. They moved into a struct genl_info in 6.6.
 *
 * Return: by type, as in struct genl_info; NULL if the command has none.
 */
static inline struct nlattr **
kipt_compat_dump_attrs(struct netlink_callback *cb)
{
#if KIPT_SINCE(6, 6)
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/**
 * kipt_compat_may_dump() - whether the running task may leave a core dump as its user
 *
 * As get_dumpable() == SUID_DUMP_USER: not after PR_SET_DUMPABLE has forbidden it,
 * nor in a set-uid program. Context: a task with user memory; any.
 *
 * Return: false if not.
 */
static inline bool kipt_compat_may_dump(void)
{
#ifdef MMF_DUMPABLE_MASK
	return get_dumpable(current->mm) == SUID_DUMP_USER;
#else
	bool may;

	rcu_read_lock();
	may = READ_ONCE(rcu_dereference(current->exec_state)->dumpable) ==
	      TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return may;
#endif
}

/*
 * What is called when all devices are down, before the CPUs are reset or halted. Its
 * interface changed in 6.19 and in stable releases of older series; Kbuild looks which
 * one the kernel has.
 */
#ifdef KIPT_HAS_SYSCORE
#define KIPT_COMPAT_SHUTDOWN(name, function)				\
static void name##_call(void *unused)					\
{									\
	function();							\
}									\
static const struct syscore_ops name##_ops = {				\
	.shutdown = name##_call,					\
};									\
static struct syscore name = {						\
	.ops = &name##_ops,						\
}
#define kipt_compat_shutdown_register(name)	register_syscore(&(name))
#define kipt_compat_shutdown_unregister(name)	unregister_syscore(&(name))
#else
#define KIPT_COMPAT_SHUTDOWN(name, function)				\
static struct syscore_ops name = {					\
	.shutdown = function,						\
}
#define kipt_compat_shutdown_register(name)	register_syscore_ops(&(name))
#define kipt_compat_shutdown_unregister(name)	unregister_syscore_ops(&(name))
#endif

#endif /* KIPT_COMPAT_H */
