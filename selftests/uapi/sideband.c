// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session knows beside its trace, and what it costs others: nothing of
 * a process that ended is held, not its memory, its file system or its
 * cgroup, and yet its code is decoded if somebody says where it is; thousands of processes in one run;
 * nobody waits for user space that does not answer; a fetch says what is lost, and
 * does not decode kernel code that may have been patched unseen.
 * Runs on a machine with PT and the module loaded; skips elsewhere.
 */
#include <elf.h>
#include <limits.h>
#include <linux/kipt_record.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "fuse_file.h"
#include "images.h"
#include "kipt_test.h"
#include "machine_state.h"

#define MIB		(1L << 20)
#define BIG		(96L * MIB)
#define PROCESSES	5000
#define PROCESSES_SHORT	300
/* Processes that end after the stop, and how long it may take to notice that. */
#define SLEEPERS	500
#define SETTLE_SECONDS	30
#define KERNEL_BEGIN	0x8000000000000000ULL
/* A program of our own: where it is, and what it does there. */
#define TINY_BASE	0x10000000ULL
#define TINY_ROUNDS	100
/* Pages of code far apart: each a mapping; more than most programs have. */
#define FAR_BASE	0x100000000000ULL
#define FAR_APART	(2ULL * MIB)
#define FAR_PAGES	3000U
/* As many pages of which a multiplicative hash of 12 bits makes one bucket. */
#define ALIKE_PAGES	16384U
#define GOLDEN_RATIO_64	0x61c8864680b583ebULL

/* A session on CPU 0. */
FIXTURE(sideband)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int id;
};

FIXTURE_SETUP(sideband)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC | CTL_TSCEN,
	};
	self->id = 0;
}

FIXTURE_TEARDOWN(sideband)
{
	kipt_nl_close(&self->nl);
}

static int begin(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want), ret;

	if (id < 0)
		return id;
	ret = kipt_session_start(nl, id);
	return ret ? ret : id;
}

/* In a child, on the traced CPU. */
static int touch_much(void *arg)
{
	char *memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	pin_to(0);
	if (memory == MAP_FAILED)
		return 1;
	memset(memory, 1, BIG);
	return 0;
}

TEST_F_TIMEOUT(sideband, memory_of_an_ended_process_is_freed, 120)
{
	long before, after, tries;

	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	before = machine_free_kib();
	ASSERT_EQ(0, in_child(touch_much, NULL));
	for (tries = 0; tries < 20; tries++) {
		after = machine_free_kib();
		if (before - after < BIG / 4096)
			break;
		wait_ms(100);
	}
	TH_LOG("%ld KiB less are free", before - after);
	EXPECT_GT(BIG / 4096, before - after);
}

/* mm_structs that exist, by and large; -1: the kernel does not say. */
static long mm_structs(void)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[512];
	long count = -1;

	while (f && count < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "mm_struct %ld", &count);
	if (f)
		fclose(f);
	return count;
}

/* Return: how many more mm_structs there are than @before when that changes no more. */
static long more_mm_structs(long before)
{
	long more, tries;

	for (tries = 0; tries < SETTLE_SECONDS; tries++) {
		more = mm_structs() - before;
		if (more < SLEEPERS / 2)
			break;
		wait_ms(1000);
	}
	return more;
}

