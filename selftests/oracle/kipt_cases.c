// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the decoder makes of flow tests, for the oracle: reads names of files
 * from stdin, prints the records of each as text, a line each, and then a line
 * with a dot. Branches only, whatever output the file asks for, since those say
 * most. User space.
 */
#include <stdio.h>
#include <string.h>

#include "../decode/flow_case.h"
#include "../decode/record_text.h"

static void print_records(const char *path)
{
	static struct flow_case test;
	struct record_list list = { 0 };
	char text[256];
	u64 i;

	if (!flow_case_read(&test, path)) {
		printf("unreadable\n.\n");
		return;
	}
	flow_case_decode(&test, KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME, test.size,
			 0, test.size, &list);
	for (i = 0; i < list.count; i++) {
		record_text(&list.record[i], text, sizeof(text));
		puts(text);
	}
	puts(".");
	record_list_free(&list);
}

int main(void)
{
	char path[4096];

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = 0;
		print_records(path);
		fflush(stdout);
	}
	return 0;
}
