// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings for perf while they are made (tools/kipt/record/perf_place.h,
 * perf_sideband.h, perf_recording.h), with a kernel that is made up: what it would do
 * with other limits and more CPUs. User space; prints KTAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../tools/kipt/cli/messages.h"
#include "../../tools/kipt/kernel/raw_device.h"
#include "../../tools/kipt/offline/save_dir.h"
#include "../../tools/kipt/record/open_files.h"
#include "../../tools/kipt/record/perf_recording.h"
#include "../decode/ktap.h"

#define RING_BYTES	(512U << 10)
#define FILES_FEW	64
#define EVENT_BYTES	48
#define NO_TRACE	1
#define OLD_BYTES	100

static struct ktap ktap;
/* What the kernel has and allows. */
static bool has_clock;
static u32 cpus = 3;
static u64 ring_most = RING_BYTES;
static u32 watermark;
static u32 cpus_visited;

/* Whether two names can be exchanged; which rename fails, 0: none; and those after it. */
static int can_exchange = 1;
static u32 renames, renames_fail;
static bool rename_back_fails;

int __real_rename(const char *from, const char *to);
int __real_renameat2(int from, const char *old, int to, const char *new, unsigned int flags);
void *__real_mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset);

/* An event of perf: its ring is memory. */
long __wrap_syscall(long number, ...)
{
	const struct perf_event_mmap_page timed = {
		.cap_user_time_zero = 1, .time_mult = 1 << 10, .time_shift = 10,
	};
	struct perf_event_attr *attr;
	va_list args;
	int fd;

	(void)number;
	va_start(args, number);
	attr = va_arg(args, struct perf_event_attr *);
	va_end(args);
	watermark = attr->wakeup_watermark;
	fd = memfd_create("ring", MFD_CLOEXEC);
	if (fd >= 0 && (ftruncate(fd, sysconf(_SC_PAGESIZE) + RING_BYTES) ||
			(has_clock && pwrite(fd, &timed, sizeof(timed), 0) != sizeof(timed))))
		exit(2);
	return fd;
}

int __wrap_ioctl(int fd, unsigned long request, u64 *id)
{
	if (request == PERF_EVENT_IOC_ID)
		*id = fd;
	return 0;
}

void *__wrap_mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
	if (flags == MAP_SHARED && size > ring_most + sysconf(_SC_PAGESIZE)) {
		errno = EPERM;
		return MAP_FAILED;
	}
	return __real_mmap(at, size, rights, flags, fd, offset);
}

int __wrap_rename(const char *from, const char *to)
{
	renames++;
	if (!renames_fail || renames < renames_fail || (renames > renames_fail && !rename_back_fails))
		return __real_rename(from, to);
	errno = EIO;
	return -1;
}

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
	if (can_exchange)
		return __real_renameat2(from, old, to, new, flags);
	errno = EINVAL;
	return -1;
}

/* As with a kernel for 4,096 CPUs. */
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	if (size < 4096 / 8) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(size, set);
	return 0;
}

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
	cpus_visited += CPU_COUNT_S(size, set);
	return 0;
}

bool __wrap_args_cpus(const char *text, void (*found)(void *ctx, u32 cpu), void *ctx)
{
	u32 i;

	(void)text;
	for (i = 0; i < cpus; i++)
		found(ctx, i);
	return true;
}

static bool trace_give(u32 cpu, const struct raw_taker *taker)
{
	static const u8 trace[64];

	if (cpu != NO_TRACE)
		return taker->begin(taker->ctx, cpu, 0, sizeof(trace)) &&
		       taker->take(taker->ctx, trace, sizeof(trace)) &&
		       taker->end(taker->ctx, cpu);
	say_error("a CPU cannot be read");
	return false;
}

bool __wrap_raw_take(const struct kipt_session *session, int cpu,
		     const struct raw_taker *taker)
{
	bool ok = true;
	u32 i;

	for (i = 0; i < session->cpu_count; i++) {
		if (cpu < 0 || session->cpu[i].id == (u32)cpu)
			ok = trace_give(session->cpu[i].id, taker) && ok;
	}
	return ok;
}

