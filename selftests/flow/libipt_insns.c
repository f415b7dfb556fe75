// SPDX-License-Identifier: GPL-2.0-only
/*
 * libipt_insns TRACE.pt PAGES...: decodes a raw trace with libipt, which
 * nobody here wrote, and prints how many instructions it returned and the
 * hash over their addresses, as "insns N hash H errors E". PAGES is the
 * stem of a pair PAGES.addr (u64 page addresses) and PAGES.dump (4 KiB each).
 * Exits 1 on any decoding error. Runs in user space on the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <intel-pt.h>

#define PAGE		4096ULL
#define HASH_START	1469598103934665603ULL
#define HASH_PRIME	1099511628211ULL
#define ERRORS_SHOWN	10

/**
 * struct page - 4 KiB of code
 * @address: where it was
 * @bytes: its content
 */
struct page {
	uint64_t address;
	const uint8_t *bytes;
};

/**
 * struct pages - all code there is, sorted by address
 * @list: the pages
 * @count: how many
 */
struct pages {
	struct page *list;
	size_t count;
};

static void *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "libipt_insns: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	*size = (size_t)st.st_size;
	map = mmap(NULL, *size ? *size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		fprintf(stderr, "libipt_insns: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	close(fd);
	return map;
}

static int by_address(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void add_pages(struct pages *pages, const char *stem)
{
	size_t addr_size, dump_size, n, i;
	const uint64_t *addresses;
	const uint8_t *dump;
	char path[4096];

	snprintf(path, sizeof(path), "%s.addr", stem);
	addresses = map_file(path, &addr_size);
	snprintf(path, sizeof(path), "%s.dump", stem);
	dump = map_file(path, &dump_size);
	n = addr_size / sizeof(*addresses);
	if (dump_size != n * PAGE) {
		fprintf(stderr, "libipt_insns: %s: %zu bytes for %zu pages\n",
			path, dump_size, n);
		exit(2);
	}
	pages->list = realloc(pages->list,
			      (pages->count + n + 1) * sizeof(*pages->list));
	if (!pages->list)
		exit(2);
	for (i = 0; i < n; i++) {
		pages->list[pages->count].address = addresses[i];
		pages->list[pages->count++].bytes = dump + i * PAGE;
	}
	qsort(pages->list, pages->count, sizeof(*pages->list), by_address);
}

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		     uint64_t ip, void *context)
{
	const struct pages *pages = context;
	struct page key = { .address = ip & ~(PAGE - 1) };
	const struct page *page = bsearch(&key, pages->list, pages->count,
					  sizeof(*pages->list), by_address);
	size_t left = PAGE - (ip & (PAGE - 1));

	(void)asid;
	if (!page)
		return -pte_nomap;
	if (size > left)
		size = left;
	memcpy(buffer, page->bytes + (ip & (PAGE - 1)), size);
	return (int)size;
}

/**
 * struct tally - what was decoded
 * @insns: instructions
 * @hash: over their addresses
 * @errors: times libipt lost its way
 */
struct tally {
	uint64_t insns;
	uint64_t hash;
	uint64_t errors;
};

static void report_error(struct pt_insn_decoder *decoder, int status,
			 uint64_t ip, struct tally *tally)
{
	uint64_t offset = 0;

	pt_insn_get_offset(decoder, &offset);
	if (tally->errors++ < ERRORS_SHOWN)
		printf("libipt: %s at offset %" PRIx64 ", ip %" PRIx64 "\n",
		       pt_errstr(pt_errcode(status)), offset, ip);
}

/* From one synchronisation to the end of the trace or an error. */
static int decode_run(struct pt_insn_decoder *decoder, int status,
		      struct tally *tally, uint64_t *ip)
{
	struct pt_event event;
	struct pt_insn insn;

	for (;;) {
		while (status >= 0 && (status & pts_event_pending))
			status = pt_insn_event(decoder, &event, sizeof(event));
		if (status < 0)
			return status;
		if (status & pts_eos)
			return -pte_eos;
		memset(&insn, 0, sizeof(insn));
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		*ip = insn.ip;
		if (insn.iclass != ptic_error) {
			tally->insns++;
			tally->hash = (tally->hash ^ insn.ip) * HASH_PRIME;
		}
		if (status < 0)
			return status;
	}
}

static void decode(struct pt_insn_decoder *decoder, struct tally *tally)
{
	uint64_t ip = 0;

	for (;;) {
		int status = pt_insn_sync_forward(decoder);

		if (status >= 0)
			status = decode_run(decoder, status, tally, &ip);
		if (status == -pte_eos)
			return;
		report_error(decoder, status, ip, tally);
	}
}

int main(int argc, char **argv)
{
	struct tally tally = { .hash = HASH_START };
	struct pt_insn_decoder *decoder;
	struct pages pages = { 0 };
	struct pt_config config;
	struct pt_image *image;
	size_t size;
	int i;

	if (argc < 3) {
		fprintf(stderr, "usage: libipt_insns TRACE.pt PAGES...\n");
		return 2;
	}
	pt_config_init(&config);
	config.begin = map_file(argv[1], &size);
	config.end = config.begin + size;
	for (i = 2; i < argc; i++)
		add_pages(&pages, argv[i]);
	decoder = pt_insn_alloc_decoder(&config);
	image = pt_image_alloc("pages");
	if (!decoder || !image || pt_image_set_callback(image, read_code, &pages) ||
	    pt_insn_set_image(decoder, image)) {
		fprintf(stderr, "libipt_insns: libipt cannot be set up\n");
		return 2;
	}
	decode(decoder, &tally);
	printf("insns %" PRIu64 " hash %016" PRIx64 " errors %" PRIu64 "\n",
	       tally.insns, tally.hash, tally.errors);
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
	return tally.errors != 0;
}
