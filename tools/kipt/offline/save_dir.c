// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves what decoding elsewhere needs, see save_dir.h. The raw trace itself is
 * raw_device.c's; kernel text comes through kernel_text.c.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <json-c/json.h>

#include "../cli/file_map.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../kernel/ctl_fields.h"
#include "../symbols/code_pages.h"
#include "../symbols/kcore_copy.h"
#include "../symbols/kernel_text.h"
#include "save_dir.h"

/* Whether kipt gives that name to what it saves. */
static bool is_saved(const char *name)
{
	static const char *const names[] = { "kernel.addr", "kernel.dump", "user.addr",
					     "user.dump", "kallsyms", "maps" };
	int cpu = 0, addr = 0, dump = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	sscanf(name, "cpu%*u.pt%n", &cpu);
	sscanf(name, "user-%*u.addr%n", &addr);
	sscanf(name, "user-%*u.dump%n", &dump);
	return (cpu && !name[cpu]) || (addr && !name[addr]) || (dump && !name[dump]);
}

/* Other programs have files called meta.json, too. Ours goes last: what is interrupted is cleared
 * the next time.
 */
bool save_clear(const char *dir)
{
	struct dirent *entry;
	char meta[4096];
	bool ok = true;
	DIR *folder;

	snprintf(meta, sizeof(meta), "%s/meta.json", dir);
	if (!file_begins(meta, "{\"type\":\"meta\""))
		return true;
	folder = opendir(dir);
	while (folder && ok && (entry = readdir(folder)))
		ok = !is_saved(entry->d_name) || !unlinkat(dirfd(folder), entry->d_name, 0);
	ok = ok && folder && !unlink(meta);
	if (!ok)
		say_errno(errno, "cannot remove what was saved in %s before", dir);
	if (folder)
		closedir(folder);
	return ok;
}

static bool room_make(struct saved_user *user)
{
	size_t room = 2 * user->room + 256;
	u64 *addresses;
	u8 *pages;

	if (user->count < user->room)
		return true;
	addresses = realloc(user->addresses, room * sizeof(*addresses));
	if (!addresses)
		return false;
	user->addresses = addresses;
	pages = realloc(user->pages, room * PAGE_BYTES);
	if (!pages)
		return false;
	user->pages = pages;
	user->room = room;
	return true;
}

/* Pages that cannot be read, such as of [vsyscall], are left out. */
static bool mapping_read(struct saved_user *user, int mem,
			 const struct mapping *mapping)
{
	u64 address;

	for (address = mapping->start; address < mapping->end;
	     address += PAGE_BYTES) {
		if (!room_make(user))
			return false;
		if (pread(mem, user->pages + user->count * PAGE_BYTES,
			  PAGE_BYTES, address) == PAGE_BYTES)
			user->addresses[user->count++] = address;
	}
	return true;
}

static bool mappings_read(struct saved_user *user, int mem,
			  const struct process *process)
{
	size_t i;

	for (i = 0; i < process->count; i++) {
		const struct mapping *mapping = &process->list[i];

		/* An older mapping of the same place is no more. */
		if (maps_find(process, mapping->start) == mapping &&
		    !mapping_read(user, mem, mapping)) {
			say_errno(ENOMEM, "cannot hold the code of process %u",
				  process->pid);
			return false;
		}
	}
	return true;
}

static struct saved_user *user_get(struct saved_user **list, pid_t pid)
{
	struct saved_user *user;

	for (user = *list; user; user = user->next) {
		if (user->pid != pid)
			continue;
		user->count = 0;
		return user;
	}
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->pid = pid;
	user->next = *list;
	return *list = user;
}

bool save_user_read(struct saved_user **list, const struct maps *maps,
		    pid_t tid, pid_t pid)
{
	const struct process *process = maps_process(maps, pid);
	struct saved_user *user = user_get(list, pid);
	char path[64];
	bool ok;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0 || !process || !user) {
		say_errno(mem < 0 ? errno : ESRCH, "cannot read %s", path);
		return false;
	}
	ok = mappings_read(user, mem, process);
	close(mem);
	return ok;
}

static bool user_write(const struct saved_user *user, const char *name)
{
	struct pages_writer writer;
	bool ok = true;
	size_t i;

	if (!pages_open(&writer, name))
		return false;
	for (i = 0; i < user->count && ok; i++)
		ok = pages_write(&writer, user->addresses[i],
				 user->pages + i * PAGE_BYTES);
	return pages_close(&writer, name) && ok;
}