/* A child that has run on the traced CPU and does so no more. Return: it, or -1. */
static pid_t make_sleeper(int done)
{
	pid_t child = fork();

	if (child)
		return child;
	pin_to(0);
	if (write(done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Return: whether all of them run, and each did so. */
static bool make_sleepers(pid_t *sleepers)
{
	int done[2], i;
	char byte;

	if (pipe(done))
		return false;
	for (i = 0; i < SLEEPERS; i++) {
		sleepers[i] = make_sleeper(done[1]);
		if (sleepers[i] < 0 || read(done[0], &byte, 1) != 1)
			return false;
	}
	close(done[0]);
	close(done[1]);
	return true;
}

/* A detached session may stay stopped for days. */
TEST_F_TIMEOUT(sideband, what_ends_after_the_stop_is_let_go_of, 240)
{
	static pid_t sleepers[SLEEPERS];
	long before = mm_structs(), more;
	int i;

	if (before < 0)
		SKIP(return, "/proc/slabinfo does not say how many mm_structs there are");
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_TRUE(make_sleepers(sleepers));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	more = mm_structs() - before;
	for (i = 0; i < SLEEPERS; i++)
		kill(sleepers[i], SIGKILL);
	for (i = 0; i < SLEEPERS; i++)
		waitpid(sleepers[i], NULL, 0);
	TH_LOG("%ld more mm_structs", more);
	EXPECT_LT(SLEEPERS / 2, more);
	more = more_mm_structs(before);
	TH_LOG("%ld more after their processes have ended", more);
	EXPECT_GT(SLEEPERS / 2, more);
}

/*
 * A program without libraries: LOOP jumps back to itself, then it exits. Of
 * its two pages the second is code.
 */
static const unsigned char tiny_code[] = {
	0xb9, TINY_ROUNDS, 0, 0, 0,	/* mov ecx, TINY_ROUNDS */
	0xff, 0xc9,			/* dec ecx */
	0x75, 0xfc,			/* jnz */
	0xb8, 60, 0, 0, 0,		/* mov eax, exit */
	0x31, 0xff,			/* xor edi, edi */
	0x0f, 0x05,			/* syscall */
};

#define TINY_JUMP	(TINY_BASE + 7)
#define TINY_SYSCALL	(TINY_BASE + sizeof(tiny_code) - 2)
#define TINY_LAST	(TINY_BASE + sizeof(tiny_code))

static int write_tiny(const char *path)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} start = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				     ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = TINY_BASE,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = 4096,
			.p_vaddr = TINY_BASE,
			.p_filesz = sizeof(tiny_code),
			.p_memsz = sizeof(tiny_code),
			.p_align = 4096,
		},
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	bool good = fd >= 0 &&
		write(fd, &start, sizeof(start)) == sizeof(start) &&
		pwrite(fd, tiny_code, sizeof(tiny_code), 4096) ==
		sizeof(tiny_code);

	if (fd >= 0)
		close(fd);
	return good ? 0 : -1;
}

/* Write over its code in the file. Return: 0 or -1. */
static int patch_tiny(const char *path, uint64_t address, const void *bytes,
		      size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && pwrite(fd, bytes, size, (off_t)(address - TINY_BASE + 4096)) ==
			       (ssize_t)size;

	if (fd >= 0)
		close(fd);
	return good ? 0 : -1;
}

/* The same code, which returns when the loop is over. */
static int write_tiny_function(const char *path)
{
	const unsigned char ret = 0xc3;

	return write_tiny(path) ? -1 : patch_tiny(path, TINY_JUMP + 2, &ret, 1);
}

static int run_program(void *arg)
{
	char *const argv[] = { arg, NULL };

	pin_to(0);
	execv(arg, argv);
	return 1;
}

/* What a fetch says of the tiny program, and how often it decoded kernel code. */
static struct {
	uint64_t jumps;
	uint64_t ends;
	uint64_t no_code;
	uint64_t far;
	uint64_t high;
	uint64_t kernel;
	uint64_t gaps[KIPT_GAP_KIND_MAX + 1];
} seen;

static bool in_tiny(const struct kipt_record *r)
{
	return !(r->flags & KIPT_RF_NO_IP) && r->ip >= TINY_BASE &&
	       r->ip < TINY_LAST;
}

static bool in_far(const struct kipt_record *r)
{
	return !(r->flags & KIPT_RF_NO_IP) && r->ip >= FAR_BASE &&
	       r->ip < FAR_BASE + FAR_PAGES * FAR_APART;
}

static void count_record(const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_BRANCH) {
		seen.far += r->kind == KIPT_BRANCH_RET && in_far(r);
		seen.high += r->kind == KIPT_BRANCH_RET &&
			     !(r->flags & KIPT_RF_NO_IP) &&
			     r->ip >= FAR_BASE && r->ip < KERNEL_BEGIN;
		seen.jumps += r->kind == KIPT_BRANCH_COND &&
			      r->ip == TINY_JUMP;
		seen.ends += r->kind == KIPT_BRANCH_SYSCALL &&
			     r->ip == TINY_SYSCALL;
		/* For an interrupt the packets have both ends: no code is needed. */
		seen.kernel += !(r->flags & KIPT_RF_NO_IP) &&
			       r->ip >= KERNEL_BEGIN &&
			       r->kind != KIPT_BRANCH_EVENT;
	}
	if (r->type != KIPT_RECORD_GAP)
		return;
	if (r->kind <= KIPT_GAP_KIND_MAX)
		seen.gaps[r->kind]++;
	seen.no_code += in_tiny(r) || in_far(r);
}

static void count_records(struct kipt_nl *nl, void *ctx)
{
	size_t len, i;
	const struct kipt_record *r = kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS,
						   &len);

	(void)ctx;
	for (i = 0; r && i < len / sizeof(*r); i++)
		count_record(&r[i]);
}

