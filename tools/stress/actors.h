/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Those who disturb: each is a process that does one kind of thing to the
 * machine, again and again, until it is asked to end. What one does, and in
 * which order, its seed decides; when, the machine.
 */
#ifndef KIPT_STRESS_ACTORS_H
#define KIPT_STRESS_ACTORS_H

#include <stdatomic.h>

#include "../../selftests/random/rng.h"
#include "trail.h"

/**
 * struct actor - one process
 * @name: in the log
 * @rng: its choices
 * @trail: its log
 * @end: set when it is to end; shared by all
 * @dir: folder for fetched records
 * @logs: folder for the logs
 * @work: folder of the programs to trace
 * @module: path of kipt.ko
 * @parameters: those it is loaded with
 * @cpus: CPUs of the machine
 */
struct actor {
	const char *name;
	struct rng rng;
	struct trail trail;
	const atomic_bool *end;
	const char *dir;
	const char *logs;
	const char *work;
	const char *module;
	const char *parameters;
	unsigned int cpus;
};

/* Sessions, whose owners are killed and stopped at any moment. */
int actor_sessions(struct actor *actor);

/* The same in a cgroup that has hardly any memory, with failing allocations. */
int actor_short_of_memory(struct actor *actor);

/* CPUs go offline and come back. */
int actor_hotplug(struct actor *actor);

/* perf records with the kernel's own driver. */
int actor_perf(struct actor *actor);

/* Kernel text is patched: kprobes, tracepoints, static keys, modules. */
int actor_text(struct actor *actor);

/* Looks when kernel text is patched, whoever does it. */
int actor_witness(struct actor *actor);

/* kipt.ko is removed and loaded. */
int actor_module(struct actor *actor);

/* The machine suspends, as far as freezing processes. */
int actor_suspend(struct actor *actor);

#endif /* KIPT_STRESS_ACTORS_H */
