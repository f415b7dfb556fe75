// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf says of a machine in the file, see perf_features.h.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perf_features.h"
#include "perf_kernel.h"
#include "perf_running.h"

/* Bits of the head of the file. */
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUID = 9,
	FEATURE_EVENT_DESC = 12,
	FEATURE_AUXTRACE = 18,
};

#define TEXT_ALIGN	64
/* Where perf has the build id of a file, and how many bytes. */
#define BUILD_ID_BYTES	20
#define BUILD_ID_ROOM	24
#define BUILD_ID_SIZE	(1U << 15)
#define KERNEL_PID	0xffffffffU

/* One feature at a time; false ends it. */
struct making {
	struct perf_features *features;
	FILE *out;
	char *bytes;
	size_t size;
};

static bool begin(struct making *making)
{
	making->out = open_memstream(&making->bytes, &making->size);
	return making->out;
}

static bool end(struct making *making, u32 bit)
{
	struct perf_features *features = making->features;

	if (fclose(making->out) || features->count == PERF_FEATURES_MOST) {
		free(making->bytes);
		return false;
	}
	features->bits |= 1ULL << bit;
	features->list[features->count++] = (struct perf_feature){
		.bytes = (u8 *)making->bytes,
		.size = making->size,
	};
	return true;
}

static void number(struct making *making, u32 value)
{
	fwrite(&value, sizeof(value), 1, making->out);
}

static void long_number(struct making *making, u64 value)
{
	fwrite(&value, sizeof(value), 1, making->out);
}

/* Its length, which is that of the zeros too, and the text. */
static void text(struct making *making, const char *value)
{
	size_t length = strlen(value) + 1, i;

	number(making, (length + TEXT_ALIGN - 1) / TEXT_ALIGN * TEXT_ALIGN);
	fwrite(value, 1, length, making->out);
	for (i = length; i % TEXT_ALIGN; i++)
		fputc(0, making->out);
}

static bool text_make(struct making *making, u32 bit, const char *value)
{
	if (!begin(making))
		return false;
	text(making, value);
	return end(making, bit);
}

/* Mappings say those of files, and perf finds [vdso] only if this list does not.
 * True too if the kernel does not give its own.
 */
static bool build_id_make(struct making *making)
{
	struct perf_event_header header = {
		.type = PERF_EVENT_BUILD_ID,
		.misc = PERF_MISC_KERNEL | BUILD_ID_SIZE,
	};
	char name[24] = PERF_KERNEL_NAME;
	u8 bytes[BUILD_ID_ROOM] = { 0 };
	struct build_id id;

	if (!perf_kernel_id(&id) || id.size > BUILD_ID_BYTES)
		return true;
	if (!begin(making))
		return false;
	memcpy(bytes, id.bytes, id.size);
	bytes[BUILD_ID_BYTES] = id.size;
	header.size = sizeof(header) + sizeof(u32) + sizeof(bytes) + sizeof(name);
	fwrite(&header, sizeof(header), 1, making->out);
	number(making, KERNEL_PID);
	fwrite(bytes, sizeof(bytes), 1, making->out);
	fwrite(name, sizeof(name), 1, making->out);
	return end(making, FEATURE_BUILD_ID);
}

static bool cpus_make(struct making *making)
{
	if (!begin(making))
		return false;
	number(making, sysconf(_SC_NPROCESSORS_CONF));
	number(making, sysconf(_SC_NPROCESSORS_ONLN));
	return end(making, FEATURE_NRCPUS);
}

/* Vendor, family, model and stepping, as the kernel counts them. */
static bool cpuid_make(struct making *making)
{
	u32 eax = 0, ebx = 0, ecx = 0, edx = 0, family, model;
	char vendor[13] = "", words[64];

	__get_cpuid(0, &eax, &ebx, &ecx, &edx);
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &edx, 4);
	memcpy(vendor + 8, &ecx, 4);
	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	family = eax >> 8 & 15;
	model = eax >> 4 & 15;
	if (family == 15)
		family += eax >> 20 & 255;
	if (family >= 6)
		model += (eax >> 16 & 15) << 4;
	snprintf(words, sizeof(words), "%s,%u,%u,%u", vendor, family, model,
		 eax & 15);
	return text_make(making, FEATURE_CPUID, words);
}

static bool events_make(struct making *making,
			const struct perf_write_attr *attrs, u32 count)
{
	struct perf_event_attr attr;
	u32 i;

	if (!begin(making))
		return false;
	number(making, count);
	number(making, PERF_ATTR_SIZE_VER5);
	for (i = 0; i < count; i++) {
		attr = attrs[i].attr;
		attr.size = PERF_ATTR_SIZE_VER5;
		fwrite(&attr, PERF_ATTR_SIZE_VER5, 1, making->out);
		number(making, attrs[i].id_count);
		text(making, attrs[i].name);
		fwrite(attrs[i].ids, sizeof(u64), attrs[i].id_count,
		       making->out);
	}
	return end(making, FEATURE_EVENT_DESC);
}

/* perf finds the trace of all CPUs by this before it looks at any event. */
static bool traces_make(struct making *making, const struct perf_writer *writer)
{
	size_t i;

	if (!begin(making))
		return false;
	long_number(making, writer->trace_count);
	for (i = 0; i < writer->trace_count; i++) {
		long_number(making, writer->traces[i]);
		long_number(making, PERF_WRITE_TRACE_HEAD);
	}
	return end(making, FEATURE_AUXTRACE);
}

bool perf_features_make(struct perf_features *features,
			const struct perf_writer *writer,
			const struct perf_write_attr *attrs, u32 count)
{
	struct making making = { .features = features };
	struct utsname name;

	if (uname(&name))
		memset(&name, 0, sizeof(name));
	return build_id_make(&making) &&
	       text_make(&making, FEATURE_HOSTNAME, name.nodename) &&
	       text_make(&making, FEATURE_OSRELEASE, name.release) &&
	       text_make(&making, FEATURE_ARCH, name.machine) &&
	       cpus_make(&making) && cpuid_make(&making) &&
	       events_make(&making, attrs, count) &&
	       traces_make(&making, writer);
}

void perf_features_free(struct perf_features *features)
{
	u32 i;

	for (i = 0; i < features->count; i++)
		free(features->list[i].bytes);
	memset(features, 0, sizeof(*features));
}
