// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that are held when what filters name is mapped (child_load() of
 * tools/kipt/record/traced_command.h): where a function is then must be where the program
 * itself says it is, and the program must do what it does without. Commands
 * that a signal kills: reported before they die, and only then. Processes that they
 * make: what was mapped in each, and which program a process had at a time. Programs
 * and a library are compiled here. User space, needs ptrace; prints KTAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../tools/kipt/record/traced_command.h"
#include "../../tools/kipt/filter/filter.h"
#include "../../tools/kipt/cli/kipt.h"
#include "../decode/ktap.h"

static struct ktap ktap;

/* Prints where its function and one of the library are; calls both. */
static const char program_text[] =
"#define _GNU_SOURCE\n"
"#include <dlfcn.h>\n"
"#include <stdio.h>\n"
"extern int shared(int x);\n"
"__attribute__((noinline)) int own(int x) { return x + 1; }\n"
"int main(int argc, char **argv)\n"
"{\n"
"	FILE *out = fopen(argv[1], \"w\");\n"
"	fprintf(out, \"%p %p %d %d\\n\", (void *)own, dlsym(RTLD_DEFAULT, \"shared\"), own(1), shared(argc));\n"
"	fclose(out);\n"
"	return 7;\n"
"}\n";

static const char library_text[] =
"__attribute__((noinline)) int shared(int x) { return 10 * x; }\n";

struct load {
	struct filter filter;
	struct kipt_range range;
	enum filter_result result;
	unsigned int calls;
};

static bool loaded(void *ctx, pid_t tid)
{
	struct load *load = ctx;
	struct filter_where where = { .root = "" };
	struct maps maps = { 0 };

	load->calls++;
	if (!maps_read_task(&maps, tid, tid))
		return false;
	where.process = maps_process(&maps, tid);
	load->result = filter_resolve(&load->filter, &where, &load->range);
	filter_where_free(&where);
	maps_free(&maps);
	return load->result != FILTER_NOT_MAPPED;
}

static bool file_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fputs(text, file);
	return !fclose(file);
}

/* What the program wrote: addresses of own() and shared(). */
static bool answer_read(unsigned long long *own, unsigned long long *shared)
{
	FILE *file = fopen("answer", "r");
	int a = 0, b = 0, n;

	if (!file)
		return false;
	n = fscanf(file, "%llx %llx %d %d", own, shared, &a, &b);
	fclose(file);
	unlink("answer");
	return n == 4 && a == 2 && b == 20;
}

static void load_test(const char *name, const char *spec, bool in_library,
		      unsigned int calls, char **argv)
{
	struct maps maps = { 0 };
	struct load load = { 0 };
	struct child child = {
		.maps = &maps, .loaded = loaded, .ctx = &load,
	};
	unsigned long long own = 0, shared = 0;
	int held, status = -1;
	bool ok;

	ok = filter_parse(&load.filter, spec, KIPT_FILTER_KIND_TRACE) &&
	     child_create(&child, argv, NULL);
	held = ok ? child_load(&child, argv[0]) : -1;
	if (held > 0)
		status = child_run(&child, argv[0]);
	ok = held > 0 && status == 7 && load.result == FILTER_DONE &&
	     load.calls == calls && answer_read(&own, &shared) &&
	     load.range.first == (in_library ? shared : own);
	ktap_result(&ktap, ok, "child_%s", name);
	if (!ok)
		printf("# held %d, status %d, result %d, %u calls, 0x%llx; own 0x%llx, shared 0x%llx\n",
		       held, status, load.result, load.calls,
		       (unsigned long long)load.range.first, own, shared);
	maps_free(&maps);
}

