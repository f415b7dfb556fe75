// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command under ptrace, see traced_command.h. Tasks are stopped at fork, at exit,
 * and for signals, and go on at once.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../cli/signals.h"
#include "../kernel/affinity.h"
#include "../symbols/mapped_ids.h"
#include "open_files.h"
#include "traced_command.h"

#define TRACE_OPTIONS	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |	\
			 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT |	\
			 PTRACE_O_TRACESYSGOOD)
/* A system call begins or ends, with PTRACE_O_TRACESYSGOOD. */
#define CALL_STOP	(SIGTRAP | 0x80)
/* No program has so many libraries. */
#define LOADER_CALLS	20000U

/* INT3, as the low byte of a word. */
#define BREAKPOINT	0xccL
#define BYTE_MASK	0xffL

/* A signal that was sent to this process alone and is to be passed on. */
static atomic_int passed_on;

static void signal_caught(int number, siginfo_t *info, void *context)
{
	(void)context;
	/* The terminal sends to the whole group; the command has it too. */
	if (info->si_code <= 0)
		passed_on = number;
}

static void signals_catch(void)
{
	struct sigaction action = {
		.sa_sigaction = signal_caught,
		.sa_flags = SA_SIGINFO,
	};

	signals_to_end(&action);
}

static void signals_default(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	signals_to_end(&action);
}

static void child_exec(const int go[2], int failure, char **argv,
		       const char *cpus)
{
	int err = cpus ? -cpus_pin(cpus) : 0;
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(127);
	if (!err) {
		open_files_restore();
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(failure, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static struct child_task *task_find(struct child *child, pid_t tid)
{
	size_t i;

	for (i = 0; i < child->task_count; i++) {
		if (child->tasks[i].tid == tid)
			return &child->tasks[i];
	}
	return NULL;
}

/* Return: it, also if it was there before; NULL without memory. */
static struct child_task *task_add(struct child *child, pid_t tid, u64 since)
{
	struct child_task *task = task_find(child, tid), *tasks;

	if (task)
		return task;
	tasks = realloc(child->tasks, (child->task_count + 1) * sizeof(*tasks));
	if (!tasks)
		return NULL;
	child->tasks = tasks;
	task = &tasks[child->task_count++];
	*task = (struct child_task){ .tid = tid, .resumed = since, .since = since };
	return task;
}

static void task_remove(struct child *child, pid_t tid)
{
	struct child_task *task = task_find(child, tid);

	if (task)
		*task = child->tasks[--child->task_count];
}

bool child_create(struct child *child, char **argv, const char *cpus)
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
		say_errno(errno, "cannot make a pipe");
		return false;
	}
	fflush(stdout);
	child->pid = fork();
	if (!child->pid)
		child_exec(go, failure[1], argv, cpus);
	close(go[0]);
	close(failure[1]);
	child->go = go[1];
	child->failure = failure[0];
	if (child->pid < 0) {
		say_errno(errno, "cannot fork");
		return false;
	}
	if (!ptrace(PTRACE_SEIZE, child->pid, NULL,
		    TRACE_OPTIONS | (child->loaded || child->begins ?
				     PTRACE_O_TRACEEXEC : 0)) &&
	    task_add(child, child->pid, __builtin_ia32_rdtsc())) {
		/* Until its exec it is a copy of this process. */
		maps_read_task(child->maps, child->pid, child->pid);
		return true;
	}
	say_errno(errno, "cannot follow '%s' with ptrace", argv[0]);
	child_abandon(child);
	return false;
}

static void lists_free(struct child *child)
{
	free(child->entries);
	free(child->tasks);
	child->entries = NULL;
	child->tasks = NULL;
	child->entry_count = 0;
	child->task_count = 0;
}

/* Whether waitpid() has something to say of the task, now or later. */
static bool is_waited_for(pid_t tid)
{
	siginfo_t info;

	return !waitid(P_PID, tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
}

static bool any_left(const struct child *child)
{
	size_t i;

	for (i = 0; i < child->task_count; i++) {
		if (is_waited_for(child->tasks[i].tid))
			return true;
	}
	return is_waited_for(child->pid);
}

void child_abandon(struct child *child)
{
	int status;
	pid_t tid;
	size_t i;

	if (!child->begun)
		close(child->go);
	close(child->failure);
	/* It would end by itself; a stop of ptrace's must not hold it, nor
	 * what it started.
	 */
	for (i = 0; i < child->task_count; i++)
		kill(child->tasks[i].tid, SIGKILL);
	kill(child->pid, SIGKILL);
	/* Whoever executed kipt may have left it children, which go on. */
	while (any_left(child)) {
		tid = waitpid(-1, &status, __WALL);
		if (tid <= 0 || !WIFSTOPPED(status))
			continue;
		/* Some come to the stop of their exit even so; others are new. */
		kill(tid, SIGKILL);
		task_add(child, tid, 0);
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	}
	lists_free(child);
	signals_default();
}

/* What the kernel says of a task, as the text of a line of its status. */
static bool status_line(pid_t tid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	size_t length = strlen(key);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, key, length) && line[length] == ':';
		if (found)
			snprintf(value, size, "%s",
				 line + length + 1 +
				 strspn(line + length + 1, " \t"));
	}
	fclose(file);
	if (found)
		value[strcspn(value, "\n")] = 0;
	return found;
}

