// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes a raw user-only trace of a static program with libipt and compares
 * the transfers with the ground truth of the test CPU, one by one:
 *
 *	libipt_check PROGRAM TRACE TRUTH
 *
 * The trace is the last one in the truth file. Where the truth says that
 * packets were dropped, both sides go on at the next address that it names.
 * User space, on the host. Exit status 0 when all is equal, 1 when not.
 */
#include <elf.h>
#include <intel-pt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/testcpu/truth.h"

struct file {
	uint8_t *data;
	size_t size;
};

struct transfer {
	uint64_t from;
	uint64_t to;
};

struct check {
	struct truth_entry *entry;
	size_t n;
	size_t at;
	unsigned long equal;
	unsigned long errors;
	unsigned long overflows;
	bool lost;
};

static struct file read_file(const char *path)
{
	struct file file = { NULL, 0 };
	FILE *f = fopen(path, "rb");

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(path);
		exit(1);
	}
	file.size = (size_t)ftell(f);
	rewind(f);
	file.data = malloc(file.size + 1);
	if (!file.data || fread(file.data, 1, file.size, f) != file.size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return file;
}

static void add_sections(struct pt_image *image, const char *path)
{
	struct file file = read_file(path);
	const Elf64_Ehdr *eh = (const void *)file.data;

	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		const Elf64_Phdr *ph = (const void *)(file.data + eh->e_phoff +
						      i * eh->e_phentsize);

		if (ph->p_type == PT_LOAD && ph->p_filesz)
			pt_image_add_file(image, path, ph->p_offset,
					  ph->p_filesz, NULL, ph->p_vaddr);
	}
	free(file.data);
}

/* The entries since the last TRUTH_MARK_ON. */
static void load_truth(struct check *c, const char *path)
{
	struct file file = read_file(path);
	size_t first = 0;

	c->entry = (void *)(file.data + sizeof(struct truth_header));
	c->n = (file.size - sizeof(struct truth_header)) /
	       sizeof(struct truth_entry);
	for (size_t i = 0; i < c->n; i++)
		if (c->entry[i].kind == TRUTH_MARK_ON)
			first = i;
	c->at = first;
}

static bool is_transfer(const struct truth_entry *e)
{
	return e->kind < TRUTH_ENABLE;
}

/*
 * The next transfer of the truth, or NULL. A branch to the next instruction is
 * no transfer to libipt's caller; @next_of_last marks it.
 */
static const struct truth_entry *next_truth(struct check *c)
{
	while (c->at < c->n && !is_transfer(&c->entry[c->at]) &&
	       c->entry[c->at].kind != TRUTH_OVERFLOW)
		c->at++;
	return c->at < c->n ? &c->entry[c->at] : NULL;
}

static void complain(struct check *c, uint64_t from, uint64_t to,
		     const struct truth_entry *e)
{
	if (c->errors++ < 5)
		printf("# libipt %llx -> %llx, truth %llx -> %llx\n",
		       (unsigned long long)from, (unsigned long long)to,
		       (unsigned long long)(e ? e->from : 0),
		       (unsigned long long)(e ? e->to : 0));
}

/*
 * Both sides go on where the truth resumes. libipt cannot know the target of
 * the last branch before the gap, but no more than that may be missing.
 */
static void skip_overflow(struct check *c)
{
	unsigned int missing = 0;

	while (c->at < c->n && c->entry[c->at].kind != TRUTH_OVERFLOW)
		missing += is_transfer(&c->entry[c->at++]);
	if (missing > 1)
		complain(c, 0, 0, &c->entry[c->at - 1]);
	while (c->at < c->n && c->entry[c->at].kind != TRUTH_RESUME)
		c->at++;
	c->overflows++;
}

/*
 * An instruction and the address after it: what came between must be what the
 * truth says. After the place where packets begin to be lost, libipt may
 * still follow direct branches.
 */
static void check_step(struct check *c, const struct pt_insn *a, uint64_t to)
{
	const struct truth_entry *e = next_truth(c);
	bool moved = to != a->ip + a->size;

	if (e && is_transfer(e) && e->from == a->ip && e->to == to) {
		c->at++;
		c->equal++;
		return;
	}
	if (moved && a->iclass != ptic_other &&
	    !(e && e->kind == TRUTH_OVERFLOW)) {
		complain(c, a->ip, to, e);
		c->at++;
	}
}

/*
 * Takes all pending events; @last is the instruction before them, NULL when
 * the flow is not connected. Returns a libipt status; clears @last where what
 * follows does not continue from it.
 */
static int take_events(struct pt_insn_decoder *decoder, int status,
		       struct check *c, const struct pt_insn **last)
{
	struct pt_event event;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_insn_event(decoder, &event, sizeof(event));
		if (status < 0)
			return status;
		if (event.type == ptev_overflow)
			skip_overflow(c);
		if (event.type == ptev_async_disabled && *last)
			check_step(c, *last, event.variant.async_disabled.at);
		if (event.type == ptev_overflow ||
		    event.type == ptev_enabled ||
		    event.type == ptev_disabled ||
		    event.type == ptev_async_disabled)
			*last = NULL;
	}
	return status;
}

static void decode(struct pt_insn_decoder *decoder, struct check *c)
{
	struct pt_insn insn = { .ip = 0 };
	struct pt_insn before = insn;
	const struct pt_insn *last = NULL;
	int status = pt_insn_sync_forward(decoder);

	while (status >= 0 && !(status & pts_eos)) {
		status = take_events(decoder, status, c, &last);
		if (status < 0 || (status & pts_eos))
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		if (last)
			check_step(c, last, insn.ip);
		before = insn;
		last = &before;
	}
	if (status < 0 && status != -pte_eos) {
		uint64_t offset = 0;

		pt_insn_get_offset(decoder, &offset);
		c->errors++;
		printf("# libipt: %s at offset %llx, after %llx\n",
		       pt_errstr(pt_errcode(status)),
		       (unsigned long long)offset, (unsigned long long)insn.ip);
	}
}

/* What the truth still has must not be a transfer. */
static void check_end(struct check *c)
{
	const struct truth_entry *e;

	while ((e = next_truth(c)) != NULL && !is_transfer(e))
		skip_overflow(c);
	if (e)
		complain(c, 0, 0, e);
}

int main(int argc, char **argv)
{
	struct check c = { .n = 0 };
	struct pt_config config;
	struct pt_insn_decoder *decoder;
	struct file trace;

	if (argc != 4) {
		fprintf(stderr, "usage: libipt_check PROGRAM TRACE TRUTH\n");
		return 2;
	}
	trace = read_file(argv[2]);
	load_truth(&c, argv[3]);
	pt_config_init(&config);
	config.begin = trace.data;
	config.end = trace.data + trace.size;
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		return 1;
	add_sections(pt_insn_get_image(decoder), argv[1]);
	decode(decoder, &c);
	check_end(&c);
	printf("%s %lu transfers equal, %lu errors, %lu overflows, %zu bytes\n",
	       c.errors || !c.equal ? "not ok" : "ok", c.equal, c.errors,
	       c.overflows, trace.size);
	return c.errors || !c.equal;
}