static void never_test(const char *name, const char *spec, char **argv,
		       int want)
{
	struct maps maps = { 0 };
	struct load load = { 0 };
	struct child child = {
		.maps = &maps, .loaded = loaded, .ctx = &load,
	};
	int held = -2;

	if (filter_parse(&load.filter, spec, KIPT_FILTER_KIND_TRACE) &&
	    child_create(&child, argv, NULL))
		held = child_load(&child, argv[0]);
	ktap_result(&ktap, held == want && waitpid(-1, NULL, __WALL) < 0,
		    "child_%s", name);
	unlink("answer");
	maps_free(&maps);
}

/* Held, and then not run after all: nothing is left of it. */
static void abandon_test(char **argv)
{
	struct maps maps = { 0 };
	struct load load = { 0 };
	struct child child = {
		.maps = &maps, .loaded = loaded, .ctx = &load,
	};
	int held = -1;

	if (filter_parse(&load.filter, "pie:own", KIPT_FILTER_KIND_TRACE) &&
	    child_create(&child, argv, NULL))
		held = child_load(&child, argv[0]);
	child_abandon(&child);
	ktap_result(&ktap, held == 1 && waitpid(-1, NULL, __WALL) < 0 &&
		    access("answer", F_OK), "child_abandoned_when_held");
	maps_free(&maps);
}

/* Dies by what its first argument says; kill(2) is a fault of nobody's. */
static const char dying_text[] =
"#include <pthread.h>\n"
"#include <signal.h>\n"
"#include <stdlib.h>\n"
"#include <string.h>\n"
"#include <sys/prctl.h>\n"
"#include <sys/wait.h>\n"
"#include <unistd.h>\n"
"static volatile long *where = (long *)16;\n"
"static void handle(int n) { _exit(3); }\n"
"static void *fault(void *unused) { *where = 1; return unused; }\n"
"int main(int argc, char **argv)\n"
"{\n"
"	pthread_t thread;\n"
"	sigset_t set;\n"
"	sigemptyset(&set);\n"
"	sigaddset(&set, SIGSEGV);\n"
"	switch (argv[1][0]) {\n"
"	case 'f': fault(0);\n"
"	case 'h': signal(SIGSEGV, handle); fault(0);\n"
"	case 'i': signal(SIGSEGV, SIG_IGN); kill(getpid(), SIGSEGV); return 5;\n"
"	case 'I': signal(SIGSEGV, SIG_IGN); fault(0);\n"
"	case 'B': sigprocmask(SIG_BLOCK, &set, 0); fault(0);\n"
"	case 'a': abort();\n"
"	case 's': kill(getpid(), SIGSEGV);\n"
"	case 'k': kill(getpid(), SIGKILL);\n"
"	case 't': pthread_create(&thread, 0, fault, 0); pthread_join(thread, 0);\n"
"	case 'n': prctl(PR_SET_NAME, \"a\\033[2Jb\\177\"); fault(0);\n"
"	case 'c': if (!fork()) fault(0); wait(0); return 6;\n"
"	}\n"
"	return 4;\n"
"}\n";

struct deaths {
	struct child_death last;
	u32 count;
};

static void dying(void *ctx, const struct child_death *death)
{
	struct deaths *deaths = ctx;

	deaths->last = *death;
	deaths->count++;
}

static bool is_reported(const struct deaths *deaths, const struct child *child,
		    int number, bool fault)
{
	const struct child_death *death = &deaths->last;

	return deaths->count == 1 && death->number == number &&
	       (death->code > 0) == fault &&
	       (!fault || death->address == 16) && death->ip &&
	       death->cpu >= 0 && !strcmp(death->comm, "dying") &&
	       death->pid > 0 && death->tid >= child->pid;
}

/* @number: the signal that is reported; 0: none. */
static void dying_test(const char *name, char how, int number, bool fault,
		       int want)
{
	char kind[2] = { how, 0 };
	char *argv[3] = { "./dying", kind, NULL };
	struct deaths deaths = { .count = 0 };
	struct maps maps = { 0 };
	struct child child = { .maps = &maps, .dying = dying, .ctx = &deaths };
	int status = -1;

	if (child_create(&child, argv, NULL))
		status = child_run(&child, argv[0]);
	ktap_result(&ktap, status == want &&
		    (number ? is_reported(&deaths, &child, number, fault) :
			      !deaths.count), "child_dying_%s", name);
	if (status != want || deaths.count != !!number)
		printf("# status %d, %u deaths, signal %d, code %d, address 0x%lx\n",
		       status, deaths.count, deaths.last.number,
		       deaths.last.code, deaths.last.address);
	maps_free(&maps);
}