static bool has_mode(const char *path, mode_t mode)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_mode & 07777) == mode;
}

static bool file_write(const char *path)
{
	FILE *file = fopen(path, "w");

	return file && fputs("PERFILE2 x", file) > 0 && !fclose(file);
}

/* Whether /proc/kcore may be read or not; some machines have no modules. */
static void kernel_is_private(void)
{
	mkdir("kcore_dir", 0700);
	save_kcore("kcore_dir");
	ktap_result(&ktap, has_mode("kcore_dir/modules", 0600) &&
		    (access("kcore_dir/kallsyms", F_OK) ||
		     has_mode("kcore_dir/kallsyms", 0600)),
		    "recording_kernel_is_private");
}

/* Two with one name, and a file with the name that was once used meanwhile. */
static void places_of_one_name(bool folder)
{
	struct perf_place first, second;
	bool ok = file_write("t.data.part") &&
		  perf_place_make(&first, "t.data", folder);

	ok = ok && file_write(first.data) &&
	     perf_place_make(&second, "t.data", folder) &&
	     !access(first.data, F_OK);
	ktap_result(&ktap, ok && has_mode(second.part, 0700),
		    "recording_place_is_its_own %d", folder);
	ok = ok && file_write(second.data) && perf_place_settle(&second) &&
	     !access(first.data, F_OK) && perf_place_settle(&first);
	ktap_result(&ktap, ok && perf_file_is("t.data"),
		    "recording_places_of_one_name %d", folder);
	ktap_result(&ktap, !access("t.data.part", F_OK),
		    "recording_leaves_what_is_not_its_own %d", folder);
	ktap_result(&ktap, !system("! ls -d t.data.?????? 2>/dev/null"),
		    "recording_place_is_gone %d", folder);
}

/* A folder that was there has a link where a recording has a folder. */
static void place_with_a_link(bool folder)
{
	struct perf_place place;
	bool ok = !system("rm -rf t.data* victim; mkdir t.data victim; ln -s ../victim t.data/kcore_dir") &&
		  file_write("victim/kcore") && file_write("t.data/data") &&
		  perf_place_make(&place, "t.data", folder) &&
		  file_write(place.data) && perf_place_settle(&place);

	ktap_result(&ktap, ok && !access("victim/kcore", F_OK),
		    "recording_removes_nothing_through_a_link %d", folder);
	ok = !system("rm -rf t.data*");
}

static void place_dropped(bool folder)
{
	struct perf_place place;
	bool ok = perf_place_make(&place, "d.data", folder) &&
		  file_write(place.data);

	perf_place_drop(&place);
	ktap_result(&ktap, ok && !system("! ls -d d.data* 2>/dev/null"),
		    "recording_dropped_leaves_nothing %d", folder);
}

/* A file that is to replace a folder, and the other way around: what was there is old. */
static bool place_of_other_kind(struct perf_place *place, bool folder)
{
	const char *old = folder ? "o.data" : "o.data/data";

	return !system("rm -rf o.data*") && (folder || !mkdir("o.data", 0700)) &&
	       file_write(old) && truncate(old, OLD_BYTES) >= 0 &&
	       perf_place_make(place, "o.data", folder) && file_write(place->data);
}

/* The name may be a pattern. */
static bool is_old(const char *path)
{
	struct stat st;
	glob_t found;
	bool is;

	is = !glob(path, 0, NULL, &found) && found.gl_pathc == 1 &&
	     !stat(found.gl_pathv[0], &st) && st.st_size == OLD_BYTES;
	globfree(&found);
	return is;
}

