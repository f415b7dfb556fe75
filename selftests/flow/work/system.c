// SPDX-License-Identifier: GPL-2.0-only
/*
 * system ROUNDS: what brings the kernel into a trace: system calls, page
 * faults, context switches between processes and threads on one CPU, timer
 * signals, fork and exec, a short sleep. Every process it makes stays on the
 * CPU it was started on. Runs in the guest, traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define PAGES		48UL

static void die(const char *what)
{
	fprintf(stderr, "system: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void files(void)
{
	char buf[256];
	int i, fd;

	for (i = 0; i < 20; i++) {
		fd = open("/proc/self/stat", O_RDONLY);
		if (fd < 0 || read(fd, buf, sizeof(buf)) <= 0)
			die("/proc/self/stat");
		close(fd);
		if (access("/no/such/file", R_OK) == 0)
			die("/no/such/file exists");
	}
}

/* Fresh pages, then copy-on-write pages in a child. */
static void page_faults(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long i;
	int status;
	pid_t child;

	if (p == MAP_FAILED)
		die("mmap");
	for (i = 0; i < PAGES; i++)
		p[i * PAGE] = 1;
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		for (i = 0; i < PAGES; i++)
			p[i * PAGE]++;
		_exit(p[0] == 2 ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("page fault child");
	if (mprotect(p, PAGE, PROT_READ) || munmap(p, PAGES * PAGE))
		die("munmap");
}

/* Two processes that take turns: two address spaces on one CPU. */
static void ping_pong(int turns)
{
	int there[2], back[2], i, status;
	char c = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		for (i = 0; i < turns; i++)
			if (read(there[0], &c, 1) != 1 ||
			    write(back[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (i = 0; i < turns; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			die("ping-pong");
	if (waitpid(child, &status, 0) != child || status)
		die("ping-pong child");
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *arg)
{
	int mine = arg != NULL, i;

	for (i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		while (turn != mine)
			pthread_cond_wait(&turned, &lock);
		turn = !mine;
		pthread_cond_signal(&turned);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t other;

	turn = 0;
	if (pthread_create(&other, NULL, take_turns, &turn))
		die("pthread_create");
	take_turns(NULL);
	pthread_join(other, NULL);
}

static volatile sig_atomic_t ticks;

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

/* The timer interrupts user code, and its signal does. */
static void timer_signals(void)
{
	struct itimerval on = { { 0, 2000 }, { 0, 2000 } }, off = { 0 };
	sig_atomic_t wanted = ticks + 3;

	if (setitimer(ITIMER_REAL, &on, NULL))
		die("setitimer");
	while (ticks < wanted)
		;
	setitimer(ITIMER_REAL, &off, NULL);
}

static void short_sleep(void)
{
	struct timespec t = { 0, 3000000 };

	nanosleep(&t, NULL);
}

static void exec_storm(int n)
{
	int i, status;

	for (i = 0; i < n; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status)
			die("/bin/true");
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, i;

	signal(SIGALRM, on_tick);
	for (i = 0; i < rounds; i++) {
		files();
		page_faults();
		ping_pong(40);
		threads();
		timer_signals();
		short_sleep();
		exec_storm(2);
	}
	return 0;
}
