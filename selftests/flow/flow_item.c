// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the ground truth and record files into items that can be compared.
 * The two readers share only the item they make: a misreading in one must
 * not be able to hide one in the other. Runs in user space on the host.
 */
#include "flow_item.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Intel SDM Vol. 3C, "IA32_RTIT_CTL MSR". */
#define CTL_PWREVTEN	(1ULL << 4)
#define CTL_PTWEN	(1ULL << 12)
#define CTL_CYCTHRESH	(15ULL << 19)
#define CTL_PSBFREQ	(15ULL << 24)

static const char *const kind_names[FLOW_KIND_COUNT] = {
	[FLOW_END] = "end",
	[FLOW_COND] = "jcc",
	[FLOW_JUMP] = "jmp",
	[FLOW_CALL] = "call",
	[FLOW_JUMP_IND] = "jmp*",
	[FLOW_CALL_IND] = "call*",
	[FLOW_RET] = "ret",
	[FLOW_SYSCALL] = "syscall",
	[FLOW_SYSRET] = "sysret",
	[FLOW_IRET] = "iret",
	[FLOW_FAR] = "far",
	[FLOW_EVENT] = "event",
	[FLOW_ENABLE] = "enable",
	[FLOW_DISABLE] = "disable",
	[FLOW_PTWRITE] = "ptwrite",
	[FLOW_IDLE] = "idle",
	[FLOW_WAKE] = "wake",
	[FLOW_OVERFLOW] = "overflow",
	[FLOW_RESUME] = "resume",
	[FLOW_SYNC] = "sync",
	[FLOW_GAP] = "gap",
	[FLOW_BAD] = "malformed",
};

const char *flow_kind_name(unsigned int kind)
{
	return kind < FLOW_KIND_COUNT ? kind_names[kind] : "?";
}

