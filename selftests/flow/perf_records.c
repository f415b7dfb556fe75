// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_records CPU OUT: reads what
 *	perf script --itrace=be -F cpu,event,flags,ip,addr,insn
 * prints on stdin and writes the branches of one CPU as a records file, so
 * that perf's decoder is compared with the truth in the same way as ours. The
 * instruction's bytes show whether a branch is indirect; perf calls every event an
 * interrupt. Exits 1 if perf reported a decoding error, or for a branch whose flags
 * name no kind. Runs in user space on the host.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kipt_record.h>

#define RECORDS_MAGIC	0x534345525450494bULL	/* "KIPTRECS" */
#define WORDS_MAX	16
#define INSN_MAX	15
#define ERRORS_SHOWN	10

/**
 * struct line - one line of perf script
 * @words: flags between the event's name and the addresses
 * @count: how many
 * @from: address left of "=>"
 * @to: address right of it
 * @insn: the instruction at @from
 * @insn_len: its length, 0 if perf does not know it
 */
struct line {
	const char *words[WORDS_MAX];
	unsigned int count;
	uint64_t from;
	uint64_t to;
	uint8_t insn[INSN_MAX];
	unsigned int insn_len;
};

static bool has(const struct line *line, const char *word)
{
	unsigned int i;

	for (i = 0; i < line->count; i++)
		if (!strcmp(line->words[i], word))
			return true;
	return false;
}

/* Splits "[000] branches: FLAGS... FROM => TO insn: BYTES..." in place. */
static bool parse(char *text, struct line *line, unsigned int *cpu)
{
	char *words[WORDS_MAX + INSN_MAX + 8], *save, *word;
	unsigned int n = 0, i, arrow = 0;

	for (word = strtok_r(text, " \t\n", &save);
	     word && n < sizeof(words) / sizeof(words[0]); word = strtok_r(NULL, " \t\n", &save)) {
		if (!strcmp(word, "=>"))
			arrow = n;
		words[n++] = word;
	}
	if (arrow < 3 || arrow + 1 >= n || words[0][0] != '[' ||
	    strncmp(words[1], "branches", 8))
		return false;
	*cpu = (unsigned int)strtoul(words[0] + 1, NULL, 10);
	line->from = strtoull(words[arrow - 1], NULL, 16);
	line->to = strtoull(words[arrow + 1], NULL, 16);
	line->count = 0;
	for (i = 2; i < arrow - 1 && line->count < WORDS_MAX; i++)
		line->words[line->count++] = words[i];
	line->insn_len = 0;
	if (arrow + 2 >= n || strcmp(words[arrow + 2], "insn:"))
		return true;
	for (i = arrow + 3; i < n && line->insn_len < INSN_MAX; i++)
		line->insn[line->insn_len++] =
			(uint8_t)strtoul(words[i], NULL, 16);
	return true;
}

/*
 * Whether a JMP or CALL is indirect ("JMP--Jump", "CALL--Call Procedure"): opcode
 * FF, after prefixes.
 */
static bool is_indirect(const struct line *line)
{
	unsigned int i;

	for (i = 0; i < line->insn_len; i++) {
		uint8_t byte = line->insn[i];

		if (byte == 0xff)
			return true;
		if ((byte & 0xf0) != 0x40 && byte != 0x66 && byte != 0x67 &&
		    byte != 0xf2 && byte != 0xf3 && (byte & 0xe7) != 0x26 &&
		    byte != 0x64 && byte != 0x65)
			return false;
	}
	return false;
}

static uint8_t indirect_kind(const struct line *line, uint8_t kind)
{
	if (!is_indirect(line))
		return kind;
	if (kind == KIPT_BRANCH_CALL)
		return KIPT_BRANCH_CALL_IND;
	return kind == KIPT_BRANCH_JUMP ? KIPT_BRANCH_JUMP_IND : kind;
}

static uint8_t branch_kind(const struct line *line)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} kinds[] = {
		{ "async", KIPT_BRANCH_EVENT },
		{ "int", KIPT_BRANCH_EVENT },
		{ "iret", KIPT_BRANCH_IRET },
		{ "syscall", KIPT_BRANCH_SYSCALL },
		{ "sysret", KIPT_BRANCH_SYSRET },
		{ "call", KIPT_BRANCH_CALL },
		{ "return", KIPT_BRANCH_RET },
		{ "jcc", KIPT_BRANCH_COND },
		{ "jmp", KIPT_BRANCH_JUMP },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (has(line, kinds[i].word))
			return indirect_kind(line, kinds[i].kind);
	return 0;
}

static struct kipt_record make_record(const struct line *line)
{
	struct kipt_record r = { .type = KIPT_RECORD_BRANCH };

	r.kind = branch_kind(line);
	r.ip = line->from;
	r.value = line->to;
	if (has(line, "strt")) {
		r.type = KIPT_RECORD_ENABLE;
		r.kind = KIPT_ENABLE_PGE;
		r.ip = line->to;
		r.value = 0;
	} else if (has(line, "end")) {
		r.type = KIPT_RECORD_DISABLE;
		r.kind = r.kind == KIPT_BRANCH_EVENT || !r.kind ?
			 KIPT_DISABLE_ASYNC : KIPT_DISABLE_BRANCH;
		if (!line->to)
			r.flags = KIPT_RF_NO_VALUE;
	}
	return r;
}

static bool write_header(FILE *out)
{
	struct kipt_record header = {
		.kind = KIPT_RECORD_VERSION,
		.flags = sizeof(header),
		.ip = RECORDS_MAGIC,
	};

	return fwrite(&header, sizeof(header), 1, out) == 1;
}

static int convert(FILE *in, FILE *out, unsigned int wanted)
{
	unsigned long records = 0, errors = 0;
	char text[1024];
	struct line line;
	unsigned int cpu;

	while (fgets(text, sizeof(text), in)) {
		struct kipt_record r;

		if (strstr(text, "instruction trace error")) {
			if (errors++ < ERRORS_SHOWN)
				printf("perf: %s", text);
			continue;
		}
		if (!parse(text, &line, &cpu) || cpu != wanted)
			continue;
		r = make_record(&line);
		if (r.type == KIPT_RECORD_BRANCH && !r.kind) {
			if (errors++ < ERRORS_SHOWN)
				printf("perf: flags of no known kind: %llx => %llx\n",
				       (unsigned long long)line.from,
				       (unsigned long long)line.to);
			continue;
		}
		if (fwrite(&r, sizeof(r), 1, out) != 1)
			return 2;
		records++;
	}
	printf("perf: %lu branches of CPU %u, %lu errors\n", records,
	       wanted, errors);
	return errors != 0;
}

int main(int argc, char **argv)
{
	FILE *out;
	int ret;

	if (argc != 3) {
		fprintf(stderr, "usage: perf_records CPU OUT\n");
		return 2;
	}
	out = fopen(argv[2], "w");
	if (!out || !write_header(out)) {
		perror(argv[2]);
		return 2;
	}
	ret = convert(stdin, out, (unsigned int)strtoul(argv[1], NULL, 10));
	if (fclose(out)) {
		perror(argv[2]);
		return 2;
	}
	return ret;
}
