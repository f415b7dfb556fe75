// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a file of records from lines "TYPE KIND FLAGS AUX IP VALUE" on standard input,
 * numbers as C writes them; "#" begins a comment.
 *
 * Usage: make_records FILE [--header VERSION]
 *
 * VERSION is that of the records, as the head of the file has it; KIPT_RECORD_VERSION unless
 * given.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../uapi/linux/kipt_record.h"

#define MAGIC 0x534345525450494bULL
#define FIELDS 6

static const uint64_t most[FIELDS] = {
	UINT8_MAX, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX
};

static void put(FILE *out, const uint64_t *field)
{
	struct kipt_record record = {
		.type = field[0],
		.kind = field[1],
		.flags = field[2],
		.aux = field[3],
		.ip = field[4],
		.value = field[5],
	};

	fwrite(&record, sizeof(record), 1, out);
}

/* Return: how many numbers @line has, FIELDS or none. */
static int parse(char *line, uint64_t *field)
{
	char *word, *end, *rest = line;
	int count = 0;

	line[strcspn(line, "#")] = 0;
	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		errno = 0;
		if (count < FIELDS)
			field[count] = strtoull(word, &end, 0);
		if (count == FIELDS || *end || errno || *word == '-' || field[count] > most[count]) {
			fprintf(stderr, "make_records: '%s' is no field %d\n", word, count + 1);
			exit(1);
		}
		count++;
	}
	if (count && count < FIELDS) {
		fprintf(stderr, "make_records: %d fields, a record has %d\n", count, FIELDS);
		exit(1);
	}
	return count;
}

int main(int argc, char **argv)
{
	uint64_t version = argc > 3 ? strtoull(argv[3], NULL, 0) : KIPT_RECORD_VERSION;
	FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
	uint64_t field[FIELDS];
	char *line = NULL;
	size_t size = 0;

	if (!out) {
		perror("make_records");
		return 1;
	}
	put(out, (uint64_t[]){ 0, version, sizeof(struct kipt_record), 0, MAGIC, 0 });
	while (getline(&line, &size, stdin) > 0)
		if (parse(line, field))
			put(out, field);
	free(line);
	return fclose(out) ? 1 : 0;
}