/* The process a task belongs to; the task itself if it is gone. */
static pid_t process_of(pid_t tid)
{
	char value[64];

	return status_line(tid, "Tgid", value, sizeof(value)) ? atoi(value) :
								tid;
}

static void note_begin(struct child *child, pid_t tid, pid_t pid)
{
	const struct child_task *task = task_find(child, pid);

	if (child->begins && task)
		child->begins(child->ctx, tid, pid, task->since);
}

static bool is_there(pid_t tid)
{
	char value[64];

	return status_line(tid, "Tgid", value, sizeof(value));
}

/* A new process has its parent's program until its exec. */
static void on_fork(struct child *child, pid_t tid)
{
	struct child_task *task = task_find(child, tid);
	u64 since = task ? task->resumed : 0;
	unsigned long message = 0;
	pid_t made;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message))
		return;
	made = message;
	/* It may have stopped before its maker did, or be gone. */
	if (!is_there(made))
		return;
	task = task_add(child, made, 0);
	if (!task || process_of(made) != made)
		return;
	maps_read_task(child->maps, tid, made);
	/* It may have executed another program since. */
	if (task->since)
		return;
	task->since = since;
	note_begin(child, tid, made);
}

static bool is_in_set(pid_t tid, const char *key, int number)
{
	char value[64] = "";

	return status_line(tid, key, value, sizeof(value)) &&
	       strtoull(value, NULL, 16) >> (number - 1) & 1;
}

static bool is_of_a_crash(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGILL ||
	       number == SIGBUS || number == SIGFPE;
}

/* Field 39 of the line; the name, in parentheses, may have blanks in it. */
static int last_cpu(pid_t tid)
{
	char path[64], line[1024] = "";
	char *field;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	field = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	for (i = 2; i < 39 && field; i++)
		field = strchr(field + 1, ' ');
	return field ? atoi(field) : -1;
}

/*
 * Held with a signal before the kernel acts on it. A fault that is blocked or
 * ignored kills nevertheless: the kernel has reset its action by now.
 */
static void on_signal(struct child *child, pid_t tid, int number)
{
	struct child_death death = { .tid = tid, .number = number };
	struct user_regs_struct regs;
	siginfo_t info;

	if (!child->dying || !is_of_a_crash(number) ||
	    is_in_set(tid, "SigCgt", number) ||
	    is_in_set(tid, "SigIgn", number) ||
	    ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	death.pid = process_of(tid);
	death.code = info.si_code;
	death.address = info.si_code > 0 ? (unsigned long)info.si_addr : 0;
	death.ip = regs.rip;
	death.cpu = last_cpu(tid);
	status_line(tid, "Name", death.comm, sizeof(death.comm));
	plain_text(death.comm);
	maps_read_task(child->maps, tid, death.pid);
	child->dying(child->ctx, &death);
}

static struct child_entry *entry_find(struct child *child, pid_t tid)
{
	size_t i;

	for (i = 0; i < child->entry_count; i++) {
		if (child->entries[i].tid == tid)
			return &child->entries[i];
	}
	return NULL;
}

static void entry_drop(struct child *child, pid_t tid)
{
	struct child_entry *entry = entry_find(child, tid);

	if (entry)
		*entry = child->entries[--child->entry_count];
}

static bool program_is_32(pid_t tid)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fread(ident, sizeof(ident), 1, file) != 1)
		ident[EI_CLASS] = 0;
	fclose(file);
	return ident[EI_CLASS] == ELFCLASS32;
}

