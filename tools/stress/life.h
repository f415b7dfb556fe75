/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of one session, in a process of its own: made, started, worked
 * for, stopped, fetched, deleted, as its seed says. Whoever started the
 * process may kill or stop it at any moment.
 */
#ifndef KIPT_STRESS_LIFE_H
#define KIPT_STRESS_LIFE_H

#include "client.h"
#include "trail.h"

/**
 * struct life - what a life is made from
 * @name: in the log, unlike that of any other
 * @seed: all its choices
 * @trail: where it writes what it did
 * @dir: folder for fetched records
 * @work: folder of the programs to trace
 * @cpus: CPUs of the machine
 * @short_work: it will hardly live long enough to be fetched
 */
struct life {
	char name[32];
	uint64_t seed;
	struct trail *trail;
	const char *dir;
	const char *work;
	unsigned int cpus;
	bool short_work;
};

/* Live. Return: an exit status, not 0 when something could not be tried. */
int life_run(const struct life *life);

#endif /* KIPT_STRESS_LIFE_H */