static int fetch_and_count(struct kipt_nl *nl, int id)
{
	memset(&seen, 0, sizeof(seen));
	return kipt_fetch(nl, id, KIPT_OUTPUT_BRANCHES, count_records, NULL);
}

/* A file system with nothing but the tiny program, and a run of that. */
static const char *const mount_point = "/tmp/kipt-mount";
static char *const mounted_tiny = "/tmp/kipt-mount/tiny";

static int mount_tiny(void)
{
	mkdir(mount_point, 0755);
	if (mount("kipt", mount_point, "tmpfs", 0, "size=1m"))
		return -errno;
	return write_tiny(mounted_tiny);
}

/* Runs a program to its end. Return: its process; 0 if it did not end well. */
static pid_t run_to_end(char *path)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(run_program(path));
	return child > 0 && waitpid(child, &status, 0) == child && !status ?
		child : 0;
}

/* The tiny program of some processes, from the file at @path. */
static int give_tiny(int id, const char *path, const uint32_t *tgids,
		     unsigned int count)
{
	struct kipt_raw_space *spaces = calloc(count, sizeof(*spaces));
	struct images images = { 0 };
	int err = images_add(&images, path, TINY_BASE, TINY_BASE + 4096, 4096);
	unsigned int i;

	for (i = 0; i < count; i++)
		spaces[i] = (struct kipt_raw_space){
			.tgid = tgids[i],
			.count = 1,
		};
	if (!err)
		err = images_give(&images, id, 0, spaces, count);
	images_free(&images);
	free(spaces);
	return err;
}

TEST_F_TIMEOUT(sideband, file_system_of_an_ended_program_unmounts, 60)
{
	char path[] = "/tmp/kipt-tiny";
	uint32_t tgid;

	ASSERT_EQ(0, mount_tiny());
	ASSERT_EQ(0, write_tiny(path));
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	tgid = (uint32_t)run_to_end(mounted_tiny);
	EXPECT_LT(0, tgid);
	EXPECT_EQ(0, umount(mount_point));
	umount2(mount_point, MNT_DETACH);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	/* Nobody knows its code, unless somebody says where it is. */
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(0, seen.jumps);
	EXPECT_LT(0, seen.no_code);
	ASSERT_EQ(0, give_tiny(self->id, path, &tgid, 1));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(1, seen.ends);
	EXPECT_EQ(TINY_ROUNDS - 1, seen.jumps);
	EXPECT_EQ(0, seen.no_code);
	unlink(path);
}

/* A run of the tiny program, which has ended, and its file is given. */
static void trace_and_give_tiny(struct __test_metadata *const _metadata,
				struct _test_data_sideband *self, char *path)
{
	uint32_t tgid;

	ASSERT_EQ(0, write_tiny(path));
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	tgid = (uint32_t)run_to_end(path);
	ASSERT_LT(0, tgid);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, give_tiny(self->id, path, &tgid, 1));
}

/* What is not there any more is a gap. */
TEST_F_TIMEOUT(sideband, image_that_was_cut_is_a_gap, 60)
{
	char path[] = "/tmp/kipt-tiny";

	trace_and_give_tiny(_metadata, self, path);
	ASSERT_EQ(0, truncate(path, 4096 + 7));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(0, seen.jumps);
	EXPECT_LT(0, seen.no_code);
	unlink(path);
}

/* Nor is what was written since: it did not run. */
TEST_F_TIMEOUT(sideband, image_that_was_written_is_a_gap, 60)
{
	const unsigned char nops[2] = { 0x90, 0x90 };
	char path[] = "/tmp/kipt-tiny";

	trace_and_give_tiny(_metadata, self, path);
	/* Its times go in steps of a tick. */
	wait_ms(50);
	ASSERT_EQ(0, patch_tiny(path, TINY_JUMP, nops, sizeof(nops)));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(0, seen.jumps);
	EXPECT_LT(0, seen.no_code);
	unlink(path);
}

/* Maps the tiny program's code, of which a function was made, as its own. */
static void *map_tiny(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap((void *)TINY_BASE, 4096,
			  PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 4096);

	close(fd);
	return code == MAP_FAILED ? NULL : code;
}

static void call_tiny(void)
{
	/* What the loop changes. */
	asm volatile("call *%0" : : "r" (TINY_BASE) : "rcx", "cc", "memory");
}

