/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's user namespaces, in user space; a test has the initial one. */
#ifndef KIPT_SHIM_USER_NAMESPACE_H
#define KIPT_SHIM_USER_NAMESPACE_H

#include <linux/uidgid.h>

struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
};

extern struct user_namespace init_user_ns;

#endif /* KIPT_SHIM_USER_NAMESPACE_H */
