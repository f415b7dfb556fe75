// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crashes, for a module that was built with CONFIG_KIPT_CRASH=n: no session is armed,
 * nothing is hooked, and no memory is kept for it. In place of the other files here, with
 * excerpt_absent.c.
 */
#include "../lib/refuse.h"
#include "crash.h"
#include "crash_hooks.h"
#include "crash_pages.h"
#include "killed.h"
#include "snapshot.h"

int kipt_crash_pages_init(void)
{
	return 0;
}

void kipt_crash_pages_uninit(void) { }

int kipt_crash_pages_create(struct kipt_trace *trace)
{
	return 0;
}

void kipt_crash_pages_destroy(struct kipt_trace *trace) { }
void kipt_crash_pages_link(struct kipt_trace *trace) { }
void kipt_crash_pages_unlink(struct kipt_trace *trace) { }
void kipt_crash_hooks_get(void) { }
void kipt_crash_hooks_put(void) { }

bool kipt_crash_hooks_fire(char *why, size_t size)
{
	return true;
}

void kipt_crash_nmi_local(const struct pt_regs *regs) { }
void kipt_crash_catch_up_local(void) { }
void kipt_crash_uninit(void) { }

int kipt_killed_get(struct kipt_refusal *refusal)
{
	return 0;
}

void kipt_killed_put(void) { }

bool kipt_killed_fires(char *why, size_t size)
{
	return true;
}

int kipt_snapshot_init(void)
{
	return 0;
}

void kipt_snapshot_uninit(void) { }

int kipt_snapshot_prepare(struct kipt_trace *trace)
{
	return 0;
}

void kipt_snapshot_withdraw(struct kipt_trace *trace) { }

u64 kipt_snapshot_bytes(u64 ring)
{
	return 0;
}

void kipt_snapshot_copy_local(struct kipt_trace *trace) { }
void kipt_snapshot_forget_local(void) { }
void kipt_snapshot_listen(void (*kept)(u32 id)) { }
