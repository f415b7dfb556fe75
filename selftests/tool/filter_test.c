// SPDX-License-Identifier: GPL-2.0-only
/*
 * What --filter and --stop-at mean (tools/kipt/filter/filter.h): parsing, kernel
 * symbols and modules from files made here, functions of programs compiled
 * here. The addresses wanted are in tables, or come from nm. Sentences are
 * read from what is written on standard error. User space, no rights; prints
 * KTAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/kipt/filter/filter.h"
#include "../../tools/kipt/cli/kipt.h"
#include "../../tools/kipt/filter/address_range.h"
#include "../decode/ktap.h"

static struct ktap ktap;
static char said[8192];

/* stderr goes to a file while something is tried. */
static FILE *said_file;
static int stderr_saved;

static void said_begin(void)
{
	fflush(stderr);
	rewind(said_file);
	if (ftruncate(fileno(said_file), 0))
		abort();
	stderr_saved = dup(STDERR_FILENO);
	dup2(fileno(said_file), STDERR_FILENO);
}

static void said_end(void)
{
	ssize_t n;

	fflush(stderr);
	dup2(stderr_saved, STDERR_FILENO);
	close(stderr_saved);
	n = pread(fileno(said_file), said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = 0;
}

/* One sentence, which has @part; none at all if @part is NULL. */
static bool said_is(const char *part)
{
	const char *line = strchr(said, '\n');

	if (!part)
		return !said[0];
	return line && !line[1] && strstr(said, part);
}

/* How a text is to be understood. */
struct parse_case {
	const char *name;
	const char *text;
	/* NULL: it is understood */
	const char *refusal;
	struct filter want;
};

#define REFUSED(test, spec, sentence)					\
	{ .name = test, .text = spec, .refusal = sentence }

static const struct parse_case parse_cases[] = {
	{ "addresses", "0x401000-0x401fff", NULL,
	  { .form = FILTER_ADDRESSES, .first = 0x401000, .last = 0x401fff } },
	{ "one_address", "0x401000-0x401000", NULL,
	  { .form = FILTER_ADDRESSES, .first = 0x401000, .last = 0x401000 } },
	{ "address_and_size", "0xffffffff81000000/4096", NULL,
	  { .form = FILTER_ADDRESSES, .first = 0xffffffff81000000,
	    .last = 0xffffffff81000fff, .size = 4096 } },
	{ "symbol", "vfs_read", NULL,
	  { .form = FILTER_KERNEL, .name = "vfs_read" } },
	{ "symbol_and_offset", "vfs_read+16", NULL,
	  { .form = FILTER_KERNEL, .name = "vfs_read", .offset = 16 } },
	{ "symbol_and_size", "vfs_read/0x10", NULL,
	  { .form = FILTER_KERNEL, .name = "vfs_read", .size = 16 } },
	{ "symbol_offset_size", "vfs_read+0x8/0x10", NULL,
	  { .form = FILTER_KERNEL, .name = "vfs_read", .offset = 8,
	    .size = 16 } },
	{ "module_with_digit", "8021q", NULL,
	  { .form = FILTER_KERNEL, .name = "8021q" } },
	{ "module_with_dash", "snd-hda-intel", NULL,
	  { .form = FILTER_KERNEL, .name = "snd-hda-intel" } },
	{ "hexadecimal_name", "add", NULL,
	  { .form = FILTER_KERNEL, .name = "add" } },
	{ "file_and_symbol", "libc.so.6:malloc", NULL,
	  { .form = FILTER_FUNCTION, .file = "libc.so.6",
	    .name = "malloc" } },
	{ "path_with_plus", "/opt/c++/prog:main+4/8", NULL,
	  { .form = FILTER_FUNCTION, .file = "/opt/c++/prog",
	    .name = "main", .offset = 4, .size = 8 } },
	{ "path_with_colon", "./a:b:main", NULL,
	  { .form = FILTER_FUNCTION, .file = "./a:b", .name = "main" } },
	{ "path_alone", "./prog", NULL,
	  { .form = FILTER_FILE, .file = "./prog" } },
	{ "absolute_path_alone", "/usr/bin/true", NULL,
	  { .form = FILTER_FILE, .file = "/usr/bin/true" } },
	REFUSED("empty", "", "name of a symbol is missing"),
	REFUSED("no_end", "0x401000", "where does it end?"),
	REFUSED("backwards", "0x402000-0x401000", "last address is less"),
	REFUSED("not_canonical", "0x1000000000000000-0x1000000000000fff",
		"no canonical address"),
	REFUSED("over_the_end", "0xfffffffffffff000/0x2000",
		"last address is less"),
	REFUSED("without_0x", "ffffffff81000000-ffffffff81000fff",
		"'ffffffff81000000' is no address: write 0x"),
	REFUSED("second_without_0x", "0x401000-401fff",
		"'401fff' is no address: write 0x"),
	REFUSED("decimal", "4198400-4198500", "is no address"),
	REFUSED("address_of_letters", "0x40100g-0x402000",
		"'0x40100g' is no"),
	REFUSED("address_too_long", "0x11112222333344445-0x2",
		"is no address"),
	REFUSED("second_missing", "0x401000-", "'' is no address"),
	REFUSED("size_zero", "vfs_read/0", "'0' is no size"),
	REFUSED("size_missing", "vfs_read/", "'' is no size"),
	REFUSED("size_of_address_zero", "0x401000/0", "'0' is no size"),
	REFUSED("offset_missing", "vfs_read+", "'' is no offset"),
	REFUSED("offset_word", "vfs_read+x/4", "'x' is no offset"),
	REFUSED("offset_negative", "vfs_read+-1", "'-1' is no offset"),
	REFUSED("symbol_missing", "+4/8", "name of a symbol is missing"),
	REFUSED("file_missing", ":main", "name of a file is missing"),
	REFUSED("file_symbol_missing", "prog:",
		"name of a symbol is missing"),
};

static bool text_is(const char *want, const char *text, size_t len)
{
	if (!want)
		return !len;
	return strlen(want) == len && !strncmp(want, text, len);
}

static bool filter_same(const struct filter *want, const struct filter *got)
{
	return want->form == got->form && want->first == got->first &&
	       want->last == got->last && want->offset == got->offset &&
	       want->size == got->size &&
	       text_is(want->file, got->file, got->file_len) &&
	       text_is(want->name, got->name, got->name_len);
}

static void parse_tests(void)
{
	struct filter filter;
	unsigned int i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(parse_cases); i++) {
		const struct parse_case *test = &parse_cases[i];

		said_begin();
		ok = filter_parse(&filter, test->text, KIPT_FILTER_KIND_TRACE);
		said_end();
		if (test->refusal)
			ok = !ok && said_is(test->refusal);
		else
			ok = ok && said_is(NULL) &&
			     filter_same(&test->want, &filter);
		ktap_result(&ktap, ok, "filter_parse_%s", test->name);
		if (!ok)
			printf("# said: %s", said);
	}
}