/* A terminal must not do what a program calls itself. */
static void name_test(void)
{
	char *argv[3] = { "./dying", "n", NULL };
	struct deaths deaths = { .count = 0 };
	struct maps maps = { 0 };
	struct child child = { .maps = &maps, .dying = dying, .ctx = &deaths };

	if (child_create(&child, argv, NULL))
		child_run(&child, argv[0]);
	ktap_result(&ktap, deaths.count == 1 &&
		    !strcmp(deaths.last.comm, "a?[2Jb?"),
		    "child_dying_by_a_name_of_control_characters");
	maps_free(&maps);
}

static void deaths_test(void)
{
	dying_test("by_a_fault", 'f', SIGSEGV, true, 128 + SIGSEGV);
	dying_test("handled", 'h', 0, false, 3);
	dying_test("ignored", 'i', 0, false, 5);
	dying_test("by_an_ignored_fault", 'I', SIGSEGV, true, 128 + SIGSEGV);
	dying_test("by_a_blocked_fault", 'B', SIGSEGV, true, 128 + SIGSEGV);
	dying_test("by_abort", 'a', SIGABRT, false, 128 + SIGABRT);
	dying_test("by_a_sent_signal", 's', SIGSEGV, false, 128 + SIGSEGV);
	dying_test("by_sigkill", 'k', 0, false, 128 + SIGKILL);
	dying_test("thread", 't', SIGSEGV, true, 128 + SIGSEGV);
	dying_test("child", 'c', SIGSEGV, true, 6);
	name_test();
}

/* Its first argument says how it makes a process, which runs another program. */
static const char making_text[] =
"#define _GNU_SOURCE\n"
"#include <sys/wait.h>\n"
"#include <unistd.h>\n"
"int main(int argc, char **argv)\n"
"{\n"
"	int pid = argv[1][0] == 'v' ? vfork() : fork();\n"
"	if (!pid) { execl(\"./dying\", \"dying\", \"n\", (char *)0); _exit(9); }\n"
"	return pid < 0 || waitpid(pid, 0, 0) != pid ? 8 : 0;\n"
"}\n";

static bool has_program(const struct process *process, const char *name)
{
	const char *base;
	size_t i;

	for (i = 0; i < process->count; i++) {
		base = strrchr(process->list[i].path, '/');
		if (base && !strcmp(base + 1, name))
			return true;
	}
	return false;
}

/* A new process has its parent's program first, and then its own. */
static void making_test(const char *name)
{
	char kind[2] = { name[0], 0 };
	char *argv[3] = { "./making", kind, NULL };
	struct maps maps = { 0 };
	struct child child = { .maps = &maps };
	const struct process *process;
	u32 made = 0, right = 0;
	int status = -1;

	if (child_create(&child, argv, NULL))
		status = child_run(&child, argv[0]);
	for (process = maps.first; process; process = process->next) {
		if ((pid_t)process->pid == child.pid)
			continue;
		made++;
		right += has_program(process, "making") &&
			 has_program(process, "dying");
	}
	ktap_result(&ktap, !status && made == 1 && right == 1,
		    "child_made_by_%s_has_both_programs", name);
	maps_free(&maps);
}

/*
 * Writes the first letter of its name, and the TSC; then it and what it forks write
 * another line, of 'x', and exec.
 */