static int run_patched(void *arg)
{
	const unsigned char jump[2] = { 0x75, 0xfc };

	if (!map_tiny(arg))
		return 1;
	memcpy((void *)TINY_JUMP, jump, sizeof(jump));
	pin_to(0);
	call_tiny();
	raise(SIGSTOP);
	return 0;
}

/* A library that is unloaded, and memory that takes its place. */
static int run_replaced(void *arg)
{
	void *code = map_tiny(arg);

	if (!code)
		return 1;
	pin_to(0);
	call_tiny();
	if (munmap(code, 4096) ||
	    mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != code)
		return 2;
	memset(code, 0xc3, 4096);
	raise(SIGSTOP);
	return 0;
}

/*
 * Traces a child that runs @run: it calls the function of the tiny program, of the file at @path,
 * and stops. What it has run decodes.
 */
static void trace_until_stopped(struct __test_metadata *const _metadata,
				struct _test_data_sideband *self, char *path,
				int (*run)(void *arg))
{
	uint32_t tgid;
	int status;

	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	tgid = (uint32_t)fork();
	if (!tgid)
		_exit(run(path));
	ASSERT_EQ((pid_t)tgid, waitpid((pid_t)tgid, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, give_tiny(self->id, path, &tgid, 1));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(TINY_ROUNDS - 1, seen.jumps);
	EXPECT_EQ(0, seen.no_code);
	kill((pid_t)tgid, SIGKILL);
	waitpid((pid_t)tgid, &status, 0);
	unlink(path);
}

/* What a process wrote over the code of a file is what it ran. */
TEST_F_TIMEOUT(sideband, code_that_was_written_to_is_not_the_files, 60)
{
	const unsigned char nops[2] = { 0x90, 0x90 };
	char path[] = "/tmp/kipt-tiny";

	ASSERT_EQ(0, write_tiny_function(path));
	ASSERT_EQ(0, patch_tiny(path, TINY_JUMP, nops, sizeof(nops)));
	trace_until_stopped(_metadata, self, path, run_patched);
}

/* What is at the address of a file's code by now did not run. */
TEST_F_TIMEOUT(sideband, code_that_is_mapped_no_more_is_the_files, 60)
{
	char path[] = "/tmp/kipt-tiny";

	ASSERT_EQ(0, write_tiny_function(path));
	trace_until_stopped(_metadata, self, path, run_replaced);
}

static int run_shared(void *arg)
{
	(void)arg;
	pin_to(0);
	call_tiny();
	_exit(0);
}

/* Its child has its memory, and is the first that the session sees with it. */
static int run_before_and_after_vfork(void *arg)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status;
	pid_t child;

	if (!map_tiny(arg))
		return 1;
	child = clone(run_shared, stack + sizeof(stack),
		      CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 2;
	pin_to(0);
	call_tiny();
	return 0;
}

TEST_F_TIMEOUT(sideband, code_that_a_vfork_shares_is_the_parents, 60)
{
	char path[] = "/tmp/kipt-tiny";
	uint32_t tgid;
	int status;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "the machine has one CPU");
	ASSERT_EQ(0, write_tiny_function(path));
	pin_to(1);
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	tgid = (uint32_t)fork();
	if (!tgid)
		_exit(run_before_and_after_vfork(path));
	ASSERT_EQ((pid_t)tgid, waitpid((pid_t)tgid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, give_tiny(self->id, path, &tgid, 1));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	/* After each run the code of its caller, which has ended, is missing. */
	EXPECT_EQ(2 * (TINY_ROUNDS - 1), seen.jumps);
	unlink(path);
}

static const char *const cgroups = "/tmp/kipt-cgroup";
static const char *const cgroup = "/tmp/kipt-cgroup/kipt";

static int make_cgroup(void)
{
	mkdir(cgroups, 0755);
	if (mount("kipt", cgroups, "cgroup2", 0, NULL) && errno != EBUSY)
		return -errno;
	if (write_file("/tmp/kipt-cgroup/cgroup.subtree_control", "+memory"))
		return -ENOENT;
	/* One that ended early may have left it. */
	return mkdir(cgroup, 0755) && errno != EEXIST ? -errno : 0;
}

static int touch_much_in_cgroup(void *arg)
{
	if (write_file("/tmp/kipt-cgroup/kipt/cgroup.procs", "0"))
		return 2;
	return touch_much(arg);
}

static long cgroup_bytes(void)
{
	FILE *f = fopen("/tmp/kipt-cgroup/kipt/memory.current", "r");
	long bytes = -1;

	if (f && fscanf(f, "%ld", &bytes) != 1)
		bytes = -1;
	if (f)
		fclose(f);
	return bytes;
}

TEST_F_TIMEOUT(sideband, cgroup_of_an_ended_process_is_empty, 60)
{
	long bytes, tries;

	if (make_cgroup()) {
		umount2(cgroups, MNT_DETACH);
		SKIP(return, "no memory cgroups here");
	}
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, in_child(touch_much_in_cgroup, NULL));
	for (tries = 0; tries < 50; tries++) {
		bytes = cgroup_bytes();
		if (bytes < BIG / 4)
			break;
		wait_ms(100);
	}
	TH_LOG("%ld bytes are charged to it", bytes);
	EXPECT_GT(BIG / 4, bytes);
	EXPECT_EQ(0, rmdir(cgroup));
	umount2(cgroups, MNT_DETACH);
}