/* A kernel with a module that has text and data, and another module after it. */
static const char kallsyms_text[] =
"0000000000000000 A fixed_percpu_data\n"
"0000000000001000 A cpu_debug_store\n"
"ffffffff81000000 T _text\n"
"ffffffff81000000 T startup_64\n"
"ffffffff81000100 T __pfx_vfs_read\n"
"ffffffff81000110 T vfs_read\n"
"ffffffff81000110 T vfs_read_alias\n"
"ffffffff810001f0 T __pfx_vfs_write\n"
"ffffffff81000200 T vfs_write\n"
"ffffffff81000300 t helper\n"
"ffffffff81000340 t local\n"
"ffffffff81000400 t helper\n"
"ffffffff81000440 T big\n"
"ffffffff81100000 T after_big\n"
"ffffffff81200000 T _etext\n"
"ffffffff82000000 D jiffies\n"
"ffffffffc0000000 t __pfx_mod_init\t[mod_a]\n"
"ffffffffc0000010 t mod_init\t[mod_a]\n"
"ffffffffc0000800 T mod_last\t[mod_a]\n"
"ffffffffc0002000 d mod_data\t[mod_a]\n"
"ffffffffc0005000 t other_first\t[mod_b]\n"
"ffffffffc0005040 t mod_b\t[mod_b]\n"
"ffffffffc0005080 t helper\t[mod_b]\n"
"ffffffffc0100000 t far_one\t[mod_c]\n"
"ffffffffc0009000 r only_data\t[mod_d]\n";