/* Private and writable, so that the negative controls can change an entry. */
static bool map_file(struct flow_file *file, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(file, 0, sizeof(*file));
	file->path = path;
	if (fd < 0 || fstat(fd, &st) < 0) {
		fprintf(stderr, "compare: cannot open %s: %s\n", path,
			strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	file->map_size = (size_t)st.st_size;
	if (file->map_size) {
		file->map = mmap(NULL, file->map_size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_NORESERVE, fd, 0);
		if (file->map == MAP_FAILED) {
			fprintf(stderr, "compare: cannot map %s: %s\n", path,
				strerror(errno));
			close(fd);
			return false;
		}
		madvise(file->map, file->map_size, MADV_SEQUENTIAL);
	}
	close(fd);
	return true;
}

bool flow_open_truth(struct flow_file *file, const char *path)
{
	const struct truth_header *header;
	size_t bytes;

	if (!map_file(file, path))
		return false;
	header = file->map;
	if (file->map_size < sizeof(*header) || header->magic != TRUTH_MAGIC) {
		fprintf(stderr, "compare: %s is no truth file\n", path);
		flow_close(file);
		return false;
	}
	if (header->version != TRUTH_VERSION ||
	    header->entry_size != sizeof(struct truth_entry)) {
		fprintf(stderr,
			"compare: %s has version %u and %u bytes an entry, wanted %u and %zu\n",
			path, header->version, header->entry_size,
			TRUTH_VERSION, sizeof(struct truth_entry));
		flow_close(file);
		return false;
	}
	bytes = file->map_size - sizeof(*header);
	if (bytes % sizeof(struct truth_entry)) {
		fprintf(stderr, "compare: %s ends inside an entry\n", path);
		flow_close(file);
		return false;
	}
	file->entries = (char *)file->map + sizeof(*header);
	file->count = bytes / sizeof(struct truth_entry);
	return true;
}

bool flow_select_run(struct flow_file *file, unsigned int run)
{
	const struct truth_entry *entries = file->entries;
	size_t begin = file->count, end = file->count, i;
	unsigned int runs = 0;

	for (i = 0; i < file->count && runs <= run; i++) {
		if (entries[i].kind != TRUTH_MARK_ON)
			continue;
		runs++;
		if (runs == run)
			begin = i;
		else if (runs > run)
			end = i;
	}
	if (runs < run) {
		fprintf(stderr, "compare: %s has %u runs, there is no run %u\n",
			file->path, runs, run);
		return false;
	}
	file->entries = (struct truth_entry *)file->entries + begin;
	file->count = end - begin;
	return true;
}

bool flow_select_ctl(struct flow_file *file, uint64_t ctl)
{
	struct truth_entry *entries = file->entries;
	const uint64_t fields = CTL_CYCTHRESH | CTL_PSBFREQ;
	size_t begin = file->count, end = file->count, i;

	for (i = 0; i < file->count && end == file->count; i++) {
		if (entries[i].kind != TRUTH_MARK_ON)
			continue;
		if ((entries[i].to ^ ctl) & fields) {
			if (begin < i)
				end = i;
		} else if (begin == file->count) {
			begin = i;
		}
	}
	if (begin == file->count) {
		fprintf(stderr,
			"compare: %s has no run with PSBFreq and CycThresh of %#" PRIx64 "\n",
			file->path, ctl);
		return false;
	}
	file->entries = entries + begin;
	file->count = end - begin;
	return true;
}

/*
 * A records file starts with a header in the shape of a record, of type 0:
 * kind is the format's version, flags the size of a record, ip the magic.
 */
#define RECORDS_MAGIC	0x534345525450494bULL	/* "KIPTRECS" */

static bool check_records_header(const struct flow_file *file)
{
	const struct kipt_record *header = file->map;

	if (file->map_size < sizeof(*header) || header->type != 0 ||
	    header->ip != RECORDS_MAGIC) {
		fprintf(stderr, "compare: %s is no records file\n", file->path);
		return false;
	}
	if (header->kind != KIPT_RECORD_VERSION ||
	    header->flags != sizeof(*header)) {
		fprintf(stderr,
			"compare: %s has version %u and %u bytes a record, wanted %u and %zu\n",
			file->path, header->kind, header->flags,
			KIPT_RECORD_VERSION, sizeof(*header));
		return false;
	}
	if (file->map_size % sizeof(*header)) {
		fprintf(stderr, "compare: %s ends inside a record\n",
			file->path);
		return false;
	}
	return true;
}

bool flow_open_records(struct flow_file *file, const char *path)
{
	if (!map_file(file, path))
		return false;
	if (!check_records_header(file)) {
		flow_close(file);
		return false;
	}
	file->entries = (struct kipt_record *)file->map + 1;
	file->count = file->map_size / sizeof(struct kipt_record) - 1;
	return true;
}

void flow_close(struct flow_file *file)
{
	if (file->map)
		munmap(file->map, file->map_size);
	memset(file, 0, sizeof(*file));
}

static const uint8_t truth_branches[TRUTH_EXCEPTION + 1] = {
	[TRUTH_COND] = FLOW_COND,
	[TRUTH_JUMP] = FLOW_JUMP,
	[TRUTH_CALL] = FLOW_CALL,
	[TRUTH_JUMP_IND] = FLOW_JUMP_IND,
	[TRUTH_CALL_IND] = FLOW_CALL_IND,
	[TRUTH_RET] = FLOW_RET,
	[TRUTH_SYSCALL] = FLOW_SYSCALL,
	[TRUTH_SYSRET] = FLOW_SYSRET,
	[TRUTH_IRET] = FLOW_IRET,
	[TRUTH_FAR] = FLOW_FAR,
	[TRUTH_INTERRUPT] = FLOW_EVENT,
	[TRUTH_EXCEPTION] = FLOW_EVENT,
};

/* From TRUTH_OVERFLOW to TRUTH_RESUME nothing was written to the trace. */
static void truth_skip_overflow(struct flow_cursor *cursor,
				struct flow_item *item)
{
	const struct truth_entry *entries = cursor->file->entries;

	item->kind = FLOW_OVERFLOW;
	item->flags = FLOW_NO_TO;
	while (cursor->next < cursor->file->count) {
		const struct truth_entry *e = &entries[cursor->next++];

		if (e->kind == TRUTH_RESUME) {
			item->to = e->to;
			item->flags = 0;
			return;
		}
	}
}

static bool is_disable_by_branch(uint32_t kind)
{
	return kind >= TRUTH_COND && kind <= TRUTH_FAR;
}

/* The bits of CR3 below the address of the page table are no part of a space. */
static void set_space(struct flow_cursor *cursor, uint64_t cr3)
{
	cursor->space = cr3 & ~0xfffULL & ~(1ULL << 63);
	cursor->knows_space = true;
}

static void set_item_space(const struct flow_cursor *cursor, struct flow_item *item)
{
	item->space = cursor->space;
	if (!cursor->knows_space)
		item->flags |= FLOW_NO_SPACE;
}

/* Entries that are no branches. False: pass over it. */
static bool truth_mark(struct flow_cursor *cursor,
		       const struct truth_entry *e, struct flow_item *item)
{
	switch (e->kind) {
	case TRUTH_ENABLE:
		item->kind = FLOW_ENABLE;
		item->flags = FLOW_NO_FROM;
		return true;
	case TRUTH_DISABLE:
		item->kind = FLOW_DISABLE;
		item->aux = is_disable_by_branch(e->aux);
		return true;
	case TRUTH_PTWRITE:
		item->kind = FLOW_PTWRITE;
		return cursor->ctl & CTL_PTWEN;
	case TRUTH_IDLE:
		item->kind = FLOW_IDLE;
		return cursor->ctl & CTL_PWREVTEN;
	case TRUTH_WAKE:
		item->kind = FLOW_WAKE;
		return cursor->ctl & CTL_PWREVTEN;
	case TRUTH_OVERFLOW:
		truth_skip_overflow(cursor, item);
		return true;
	case TRUTH_MARK_ON:
		cursor->ctl = e->to;
		/* CR3 is written without a note while TraceEn is 0. */
		cursor->knows_space = false;
		return false;
	case TRUTH_MARK_OFF:
	case TRUTH_SUM:
		return false;
	case TRUTH_CR3:
		set_space(cursor, e->to);
		return false;
	default:
		item->kind = FLOW_BAD;
		return true;
	}
}

/* Return: @ip as packets of a CPU without LIP have it, an offset in its segment. */
static uint64_t truth_address(const struct flow_cursor *cursor, uint64_t ip)
{
	if (ip >= cursor->based_first && ip <= cursor->based_last)
		return ip - cursor->based_first;
	return ip;
}

struct flow_item flow_truth_next(struct flow_cursor *cursor)
{
	const struct truth_entry *entries = cursor->file->entries;
	struct flow_item item = { .kind = FLOW_END };

	while (cursor->next < cursor->file->count) {
		const struct truth_entry *e = &entries[cursor->next];

		item.index = cursor->next++;
		item.flags = 0;
		item.aux = e->aux;
		item.from = truth_address(cursor, e->from);
		item.to = truth_address(cursor, e->to);
		if (e->kind <= TRUTH_EXCEPTION && truth_branches[e->kind]) {
			item.kind = truth_branches[e->kind];
			set_item_space(cursor, &item);
			return item;
		}
		if (truth_mark(cursor, e, &item))
			return item;
	}
	item.kind = FLOW_END;
	item.index = cursor->file->count;
	return item;
}

static const uint8_t record_branches[KIPT_BRANCH_KIND_MAX + 1] = {
	[KIPT_BRANCH_COND] = FLOW_COND,
	[KIPT_BRANCH_JUMP] = FLOW_JUMP,
	[KIPT_BRANCH_CALL] = FLOW_CALL,
	[KIPT_BRANCH_JUMP_IND] = FLOW_JUMP_IND,
	[KIPT_BRANCH_CALL_IND] = FLOW_CALL_IND,
	[KIPT_BRANCH_RET] = FLOW_RET,
	[KIPT_BRANCH_SYSCALL] = FLOW_SYSCALL,
	[KIPT_BRANCH_SYSRET] = FLOW_SYSRET,
	[KIPT_BRANCH_IRET] = FLOW_IRET,
	[KIPT_BRANCH_FAR] = FLOW_FAR,
	[KIPT_BRANCH_EVENT] = FLOW_EVENT,
	[KIPT_BRANCH_VMEXIT] = FLOW_EVENT,
};

/*
 * MWAIT and PWRE wait for the EXSTOP they belong to: the three are one sleep
 * (Intel SDM Vol. 3C, "Power Event Tracing"). A state that is not what the
 * hints ask for makes the item malformed, so that it matches nothing; the CPU
 * may choose another sub-state. Without MWAIT the state is all there is: that of
 * HLT, or of an MWAIT that an event ended at once.
 */
static bool record_power(struct flow_cursor *cursor,
			 const struct kipt_record *r, struct flow_item *item)
{
	uint32_t state;

	switch (r->kind) {
	case KIPT_POWER_MWAIT:
		cursor->power.mwait = true;
		cursor->power.hints = r->aux;
		return false;
	case KIPT_POWER_PWRE:
		cursor->power.pwre = true;
		cursor->power.state = r->aux;
		return false;
	case KIPT_POWER_EXSTOP:
		state = cursor->power.state & 0xf0;
		item->aux = cursor->power.mwait ? cursor->power.hints : ~state;
		item->kind = cursor->power.pwre &&
			     (!cursor->power.mwait ||
			      state == (cursor->power.hints & 0xf0)) ?
			     FLOW_IDLE : FLOW_BAD;
		if (r->flags & KIPT_RF_NO_IP)
			item->flags |= FLOW_NO_FROM | FLOW_NO_AUX;
		memset(&cursor->power, 0, sizeof(cursor->power));
		return true;
	case KIPT_POWER_PWRX:
		item->kind = FLOW_WAKE;
		item->aux = (uint32_t)r->value;
		return true;
	default:
		item->kind = FLOW_BAD;
		return true;
	}
}

/* Records that are no branches. False: pass over it. */
static bool record_mark(struct flow_cursor *cursor,
			const struct kipt_record *r, struct flow_item *item)
{
	switch (r->type) {
	case KIPT_RECORD_ENABLE:
		item->kind = r->kind == KIPT_ENABLE_PGE ? FLOW_ENABLE :
							 FLOW_RESUME;
		item->flags = FLOW_NO_FROM;
		item->to = r->ip;
		return true;
	case KIPT_RECORD_DISABLE:
		item->kind = FLOW_DISABLE;
		item->aux = r->kind == KIPT_DISABLE_BRANCH;
		return true;
	case KIPT_RECORD_PTWRITE:
		item->kind = FLOW_PTWRITE;
		return true;
	case KIPT_RECORD_POWER:
		return record_power(cursor, r, item);
	case KIPT_RECORD_GAP:
		item->kind = FLOW_GAP;
		item->aux = r->kind;
		item->flags = FLOW_NO_FROM | FLOW_NO_TO;
		/* A PIP may be missing, too. */
		cursor->knows_space = false;
		return true;
	case KIPT_RECORD_CPU:
		cursor->skipping = cursor->cpu >= 0 &&
				   r->aux != (uint32_t)cursor->cpu;
		return false;
	case KIPT_RECORD_CONTEXT:
		set_space(cursor, r->value);
		return false;
	case KIPT_RECORD_TASK:
	case KIPT_RECORD_MODE:
	case KIPT_RECORD_TSX:
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CBR:
	case KIPT_RECORD_EVENT:
	case KIPT_RECORD_EVENT_DATA:
	case KIPT_RECORD_VMCS:
	case KIPT_RECORD_TRACESTOP:
	case KIPT_RECORD_INSN:
		return false;
	case KIPT_RECORD_SYNC:
		item->kind = FLOW_SYNC;
		item->flags = FLOW_NO_FROM;
		item->to = r->ip;
		return !(r->flags & KIPT_RF_NO_IP);
	default:
		item->kind = FLOW_BAD;
		return true;
	}
}

struct flow_item flow_record_next(struct flow_cursor *cursor)
{
	const struct kipt_record *entries = cursor->file->entries;
	struct flow_item item = { .kind = FLOW_END };

	while (cursor->next < cursor->file->count) {
		const struct kipt_record *r = &entries[cursor->next];

		item.index = cursor->next++;
		if (cursor->skipping && r->type != KIPT_RECORD_CPU)
			continue;
		item.flags = 0;
		if (r->flags & KIPT_RF_NO_IP)
			item.flags |= FLOW_NO_FROM;
		if (r->flags & KIPT_RF_NO_VALUE)
			item.flags |= FLOW_NO_TO;
		item.aux = r->aux;
		item.from = r->ip;
		item.to = r->value;
		if (r->type == KIPT_RECORD_BRANCH) {
			item.kind = r->kind <= KIPT_BRANCH_KIND_MAX &&
				    record_branches[r->kind] ?
				    record_branches[r->kind] : FLOW_BAD;
			set_item_space(cursor, &item);
			return item;
		}
		if (record_mark(cursor, r, &item))
			return item;
	}
	item.kind = FLOW_END;
	item.index = cursor->file->count;
	return item;
}