/* NFS, 9p and others have no RENAME_EXCHANGE. */
static void place_replaces_other_kind(bool folder)
{
	const char *old = folder ? "o.data" : "o.data/data";
	const char *new = folder ? "o.data/data" : "o.data";
	struct perf_place place;
	bool ok;

	for (can_exchange = 0; can_exchange < 2; can_exchange++) {
		ok = place_of_other_kind(&place, folder) && perf_place_settle(&place) &&
		     !access(new, F_OK) && !is_old(new);
		ktap_result(&ktap, ok && !system("! ls -d o.data.* 2>/dev/null"),
			    "recording_replaces_other_kind %d %d", folder, can_exchange);
	}
	can_exchange = 0;
	/* The first is that without an exchange: nothing was moved yet. */
	for (renames_fail = 2; renames_fail < 4; renames_fail++) {
		renames = 0;
		ok = place_of_other_kind(&place, folder) && !perf_place_settle(&place) &&
		     is_old(old);
		ktap_result(&ktap, ok && !system("ls o.data.?????" "?/data >/dev/null"),
			    "recording_stays_where_a_rename_fails %d %u", folder, renames_fail);
	}
	renames_fail = 3;
	rename_back_fails = true;
	renames = 0;
	ok = place_of_other_kind(&place, folder) && !perf_place_settle(&place) &&
	     is_old(folder ? "o.data.*.before" : "o.data.*.before/data");
	ktap_result(&ktap, ok && !system("ls o.data.?????" "?/data >/dev/null"),
		    "recording_keeps_both_where_none_goes_back %d", folder);
	rename_back_fails = false;
	renames_fail = 0;
	can_exchange = 1;
}

static void places(void)
{
	int folder;

	for (folder = 0; folder < 2; folder++) {
		places_of_one_name(folder);
		place_with_a_link(folder);
		place_dropped(folder);
		place_replaces_other_kind(folder);
	}
}

/* An event with a path of that length: the path, or a word for it, and all of the stamp. */
static bool path_writes(size_t length)
{
	const struct perf_stamp stamp = { .pid = 7 };
	const u64 id = 0x1122334455667788;
	struct perf_body body = { .size = 72 };
	struct perf_writer writer = { .out = tmpfile() };
	char *path = calloc(1, length + 1);
	u32 text;
	bool ok;

	memset(path, 'p', length);
	perf_put_text(&body, path);
	text = body.size;
	ok = perf_writer_stamped(&writer, PERF_RECORD_MMAP2, 0, &body, &stamp, id) &&
	     body.size == text + 32 && !(body.size % 8) &&
	     !memcmp(body.bytes + body.size - 8, &id, 8) &&
	     (!strcmp((char *)body.bytes + 72, path) ||
	      (length > 4096 && !strcmp((char *)body.bytes + 72, "//toolong")));
	free(path);
	fclose(writer.out);
	return ok;
}

static void long_paths(void)
{
	size_t length;
	bool ok = true;

	for (length = 4000; length < 5000 && ok; length++)
		ok = path_writes(length);
	ktap_result(&ktap, ok, "recording_long_paths_have_stamps");
}

static bool nothing_take(void *ctx, const u8 *bytes, u64 size)
{
	(void)ctx;
	(void)bytes;
	(void)size;
	return true;
}

static bool sideband_opens(u32 count)
{
	struct sideband sideband = { .take = nothing_take };
	bool ok;

	cpus = count;
	cpus_visited = 0;
	ok = sideband_open(&sideband) && sideband.count == count;
	sideband_close(&sideband);
	return ok;
}

static void small_rings(void)
{
	bool ok;

	ok = sideband_opens(2) && watermark == RING_BYTES / 4;
	ring_most = 64 << 10;
	ok = ok && sideband_opens(2) && watermark == ring_most / 4;
	ring_most = RING_BYTES;
	ktap_result(&ktap, ok, "recording_small_rings_are_read_in_time");
}

/* A command has the limit there was. */
static bool limit_in_child(rlim_t want)
{
	struct rlimit limit;
	int status;

	if (!fork()) {
		open_files_restore();
		_exit(getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur != want);
	}
	return wait(&status) > 0 && !status;
}