static void on_exit_event(struct child *child, pid_t tid)
{
	const struct child_task *task = task_find(child, tid);
	pid_t pid = process_of(tid);

	maps_read_task(child->maps, tid, pid);
	/* The first of its threads ends with all of them, as a rule. */
	if (tid == pid && child->ends && task)
		child->ends(child->ctx, pid, task->since);
	if (child->exiting)
		child->exiting(child->ctx, tid, pid);
}

/* What the kernel gave a program when it began; 0 if unknown. */
static unsigned long aux_value(pid_t tid, unsigned long type)
{
	unsigned long pair[2], found = 0;
	unsigned int pair32[2];
	bool is32 = program_is_32(tid);
	size_t size = is32 ? sizeof(pair32) : sizeof(pair);
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", tid);
	file = fopen(path, "re");
	while (file && !found &&
	       fread(is32 ? (void *)pair32 : pair, size, 1, file) == 1) {
		if (is32) {
			pair[0] = pair32[0];
			pair[1] = pair32[1];
		}
		if (pair[0] == type)
			found = pair[1];
	}
	if (file)
		fclose(file);
	return found;
}

/* A breakpoint that cannot be set means that libraries are not waited for. */
static void entry_set(struct child *child, pid_t tid)
{
	struct child_entry *list, entry = {
		.tid = tid,
		.address = aux_value(tid, AT_ENTRY),
	};

	entry_drop(child, tid);
	if (!entry.address)
		return;
	errno = 0;
	entry.word = ptrace(PTRACE_PEEKTEXT, tid, entry.address, NULL);
	list = realloc(child->entries,
		       (child->entry_count + 1) * sizeof(*list));
	if (!list)
		return;
	child->entries = list;
	if (errno || ptrace(PTRACE_POKETEXT, tid, entry.address,
			    (entry.word & ~BYTE_MASK) | BREAKPOINT))
		return;
	list[child->entry_count++] = entry;
}

/* Did it come to its breakpoint? It is taken away then. */
static bool entry_reached(struct child *child, pid_t tid)
{
	struct child_entry *entry = entry_find(child, tid);
	struct user_regs_struct regs;

	if (!entry || ptrace(PTRACE_GETREGS, tid, NULL, &regs) ||
	    regs.rip != entry->address + 1)
		return false;
	regs.rip = entry->address;
	ptrace(PTRACE_POKETEXT, tid, entry->address, entry->word);
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	entry_drop(child, tid);
	return true;
}

static bool is_loading(const struct child *child)
{
	return child->loaded && !child->held;
}

/* What is looked for: code at @base or above it, the lowest. */
struct loader {
	struct child_task *task;
	u64 base;
};

static bool loader_take(void *ctx, struct mapped_file *mapped)
{
	const struct loader *loader = ctx;

	if (mapped->start < loader->base)
		return true;
	loader->task->loader = mapped->start;
	loader->task->loader_end = mapped->end;
	return false;
}

/* A static program has none. */
static void loader_find(struct child_task *task)
{
	struct loader loader = { task, aux_value(task->tid, AT_BASE) };

	task->loader = 0;
	task->loader_calls = 0;
	if (loader.base)
		mapped_files_each(task->tid, loader_take, &loader);
}

/* The first that calls the kernel and is not the loader comes when libraries are there. */
static void on_call(struct child *child, pid_t tid)
{
	struct child_task *task = task_find(child, tid);
	struct user_regs_struct regs;

	if (!task || !task->loader)
		return;
	if (!ptrace(PTRACE_GETREGS, tid, NULL, &regs) &&
	    regs.rip >= task->loader && regs.rip < task->loader_end &&
	    ++task->loader_calls < LOADER_CALLS)
		return;
	task->loader = 0;
	note_begin(child, tid, tid);
}

