// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives PT by hand in the test machine. Owns the msr devices, the buffer and
 * the little stretch of assembler that a trace begins and ends in, so that
 * every address in it is known. Root, one thread pinned to its CPU.
 */
#include "guest_pt.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "packet_list.h"

uint8_t *guest_page;
uint64_t guest_page_pa;
int guest_cpu;
static int msr_fd;
static char packets[8u << 20];

/*
 * guest_switch(fd, &on, fn, &off): pwrite(fd, on, 8, RTIT_CTL), fn(), and
 * pwrite(fd, off, 8, RTIT_CTL), with nothing else that branches.
 */
__asm__(
"	.text\n"
"	.globl guest_switch, guest_after_on, guest_call, guest_after_call\n"
"guest_switch:\n"
"	push %rbx\n"
"	push %rbp\n"
"	push %r12\n"
"	mov %rdi, %rbx\n"
"	mov %rdx, %rbp\n"
"	mov %rcx, %r12\n"
"	mov $8, %edx\n"
"	mov $0x570, %r10d\n"
"	mov $18, %eax\n"
"	syscall\n"
"guest_after_on:\n"
"guest_call:\n"
"	call *%rbp\n"
"guest_after_call:\n"
"	mov %rbx, %rdi\n"
"	mov %r12, %rsi\n"
"	mov $8, %edx\n"
"	mov $0x570, %r10d\n"
"	mov $18, %eax\n"
"	syscall\n"
"	pop %r12\n"
"	pop %rbp\n"
"	pop %rbx\n"
"	ret\n");

void guest_switch(int fd, const uint64_t *on, void (*fn)(void),
		  const uint64_t *off);

static bool physical_address(const void *p, uint64_t *pa)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	bool ok = fd >= 0 && pread(fd, &entry, 8, (uintptr_t)p / 4096 * 8) == 8;

	if (fd >= 0)
		close(fd);
	*pa = (entry & ((1ULL << 55) - 1)) * 4096;
	return ok && (entry >> 63) && *pa;
}

static bool get_page(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	if (f) {
		fprintf(f, "4\n");
		fclose(f);
	}
	guest_page = mmap(NULL, GUEST_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB |
			  MAP_POPULATE, -1, 0);
	if (guest_page == MAP_FAILED)
		return false;
	mlock(guest_page, GUEST_PAGE);
	return physical_address(guest_page, &guest_page_pa);
}

static int open_msr(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	return open(path, O_RDWR);
}

bool guest_open(int cpu, const char **why)
{
	cpu_set_t set;

	guest_cpu = cpu;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	*why = "cannot pin to the CPU";
	if (sched_setaffinity(0, sizeof(set), &set))
		return false;
	*why = "no msr device; modprobe msr as root";
	msr_fd = open_msr(cpu);
	if (msr_fd < 0)
		return false;
	*why = "no huge page";
	return get_page();
}

bool guest_rdmsr(uint32_t msr, uint64_t *value)
{
	return pread(msr_fd, value, 8, msr) == 8;
}

bool guest_wrmsr(uint32_t msr, uint64_t value)
{
	return pwrite(msr_fd, &value, 8, msr) == 8;
}

bool guest_wrmsr_on(int cpu, uint32_t msr, uint64_t value)
{
	int fd = open_msr(cpu);
	bool ok = fd >= 0 && pwrite(fd, &value, 8, msr) == 8;

	if (fd >= 0)
		close(fd);
	return ok;
}

bool guest_output(bool psb)
{
	memset(guest_page + GUEST_TRACE, 0, GUEST_TRACE);
	return guest_wrmsr(RTIT_OUTPUT_BASE, guest_page_pa + GUEST_TRACE) &&
	       guest_wrmsr(RTIT_OUTPUT_MASK_PTRS, GUEST_TRACE - 1) &&
	       guest_wrmsr(RTIT_STATUS,
			   psb ? 0 : 1ULL << RTIT_STATUS_BYTECNT_SHIFT);
}

size_t guest_trace_length(void)
{
	uint64_t pointers = 0;

	guest_rdmsr(RTIT_OUTPUT_MASK_PTRS, &pointers);
	return pointers >> RTIT_MASK_PTRS_OFFSET_SHIFT;
}

/* LastIP lives on from run to run, in the CPU as here; a PSB clears it. */
void guest_list(size_t len)
{
	static uint64_t last_ip;

	packet_list(guest_page + GUEST_TRACE, len, &last_ip, packets,
		    sizeof(packets));
}

void guest_run(uint64_t ctl, void (*fn)(void))
{
	uint64_t on = ctl | RTIT_CTL_TRACEEN;
	uint64_t off = 0;

	guest_switch(msr_fd, &on, fn, &off);
	guest_list(guest_trace_length());
}

const char *guest_packets(void)
{
	return packets;
}

uint64_t kernel_symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char symbol[256];
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %255s", &address, symbol) == 2 &&
		    strcmp(symbol, name) == 0) {
			fclose(f);
			return address;
		}
	}
	if (f)
		fclose(f);
	return 0;
}

static size_t word_length(const char *s)
{
	return strcspn(s, " ");
}

static bool word_matches(const char *p, size_t pn, const char *w, size_t wn)
{
	while (pn && *p != '*') {
		if (!wn || *p != *w)
			return false;
		p++, pn--, w++, wn--;
	}
	if (!pn)
		return !wn;
	for (size_t skip = 0; skip <= wn; skip++)
		if (word_matches(p + 1, pn - 1, w + skip, wn - skip))
			return true;
	return false;
}

static const char *skip_word(const char *s)
{
	s += word_length(s);
	return *s ? s + 1 : s;
}

static bool begins_or_ends(const char *word)
{
	return !strncmp(word, "TIP.PG", 6) || !strncmp(word, "TraceStop", 9);
}

/* What follows a wildcard in a pattern, at this word or a later one. */
static bool match_later(const char *pattern, const char *packets, bool on)
{
	while (*packets && !(on && begins_or_ends(packets))) {
		if (packets_match(pattern, packets))
			return true;
		packets = skip_word(packets);
	}
	return packets_match(pattern, packets);
}

bool packets_match(const char *pattern, const char *packets)
{
	while (*pattern) {
		size_t n = word_length(pattern);

		if (n == 3 && strncmp(pattern, "...", 3) == 0)
			return match_later(skip_word(pattern), packets, false);
		if (n == 1 && *pattern == '~')
			return match_later(skip_word(pattern), packets, true);
		if (!*packets ||
		    !word_matches(pattern, n, packets, word_length(packets)))
			return false;
		pattern = skip_word(pattern);
		packets = skip_word(packets);
	}
	return !*packets;
}