static void many_cpus(void)
{
	struct rlimit limit = { FILES_FEW, 8 * FILES_FEW };
	bool ok = !setrlimit(RLIMIT_NOFILE, &limit);

	ktap_result(&ktap, ok && sideband_opens(2 * FILES_FEW),
		    "recording_files_of_many_cpus");
	ktap_result(&ktap, cpus_visited == 2 * FILES_FEW,
		    "recording_visits_cpus_of_a_large_machine");
	ktap_result(&ktap, limit_in_child(FILES_FEW),
		    "recording_command_has_its_limit");
}

/* It is read soon. */
static bool event_is_read(const struct sideband_ring *ring)
{
	const struct perf_event_header header = {
		.type = PERF_RECORD_COMM, .size = EVENT_BYTES,
	};
	u32 i;

	memcpy((u8 *)ring->page + sysconf(_SC_PAGESIZE), &header, sizeof(header));
	__atomic_store_n(&ring->page->data_head, EVENT_BYTES, __ATOMIC_RELEASE);
	for (i = 0; i < 6000; i++) {
		if (__atomic_load_n(&ring->page->data_tail, __ATOMIC_ACQUIRE))
			return true;
		usleep(10000);
	}
	return false;
}

static void cpu_without_trace(void)
{
	static struct perf_recording recording;
	static struct kipt_session session = { .cpu_count = 3 };
	const struct kipt_caps caps = { 0 };
	struct kipt_cpu *list = calloc(3, sizeof(*list));
	bool ok;
	u32 i;

	for (i = 0; i < 3; i++)
		list[i].id = i;
	session.cpu = list;
	cpus = 3;
	ok = perf_recording_begin(&recording, "c.data", &caps, false);
	ktap_result(&ktap, ok && event_is_read(recording.sideband.rings),
		    "recording_is_read_from_its_begin");
	ok = ok && !perf_recording_end(&recording, &session);
	ktap_result(&ktap, ok && perf_file_is("c.data"),
		    "recording_without_a_cpu_is_kept");
	ktap_result(&ktap, has_mode("c.data", 0600), "recording_is_private");
	session.cpu += NO_TRACE;
	session.cpu_count = 1;
	recording = (struct perf_recording){ 0 };
	ok = perf_recording_begin(&recording, "n.data", &caps, false) &&
	     !perf_recording_end(&recording, &session);
	ktap_result(&ktap, ok && access("n.data", F_OK), "recording_without_all_is_not");
	free(list);
}

/* A recording of mappings takes the place of another one when its session runs. */
static void maps_replaced(void)
{
	struct perf_recording recording = { 0 };
	const struct kipt_caps caps = { 0 };
	bool ok;

	has_clock = true;
	ok = file_write("t.maps") && truncate("t.maps", OLD_BYTES) >= 0 &&
	     perf_recording_maps(&recording, "t.maps", &caps) && !is_old("t.maps");
	perf_recording_drop(&recording);
	ktap_result(&ktap, ok && is_old("t.maps"), "recording_of_mappings_dropped");
	ok = perf_recording_maps(&recording, "t.maps", &caps);
	perf_recording_maps_run(&recording);
	ok = ok && !perf_recording_maps_end(&recording);
	ktap_result(&ktap, ok && perf_file_is("t.maps") && !is_old("t.maps"),
		    "recording_of_mappings_is_replaced");
	ktap_result(&ktap, !system("! ls -d t.maps.* 2>/dev/null"),
		    "recording_of_mappings_leaves_nothing");
	ok = !truncate("t.maps", 0) && !perf_recording_maps(&recording, "t.maps", &caps);
	ktap_result(&ktap, ok && !access("t.maps", F_OK), "recording_of_mappings_spares_others");
	has_clock = false;
}

int main(void)
{
	char folder[] = "/tmp/kipt-recording.XXXXXX", command[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 2;
	umask(022);
	ktap_start();
	kernel_is_private();
	places();
	long_paths();
	/* Once in a process. */
	many_cpus();
	small_rings();
	cpu_without_trace();
	maps_replaced();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		return 2;
	return ktap_end(&ktap);
}
