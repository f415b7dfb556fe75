// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs flow tests: text files that hold code, packets and the records
 * expected (see flows/README.md). Each is decoded as a whole; in chunks cut
 * at every PSB, which must give the same records; cut off at every byte,
 * which may only change the end; and with one bit flipped in every byte, which
 * must be noticed somewhere. User space.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/sync.h"
#include "ktap.h"
#include "record_text.h"

#define CODE_MAX	64
#define PACKETS_MAX	65536
#define RECORDS_MAX	4096
#define TEXT_MAX	65536
/* Records that a cut trace may have and the whole has not: held ones, a gap. */
#define TAIL_RECORDS	9

/**
 * struct piece - code at an address
 * @ip: address
 * @len: bytes
 * @bytes: the code
 */
struct piece {
	u64 ip;
	u32 len;
	u8 bytes[256];
};

/**
 * struct flow_case - one test file
 * @config: what it sets
 * @changed: address of code that is said to have been changed, or 0
 * @pieces: code
 * @piece_count: how many
 * @packets: the trace
 * @size: its bytes
 * @expected: text of the records
 * @expected_len: its bytes
 */
struct flow_case {
	struct kipt_flow_config config;
	u64 changed;
	struct piece pieces[CODE_MAX];
	u32 piece_count;
	u8 packets[PACKETS_MAX];
	u64 size;
	char expected[TEXT_MAX];
	size_t expected_len;
};

/**
 * struct records - what came out
 * @record: the records
 * @count: how many
 */
struct records {
	struct kipt_record record[RECORDS_MAX];
	u32 count;
};

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

	piece->ip = strtoull(text, &end, 16);
	if (*end != ':' || test->piece_count == CODE_MAX)
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
	} else if (sscanf(text, "changed %llx", &begin) == 1) {
		test->changed = begin;
	} else if (sscanf(text, "output %u", &number) == 1) {
		config->output = number;
	} else if (sscanf(text, "tsc %u/%u", &config->tsc_num,
			  &config->tsc_den) == 2) {
		return true;
	} else if (sscanf(text, "mtc-freq %u", &number) == 1) {
		config->mtc_freq = (u8)number;
	} else if (sscanf(text, "p1 %u", &number) == 1) {
		config->max_nonturbo_ratio = (u8)number;
	} else {
		return false;
	}
	return true;
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

/* Sections: [config], [code], [packets], [records]; # starts a comment. */
static bool parse_file(struct flow_case *test, const char *path)
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

static bool is_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	const struct flow_case *test = ctx;

	(void)space;
	return test->changed && test->changed - ip < len;
}

static bool take(void *ctx, const struct kipt_record *record, u32 n)
{
	struct records *records = ctx;

	if (records->count + n > RECORDS_MAX)
		return false;
	memcpy(records->record + records->count, record, n * sizeof(*record));
	records->count += n;
	return true;
}

/* Decodes [@from, @to) of the first @size bytes and appends the records. */
static void decode(struct flow_case *test, u64 size, u64 from, u64 to,
		   struct records *records)
{
	struct kipt_code code = { .read = read_code, .changed = is_changed,
				  .ctx = test };
	struct kipt_sink sink = { .emit = take, .ctx = records };
	size_t room = (kipt_flow_size(&test->config) + 63) & ~(size_t)63;
	void *arena = aligned_alloc(64, room);
	/* An exact copy, so that a read behind the end can be seen. */
	u8 *trace = malloc(size ? size : 1);
	struct kipt_flow *flow;

	if (!arena || !trace)
		exit(2);
	memcpy(trace, test->packets, size);
	flow = kipt_flow_init(arena, room, &test->config, &code, &sink);
	if (!flow)
		exit(2);
	kipt_flow_run(flow, trace, size, from, to);
	free(trace);
	free(arena);
}

static size_t to_text(const struct records *records, char *text, size_t size)
{
	size_t at = 0;
	u32 i;

	text[0] = 0;
	for (i = 0; i < records->count && at + 256 < size; i++) {
		record_text(&records->record[i], text + at, 256);
		at += strlen(text + at);
		text[at++] = '\n';
		text[at] = 0;
	}
	return at;
}