static void go_on(struct child *child, pid_t tid, int number)
{
	struct child_task *task = task_find(child, tid);

	if (task)
		task->resumed = __builtin_ia32_rdtsc();
	ptrace(task && task->loader ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
	       (long)number);
}

/* True: it was waited for, and stays where it is. */
static bool on_exec(struct child *child, pid_t tid)
{
	struct child_task *task = task_find(child, tid);

	/* Should it execute another one, nothing else knows of this one. */
	maps_read_task(child->maps, tid, process_of(tid));
	/* Its program before could go on until then. */
	if (task) {
		task->since = task->resumed;
		note_begin(child, tid, tid);
		if (child->begins)
			loader_find(task);
	}
	if (!is_loading(child))
		return false;
	if (child->loaded(child->ctx, tid)) {
		child->held = tid;
		return true;
	}
	entry_set(child, tid);
	return false;
}

/* Let a stopped task go on, in the way its stop asks for. */
static void on_stop(struct child *child, pid_t tid, int status)
{
	int event = status >> 16, number = WSTOPSIG(status);

	if (!event && number == SIGTRAP && entry_reached(child, tid)) {
		if (is_loading(child) && child->loaded(child->ctx, tid)) {
			child->held = tid;
			return;
		}
		number = 0;
	}
	if (!event && number == CALL_STOP) {
		on_call(child, tid);
		number = 0;
	}
	switch (event) {
	case 0:
		on_signal(child, tid, number);
		break;
	case PTRACE_EVENT_EXEC:
		if (on_exec(child, tid))
			return;
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_fork(child, tid);
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(child, tid);
		break;
	case PTRACE_EVENT_STOP:
		task_add(child, tid, 0);
		if (number != SIGTRAP) {
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
			return;
		}
	}
	go_on(child, tid, event ? 0 : number);
}

static void rest_release(struct child *child)
{
	size_t i;
	int status;

	for (i = 0; i < child->task_count; i++) {
		pid_t tid = child->tasks[i].tid, pid = process_of(tid);

		maps_read_task(child->maps, tid, pid);
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, NULL,
			       (long)(status >> 16 ? 0 : WSTOPSIG(status)));
	}
	lists_free(child);
}

/* Until the command itself has ended, its wait status is returned then; or
 * until a task is held that is waited for, and 0.
 */
static int events_take(struct child *child)
{
	bool loading = is_loading(child);
	int status;
	pid_t tid;

	while (!loading || !child->held) {
		tid = waitpid(-1, &status, __WALL);
		if (passed_on) {
			kill(child->pid, passed_on);
			passed_on = 0;
		}
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return -1;
		if (WIFSTOPPED(status)) {
			on_stop(child, tid, status);
			continue;
		}
		task_remove(child, tid);
		entry_drop(child, tid);
		if (tid == child->pid)
			return status;
	}
	return 0;
}

static void begin(struct child *child, const char *command)
{
	signals_catch();
	/*
	 * The stop comes before any further instruction of this copy of kipt: the TSC
	 * at its end lies between the copy and the program that it executes.
	 */
	note_begin(child, child->pid, child->pid);
	if (child->begins)
		ptrace(PTRACE_INTERRUPT, child->pid, NULL, NULL);
	if (write(child->go, "g", 1) != 1)
		say_errno(errno, "cannot let '%s' begin", command);
	close(child->go);
	child->begun = true;
}

/* Its exec failed, and a sentence was printed. */
static bool exec_failed(struct child *child, const char *command)
{
	int err = 0;
	bool failed = read(child->failure, &err, sizeof(err)) == sizeof(err);

	close(child->failure);
	if (failed)
		say_errno(err, "cannot run '%s'", command);
	return failed;
}

int child_load(struct child *child, const char *command)
{
	begin(child, command);
	events_take(child);
	if (child->held)
		return 1;
	rest_release(child);
	signals_default();
	return exec_failed(child, command) ? -1 : 0;
}

int child_run(struct child *child, const char *command)
{
	int status;

	if (!child->begun)
		begin(child, command);
	if (child->held)
		go_on(child, child->held, 0);
	status = events_take(child);
	rest_release(child);
	signals_default();
	if (exec_failed(child, command))
		return -1;
	if (status < 0) {
		say_error("lost '%s'", command);
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}