static int processes(void)
{
	return (int)unless_short(PROCESSES, PROCESSES_SHORT) / slowness();
}

/* Those that run_many() has run, in memory that it shares. */
static uint32_t *many;

static int run_many(void *arg)
{
	char *const argv[] = { arg, NULL };
	int i, status;
	pid_t child;

	pin_to(0);
	for (i = 0; i < processes(); i++) {
		if (posix_spawn(&child, arg, NULL, NULL, argv, NULL) ||
		    waitpid(child, &status, 0) != child || status)
			return 1;
		many[i] = (uint32_t)child;
	}
	return 0;
}

static bool share_many(void)
{
	many = mmap(NULL, PROCESSES * sizeof(*many), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return many != MAP_FAILED;
}

/*
 * The ring holds the last of them: each is decoded, though page tables were
 * used again and again.
 */
TEST_F_TIMEOUT(sideband, last_of_thousands_of_processes_decode, 600)
{
	char path[] = "/tmp/kipt-tiny";

	ASSERT_TRUE(share_many());
	ASSERT_EQ(0, write_tiny(path));
	self->want.size = size_up_to(8ULL << 20);
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, in_child(run_many, path));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, give_tiny(self->id, path, many, (unsigned int)processes()));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	TH_LOG("%lu of the last processes were decoded", seen.ends);
	EXPECT_LT(20U / slowness(), seen.ends);
	/* The ring may begin in the middle of one. */
	EXPECT_GE(seen.ends * (TINY_ROUNDS - 1), seen.jumps);
	EXPECT_LT((seen.ends - 1) * (TINY_ROUNDS - 1), seen.jumps + 1);
	EXPECT_EQ(0, seen.no_code);
	unlink(path);
}

/* The same without OS: no packet names an address space. */
TEST_F_TIMEOUT(sideband, all_of_thousands_of_processes_decode, 600)
{
	char path[] = "/tmp/kipt-tiny";

	SKIP_IF(kipt_one_block());
	ASSERT_TRUE(share_many());
	ASSERT_EQ(0, write_tiny(path));
	self->want.mode = KIPT_MODE_ONCE;
	self->want.size = 32ULL << 20;
	self->want.ctl &= ~CTL_OS;
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, in_child(run_many, path));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, give_tiny(self->id, path, many, (unsigned int)processes()));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ((uint64_t)processes() * (TINY_ROUNDS - 1), seen.jumps);
	EXPECT_EQ(0, seen.no_code);
	unlink(path);
}

