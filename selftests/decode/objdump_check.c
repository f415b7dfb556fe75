// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the instruction classifier with objdump: reads `objdump -d -w` on
 * stdin, decodes the same bytes, and wants the same length, the same kind of
 * branch and the same direct target for every instruction. What objdump could
 * not decode ("(bad)") is counted and passed over. User space.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/code/insn.h"

#define LINE_MAX_LEN	4096
#define WINDOW		16
#define SHOWN		20

/**
 * struct line - one instruction as objdump sees it
 * @ip: its address
 * @len: its bytes
 * @bytes: as read
 * @words: mnemonic and operands
 */
struct line {
	u64 ip;
	u32 len;
	u8 bytes[32];
	char words[256];
};

struct totals {
	u64 insns;
	u64 branches;
	u64 passed_over;
	u64 wrong;
};

/* Parses "  addr:\tbytes \tmnemonic operands"; false for any other line. */
static bool parse_line(const char *text, struct line *line)
{
	const char *tab;
	char *end;

	line->ip = strtoull(text, &end, 16);
	if (end == text || end[0] != ':' || end[1] != '\t')
		return false;
	text = end + 2;
	line->len = 0;
	while (isxdigit((unsigned char)text[0]) &&
	       isxdigit((unsigned char)text[1]) && text[2] == ' ' &&
	       line->len < sizeof(line->bytes)) {
		line->bytes[line->len++] = (u8)strtoul(text, NULL, 16);
		text += 3;
	}
	tab = strchr(text, '\t');
	line->words[0] = 0;
	if (tab)
		snprintf(line->words, sizeof(line->words), "%s", tab + 1);
	line->words[strcspn(line->words, "\n")] = 0;
	return line->len > 0;
}

/* Words that come before a mnemonic. */
static const char *const prefix_words[] = {
	"bnd", "notrack", "rep", "repz", "repnz", "data16", "data32", "addr16",
	"addr32", "lock", "cs", "ds", "es", "ss", "fs", "gs", "rex", "{rex2",
	"{rex}", "{rex2}", "{evex}", "xacquire", "xrelease", "{load}", "{store}",
};

static bool is_prefix_word(const char *word, size_t len)
{
	size_t i, want;

	if (len > 4 && !memcmp(word, "rex.", 4))
		return true;
	for (i = 0; i < sizeof(prefix_words) / sizeof(prefix_words[0]); i++) {
		want = strlen(prefix_words[i]);
		if (len == want && !memcmp(word, prefix_words[i], len))
			return true;
	}
	return false;
}

/* The mnemonic, without branch hints, and where its operands start. */
static const char *mnemonic(const char *words, char *name, size_t size)
{
	size_t len;

	for (;;) {
		words += strspn(words, " ");
		len = strcspn(words, " ");
		if (!is_prefix_word(words, len) || !words[len])
			break;
		words += len;
	}
	snprintf(name, size, "%.*s", (int)len, words);
	name[strcspn(name, ",")] = 0;
	words += len;
	return words + strspn(words, " ");
}

struct name_class {
	const char *name;
	u8 class;
};

static const struct name_class classes[] = {
	{ "ret", KIPT_INSN_RET }, { "retq", KIPT_INSN_RET },
	{ "retw", KIPT_INSN_RET }, { "retl", KIPT_INSN_RET },
	{ "lret", KIPT_INSN_FAR }, { "lretq", KIPT_INSN_FAR },
	{ "lretw", KIPT_INSN_FAR }, { "lretl", KIPT_INSN_FAR },
	{ "ljmp", KIPT_INSN_FAR }, { "ljmpw", KIPT_INSN_FAR },
	{ "ljmpl", KIPT_INSN_FAR }, { "rex.Wljmp", KIPT_INSN_FAR },
	{ "lcall", KIPT_INSN_FAR }, { "lcallw", KIPT_INSN_FAR },
	{ "lcalll", KIPT_INSN_FAR }, { "rsm", KIPT_INSN_FAR },
	{ "int", KIPT_INSN_INT }, { "int3", KIPT_INSN_INT },
	{ "int1", KIPT_INSN_INT }, { "icebp", KIPT_INSN_INT },
	{ "into", KIPT_INSN_INTO },
	{ "iret", KIPT_INSN_IRET }, { "iretq", KIPT_INSN_IRET },
	{ "iretw", KIPT_INSN_IRET }, { "iretl", KIPT_INSN_IRET },
	{ "uiret", KIPT_INSN_IRET }, { "erets", KIPT_INSN_IRET },
	{ "eretu", KIPT_INSN_IRET },
	{ "syscall", KIPT_INSN_SYSCALL }, { "sysenter", KIPT_INSN_SYSCALL },
	{ "sysret", KIPT_INSN_SYSRET }, { "sysretq", KIPT_INSN_SYSRET },
	{ "sysretl", KIPT_INSN_SYSRET }, { "sysexit", KIPT_INSN_SYSRET },
	{ "sysexitq", KIPT_INSN_SYSRET }, { "sysexitl", KIPT_INSN_SYSRET },
	{ "vmlaunch", KIPT_INSN_VMENTRY }, { "vmresume", KIPT_INSN_VMENTRY },
	{ "vmcall", KIPT_INSN_VMCALL },
	{ "jmpabs", KIPT_INSN_JUMP_IND },
	{ "ptwrite", KIPT_INSN_PTWRITE }, { "ptwritel", KIPT_INSN_PTWRITE },
	{ "ptwriteq", KIPT_INSN_PTWRITE },
	{ "loop", KIPT_INSN_COND }, { "loope", KIPT_INSN_COND },
	{ "loopne", KIPT_INSN_COND }, { "loopw", KIPT_INSN_COND },
	{ "loopl", KIPT_INSN_COND }, { "loopel", KIPT_INSN_COND },
	{ "loopnel", KIPT_INSN_COND }, { "loopew", KIPT_INSN_COND },
	{ "loopnew", KIPT_INSN_COND },
};

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static u8 class_of(const char *words, const char **operands)
{
	char name[32];
	size_t i;

	*operands = mnemonic(words, name, sizeof(name));
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!strcmp(name, classes[i].name))
			return classes[i].class;
	}
	if (starts(name, "jmp"))
		return **operands == '*' ? KIPT_INSN_JUMP_IND :
					   KIPT_INSN_JUMP;
	if (starts(name, "call"))
		return **operands == '*' ? KIPT_INSN_CALL_IND :
					   KIPT_INSN_CALL;
	if (name[0] == 'j')
		return KIPT_INSN_COND;
	if (starts(name, "mov") && strstr(*operands, ",%cr3"))
		return KIPT_INSN_MOV_CR3;
	return KIPT_INSN_OTHER;
}

