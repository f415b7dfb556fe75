// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the module has ready for the case that the machine dies, as long as it
 * lives: the pages of uapi/linux/kipt_crash.h are whole and chained, say what
 * a session is, and are gone with it. They are read by physical address, as a
 * dump's would be, from /proc/kcore. Needs root, PT and the module loaded;
 * skips elsewhere.
 */
#include <elf.h>
#include <stdio.h>
#include <sys/klog.h>
#include <sys/utsname.h>

#include "kipt_test.h"
#include <linux/kipt_crash.h>

#define HEADER_LINE	"crash header at"
#define KPROBES		"/sys/kernel/debug/kprobes/list"
#define LOG_BYTES	(1 << 20)
#define LOG_READ_ALL	3
#define KERNEL_IMAGE	0xffffffff80000000ULL

/* A page of crash data: its head is the same for all kinds, the rest is not. */
union page {
	struct kipt_crash_page page;
	struct kipt_crash_header header;
	struct kipt_crash_cpu cpu;
	struct kipt_crash_regions more;
	uint8_t bytes[KIPT_CRASH_PAGE_BYTES];
};

static const char *why_not(void)
{
	return access("/proc/kcore", R_OK) ? "/proc/kcore cannot be read" : NULL;
}

/*
 * Return: where @part has @size bytes at @address, from its begin; ~0 if it has not.
 * Of the kernel's own image parts are freed and belong to others: there, they are not
 * mapped.
 */
static uint64_t offset_in(const Elf64_Phdr *part, bool physical,
			  uint64_t address, size_t size)
{
	uint64_t begin = physical ? part->p_paddr : part->p_vaddr;

	if (part->p_type != PT_LOAD || begin == ~0ULL ||
	    (physical && part->p_vaddr >= KERNEL_IMAGE) || address < begin ||
	    address + size > begin + part->p_memsz)
		return ~0ULL;
	return address - begin;
}

