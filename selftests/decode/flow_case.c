// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the text files of the flow tests and runs the decoder over them, see
 * flow_case.h. User space.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "flow_case.h"

static const char psb_bytes[] =
	"02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82";

static u32 parse_hex(const char *text, u8 *bytes, u32 room)
{
	u32 count = 0;

	while (count < room) {
		text += strspn(text, " \t\n");
		if (!isxdigit((unsigned char)text[0]) ||
		    !isxdigit((unsigned char)text[1]))
			break;
		bytes[count++] = (u8)strtoul((char[]){ text[0], text[1], 0 },
					     NULL, 16);
		text += 2;
	}
	return count;
}

static bool parse_code(struct flow_case *test, const char *text)
{
	struct piece *piece = &test->pieces[test->piece_count];
	char *end;

	if (test->piece_count == CODE_MAX)
		return false;
	piece->ip = strtoull(text, &end, 16);
	if (*end != ':')
		return false;
	piece->len = parse_hex(end + 1, piece->bytes, sizeof(piece->bytes));
	test->piece_count++;
	return piece->len > 0;
}

static bool parse_packets(struct flow_case *test, const char *text)
{
	u32 count;

	if (!strncmp(text, "psb", 3))
		text = psb_bytes;
	count = parse_hex(text, test->packets + test->size,
			  (u32)(PACKETS_MAX - test->size));
	test->size += count;
	return count > 0;
}

static bool parse_config(struct flow_case *test, const char *text)
{
	struct kipt_flow_config *config = &test->config;
	unsigned long long begin, last;
	u32 number;

	if (sscanf(text, "filter %llx %llx", &begin, &last) == 2) {
		config->filter[config->filter_count].begin = begin;
		config->filter[config->filter_count++].last = last;
	} else if (sscanf(text, "stop %llx %llx", &begin, &last) == 2) {
		config->filter[config->filter_count].stop = true;
		config->filter[config->filter_count].begin = begin;
		config->filter[config->filter_count++].last = last;
	} else if (sscanf(text, "changed %llx", &begin) == 1) {
		test->changed = begin;
	} else if (sscanf(text, "output %u", &number) == 1) {
		config->output = number;
	} else if (sscanf(text, "tsc %u/%u", &config->tsc_num,
			  &config->tsc_den) == 2) {
		return true;
	} else if (!strcmp(text, "no-tnt")) {
		config->no_tnt = true;
	} else if (!strcmp(text, "no-retc")) {
		config->no_retc = true;
	} else if (sscanf(text, "tsc-near %llx", &begin) == 1) {
		config->tsc_near = begin;
	} else if (sscanf(text, "mtc-freq %u", &number) == 1) {
		config->mtc_freq = (u8)number;
	} else if (sscanf(text, "p1 %u", &number) == 1) {
		config->max_nonturbo_ratio = (u8)number;
	} else {
		return false;
	}
	return true;
}

/* What explains that flipped bits are not seen; see flows/README.md. */
static const char *const unseen_rules[] = {
	"gap", "damaged", "overflow", "later", "goldmont", "no-fup", "rounded",
	"same",
};

static bool is_rule(const char *rule)
{
	u32 i;

	for (i = 0; i < sizeof(unseen_rules) / sizeof(unseen_rules[0]); i++)
		if (!strcmp(rule, unseen_rules[i]))
			return true;
	return false;
}

/* RULE OFFSET: masks of the bytes from there on. */
static bool parse_unseen(struct flow_case *test, const char *text)
{
	char rule[16];
	u32 at;
	int len;

	if (sscanf(text, "%15s %u:%n", rule, &at, &len) != 2 ||
	    at >= test->size || !is_rule(rule))
		return false;
	return parse_hex(text + len, test->unseen + at,
			 (u32)(test->size - at)) > 0;
}

static bool parse_line(struct flow_case *test, char section, const char *line)
{
	switch (section) {
	case 'g':
		return parse_config(test, line);
	case 'c':
		return parse_code(test, line);
	case 'p':
		return parse_packets(test, line);
	case 'u':
		return parse_unseen(test, line);
	case 'r':
		test->expected_len += (size_t)snprintf(
			test->expected + test->expected_len,
			sizeof(test->expected) - test->expected_len, "%s\n",
			line);
		return true;
	default:
		return false;
	}
}

/* Sections: [config], [code], [packets], [unseen], [records]; # starts a
 * comment.
 */
bool flow_case_read(struct flow_case *test, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024], section = 0;
	u32 number = 0;

	memset(test, 0, sizeof(*test));
	test->config.output = KIPT_FLOW_BRANCHES;
	test->config.memory = 64 << 10;
	if (!file) {
		printf("# %s: %s\n", path, strerror(errno));
		return false;
	}
	while (fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "#\n")] = 0;
		while (*line && isspace((unsigned char)line[strlen(line) - 1]))
			line[strlen(line) - 1] = 0;
		if (!*line)
			continue;
		if (*line == '[') {
			section = line[1] == 'c' && line[4] == 'f' ? 'g' :
								     line[1];
		} else if (!parse_line(test, section, line)) {
			printf("# %s:%u: not understood: %s\n", path, number,
			       line);
			fclose(file);
			return false;
		}
	}
	fclose(file);
	return true;
}

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct flow_case *test = ctx;
	const struct piece *piece;
	u32 i;

	(void)space;
	for (i = 0; i < test->piece_count; i++) {
		piece = &test->pieces[i];
		if (ip - piece->ip >= piece->len)
			continue;
		if (len > piece->len - (ip - piece->ip))
			len = (u32)(piece->len - (ip - piece->ip));
		memcpy(buf, piece->bytes + (ip - piece->ip), len);
		return len;
	}
	return 0;
}

/* Each CR3 is an address space of its own, though all have the same code. */
static u64 name_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return cr3 | nr;
}

static bool is_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	const struct flow_case *test = ctx;

	(void)space;
	return test->changed && test->changed - ip < len;
}

struct kipt_flow *flow_case_open(struct flow_case *test, u32 output,
				 struct record_list *list)
{
	struct kipt_flow_config config = test->config;
	struct kipt_code code = {
		.read = read_code, .space = name_space, .changed = is_changed,
		.ctx = test,
	};
	struct kipt_sink sink = { .emit = record_list_add, .ctx = list };
	size_t room;
	void *arena = arena_take(&config, &room);
	struct kipt_flow *flow;

	config.output = output;
	flow = arena ? kipt_flow_init(arena, room, &config, &code, &sink) :
		       NULL;
	if (!flow) {
		fprintf(stderr, "no flow\n");
		exit(2);
	}
	return flow;
}

void flow_case_close(struct kipt_flow *flow)
{
	/* A flow is the first thing in its arena. */
	arena_give(flow);
}

void flow_case_run(struct kipt_flow *flow, const struct flow_case *test,
		   u64 size, u64 from, u64 to)
{
	/* An exact copy, so that a read beyond the end can be seen. */
	u8 *trace = malloc(size ? size : 1);
	enum kipt_status status;

	if (!trace)
		exit(2);
	memcpy(trace, test->packets, size);
	status = kipt_flow_run(flow, trace, size, from, to);
	while (status == KIPT_PAUSED)
		status = kipt_flow_resume(flow);
	free(trace);
}

void flow_case_decode(struct flow_case *test, u32 output, u64 size, u64 from,
		      u64 to, struct record_list *list)
{
	struct kipt_flow *flow = flow_case_open(test, output, list);

	flow_case_run(flow, test, size, from, to);
	flow_case_close(flow);
}