static const char timed_text[] =
"#include <stdio.h>\n"
"#include <sys/wait.h>\n"
"#include <unistd.h>\n"
"static void say(const char *name)\n"
"{\n"
"	FILE *file = fopen(\"times\", \"a\");\n"
"	fprintf(file, \"%d %llu %c\\n\", getpid(), __builtin_ia32_rdtsc(), name[2]);\n"
"	fclose(file);\n"
"}\n"
"int main(int argc, char **argv)\n"
"{\n"
"	pid_t made;\n"
"	say(argv[0]);\n"
"	if (argc == 1)\n"
"		return 0;\n"
"	made = fork();\n"
"	if (made)\n"
"		waitpid(made, NULL, 0);\n"
"	say(\"./x\");\n"
"	execl(\"./second\", \"./second\", NULL);\n"
"	return 1;\n"
"}\n";

#define NOTES	32U

struct note {
	pid_t pid;
	u64 since;
	u64 when;
	bool has_libc;
	char program;
};

struct notes {
	struct note list[NOTES];
	u32 count;
	u32 ends;
};

static bool has_libc(pid_t tid)
{
	char path[32], line[512];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		found = found || (strstr(line, " r-xp ") && strstr(line, "/libc.so"));
	if (maps)
		fclose(maps);
	return found;
}

static void program_begins(void *ctx, pid_t tid, pid_t pid, u64 since)
{
	struct notes *notes = ctx;
	char link[32], path[256] = "";
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", tid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || notes->count == NOTES)
		return;
	notes->list[notes->count++] = (struct note){
		.pid = pid, .since = since, .program = strrchr(path, '/')[1],
		.when = __builtin_ia32_rdtsc(), .has_libc = has_libc(tid),
	};
}

static void program_ends(void *ctx, pid_t pid, u64 since)
{
	struct notes *notes = ctx;
	u32 i;

	for (i = 0; i < notes->count; i++) {
		if (notes->list[i].pid == pid && notes->list[i].since == since) {
			notes->ends++;
			return;
		}
	}
}

/* Was it noted with its libraries, by the time its own code ran? */
static bool libraries_at(const struct notes *notes, pid_t pid, u64 tsc)
{
	const struct note *note, *last = NULL;

	for (note = notes->list; note < notes->list + notes->count; note++) {
		if (note->pid == pid && note->when <= tsc)
			last = note;
	}
	return last && last->has_libc;
}

/* The last program of a process that began until a time, as the notes have it. */
static char program_at(const struct notes *notes, pid_t pid, u64 tsc)
{
	const struct note *note, *last = NULL;
	bool alike = false;

	for (note = notes->list; note < notes->list + notes->count; note++) {
		if (note->pid != pid || note->since > tsc ||
		    (last && note->since < last->since))
			continue;
		alike = last && note->since == last->since &&
			note->program != last->program;
		last = note;
	}
	return last && !alike ? last->program : '?';
}

static bool has_mapped(const struct maps *maps, u32 pid, const char *name)
{
	const struct process *process = maps_process(maps, pid);
	size_t i;

	for (i = 0; process && i < process->count; i++)
		if (!strcmp(strrchr(process->list[i].path, '/') ?: "", name))
			return true;
	return false;
}

static void timed_test(void)
{
	char *argv[3] = { "./first", "more", NULL };
	struct maps maps = { 0 };
	struct notes notes = { .count = 0 };
	struct child child = {
		.maps = &maps, .begins = program_begins, .ends = program_ends,
		.ctx = &notes,
	};
	u32 lines = 0, right = 0, libraries = 0, both = 0;
	unsigned long long tsc;
	int status = -1, pid;
	char program;
	FILE *file;

	if (child_create(&child, argv, NULL))
		status = child_run(&child, argv[0]);
	file = fopen("times", "r");
	while (file && fscanf(file, "%d %llu %c", &pid, &tsc, &program) == 3) {
		lines++;
		both += has_mapped(&maps, pid, "/first") && has_mapped(&maps, pid, "/second");
		libraries += libraries_at(&notes, pid, tsc);
		/* Before an exec the time of the program to come has begun. */
		right += program_at(&notes, pid, tsc) ==
			 (program == 'x' ? 's' : program);
	}
	if (file)
		fclose(file);
	ktap_result(&ktap, !status && lines == 5 && right == lines,
		    "child_programs_are_known_with_their_begin");
	ktap_result(&ktap, both == 5, "child_programs_before_an_exec_have_their_mappings");
	ktap_result(&ktap, libraries == 5,
		    "child_programs_are_noted_with_their_libraries_before_they_run");
	ktap_result(&ktap, notes.ends == 2, "child_programs_end_as_they_began");
	if (right != 5 || libraries != 5 || notes.ends != 2)
		printf("# status %d, %u lines, %u of them right, %u with libraries, %u notes, %u ends\n",
		       status, lines, right, libraries, notes.count, notes.ends);
	maps_free(&maps);
}

