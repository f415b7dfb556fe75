// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of perf.data and of ELF, as far as perf's decoder needs them.
 * There is no clock in the samples, so perf decodes each trace by itself and
 * in order. User space.
 */
#include "perf_data.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>

#define FILE_MAGIC	0x32454c4946524550ULL	/* "PERFILE2" */
#define RECORD_AUXTRACE_INFO	70
#define RECORD_AUXTRACE		71
#define AUXTRACE_INTEL_PT	1
#define PMU_TYPE		8
#define NORETCOMP		(1U << 11)
#define FEATURE_AUXTRACE	18

/* Words of the AUXTRACE_INFO record that are not 0. */
enum info_word {
	INFO_PMU_TYPE = 0,
	INFO_TSC_BIT = 5,
	INFO_NORETCOMP_BIT,
	INFO_MTC_BIT = 10,
	INFO_MTC_FREQ_BITS,
	INFO_TSC_CTC_N,
	INFO_TSC_CTC_D,
	INFO_CYC_BIT,
	INFO_MAX_NONTURBO_RATIO,
	INFO_FILTER_STR_LEN,
	INFO_WORDS,
};

struct file_section {
	u64 offset;
	u64 size;
};

struct file_header {
	u64 magic;
	u64 size;
	u64 attr_size;
	struct file_section attrs;
	struct file_section data;
	struct file_section event_types;
	u64 features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	struct file_section ids;
};

/* At the end of each record, as the attr asks for. */
struct sample_id {
	u32 pid, tid;
	u64 id;
};

#define EVENT_ID	1
#define IDS_AT		sizeof(struct file_header)
#define ATTR_AT		(IDS_AT + sizeof(u64))
#define DATA_AT		(ATTR_AT + sizeof(struct file_attr))

static void put(struct perf_data *data, FILE *file, const void *bytes,
		size_t size)
{
	if (fwrite(bytes, 1, size, file) != size)
		data->failed = true;
}

static void put_header(struct perf_data *data, bool disretc)
{
	struct file_header header = {
		.magic = FILE_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs = { ATTR_AT, sizeof(struct file_attr) },
		.data = { DATA_AT, 0 },
		.features = { 1U << FEATURE_AUXTRACE },
	};
	struct file_attr attr = {
		.attr = {
			.type = PMU_TYPE,
			.size = sizeof(struct perf_event_attr),
			.config = disretc ? NORETCOMP : 0,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_IDENTIFIER,
			.sample_period = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.mmap = 1,
			.comm = 1,
			.sample_id_all = 1,
		},
		.ids = { IDS_AT, sizeof(u64) },
	};
	static const u64 id = EVENT_ID;

	put(data, data->data, &header, sizeof(header));
	put(data, data->data, &id, sizeof(id));
	put(data, data->data, &attr, sizeof(attr));
}

static void put_info(struct perf_data *data)
{
	struct {
		struct perf_event_header header;
		u32 type;
		u32 reserved;
		u64 words[INFO_WORDS];
	} info = {
		.header = {
			.type = RECORD_AUXTRACE_INFO,
			.size = sizeof(info),
		},
		.type = AUXTRACE_INTEL_PT,
		.words = {
			[INFO_PMU_TYPE] = PMU_TYPE,
			[INFO_TSC_BIT] = 1U << 10,
			[INFO_NORETCOMP_BIT] = NORETCOMP,
			[INFO_MTC_BIT] = 1U << 9,
			[INFO_MTC_FREQ_BITS] = 0xfU << 14,
			[INFO_TSC_CTC_N] = WALK_TSC_NUM,
			[INFO_TSC_CTC_D] = WALK_TSC_DEN,
			[INFO_CYC_BIT] = 1U << 1,
			[INFO_MAX_NONTURBO_RATIO] = WALK_RATIO,
		},
	};

	put(data, data->data, &info, sizeof(info));
}