/* Return: whether @size bytes of memory could be read. */
static bool read_kcore(bool physical, uint64_t address, void *to, size_t size)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr elf;
	Elf64_Phdr part;
	bool done = false;
	uint64_t offset;
	int i;

	if (fd < 0 || pread(fd, &elf, sizeof(elf), 0) != sizeof(elf))
		elf.e_phnum = 0;
	for (i = 0; i < elf.e_phnum && !done; i++) {
		if (pread(fd, &part, sizeof(part), elf.e_phoff + i *
			  sizeof(part)) != sizeof(part))
			break;
		offset = offset_in(&part, physical, address, size);
		done = offset != ~0ULL &&
		       pread(fd, to, size, part.p_offset + offset) ==
			       (ssize_t)size;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

static bool read_memory(uint64_t address, void *to, size_t size)
{
	return read_kcore(true, address, to, size);
}

static bool read_mapped(uint64_t address, void *to, size_t size)
{
	return read_kcore(false, address, to, size);
}

/* Return: address of a variable of the module; 0 if the kernel does not show it. */
static uint64_t module_symbol(const char *symbol)
{
	char line[256], name[64];
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;

	snprintf(name, sizeof(name), " %s\t[kipt]\n", symbol);
	while (file && !address && fgets(line, sizeof(line), file))
		if (strstr(line, name))
			address = strtoull(line, NULL, 16);
	if (file)
		fclose(file);
	return address;
}

/* Return: whether the log of the kernel has @words. */
static bool is_logged(const char *words)
{
	char *log = malloc(LOG_BYTES);
	int length = log ? klogctl(LOG_READ_ALL, log, LOG_BYTES - 1) : 0;
	bool found = false;

	if (length > 0) {
		log[length] = 0;
		found = strstr(log, words);
	}
	free(log);
	return found;
}

/*
 * Return: address of the header, read from the module's memory, as a reader of a dump
 * checks it. The kernel log shows the address only when the machine crashes.
 */
static uint64_t anchored_address(void)
{
	struct kipt_crash_anchor anchor = {};
	uint64_t at = module_symbol("anchor");

	return at && read_mapped(at, &anchor, sizeof(anchor)) ? anchor.address : 0;
}

/* As its definition has it, a bit at a time. */
static uint32_t crc32(const void *data, size_t size)
{
	const uint8_t *byte = data;
	uint32_t crc = ~0U;
	int bit;

	for (; size; size--) {
		crc ^= *byte++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static bool page_is_whole(const union page *page)
{
	union page copy = *page;

	if (memcmp(page->page.magic, KIPT_CRASH_MAGIC, 16) ||
	    page->page.version != KIPT_CRASH_VERSION ||
	    page->page.size < sizeof(page->page) ||
	    page->page.size > KIPT_CRASH_PAGE_BYTES)
		return false;
	copy.page.crc = 0;
	if (page->page.kind == KIPT_CRASH_CPU)
		memset(&copy.cpu.stop, 0, sizeof(copy.cpu.stop));
	return crc32(&copy, page->page.size) == page->page.crc;
}

static bool stop_is_whole(const struct kipt_crash_stop *stop)
{
	return stop->crc == crc32(&stop->state, sizeof(*stop) -
				  offsetof(struct kipt_crash_stop, state));
}

static bool read_page(uint64_t address, uint32_t kind, union page *page)
{
	return address % KIPT_CRASH_PAGE_BYTES == 0 &&
	       read_memory(address, page, sizeof(*page)) &&
	       page_is_whole(page) && page->page.kind == kind;
}

/* The bytes of a CPU's regions, in all of its pages; 0 if one is damaged. */
static uint64_t bytes_of_regions(const struct kipt_crash_cpu *cpu)
{
	const struct kipt_crash_region *region = cpu->regions;
	uint32_t here = cpu->nr_here, seen = 0, i;
	uint64_t more = cpu->page.more, bytes = 0;
	union page page;

	for (;;) {
		for (i = 0; i < here; i++)
			bytes += region[i].size;
		seen += here;
		if (seen >= cpu->nr_regions)
			break;
		if (!read_page(more, KIPT_CRASH_REGIONS, &page) ||
		    page.page.id != cpu->page.id)
			return 0;
		region = page.more.regions;
		here = page.more.nr_here;
		more = page.page.more;
	}
	/* After the regions come the logs that were kept beside the trace. */
	return seen == cpu->nr_regions &&
	       read_page(more, KIPT_CRASH_LOGS, &page) && !page.page.more ?
	       bytes : 0;
}

/* Is a probe there and not turned off? */
static bool is_probed(const char *symbol)
{
	char line[256], name[64];
	FILE *file = fopen(KPROBES, "re");
	bool found = false;

	snprintf(name, sizeof(name), "  %s+0x", symbol);
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, name) && !strstr(line, "[DISABLED]");
	if (file)
		fclose(file);
	return found;
}

static bool kernel_has(const char *symbol)
{
	char line[256], name[64];
	FILE *file = fopen("/proc/kallsyms", "re");
	bool found = false;

	snprintf(name, sizeof(name), " %s\n", symbol);
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, name);
	if (file)
		fclose(file);
	return found;
}

/* The header, where it is, and the page of a CPU. */
struct pages {
	uint64_t address;
	union page header;
	union page cpu;
};

FIXTURE(crash)
{
	struct kipt_nl nl;
	struct kipt_want want;
	struct pages pages;
	int id;
};

FIXTURE_SETUP(crash)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	SKIP_IF(why_not());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
	self->pages.address = anchored_address();
	if (!self->pages.address)
		SKIP(return, "the kernel does not show where the module's memory is");
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(crash)
{
	kipt_nl_close(&self->nl);
}

static bool read_header(struct pages *pages)
{
	return read_page(pages->address, KIPT_CRASH_HEADER, &pages->header);
}

/* The one CPU there is. */
static bool read_cpu(struct pages *pages)
{
	return read_header(pages) && pages->header.header.nr_cpus == 1 &&
	       read_page(pages->header.page.next, KIPT_CRASH_CPU,
			 &pages->cpu) &&
	       pages->cpu.page.id == pages->header.page.id &&
	       stop_is_whole(&pages->cpu.cpu.stop);
}

TEST_F(crash, header_is_where_the_module_says)
{
	struct kipt_crash_event none = {};
	struct utsname names;

	ASSERT_NE(0, self->pages.address);
	ASSERT_TRUE(read_header(&self->pages));
	ASSERT_EQ(0, memcmp(&self->pages.header.header.event, &none, sizeof(none)));
	ASSERT_EQ(0, uname(&names));
	EXPECT_STREQ(names.release, (char *)self->pages.header.header.release);
	ASSERT_NE(0, self->pages.header.header.tsc_khz);
	ASSERT_NE(0, self->pages.header.header.layout.vmcoreinfo);
}

TEST_F(crash, pages_say_what_a_session_is)
{
	const struct kipt_crash_cpu *cpu = &self->pages.cpu.cpu;

	ASSERT_TRUE(read_cpu(&self->pages));
	EXPECT_EQ(0, cpu->page.next);
	EXPECT_EQ(0, cpu->page.number);
	EXPECT_EQ((uint32_t)self->id, cpu->session);
	EXPECT_EQ(CTL_BASIC, cpu->ctl & CTL_BASIC);
	EXPECT_EQ(SIZE_USUAL, cpu->size);
	EXPECT_EQ(SIZE_USUAL, bytes_of_regions(cpu));
	EXPECT_EQ(KIPT_CRASH_NOT_TRACED, cpu->stop.state);
	EXPECT_EQ(0, cpu->stop.head);
	EXPECT_EQ(0, cpu->started);
}

TEST_F(crash, pages_know_whether_a_cpu_traces)
{
	const struct kipt_crash_cpu *cpu = &self->pages.cpu.cpu;
	uint64_t first;

	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	EXPECT_EQ(KIPT_CRASH_RUNNING, cpu->stop.state);
	first = cpu->started;
	EXPECT_NE(0, first);
	pin_to(0);
	work(1000);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	EXPECT_EQ(KIPT_CRASH_NOT_TRACED, cpu->stop.state);
	EXPECT_LT(0, cpu->stop.head);
	EXPECT_EQ(kipt_cpu_bytes(&self->nl, self->id, 0),
		  cpu->stop.head - cpu->stop.tail);
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	EXPECT_EQ(KIPT_CRASH_RUNNING, cpu->stop.state);
	EXPECT_LT(first, cpu->started);
}

/* Nobody needs physical addresses before the machine crashes. */
TEST_F(crash, log_does_not_say_where_the_header_is)
{
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_FALSE(is_logged(HEADER_LINE));
}

/* As long as the ring was not written round. */
TEST_F(crash, cookie_is_at_the_end)
{
	const struct kipt_crash_cpu *cpu = &self->pages.cpu.cpu;
	uint8_t end[KIPT_CRASH_COOKIE], none[KIPT_CRASH_COOKIE] = {};
	const struct kipt_crash_region *last;

	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	if (cpu->page.more || cpu->stop.tail)
		SKIP(return, "the buffer is in very small pieces, or full");
	last = &cpu->regions[cpu->nr_here - 1];
	ASSERT_TRUE(read_memory(last->address + last->size - sizeof(end), end,
				sizeof(end)));
	EXPECT_EQ(0, memcmp(end, cpu->cookie, sizeof(end)));
	EXPECT_NE(0, memcmp(end, none, sizeof(end)));
}

TEST_F(crash, trace_is_where_the_pages_say)
{
	static const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82 };
	uint8_t start[sizeof(psb)];

	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	pin_to(0);
	work(10);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	if (self->pages.cpu.cpu.stop.tail)
		SKIP(return, "the ring was written round");
	ASSERT_TRUE(read_memory(self->pages.cpu.cpu.regions[0].address, start,
				sizeof(start)));
	EXPECT_EQ(0, memcmp(start, psb, sizeof(psb)));
}