static bool same(const struct records *a, const struct records *b)
{
	return a->count == b->count &&
	       !memcmp(a->record, b->record, a->count * sizeof(a->record[0]));
}

static void show(const char *what, const char *text)
{
	printf("# %s:\n#   ", what);
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n' && text[1])
			printf("#   ");
	}
}

static bool check_records(const struct flow_case *test,
			  const struct records *whole)
{
	static char text[TEXT_MAX];

	to_text(whole, text, sizeof(text));
	if (!strcmp(text, test->expected))
		return true;
	show("expected", test->expected);
	show("got", text);
	return false;
}

/* Every way to cut the trace in two at a PSB. */
static bool check_chunks(struct flow_case *test, const struct records *whole)
{
	static struct records parts;
	u64 first = kipt_sync_next(test->packets, test->size, 0);
	u64 at = first;

	while (at < test->size) {
		at = kipt_sync_next(test->packets, test->size, at + 16);
		if (at == test->size)
			break;
		parts.count = 0;
		decode(test, test->size, 0, at, &parts);
		decode(test, test->size, at, test->size, &parts);
		if (!same(&parts, whole)) {
			printf("# cut at PSB %llu\n", (unsigned long long)at);
			return false;
		}
	}
	return true;
}

static u32 first_difference(const struct records *a, const struct records *b)
{
	u32 i;

	for (i = 0; i < a->count && i < b->count; i++) {
		if (memcmp(&a->record[i], &b->record[i], sizeof(a->record[i])))
			break;
	}
	return i;
}

static bool check_cuts(struct flow_case *test, const struct records *whole)
{
	static struct records part;
	u32 different;
	u64 size;

	for (size = 0; size < test->size; size++) {
		part.count = 0;
		decode(test, size, 0, size, &part);
		different = first_difference(&part, whole);
		if (part.count - different > TAIL_RECORDS) {
			printf("# cut to %llu bytes: record %u differs\n",
			       (unsigned long long)size, different);
			return false;
		}
	}
	return true;
}

/* The control: a test that no flipped bit disturbs tests nothing. */
static bool check_flips(struct flow_case *test, const struct records *whole)
{
	static struct records flipped;
	u32 noticed = 0;
	u64 i;

	if (kipt_sync_next(test->packets, test->size, 0) == test->size)
		return true;
	for (i = 0; i < test->size; i++) {
		test->packets[i] ^= (u8)(1 << i % 8);
		flipped.count = 0;
		decode(test, test->size, 0, test->size, &flipped);
		test->packets[i] ^= (u8)(1 << i % 8);
		noticed += !same(&flipped, whole);
	}
	if (!noticed)
		printf("# no flipped bit changed anything\n");
	return noticed > 0;
}

static void run_case(struct ktap *ktap, const char *path)
{
	static struct flow_case test;
	static struct records whole;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	if (!parse_file(&test, path)) {
		ktap_result(ktap, false, "%s is readable", name);
		return;
	}
	whole.count = 0;
	decode(&test, test.size, 0, test.size, &whole);
	ktap_result(ktap, check_records(&test, &whole), "%s", name);
	ktap_result(ktap, check_chunks(&test, &whole), "%s in chunks", name);
	ktap_result(ktap, check_cuts(&test, &whole), "%s cut off", name);
	ktap_result(ktap, check_flips(&test, &whole), "%s with a flipped bit",
		    name);
}

/* Prints what the decoder makes of a file: to write a new one. */
static int print_records(const char *path)
{
	static struct flow_case test;
	static struct records whole;
	static char text[TEXT_MAX];

	if (!parse_file(&test, path))
		return 1;
	decode(&test, test.size, 0, test.size, &whole);
	to_text(&whole, text, sizeof(text));
	fputs(text, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct ktap ktap = { 0 };
	int i;

	if (argc == 3 && !strcmp(argv[1], "--print"))
		return print_records(argv[2]);
	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr,
			"usage: %s FILE.pt...\n       %s --print FILE.pt\n",
			argv[0], argv[0]);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	ktap_start();
	for (i = 1; i < argc; i++)
		run_case(&ktap, argv[i]);
	return ktap_end(&ktap);
}