/* One section and one function over everything: perf wants a symbol. */
static void put_elf(struct perf_data *data)
{
	static const char names[32] = "\0.text\0.symtab\0.strtab\0code";
	u64 size = data->code_size - sizeof(Elf64_Ehdr), end = data->code_size;
	Elf64_Sym symbols[2] = { { 0 }, {
		.st_name = 23,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = sizeof(Elf64_Ehdr),
		.st_size = size,
	} };
	Elf64_Shdr sections[4] = { { 0 }, {
		.sh_name = 1, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = sizeof(Elf64_Ehdr), .sh_offset = sizeof(Elf64_Ehdr),
		.sh_size = size, .sh_addralign = 1,
	}, {
		.sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = end,
		.sh_size = sizeof(symbols), .sh_link = 3, .sh_info = 1,
		.sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym),
	}, {
		.sh_name = 15, .sh_type = SHT_STRTAB,
		.sh_offset = end + sizeof(symbols), .sh_size = sizeof(names),
		.sh_addralign = 1,
	} };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = end + sizeof(symbols) + sizeof(names),
		.e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4, .e_shstrndx = 3,
	};

	put(data, data->code, symbols, sizeof(symbols));
	put(data, data->code, names, sizeof(names));
	put(data, data->code, sections, sizeof(sections));
	rewind(data->code);
	put(data, data->code, &header, sizeof(header));
}

bool perf_data_begin(struct perf_data *data, const char *folder, bool disretc)
{
	static const Elf64_Ehdr room;
	char name[PERF_DATA_NAME];

	data->failed = false;
	snprintf(data->code_name, sizeof(data->code_name), "%s/code", folder);
	snprintf(name, sizeof(name), "%s/perf.data", folder);
	data->code = fopen(data->code_name, "w");
	data->data = fopen(name, "w");
	if (!data->code || !data->data) {
		fprintf(stderr, "random_perf: cannot write to %s: %m\n",
			folder);
		return false;
	}
	put(data, data->code, &room, sizeof(room));
	data->code_size = sizeof(room);
	put_header(data, disretc);
	put_info(data);
	return true;
}

static void put_comm(struct perf_data *data, u32 pid)
{
	struct {
		struct perf_event_header header;
		u32 pid, tid;
		char name[8];
		struct sample_id id;
	} comm = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(comm) },
		.pid = pid,
		.tid = pid,
		.name = "random",
		.id = { pid, pid, EVENT_ID },
	};

	put(data, data->data, &comm, sizeof(comm));
}

static void put_map(struct perf_data *data, u32 pid,
		    const struct region *region)
{
	struct {
		struct perf_event_header header;
		u32 pid, tid;
		u64 begin, size, offset;
		char name[PERF_DATA_NAME];
		struct sample_id id;
	} map = {
		.header = {
			.type = PERF_RECORD_MMAP,
			.misc = PERF_RECORD_MISC_USER,
			.size = sizeof(map),
		},
		.pid = pid,
		.tid = pid,
		.begin = region->base,
		.size = region->size,
		.offset = data->code_size,
		.id = { pid, pid, EVENT_ID },
	};

	memcpy(map.name, data->code_name, sizeof(map.name));
	put(data, data->data, &map, sizeof(map));
	put(data, data->code, region->bytes, region->size);
	data->code_size += region->size;
}

void perf_data_add(struct perf_data *data, u32 pid, const struct walk *walk)
{
	struct {
		struct perf_event_header header;
		u64 size, offset, reference;
		u32 index, tid, cpu, reserved;
	} trace = {
		.header = { .type = RECORD_AUXTRACE, .size = sizeof(trace) },
		.size = (walk->encode.size + 7) & ~7ULL,
		.index = pid,
		.tid = pid,
		.cpu = ~0U,
	};
	static const u64 padding;
	u32 i;

	put_comm(data, pid);
	for (i = 0; i < walk->program->nr_regions; i++) {
		if (!walk->program->regions[i].kernel)
			put_map(data, pid, &walk->program->regions[i]);
	}
	put(data, data->data, &trace, sizeof(trace));
	put(data, data->data, walk->encode.bytes, walk->encode.size);
	put(data, data->data, &padding, trace.size - walk->encode.size);
}

/* The index of traces that perf wants to know of, empty: they are records. */
static void put_index(struct perf_data *data)
{
	static const u64 none;
	struct file_section section = { .size = sizeof(none) };

	section.offset = (u64)ftell(data->data) + sizeof(section);
	put(data, data->data, &section, sizeof(section));
	put(data, data->data, &none, sizeof(none));
}

bool perf_data_end(struct perf_data *data)
{
	struct file_section section = { .offset = DATA_AT };

	put_elf(data);
	section.size = (u64)ftell(data->data) - section.offset;
	put_index(data);
	fseek(data->data, offsetof(struct file_header, data), SEEK_SET);
	put(data, data->data, &section, sizeof(section));
	data->failed |= fclose(data->code) != 0;
	data->failed |= fclose(data->data) != 0;
	return !data->failed;
}