TEST_F(crash, pages_are_gone_with_the_session)
{
	ASSERT_TRUE(read_cpu(&self->pages));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	ASSERT_TRUE(read_header(&self->pages));
	EXPECT_EQ(0, self->pages.header.header.nr_cpus);
	EXPECT_EQ(0, self->pages.header.page.next);
	EXPECT_TRUE(memory_is_free(&self->nl));
}

/* Made and deleted in another order: the chain has those that are left. */
TEST_F(crash, chain_has_all_sessions)
{
	struct kipt_want other = self->want;
	int id;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "there is one CPU only");
	other.cpus = "1";
	id = kipt_session_new(&self->nl, &other);
	ASSERT_LT(0, id);
	ASSERT_TRUE(read_header(&self->pages));
	ASSERT_EQ(2, self->pages.header.header.nr_cpus);
	ASSERT_TRUE(read_page(self->pages.header.page.next, KIPT_CRASH_CPU,
			      &self->pages.cpu));
	EXPECT_EQ(1, self->pages.cpu.page.number);
	ASSERT_TRUE(read_page(self->pages.cpu.page.next, KIPT_CRASH_CPU,
			      &self->pages.cpu));
	EXPECT_EQ(0, self->pages.cpu.page.number);
	EXPECT_EQ(0, self->pages.cpu.page.next);
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	ASSERT_TRUE(read_cpu(&self->pages));
	EXPECT_EQ(1, self->pages.cpu.page.number);
}