/* Each page is code that returns, and differs from the others in its end. */
static int call_far_pages(void *arg)
{
	unsigned char *page;
	uint32_t i;

	(void)arg;
	pin_to(0);
	for (i = 0; i < FAR_PAGES; i++) {
		page = mmap((void *)(FAR_BASE + i * FAR_APART), 4096,
			    PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE |
			    MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (page == MAP_FAILED)
			return 1;
		memcpy(page + 4096 - sizeof(i), &i, sizeof(i));
		page[0] = 0xc3;
		((void (*)(void))page)();
	}
	return 0;
}

/* Nor may any of them be taken for another, or be hard to find. */
TEST_F_TIMEOUT(sideband, scattered_pages_that_are_alike_decode, 120)
{
	int done[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(done));
	self->want.ctl &= ~CTL_OS;
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	child = fork();
	if (!child) {
		byte = (char)call_far_pages(NULL);
		if (write(done[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	EXPECT_EQ(1, read(done[0], &byte, 1));
	EXPECT_EQ(0, byte);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_EQ(FAR_PAGES, seen.far);
	EXPECT_EQ(0, seen.no_code);
}

/* The next page after @page that is in bucket 0, if @alike. */
static uint64_t next_page(uint64_t page, bool alike)
{
	do {
		page++;
	} while (alike && page * GOLDEN_RATIO_64 >> 52);
	return page;
}

/*
 * Calls one page of code at ALIKE_PAGES addresses, then decodes that. Return:
 * milliseconds that this process ran for the fetch, or a negative errno.
 */
static long time_pages(struct kipt_nl *nl, const struct kipt_want *want,
		       bool alike)
{
	int fd = memfd_create("code", 0), id = -EBADF, ret;
	static void *mapped[ALIKE_PAGES];
	uint64_t page = FAR_BASE >> 12;
	struct timespec begun, done;
	unsigned int i;

	if (ftruncate(fd, 4096) || pwrite(fd, "\xc3", 1, 0) != 1)
		return -errno;
	for (i = 0; i < ALIKE_PAGES; i++) {
		page = next_page(page, alike);
		mapped[i] = mmap((void *)(page << 12), 4096,
				 PROT_READ | PROT_EXEC, MAP_SHARED |
				 MAP_FIXED_NOREPLACE, fd, 0);
		if (mapped[i] == MAP_FAILED)
			return -errno;
	}
	pin_to(0);
	id = begin(nl, want);
	for (i = 0; id > 0 && i < ALIKE_PAGES; i++)
		((void (*)(void))mapped[i])();
	ret = id > 0 ? kipt_session_stop(nl, id) : id;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
	if (!ret)
		ret = fetch_and_count(nl, id);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &done);
	if (id > 0)
		kipt_session_del(nl, id);
	for (i = 0; i < ALIKE_PAGES; i++)
		munmap(mapped[i], 4096);
	close(fd);
	return ret < 0 ? ret : (done.tv_sec - begun.tv_sec) * 1000 +
			       (done.tv_nsec - begun.tv_nsec) / 1000000;
}

/* No program can choose addresses that make the fetch slow. */
TEST_F_TIMEOUT(sideband, chosen_addresses_take_no_longer, 300)
{
	long usual = LONG_MAX, alike = LONG_MAX, ms;
	int i;

	self->want.ctl &= ~CTL_OS;
	self->want.mode = mode_that_keeps();
	/* The best of each: a host may stop the machine meanwhile. */
	for (i = 0; i < 2; i++) {
		ms = time_pages(&self->nl, &self->want, false);
		ASSERT_LT(0, ms);
		EXPECT_LE(ALIKE_PAGES, seen.high);
		usual = ms < usual ? ms : usual;
		ms = time_pages(&self->nl, &self->want, true);
		ASSERT_LT(0, ms);
		EXPECT_LE(ALIKE_PAGES, seen.high);
		alike = ms < alike ? ms : alike;
	}
	TH_LOG("%ld ms of a CPU, and %ld ms", usual, alike);
	EXPECT_GT(3 * usual, alike);
}

/* Shared with the traced child. */
struct stage {
	volatile int at;
	char path[80];
};

static void wait_for(struct stage *stage, int at)
{
	while (stage->at < at)
		wait_ms(10);
}

/* Runs the file's code, then drops the pages, so that they must be asked for. */
static int run_mapped(struct stage *stage)
{
	int fd = open(stage->path, O_RDONLY | O_CLOEXEC);
	void *code = mmap((void *)TINY_BASE, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);

	if (code == MAP_FAILED)
		return 1;
	pin_to(0);
	((void (*)(void))code)();
	stage->at = 2;
	wait_for(stage, 3);
	madvise(code, 4096, MADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	stage->at = 4;
	wait_for(stage, 5);
	return 0;
}

static pid_t start_mapped(struct stage *stage, const struct fuse_file *file)
{
	pid_t child;

	snprintf(stage->path, sizeof(stage->path), "%s/code", file->path);
	child = fork();
	if (!child) {
		/* Only the server's end is to hold the connection. */
		close(file->fd);
		_exit(run_mapped(stage));
	}
	return child;
}

TEST_F_TIMEOUT(sideband, code_that_never_comes_holds_nobody_up, 120)
{
	/* loop: dec ecx; jnz; ret */
	static const unsigned char code[] = {
		0xb9, TINY_ROUNDS, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
	};
	struct stage *stage = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct fuse_file file;
	pid_t child;
	int ret = fuse_file_begin(&file, code, sizeof(code));

	if (ret == -ENODEV)
		SKIP(return, "this kernel has no FUSE");
	ASSERT_EQ(0, ret);
	self->want.size = size_up_to(8ULL << 20);
	self->id = begin(&self->nl, &self->want);
	EXPECT_LT(0, self->id);
	child = start_mapped(stage, &file);
	wait_for(stage, 2);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	stage->at = 3;
	wait_for(stage, 4);
	*file.muted = true;
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_EQ(0, seen.jumps);
	EXPECT_LT(0, seen.no_code);
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	fuse_file_end(&file);
	stage->at = 5;
	waitpid(child, NULL, 0);
}

/* No signal ends whoever reads one whose server has taken a request. */
TEST_F_TIMEOUT(sideband, image_of_fuse_is_refused, 60)
{
	static const unsigned char code[] = { 0xc3 };
	struct images images = { 0 };
	struct fuse_file file;
	int ret = fuse_file_begin(&file, code, sizeof(code));
	char name[96];

	if (ret == -ENODEV)
		SKIP(return, "this kernel has no FUSE");
	ASSERT_EQ(0, ret);
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	snprintf(name, sizeof(name), "%s/code", file.path);
	EXPECT_EQ(0, images_add(&images, name, TINY_BASE, TINY_BASE + 4096, 0));
	EXPECT_EQ(-EINVAL, images_give_process(&images, self->id, 0, 1));
	images_free(&images);
	fuse_file_end(&file);
}

static void copy_bytes(int from, int to)
{
	char byte = 0;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

/* Two processes that hand a byte to and fro on the traced CPU. */
static int switch_often(void *arg)
{
	int there[2], back[2], i;
	char byte = 0;

	pin_to(0);
	if (pipe(there) || pipe(back))
		return 1;
	if (!fork()) {
		close(there[1]);
		copy_bytes(there[0], back[1]);
	}
	for (i = 0; i < *(int *)arg; i++)
		if (write(there[1], &byte, 1) != 1 ||
		    read(back[0], &byte, 1) != 1)
			return 1;
	return 0;
}

/* Count what was traced in @seen; then get what the session says of itself. */
static int stop_and_count(struct kipt_nl *nl, int id)
{
	int ret = kipt_session_stop(nl, id);

	if (!ret)
		ret = fetch_and_count(nl, id);
	return ret < 0 ? ret : kipt_session_get(nl, id);
}

/* In a trace without times nobody knows which of the switches it needs. */
TEST_F_TIMEOUT(sideband, switches_that_were_lost_are_reported, 60)
{
	int few = 20, many = 2000;

	self->want.size = SIZE_MIN;
	self->want.ctl &= ~CTL_TSCEN;
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, in_child(switch_often, &few));
	ASSERT_EQ(0, stop_and_count(&self->nl, self->id));
	EXPECT_EQ(0, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SWITCHES_LOST, 1));
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_SWITCHES]);

	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(0, in_child(switch_often, &many));
	ASSERT_EQ(0, stop_and_count(&self->nl, self->id));
	EXPECT_LT(1000, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SWITCHES_LOST,
				    0));
	EXPECT_EQ(1, seen.gaps[KIPT_GAP_SWITCHES]);
}

static int yield_often(void *arg)
{
	int i, status;
	pid_t child;

	pin_to(0);
	child = fork();
	for (i = 0; i < *(int *)arg; i++)
		sched_yield();
	if (!child)
		_exit(0);
	return wait(&status) != child;
}

/* Nothing makes less trace than to yield, and nothing but the kernel's. */
TEST_F_TIMEOUT(sideband, switches_of_a_ring_lose_none_that_its_trace_needs, 60)
{
	/* On a busy host not all of them switch. */
	int many = 15000;

	self->want.size = 64 << 10;
	self->want.ctl &= ~CTL_USER;
	self->id = begin(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, in_child(yield_often, &many));
	ASSERT_EQ(0, stop_and_count(&self->nl, self->id));
	EXPECT_LT(1000, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SWITCHES_LOST,
				    0));
	EXPECT_EQ(1, seen.gaps[KIPT_GAP_RING]);
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_SWITCHES]);
}