static const char modules_text[] =
"mod_a 16384 0 - Live 0xffffffffc0000000\n"
"mod_b 16384 1 mod_a, Live 0xffffffffc0005000\n"
"mod_c 16384 0 - Live 0xffffffffc0100000\n"
"mod_d 16384 0 - Live 0xffffffffc0009000\n";

struct resolve_case {
	const char *name;
	const char *text;
	u64 first;
	u64 last;
	const char *refusal;
};

#define RANGE(test, spec, from, to)					\
	{ .name = test, .text = spec, .first = from, .last = to }

static const struct resolve_case kernel_cases[] = {
	RANGE("to_the_next", "vfs_read",
	      0xffffffff81000110, 0xffffffff810001ef),
	RANGE("alias", "vfs_read_alias",
	      0xffffffff81000110, 0xffffffff810001ef),
	RANGE("offset", "vfs_read+0x10",
	      0xffffffff81000120, 0xffffffff810001ef),
	RANGE("size", "vfs_read/1",
	      0xffffffff81000110, 0xffffffff81000110),
	RANGE("offset_and_size", "vfs_write+0xf0/16",
	      0xffffffff810002f0, 0xffffffff810002ff),
	RANGE("larger_than_a_hole", "big",
	      0xffffffff81000440, 0xffffffff810fffff),
	RANGE("module", "mod_a",
	      0xffffffffc0000000, 0xffffffffc0001fff),
	RANGE("module_with_dash", "mod-a",
	      0xffffffffc0000000, 0xffffffffc0001fff),
	RANGE("in_module", "mod_last",
	      0xffffffffc0000800, 0xffffffffc0001fff),
	RANGE("last_of_all", "far_one",
	      0xffffffffc0100000, 0xffffffffc010ffff),
	RANGE("module_at_the_end", "mod_c",
	      0xffffffffc0100000, 0xffffffffc010ffff),
	REFUSED("offset_outside", "vfs_read+0xe0",
		"vfs_read has 224 (0xe0) bytes, and this is not within"),
	REFUSED("size_outside", "vfs_read+0xd0/0x11",
		"is not within"),
	REFUSED("size_overflow", "vfs_read+1/0xffffffffffffffff",
		"is not within"),
	REFUSED("data", "jiffies",
		"data of the kernel, not code"),
	REFUSED("ambiguous", "helper",
		"there are 3 of that name; give the addresses of one: 0xffffffff81000300-0xffffffff8100033f [kernel], 0xffffffff81000400-0xffffffff8100043f [kernel], 0xffffffffc0005080-0xffffffffc0008fff [mod_b]"),
	REFUSED("module_or_symbol", "mod_b",
		"there are 2 of that name; give the addresses of one: 0xffffffffc0005040-0xffffffffc000507f [mod_b], all of module 0xffffffffc0005000-0xffffffffc0008fff [mod_b]"),
	REFUSED("module_without_code", "mod_d",
		"no code that kallsyms"),
	REFUSED("unknown", "vsf_read",
		"near it: vfs_read"),
	REFUSED("unknown_case", "VFS_Write",
		"near it: vfs_write"),
	REFUSED("unknown_part", "vfs_rea",
		"near it: vfs_read, vfs_read_alias"),
	REFUSED("unknown_far", "qqqqqqqq",
		"no loaded module has that name; a function of a program"),
	REFUSED("prefix_is_no_name", "pfx_vfs_writ",
		"has that name; a function"),
};

static bool file_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fputs(text, file);
	return !fclose(file);
}

static bool resolve(const char *text, struct filter_where *where,
		    struct kipt_range *range, enum filter_result *result)
{
	struct filter filter;
	bool ok;