bool save_user_write(const struct saved_user *list, const char *dir,
		     pid_t main)
{
	char name[4096];

	for (; list; list = list->next) {
		if (list->pid == main)
			snprintf(name, sizeof(name), "%s/user", dir);
		else
			snprintf(name, sizeof(name), "%s/user-%d", dir,
				 list->pid);
		if (!user_write(list, name))
			return false;
	}
	return true;
}

void save_user_free(struct saved_user **list)
{
	struct saved_user *user;

	while ((user = *list)) {
		*list = user->next;
		free(user->addresses);
		free(user->pages);
		free(user);
	}
}

/* A file of /proc, which has no size before it is read. */
static bool proc_copy(const char *name, const char *dir)
{
	char bytes[65536], path[64];
	FILE *in, *out;
	bool ok = true;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%s", name);
	in = fopen(path, "re");
	out = file_make(dir, "/", name);
	if (!in)
		say_errno(errno, "cannot read %s", path);
	while (in && out && ok && (size = fread(bytes, 1, sizeof(bytes), in)))
		ok = fwrite(bytes, 1, size, out) == size;
	if (out && (fclose(out) || !ok)) {
		say_errno(errno, "cannot write to %s/%s", dir, name);
		ok = false;
	}
	if (in)
		fclose(in);
	return in && out && ok;
}

bool save_kernel(const char *dir)
{
	char name[4096], kallsyms[4096];

	snprintf(name, sizeof(name), "%s/kernel", dir);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	return proc_copy("kallsyms", dir) && kcore_save_text(kallsyms, name);
}

bool save_kcore(const char *dir)
{
	char name[4096], kallsyms[4096];
	mode_t before = umask(077);
	bool ok;

	snprintf(name, sizeof(name), "%s/kcore", dir);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	ok = proc_copy("modules", dir) && proc_copy("kallsyms", dir) &&
	     kcore_copy(kallsyms, name);
	umask(before);
	return ok;
}

static void command_add(struct json_object *line, char *const *argv)
{
	struct json_object *list = json_object_new_array();

	for (; *argv; argv++)
		json_object_array_add(list, jsonl_text_new(*argv));
	json_object_object_add(line, "command", list);
}

static struct json_object *meta_make(const struct kipt_info *info,
				     const struct kipt_session *session)
{
	struct json_object *line = json_object_new_object();
	const struct kipt_caps *caps = &info->caps;
	struct utsname name;
	char ctl[256];

	ctl_format(session->ctl, ctl, sizeof(ctl));
	jsonl_text(line, "type", "meta");
	jsonl_number(line, "record_version", info->record_version);
	jsonl_text(line, "module", info->version);
	if (!uname(&name))
		jsonl_text(line, "kernel", name.release);
	jsonl_text(line, "cpus", session->cpus);
	jsonl_text(line, "ctl", ctl);
	jsonl_hex(line, "ctl_bits", session->ctl);
	ranges_json(line, session->filter, session->filter_count);
	if (session->pid)
		jsonl_number(line, "pid", session->pid);
	jsonl_number(line, "tsc_num", caps->tsc_num);
	jsonl_number(line, "tsc_den", caps->tsc_den);
	jsonl_number(line, "crystal_hz", caps->crystal_hz);
	jsonl_number(line, "tsc_khz", caps->tsc_khz);
	jsonl_hex(line, "tsc", __builtin_ia32_rdtsc());
	jsonl_number(line, "max_nonturbo_ratio", caps->max_nonturbo_ratio);
	jsonl_number(line, "mtc_freq", session->ctl >> 14 & 15);
	jsonl_number(line, "cpu_family", caps->family);
	jsonl_number(line, "cpu_model", caps->model);
	jsonl_hex(line, "leaf0_eax", caps->leaf0_eax);
	jsonl_hex(line, "leaf0_ebx", caps->leaf0_ebx);
	jsonl_hex(line, "leaf0_ecx", caps->leaf0_ecx);
	jsonl_hex(line, "leaf1_eax", caps->leaf1_eax);
	jsonl_hex(line, "leaf1_ebx", caps->leaf1_ebx);
	return line;
}

bool save_meta(const char *dir, const struct kipt_info *info,
	       const struct kipt_session *session, char *const *argv)
{
	struct json_object *line;
	FILE *out;

	out = file_make(dir, "/", "meta.json");
	if (!out)
		return false;
	line = meta_make(info, session);
	if (argv)
		command_add(line, argv);
	jsonl_print(line, out);
	if (!fclose(out))
		return true;
	say_errno(errno, "cannot write %s/meta.json", dir);
	return false;
}