/* The buffer is full long before the last of them. */
static int switch_beyond_the_end(struct kipt_nl *nl, struct kipt_want *want)
{
	int many = 4000, id, ret;

	want->mode = KIPT_MODE_ONCE;
	want->size = SIZE_MIN;
	id = begin(nl, want);
	if (id < 0)
		return id;
	ret = in_child(switch_often, &many);
	return ret ? ret : stop_and_count(nl, id);
}

TEST_F_TIMEOUT(sideband, switches_after_the_buffer_was_full_lose_none, 60)
{
	SKIP_IF(kipt_one_block());
	ASSERT_EQ(0, switch_beyond_the_end(&self->nl, &self->want));
	EXPECT_EQ(0, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SWITCHES_LOST, 1));
	EXPECT_EQ(1, seen.gaps[KIPT_GAP_STOPPED]);
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_SWITCHES]);
}

/* Then the trace has little more than a mark of the switch between two of them. */
TEST_F_TIMEOUT(sideband, switches_of_user_code_alone_lose_none, 60)
{
	SKIP_IF(kipt_one_block());
	self->want.ctl &= ~CTL_OS;
	ASSERT_EQ(0, switch_beyond_the_end(&self->nl, &self->want));
	EXPECT_EQ(0, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SWITCHES_LOST, 1));
	EXPECT_EQ(1, seen.gaps[KIPT_GAP_STOPPED]);
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_SWITCHES]);
}