	memset(range, 0, sizeof(*range));
	said_begin();
	ok = filter_parse(&filter, text, KIPT_FILTER_KIND_STOP);
	if (ok)
		*result = filter_resolve(&filter, where, range);
	said_end();
	return ok;
}

static void resolve_test(const char *side, const struct resolve_case *test,
			 struct filter_where *where)
{
	enum filter_result result;
	struct kipt_range range;
	bool ok = resolve(test->text, where, &range, &result);

	if (test->refusal)
		ok = ok && result == FILTER_REFUSED && said_is(test->refusal) &&
		     strstr(said, "--stop-at ");
	else
		ok = ok && result == FILTER_DONE && said_is(NULL) &&
		     range.kind == KIPT_FILTER_KIND_STOP &&
		     range.first == test->first && range.last == test->last;
	ktap_result(&ktap, ok, "filter_%s_%s", side, test->name);
	if (!ok)
		printf("# %llx-%llx said: %s\n", (unsigned long long)range.first,
		       (unsigned long long)range.last, said);
}

static void kernel_tests(void)
{
	static const struct resolve_case hidden = {
		"hidden", "vfs_read", 0, 0, "the kernel hides its addresses",
	}, none = {
		"without_symbols", "vfs_read", 0, 0, "CONFIG_KALLSYMS",
	}, missing = {
		"kallsyms_missing", "vfs_read", 0, 0, NULL,
	};
	struct filter_where where = {
		.kallsyms = "kallsyms", .modules = "modules", .root = "",
	};
	enum filter_result result;
	struct kipt_range range;
	unsigned int i;

	if (!file_write("kallsyms", kallsyms_text) ||
	    !file_write("modules", modules_text) ||
	    !file_write("hidden", "0000000000000000 T vfs_read\n") ||
	    !file_write("none", ""))
		abort();
	for (i = 0; i < ARRAY_SIZE(kernel_cases); i++)
		resolve_test("kernel", &kernel_cases[i], &where);
	filter_where_free(&where);
	where.kallsyms = "hidden";
	resolve_test("kernel", &hidden, &where);
	filter_where_free(&where);
	where.kallsyms = "none";
	resolve_test("kernel", &none, &where);
	filter_where_free(&where);
	where.kallsyms = "not-here";
	ktap_result(&ktap, resolve(missing.text, &where, &range, &result) &&
		    result == FILTER_REFUSED && said_is("ENOENT"),
		    "filter_kernel_%s", missing.name);
}

/* ---- programs ---- */

/* A function of each kind; "small" is two in different files. */
static const char program_text[] =
"static int __attribute__((noinline, used)) twice(int x) { return 2 * x; }\n"
"__attribute__((noinline)) int parse_one(int x) { return twice(x) + 1; }\n"
"__asm__(\".globl without_size\\n.type without_size, @function\\n\"\n"
"	\"without_size: nop; nop; nop; ret\\n\"\n"
"	\".globl after_it\\n.type after_it, @function\\nafter_it: ret\\n\");\n"
"static int one(void) { return 1; }\n"
"static int (*choose(void))(void) { return one; }\n"
"int chosen(void) __attribute__((ifunc(\"choose\")));\n"
"int main(void) { return parse_one(1) + chosen(); }\n";

static const char second_text[] =
"__attribute__((noinline, used)) static int twice(int x) { return x + x; }\n"
"int (*second)(int) = twice;\n";

static bool compile(const char *options)
{
	char command[512];

	snprintf(command, sizeof(command), "gcc -O1 %s 2>/dev/null >/dev/null",
		 options);
	return !system(command);
}

/* Numbers that a command prints; returns how many of @max came. */
static int numbers_of(const char *command, long long *numbers, int max)
{
	FILE *out = popen(command, "r");
	int n = 0;

	while (out && n < max && fscanf(out, "%lli", &numbers[n]) == 1)
		n++;
	if (out)
		pclose(out);
	return n;
}

/* Address and size of a symbol, by nm. */
static bool nm_look(const char *path, const char *name, u64 *address,
		    u64 *size)
{
	long long numbers[2] = { 0 };
	char command[512];
	bool found;

	snprintf(command, sizeof(command),
		 "nm -S %s | awk '$4 == \"%s\" { print \"0x\" $1, \"0x\" $2 }'",
		 path, name);
	found = numbers_of(command, numbers, 2) == 2;
	*address = numbers[0];
	*size = numbers[1];
	return found;
}