/* Read while sessions come and go, a page is whole but for a moment. */
TEST_F(crash, chain_is_whole_while_sessions_come_and_go)
{
	struct kipt_want other = self->want;
	pid_t child;
	int i, tries, good = 0, once = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "there is one CPU only");
	child = fork();
	other.cpus = "1";
	other.size = SIZE_MIN;
	for (; !child;) {
		int id = kipt_session_new(&self->nl, &other);

		if (id < 0 || kipt_session_start(&self->nl, id) ||
		    kipt_session_del(&self->nl, id))
			_exit(1);
	}
	for (i = 0; i < 200; i++) {
		/*
		 * It is sealed anew within microseconds, unless a hypervisor holds the
		 * CPU that does it: what is not whole is read again.
		 */
		for (tries = 0; tries < 100 && !read_header(&self->pages); tries++)
			wait_ms(1);
		good += tries < 100;
		once += !tries;
	}
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, &i, 0));
	EXPECT_TRUE(WIFSIGNALED(i));
	EXPECT_EQ(200, good);
	EXPECT_LE(150, once);
}

static bool all_are_probed(bool wanted)
{
	static const char *const symbols[] = {
		"oops_enter", "panic", "vpanic", "__crash_kexec", "find_bug",
		"__warn_printk", "handle_stack_overflow", "report_bug_entry",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(symbols); i++)
		if (is_probed(symbols[i]) != wanted &&
		    (!wanted || kernel_has(symbols[i])))
			return false;
	return true;
}

/* Nobody else pays for them; and none is where the kernel prints. */
TEST_F(crash, hooks_are_there_while_a_session_is_armed)
{
	struct kipt_want want = self->want;
	int id, i;

	if (access(KPROBES, R_OK))
		SKIP(return, "%s cannot be read", KPROBES);
	EXPECT_TRUE(all_are_probed(false));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	want.flags = KIPT_SESSION_FLAGS_ARMED | KIPT_SESSION_FLAGS_DETACHED;
	id = kipt_session_new(&self->nl, &want);
	ASSERT_LT(0, id);
	EXPECT_TRUE(all_are_probed(true));
	EXPECT_FALSE(is_probed("_printk"));
	EXPECT_FALSE(is_probed("__warn"));
	EXPECT_FALSE(is_probed("add_taint"));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	/* A work item takes them away. */
	for (i = 0; i < 500 && !all_are_probed(false); i++)
		usleep(10000);
	EXPECT_TRUE(all_are_probed(false));
}

#include "kipt_main.h"