/* Files that root can write 0 to: kprobes then do not fire, without any notice. */
FIXTURE(deaf)
{
	struct kipt_nl nl;
	int id;
};

FIXTURE_VARIANT(deaf)
{
	const char *path;
};

FIXTURE_VARIANT_ADD(deaf, ftrace)
{
	.path = "/proc/sys/kernel/ftrace_enabled",
};

FIXTURE_VARIANT_ADD(deaf, kprobes)
{
	.path = "/sys/kernel/debug/kprobes/enabled",
};

static const struct kipt_want deaf_want = {
	.cpus = "0",
	.mode = KIPT_MODE_RING,
	.size = SIZE_USUAL,
	.ctl = CTL_BASIC | CTL_TSCEN,
};

FIXTURE_SETUP(deaf)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	DISRUPTS("it switches off the kernel's probes");
	if (access(variant->path, W_OK))
		SKIP(return, "%s cannot be written", variant->path);
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->id = kipt_session_new(&self->nl, &deaf_want);
	ASSERT_LT(0, self->id);
	pin_to(0);
}

FIXTURE_TEARDOWN(deaf)
{
	knob_back();
	kipt_nl_close(&self->nl);
}

static int run_and_count(struct kipt_nl *nl, int id)
{
	int ret = kipt_session_start(nl, id);

	work(100);
	if (!ret)
		ret = kipt_session_stop(nl, id);
	return ret ? ret : fetch_and_count(nl, id);
}

/* From 7.3 on a kernel may answer that ftrace is always on. */
#define SWITCH_OFF()							\
	do {								\
		int ret_ = knob_set(variant->path, "0");		\
									\
		SKIP_IF(ret_ == -EOPNOTSUPP ?				\
			"this kernel cannot switch it off" : NULL);	\
		ASSERT_EQ(0, ret_);					\
	} while (0)

/* The kernel's code is no more than gaps. */
#define EXPECT_NO_KERNEL()						\
	do {								\
		EXPECT_EQ(0, seen.kernel);				\
		EXPECT_LT(0, seen.gaps[KIPT_GAP_NO_CODE]);		\
	} while (0)

TEST_F_TIMEOUT(deaf, from_the_start_on, 60)
{
	SWITCH_OFF();
	EXPECT_LE(0, run_and_count(&self->nl, self->id));
	EXPECT_NO_KERNEL();
	ASSERT_EQ(0, knob_back());
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_NO_KERNEL();

	EXPECT_LE(0, run_and_count(&self->nl, self->id));
	EXPECT_LT(100, seen.kernel);
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_NO_CODE]);
}

TEST_F_TIMEOUT(deaf, from_the_stop_on, 60)
{
	EXPECT_LE(0, run_and_count(&self->nl, self->id));
	EXPECT_LT(100, seen.kernel);
	SWITCH_OFF();
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_NO_KERNEL();
	/* What was patched meanwhile, nobody knows. */
	ASSERT_EQ(0, knob_back());
	EXPECT_LE(0, fetch_and_count(&self->nl, self->id));
	EXPECT_NO_KERNEL();
}

TEST_F_TIMEOUT(deaf, before_there_was_a_session, 60)
{
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	SWITCH_OFF();
	self->id = kipt_session_new(&self->nl, &deaf_want);
	ASSERT_LT(0, self->id);
	EXPECT_LE(0, run_and_count(&self->nl, self->id));
	EXPECT_NO_KERNEL();
	ASSERT_EQ(0, knob_back());
	EXPECT_LE(0, run_and_count(&self->nl, self->id));
	EXPECT_LT(100, seen.kernel);
	EXPECT_EQ(0, seen.gaps[KIPT_GAP_NO_CODE]);
}

#include "kipt_main.h"