/* The address of one that may have no size. */
static bool address_look(const char *path, const char *name, u64 *address)
{
	long long number = 0;
	char command[512];

	snprintf(command, sizeof(command),
		 "nm %s | awk '$3 == \"%s\" { print \"0x\" $1 }'", path, name);
	if (numbers_of(command, &number, 1) != 1)
		return false;
	*address = number;
	return true;
}

/* Offset, address and size of what of a file can be executed. */
static bool code_look(const char *path, long long *numbers)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "readelf -lW %s | awk '$1 == \"LOAD\" && $8 == \"E\" { print $2, $3, $6 }'",
		 path);
	return numbers_of(command, numbers, 3) == 3;
}

static void user_test(const char *name, const char *text, u64 first, u64 last,
		      struct filter_where *where)
{
	const struct resolve_case test = { name, text, first, last, NULL };

	resolve_test("user", &test, where);
}

static void user_refused(const char *name, const char *text,
			 const char *refusal, struct filter_where *where)
{
	const struct resolve_case test = { name, text, 0, 0, refusal };

	resolve_test("user", &test, where);
}

static void user_later(const char *name, const char *text,
		       struct filter_where *where)
{
	enum filter_result result;
	struct kipt_range range;

	ktap_result(&ktap, resolve(text, where, &range, &result) &&
		    result == FILTER_NOT_MAPPED && said_is(NULL),
		    "filter_user_%s", name);
}

static void fixed_tests(void)
{
	struct filter_where where = { .root = "" };
	u64 start, size, after_it;

	if (!nm_look("fixed", "parse_one", &start, &size)) {
		ktap_result(&ktap, false, "filter_user_fixed");
		return;
	}
	user_test("fixed", "./fixed:parse_one", start, start + size - 1,
		  &where);
	user_test("fixed_part", "./fixed:parse_one+1/2", start + 1, start + 2,
		  &where);
	user_later("fixed_without_slash", "fixed:parse_one", &where);
	nm_look("fixed", "main", &start, &size);
	user_test("main", "./fixed:main", start, start + size - 1, &where);
	user_refused("outside", "./fixed:parse_one+0x1000", "is not within",
		     &where);
	user_refused("near", "./fixed:parse_on", "near it: parse_one", &where);
	user_refused("unknown", "./fixed:qqqqqqqqqq", "has no function",
		     &where);
	user_refused("ambiguous", "./fixed:twice", "has 2 functions of that name",
		     &where);
	user_refused("ifunc", "./fixed:chosen", "(IFUNC)", &where);
	user_refused("stripped", "./stripped:main", "has no symbols", &where);
	user_refused("no_elf", "./kallsyms:main", "is no ELF file", &where);
	user_refused("no_file", "./not-here:main", "ENOENT", &where);
	user_refused("folder", "./.:main", "is no ELF file", &where);
	user_later("no_file_without_slash", "not-here:main", &where);
	if (address_look("fixed", "without_size", &start) &&
	    address_look("fixed", "after_it", &after_it))
		user_test("without_size", "./fixed:without_size", start,
			  after_it - 1, &where);
	else
		ktap_result(&ktap, false, "filter_user_without_size");
}

#define BASE	0x555555554000ULL

/* As a process has it: what its program header says, moved. */
static bool process_make(struct maps *maps, const char *path,
			 const char *shown)
{
	long long code[3];
	struct mapping mapping;
	char name[4096];

	if (!code_look(path, code))
		return false;
	snprintf(name, sizeof(name), "%s", shown);
	mapping.offset = code[0] & ~0xfffLL;
	mapping.start = BASE + (code[1] & ~0xfffLL);
	mapping.end = BASE + ((code[1] + code[2] + 0xfff) & ~0xfffLL);
	mapping.path = name;
	return maps_add(maps, 42, &mapping);
}