static bool is_direct(u8 class)
{
	return class == KIPT_INSN_COND || class == KIPT_INSN_JUMP ||
	       class == KIPT_INSN_CALL;
}

/* objdump prints FWAIT and the x87 instruction after it as one, and bytes it
 * can make nothing of as "(bad)", data or a lone prefix.
 */
static bool pass_over(const struct line *line)
{
	const char *words = line->words;
	char name[32];

	if (strstr(words, "(bad)") || starts(words, ".byte") || !words[0])
		return true;
	if (line->bytes[0] == 0x9b && line->len > 1)
		return true;
	mnemonic(words, name, sizeof(name));
	return is_prefix_word(name, strlen(name)) || !name[0];
}

static void complain(struct totals *totals, const char *what,
		     const struct line *line, const struct kipt_insn *insn,
		     enum kipt_status status)
{
	u32 i;

	if (totals->wrong++ >= SHOWN)
		return;
	printf("# %s at %llx:", what, (unsigned long long)line->ip);
	for (i = 0; i < line->len; i++)
		printf(" %02x", line->bytes[i]);
	printf(" \"%s\": ours ", line->words);
	if (status == KIPT_OK)
		printf("%u bytes, class %u, target %llx\n", insn->len, insn->class,
		       (unsigned long long)insn->target);
	else
		printf("%s\n", kipt_status_name(status));
}

static void compare(struct totals *totals, const struct line *line,
		    const u8 *bytes, u32 have, u32 mode)
{
	struct kipt_insn insn = { 0 };
	enum kipt_status status;
	const char *operands;
	u8 class;

	if (pass_over(line)) {
		totals->passed_over++;
		return;
	}
	totals->insns++;
	status = kipt_insn_decode(&insn, mode, line->ip, bytes, have);
	if (status != KIPT_OK || insn.len != line->len) {
		complain(totals, "length", line, &insn, status);
		return;
	}
	class = class_of(line->words, &operands);
	if (class != KIPT_INSN_OTHER)
		totals->branches++;
	if (class != insn.class)
		complain(totals, "class", line, &insn, status);
	else if (is_direct(class) &&
		 strtoull(operands, NULL, 16) != insn.target)
		complain(totals, "target", line, &insn, status);
}

/* The bytes after an instruction are given too, so that a length that is
 * too long shows as such.
 */
static void compare_first(struct totals *totals, const struct line *window,
			  u32 count, u32 mode)
{
	u8 bytes[WINDOW * 32];
	u32 have = 0, i;

	for (i = 0; i < count && have < KIPT_INSN_MAX_LEN; i++) {
		memcpy(bytes + have, window[i].bytes, window[i].len);
		have += window[i].len;
	}
	compare(totals, window, bytes, have, mode);
}

static void check(FILE *input, struct totals *totals)
{
	static struct line window[WINDOW];
	static char text[LINE_MAX_LEN];
	u32 mode = KIPT_EXEC_64, count = 0;

	while (fgets(text, sizeof(text), input)) {
		if (strstr(text, "file format elf32"))
			mode = KIPT_EXEC_32;
		else if (strstr(text, "file format elf64"))
			mode = KIPT_EXEC_64;
		if (count == WINDOW) {
			compare_first(totals, window, count, mode);
			memmove(window, window + 1,
				--count * sizeof(window[0]));
		}
		if (parse_line(text, &window[count]))
			count++;
	}
	while (count) {
		compare_first(totals, window, count, mode);
		memmove(window, window + 1, --count * sizeof(window[0]));
	}
}

int main(int argc, char **argv)
{
	struct totals totals = { 0 };

	if (argc > 1) {
		fprintf(stderr,
			"usage: objdump -d -w FILE | %s\n"
			"Compares the instruction classifier with objdump.\n",
			argv[0]);
		return strcmp(argv[1], "--help") ? 2 : 0;
	}
	check(stdin, &totals);
	printf("%llu insns %llu branches %llu passed over %llu wrong\n",
	       (unsigned long long)totals.insns,
	       (unsigned long long)totals.branches,
	       (unsigned long long)totals.passed_over,
	       (unsigned long long)totals.wrong);
	return totals.wrong || !totals.insns;
}