static bool compile(const char *options)
{
	char command[512];

	snprintf(command, sizeof(command), "gcc -O1 %s >/dev/null 2>&1",
		 options);
	return !system(command);
}

static void programs_test(void)
{
	char *pie[3] = { "./pie", "answer", NULL };
	char *fixed[3] = { "./fixed", "answer", NULL };
	char *shell[4] = { "/bin/sh", "-c", "./pie answer; exit $?", NULL };
	char *env[4] = { "env", "./pie", "answer", NULL };
	char *thirty_two[3] = { "./small", "answer", NULL };
	char *none[2] = { "./not-here", NULL };

	load_test("program", "./pie:own", false, 1, pie);
	load_test("program_by_name", "pie:own", false, 1, pie);
	load_test("library", "libshared.so:shared", true, 2, pie);
	load_test("library_by_path", "./libshared.so:shared", true, 2, pie);
	load_test("library_of_a_fixed_program", "libshared.so:shared", true,
		  2, fixed);
	load_test("of_a_program_that_execs", "./pie:own", false, 3, env);
	load_test("of_a_program_that_forks", "libshared.so:shared", true, 4,
		  shell);
	if (!compile("-m32 -shared -fpic -o libsmall.so library.c") ||
	    !compile("-m32 -o small program.c ./libsmall.so"))
		ktap_skip(&ktap, "child_library_32_bit",
			  "no compiler for 32-bit code");
	/* 126 is the shell's for what the kernel does not execute. */
	else if (WEXITSTATUS(system("./small answer >/dev/null 2>&1")) == 126)
		ktap_skip(&ktap, "child_library_32_bit",
			  "this kernel runs no 32-bit programs");
	else
		load_test("library_32_bit", "libsmall.so:shared", true, 2,
			  thirty_two);
	never_test("never_mapped", "libnowhere.so:shared", pie, 0);
	never_test("cannot_run", "./pie:own", none, -1);
	abandon_test(pie);
}

int main(void)
{
	char folder[] = "/tmp/kipt-child.XXXXXX", command[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	ktap_start();
	if (file_write("program.c", program_text) &&
	    file_write("library.c", library_text) &&
	    compile("-shared -fpic -o libshared.so library.c") &&
	    compile("-pie -fpie -o pie program.c ./libshared.so") &&
	    compile("-no-pie -fno-pie -o fixed program.c ./libshared.so"))
		programs_test();
	else
		ktap_skip(&ktap, "child", "no compiler");
	if (file_write("dying.c", dying_text) &&
	    compile("-pthread -o dying dying.c"))
		deaths_test();
	else
		ktap_skip(&ktap, "child_dying", "no compiler");
	if (file_write("making.c", making_text) &&
	    compile("-o making making.c")) {
		making_test("fork");
		making_test("vfork");
	} else {
		ktap_skip(&ktap, "child_made", "no compiler");
	}
	if (file_write("timed.c", timed_text) &&
	    compile("-o first timed.c") && compile("-o second timed.c"))
		timed_test();
	else
		ktap_skip(&ktap, "child_programs", "no compiler");
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		return 1;
	return ktap_end(&ktap);
}
