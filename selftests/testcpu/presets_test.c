// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the presets of the test CPU with CPUID dumps of real CPUs, which are in
 * the file cpu_dumps beside this. User space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/testcpu/caps.h"
#include "ktap.h"

#define DUMPS		"selftests/testcpu/cpu_dumps"
#define NUM_WORDS	9

/* Columns of the file after the name; their order. */
struct dump {
	char name[32];
	uint32_t signature;
	uint32_t eax, ebx, ecx;
	uint32_t eax1, ebx1;
	uint32_t den, num, crystal;
	bool has_leaf1, has_clock;
};

/* Two presets are no real CPUs. */
static const char *const made_up[] = { "newest", "zero-kvm" };

static bool parse_word(const char *text, uint32_t *word)
{
	char *end;

	*word = (uint32_t)strtoul(text, &end, 16);
	return end != text && !*end;
}

/* A line of white space or a comment has no name. */
static bool parse_line(char *line, struct dump *dump)
{
	uint32_t word[NUM_WORDS] = { 0 };
	bool there[NUM_WORDS] = { false };
	char *text = strtok(line, " \t\n");

	if (!text || *text == '#')
		return false;
	memset(dump, 0, sizeof(*dump));
	snprintf(dump->name, sizeof(dump->name), "%s", text);
	for (int i = 0; i < NUM_WORDS; i++) {
		text = strtok(NULL, " \t\n");
		there[i] = text && parse_word(text, &word[i]);
		if (!there[i] && (!text || strcmp(text, "-") != 0))
			dump->name[0] = 0;
	}
	dump->signature = word[0];
	dump->eax = word[1];
	dump->ebx = word[2];
	dump->ecx = word[3];
	dump->has_leaf1 = there[4];
	dump->eax1 = word[4];
	dump->ebx1 = word[5];
	dump->has_clock = there[6];
	dump->den = word[6];
	dump->num = word[7];
	dump->crystal = word[8];
	return true;
}

static void test_dump(const struct dump *dump)
{
	struct testcpu_caps caps;
	char why[1024];

	if (!ktap_case(testcpu_caps_parse(&caps, dump->name, why, sizeof(why)),
		       "preset_%s_is_there", dump->name))
		return;
	ktap_case(caps.signature == dump->signature, "preset_%s_model",
		  dump->name);
	ktap_case(caps.max_subleaf == dump->eax && caps.ebx == dump->ebx &&
		  caps.ecx == dump->ecx, "preset_%s_leaf_0", dump->name);
	ktap_case(dump->has_leaf1 == (caps.max_subleaf >= 1) &&
		  caps.leaf_eax1 == dump->eax1 && caps.leaf_ebx1 == dump->ebx1,
		  "preset_%s_leaf_1", dump->name);
	if (dump->has_clock)
		ktap_case(caps.tsc_den == dump->den &&
			  caps.tsc_num == dump->num &&
			  caps.leaf_crystal == dump->crystal,
			  "preset_%s_clock", dump->name);
}

static bool is_made_up(const char *name)
{
	for (size_t i = 0; i < sizeof(made_up) / sizeof(made_up[0]); i++)
		if (strcmp(name, made_up[i]) == 0)
			return true;
	return false;
}

/* Each preset in the help came from a dump, or is known as made up. */
static unsigned int count_real(const char *help)
{
	unsigned int real = 0;
	char name[32];

	for (; sscanf(help, " %31s", name) == 1; help = strchr(help, '\n') + 1)
		real += !is_made_up(name);
	return real;
}

int main(void)
{
	unsigned int dumps = 0;
	struct dump dump;
	char line[256];
	FILE *f = fopen(DUMPS, "r");

	if (!f) {
		fprintf(stderr, "presets_test: %s: %s\n", DUMPS,
			strerror(errno));
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (!parse_line(line, &dump))
			continue;
		test_dump(&dump);
		dumps++;
	}
	fclose(f);
	ktap_case(dumps && dumps == count_real(testcpu_caps_help()),
		  "preset_count_is_that_of_the_dumps");
	return ktap_finish();
}
