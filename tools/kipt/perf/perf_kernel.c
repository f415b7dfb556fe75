// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which kernel was recorded, see perf_kernel.h. perf makes an event of it as if
 * it were a file; its name ends with the symbol that its offset is the address
 * of.
 */
#include <stdio.h>
#include <string.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../symbols/build_id_cache.h"
#include "../symbols/vmlinux.h"
#include "perf_bytes.h"
#include "perf_kernel.h"

void perf_kernel_take(struct perf_kernel *kernel,
		      const struct perf_event *event)
{
	u32 name = event->type == PERF_EVENT_MMAP2 ? PERF_MMAP2_NAME :
						     PERF_MMAP_NAME;
	const char *text = (const char *)event->bytes + name;
	u32 length = strlen(PERF_KERNEL_NAME), size;

	if ((event->type != PERF_EVENT_MMAP &&
	     event->type != PERF_EVENT_MMAP2) || event->size <= name + length ||
	    (event->misc & PERF_MISC_CPU_MODE) != PERF_MISC_KERNEL ||
	    memcmp(text, PERF_KERNEL_NAME, length))
		return;
	if (event->type == PERF_EVENT_MMAP2 && event->misc & PERF_MISC_MMAP_ID)
		kernel->has_id |= perf_mmap_build_id(event, &kernel->id);
	/* Without an address the kernel hid it. */
	kernel->address = get64(event->bytes + 24);
	size = event->size - name - length;
	snprintf(kernel->symbol, sizeof(kernel->symbol), "%.*s",
		 kernel->address ? (int)size : 0, text + length);
	plain_text(kernel->symbol);
}

static bool id_check(const struct build_id *id, const char *path)
{
	char text[BUILD_ID_TEXT];
	struct file_map file = { 0 };
	struct build_id found;
	bool has, same;

	if (!file_map_open(&file, path))
		return false;
	has = build_id_find(&found, file.bytes, file.size);
	file_map_close(&file);
	same = has && build_id_same(&found, id);
	build_id_text(id, text);
	if (!has)
		say_error("--vmlinux %s: it has no build id, and that of the recorded kernel is %s",
			  path, text);
	else if (!same)
		say_error("--vmlinux %s: it has another build id than the recorded kernel, %s",
			  path, text);
	return same;
}

bool perf_kernel_moved(const struct perf_kernel *kernel,
		       const struct perf_file *file, const char *path,
		       u64 *bias)
{
	const struct build_id *id = kernel->has_id ? &kernel->id :
				    perf_file_build_id(file, PERF_KERNEL_NAME);
	u64 address;

	if (id && !id_check(id, path))
		return false;
	if (!kernel->symbol[0]) {
		say_error("--vmlinux %s: the recording does not say where its kernel was: perf record needs root or CAP_SYSLOG for that, or kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1",
			  path);
		return false;
	}
	if (!vmlinux_address(path, kernel->symbol, &address))
		return false;
	*bias = kernel->address - address;
	if (!id)
		say_note("--vmlinux %s: no build id of the kernel was recorded, so nothing shows whether this is the same",
			 path);
	return true;
}
