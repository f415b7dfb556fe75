/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's credentials, in user space. */
#ifndef KIPT_SHIM_CRED_H
#define KIPT_SHIM_CRED_H

#include <linux/uidgid.h>
#include <linux/user_namespace.h>

struct cred {
	kuid_t uid;
	struct user_namespace *user_ns;
};

#endif /* KIPT_SHIM_CRED_H */