static void pie_tests(void)
{
	struct filter_where where = { .root = "" };
	struct mapping other = { .start = 0x1000, .end = 0x2000, .path = "[vdso]" };
	struct maps maps = { 0 };
	char path[4096], folder[2048];
	u64 start, size;

	if (!getcwd(folder, sizeof(folder)))
		abort();
	snprintf(path, sizeof(path), "%s/pie", folder);
	user_later("pie_without_process", "./pie:parse_one", &where);
	maps_add(&maps, 42, &other);
	where.process = maps_process(&maps, 42);
	user_later("pie_not_mapped", "./pie:parse_one", &where);
	user_later("name_not_mapped", "pie:parse_one", &where);
	user_later("file_not_mapped", "./pie", &where);
	if (!nm_look("pie", "parse_one", &start, &size) ||
	    !process_make(&maps, "pie", path)) {
		ktap_result(&ktap, false, "filter_user_pie");
		return;
	}
	start += BASE;
	user_test("pie", "./pie:parse_one", start, start + size - 1, &where);
	user_test("pie_by_name", "pie:parse_one", start, start + size - 1,
		  &where);
	user_test("pie_by_path", strcat(path, ":parse_one"), start, start + size - 1, &where);
	user_refused("pie_unknown", "pie:pars_one", "near it: parse_one",
		     &where);
	process_make(&maps, "pie", "/elsewhere/pie");
	user_refused("two_of_that_name", "pie:parse_one",
		     "two files of that name", &where);
	maps_free(&maps);
}

/* All code of a file: what is executable of it in memory. */
static void file_tests(void)
{
	struct filter_where where = { .root = "" };
	long long code[3] = { 0 };

	ktap_result(&ktap, code_look("fixed", code),
		    "filter_user_program_header");
	user_test("file", "./fixed", code[1], code[1] + code[2] - 1, &where);
	user_refused("file_missing", "./not-here", "ENOENT", &where);
}

static void user_tests(void)
{
	if (!file_write("program.c", program_text) ||
	    !file_write("second.c", second_text))
		abort();
	if (!compile("-no-pie -fno-pie -o fixed program.c second.c") ||
	    !compile("-pie -fpie -o pie program.c second.c") ||
	    !compile("-no-pie -fno-pie -nostartfiles -static -s -Wl,-e,main -o stripped second.c -Wl,--defsym,main=0x401000")) {
		ktap_skip(&ktap, "filter_user", "no compiler");
		return;
	}
	fixed_tests();
	pie_tests();
	file_tests();
}

static void json_case(const char *name, const char *text, bool is_good,
		      u32 wanted)
{
	struct json_object *object = json_tokener_parse(text);
	struct kipt_range ranges[KIPT_FILTERS_MAX];
	u32 count = 99;

	ktap_result(&ktap, object &&
		    ranges_from_json(object, ranges, &count) == is_good &&
		    (!is_good || count == wanted), "filter_json_%s", name);
	json_object_put(object);
}

#define JSON_RANGE(first, last) \
	"{\"kind\":\"trace\",\"first\":\"" first "\",\"last\":\"" last "\"}"

static void json_tests(void)
{
	json_case("none", "{}", true, 0);
	json_case("one_byte",
		  "{\"filters\":[" JSON_RANGE("0x1000", "0x1000") "]}", true, 1);
	json_case("two", "{\"filters\":[" JSON_RANGE("0x1000", "0x1fff") ","
		  JSON_RANGE("0x1", "0x2") "]}", true, 2);
	json_case("backwards",
		  "{\"filters\":[" JSON_RANGE("0x1001", "0x1000") "]}", false, 0);
	json_case("no_list", "{\"filters\":3}", false, 0);
	json_case("no_number",
		  "{\"filters\":[" JSON_RANGE("0x1000", "x") "]}", false, 0);
}

int main(void)
{
	char folder[] = "/tmp/kipt-filter.XXXXXX", command[64];

	said_file = tmpfile();
	if (!said_file || !mkdtemp(folder) || chdir(folder))
		return 1;
	ktap_start();
	parse_tests();
	kernel_tests();
	json_tests();
	user_tests();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		return 1;
	return ktap_end(&ktap);
}
