// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libkdumpfile may do with a damaged dump, put in front of it by LD_PRELOAD:
 * KIPT_DEADLY says where it dies, or that it reads for ever.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kdump_open_fdset(void *ctx, unsigned int count, const int *fds);
int kdump_read(void *ctx, int as, unsigned long long address, void *bytes,
	       size_t *size);

static int is(const char *what)
{
	const char *wanted = getenv("KIPT_DEADLY");

	return wanted && !strcmp(wanted, what);
}

int kdump_open_fdset(void *ctx, unsigned int count, const int *fds)
{
	int (*next)(void *ctx, unsigned int count, const int *fds) =
		dlsym(RTLD_NEXT, "kdump_open_fdset");

	if (is("open"))
		raise(SIGSEGV);
	return next(ctx, count, fds);
}

int kdump_read(void *ctx, int as, unsigned long long address, void *bytes,
	       size_t *size)
{
	int (*next)(void *ctx, int as, unsigned long long address, void *bytes,
		    size_t *size) = dlsym(RTLD_NEXT, "kdump_read");
	static int reads;

	if (is("read") && ++reads == 85)
		raise(SIGABRT);
	/* Where only the memory that both have is written, and nothing else. */
	while (is("hang"))
		pause();
	return next(ctx, as, address, bytes, size);
}
