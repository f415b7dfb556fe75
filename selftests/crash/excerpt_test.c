// SPDX-License-Identifier: GPL-2.0-only
/*
 * Excerpts of hand-made records against the text they are to give: calls that
 * returned and that did not, recursion, loops, interrupts, thunks, where the
 * end is and where it is not, gaps, bounds. Random records write nowhere but
 * where they may. The numbers are the same in each run. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/shared/excerpt_text.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define TEXT		0xffffffff81000000ULL
/* Function n is at TEXT + n * APART. */
#define APART		0x1000ULL
#define ROOM		4096U
#define MOST		32U
#define LINES_MOST	1100U
#define RANDOM_RUNS	300U
#define RANDOM_RECORDS	3000U
/* TSC ticks in a microsecond, and in a millisecond. */
#define TICKS_US	2000ULL
#define TICKS_MS	2000000U
#define LONG_NAME \
	"_with_a_name_that_does_not_end_and_goes_on_until_nobody_reads_it_any_more"

static struct ktap ktap;
static struct kipt_excerpt_lines list;
static struct kipt_excerpt_line *memory;
static char shown[LINES_MOST][KIPT_EXCERPT_WIDTH];
static u32 nr_shown;
static bool overlong;
static bool long_names;

static u64 fn(char name)
{
	return TEXT + (u64)(name - 'a') * APART;
}

static void begin_room(u32 room)
{
	free(memory);
	/* Its very size, so that ASan sees an access beyond its end. */
	memory = malloc(room * sizeof(*memory));
	kipt_excerpt_lines_init(&list, memory, room);
}

static void begin(void)
{
	begin_room(ROOM);
}

static void add_record(u8 type, u8 kind, u16 flags, u64 ip, u64 value)
{
	struct kipt_record record = {
		.type = type, .kind = kind, .flags = flags,
		.ip = ip, .value = value,
	};

	kipt_excerpt_lines_add(&list, &record);
}

static void branch(u8 kind, u64 from, u64 to)
{
	add_record(KIPT_RECORD_BRANCH, kind, 0, from, to);
}

/* From byte @at of function @from; the call has 5 bytes. */
static void call(char from, u64 at, char to)
{
	branch(KIPT_BRANCH_CALL, fn(from) + at, fn(to));
}

static void ret(char from, char to, u64 at)
{
	branch(KIPT_BRANCH_RET, fn(from) + 0x80, fn(to) + at + 5);
}

static void leaf(char from, u64 at, char to)
{
	call(from, at, to);
	ret(to, from, at);
}

static void enter(char to)
{
	add_record(KIPT_RECORD_ENABLE, KIPT_ENABLE_PGE, 0, fn(to), 0);
}

static void leave(char from)
{
	add_record(KIPT_RECORD_DISABLE, KIPT_DISABLE_BRANCH, KIPT_RF_NO_VALUE,
		   fn(from) + 0x90, 0);
}

static void gap(u8 kind)
{
	add_record(KIPT_RECORD_GAP, kind, KIPT_RF_NO_IP, 0, 0);
}

static void resume(char to, u64 at)
{
	add_record(KIPT_RECORD_ENABLE, KIPT_ENABLE_RESUME, 0, fn(to) + at, 0);
}

static void time_us(u64 us)
{
	add_record(KIPT_RECORD_TIME, 0, KIPT_RF_NO_IP, 0,
		   1000000 + us * TICKS_US);
}

/* Function a was entered, and called b. */
static void begin_in_b(void)
{
	begin();
	enter('a');
	call('a', 0x10, 'b');
}

static void name_of(void *ctx, u64 ip, bool place, char *buf, u32 size)
{
	u64 function = (ip - TEXT) / APART, at = (ip - TEXT) % APART;
	const char *tail = long_names ? LONG_NAME : "";

	(void)ctx;
	if (ip < TEXT || function >= 26) {
		snprintf(buf, size, "0x%llx", (unsigned long long)ip);
		return;
	}
	if (place)
		snprintf(buf, size, "%c%s+0x%llx/0x100",
			 (char)('a' + function), tail, (unsigned long long)at);
	else
		snprintf(buf, size, "%c%s", (char)('a' + function), tail);
}

static void put_line(void *ctx, const char *line)
{
	(void)ctx;
	if (strlen(line) >= KIPT_EXCERPT_WIDTH || nr_shown == LINES_MOST) {
		overlong = true;
		return;
	}
	strcpy(shown[nr_shown++], line);
}

static const struct kipt_excerpt_text text_of = {
	.cpu = 1,
	.tsc_khz = TICKS_MS,
	.name = name_of,
	.put = put_line,
};

static void show(const struct kipt_excerpt_text *text, u32 most)
{
	nr_shown = 0;
	overlong = false;
	kipt_excerpt_show(text, &list, most);
}

/* What ends with a transfer of a kind to function z. */
static void show_end(struct kipt_excerpt_text *text, u8 kind, u64 ip, u32 most)
{
	const struct kipt_record last = {
		.type = KIPT_RECORD_BRANCH, .kind = kind,
		.ip = ip, .value = fn('z'),
	};

	text->end.ip = last.ip;
	text->end.known = true;
	text->last = &last;
	text->insns = 4213;
	show(text, most);
	text->last = NULL;
}

/* A page fault at byte @at of @in. */
static void show_fault(char in, u64 at, u32 most)
{
	struct kipt_excerpt_text text = text_of;

	text.end.faulted = true;
	show_end(&text, KIPT_BRANCH_EVENT, fn(in) + at, most);
}

/* Where an NMI met a CPU, half a millisecond later. */
static void show_nmi(u64 ip)
{
	struct kipt_excerpt_text text = text_of;

	text.end.nmi = true;
	text.later = 500 * TICKS_US;
	show_end(&text, KIPT_BRANCH_EVENT, ip, MOST);
}

/* Are lines [@from, ...) these, and no more? */
static void expect(const char *name, u32 from, const char *const *lines)
{
	u32 i, n = 0;
	bool good = !overlong;

	while (lines[n])
		n++;
	good &= nr_shown == n + from;
	for (i = 0; i < n && i + from < nr_shown; i++)
		good &= !strcmp(shown[i + from], lines[i]);
	ktap_result(&ktap, good, "%s", name);
	for (i = 0; !good && i < nr_shown; i++)
		printf("# %s\n", shown[i]);
}

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "%s", name);
}

/* The lines after those that say where it ends, and how to read it. */
#define EXPECT(name, ...) \
	expect(name, 2, (const char *const[]){ __VA_ARGS__, NULL })
#define EXPECT_ALL(name, ...) \
	expect(name, 0, (const char *const[]){ __VA_ARGS__, NULL })

#define AFTER	"then z(), 4213 instructions until tracing stopped"

static void returned_calls_are_one_line(void)
{
	begin();
	time_us(0);
	enter('a');
	call('a', 0x10, 'b');
	time_us(1);
	leaf('b', 0x10, 'c');
	call('b', 0x20, 'd');
	leaf('d', 0x10, 'e');
	leaf('d', 0x20, 'f');
	ret('d', 'b', 0x20);
	time_us(3);
	call('b', 0x30, 'g');
	time_us(10);
	show_fault('g', 0x12, MOST);
	EXPECT("what returned is one line with the calls below it",
	       "     -10.0 a() {",
	       "             b() {",
	       "      -9.0     c();",
	       "               d();  2 in it",
	       "      -7.0     g() {",
	       "       0.0       g+0x12/0x100: fault",
	       AFTER);
	check("the first line says where it ends",
	      !strcmp(shown[0],
		      "CPU 1, calls before the fault at g+0x12/0x100"));
}

static void system_calls_are_one_line(void)
{
	u32 i;

	begin();
	enter('x');
	leave('x');
	for (i = 0; i < 100; i++) {
		enter('a');
		leaf('a', 0x10, 'b');
		leave('a');
	}
	enter('a');
	call('a', 0x20, 'c');
	show_fault('c', 0, MOST);
	EXPECT("system calls that returned are counted",
	       "           x();",
	       "           a();  100 in it  x 100",
	       "           a() {",
	       "             c() {",
	       "               c+0x0/0x100: fault",
	       AFTER);
}

static void system_calls_are_named(void)
{
	begin_in_b();
	leaf('b', 0x8, 'c');
	call('b', 0x10, 'd');
	leaf('d', 0x10, 'e');
	ret('d', 'b', 0x10);
	leaf('b', 0x20, 'c');
	/* An interrupt in the system call, with more to do. */
	branch(KIPT_BRANCH_EVENT, fn('b') + 0x30, fn('i'));
	leaf('i', 0x10, 'j');
	leaf('i', 0x20, 'k');
	branch(KIPT_BRANCH_IRET, fn('i') + 0x50, fn('b') + 0x30);
	ret('b', 'a', 0x10);
	leave('a');
	enter('a');
	call('a', 0x10, 'b');
	call('b', 0x10, 'c');
	branch(KIPT_BRANCH_JUMP, fn('c') + 0x10, fn('f'));
	ret('f', 'b', 0x10);
	ret('b', 'a', 0x10);
	leave('a');
	enter('a');
	show_fault('a', 0, MOST);
	EXPECT("system calls that returned have their names",
	       "           a: d();  8 in it",
	       "           a: f();  2 in it",
	       "           a() {",
	       "             a+0x0/0x100: fault",
	       AFTER);
}

static void recursion_is_counted(void)
{
	u32 i;

	begin_in_b();
	for (i = 0; i < 10000; i++)
		call('b', 0x20, 'b');
	show_fault('b', 0x22, MOST);
	EXPECT("a recursion is counted, however deep",
	       "           a() {",
	       "             b() {",
	       "               b() {  x 10000",
	       "                 b+0x22/0x100: fault",
	       AFTER);
	begin_in_b();
	for (i = 0; i < 5000; i++) {
		call('b', 0x20, 'c');
		call('c', 0x20, 'b');
	}
	show_fault('b', 0x22, 4);
	EXPECT("of functions that call each other the innermost stay",
	       "           c() {",
	       "             b() {",
	       "               c() {",
	       "                 b() {",
	       "                   b+0x22/0x100: fault",
	       AFTER);
}

static void recursion_by_jumps(void)
{
	u32 i;

	begin_in_b();
	for (i = 0; i < 3; i++) {
		branch(KIPT_BRANCH_JUMP, fn('b') + 0x10, fn('j'));
		call('j', 0x20, 'b');
	}
	show_fault('b', 0x8, MOST);
	EXPECT("of a recursion the last round says where it jumped",
	       "           a() {",
	       "             b -> j() {",
	       "               b() {  x 3",
	       "                 b+0x8/0x100: fault",
	       AFTER);
}

static void recursion_returns(void)
{
	u32 i;

	begin_in_b();
	for (i = 0; i < 10000; i++)
		call('b', 0x20, 'b');
	for (i = 0; i < 9999; i++)
		ret('b', 'b', 0x20);
	call('b', 0x30, 'c');
	show_fault('c', 0x22, MOST);
	EXPECT("a recursion returns one by one",
	       "           a() {",
	       "             b() {",
	       "               b() {  9999 in it",
	       "                 c() {",
	       "                   c+0x22/0x100: fault",
	       AFTER);
}

static void loops_are_counted(void)
{
	u32 i;

	begin();
	enter('a');
	for (i = 0; i < 500; i++) {
		call('a', 0x10, 'b');
		leaf('b', 0x20, 'c');
		leaf('b', 0x20, 'c');
		ret('b', 'a', 0x10);
	}
	leaf('a', 0x30, 'd');
	leaf('a', 0x38, 'd');
	show_fault('a', 0x40, MOST);
	EXPECT("calls in a loop are counted, those from elsewhere are not",
	       "           a() {",
	       "             b();  1000 in it  x 500",
	       "             d();",
	       "             d();",
	       "             a+0x40/0x100: fault",
	       AFTER);
}

static void context(bool guest)
{
	add_record(KIPT_RECORD_CONTEXT, 0, guest ? KIPT_RF_NR : 0, fn('x'), 0x1000);
}

/* Function b runs a guest, whose addresses are those of x and y, and of user code. */
static void guests_have_no_lines(void)
{
	begin_in_b();
	branch(KIPT_BRANCH_VMENTRY, fn('b') + 0x10, fn('x'));
	context(true);
	call('x', 0x10, 'y');
	gap(KIPT_GAP_NO_CODE);
	resume('y', 0x20);
	branch(KIPT_BRANCH_SYSRET, fn('y') + 0x30, 0x401000);
	branch(KIPT_BRANCH_JUMP, 0x401000, 0x401008);
	branch(KIPT_BRANCH_VMEXIT, 0x401008, fn('b') + 0x18);
	context(false);
	leaf('b', 0x20, 'c');
	/* Where the way out is lost, its address is that of a resumption. */
	branch(KIPT_BRANCH_VMENTRY, fn('b') + 0x10, fn('x'));
	context(true);
	gap(KIPT_GAP_NO_CODE);
	context(false);
	resume('b', 0x18);
	leaf('b', 0x20, 'd');
	show_fault('b', 0x40, MOST);
	EXPECT("guests have no lines, and what ran them goes on",
	       "           a() {",
	       "             b() {",
	       "               c();",
	       "               d();",
	       "               b+0x40/0x100: fault",
	       AFTER);
}

static void events_have_lines(void)
{
	begin_in_b();
	branch(KIPT_BRANCH_EVENT, fn('b') + 0x15, fn('i'));
	leaf('i', 0x10, 'j');
	branch(KIPT_BRANCH_IRET, fn('i') + 0x50, fn('b') + 0x15);
	leaf('b', 0x20, 'c');
	branch(KIPT_BRANCH_EVENT, fn('b') + 0x30, fn('i'));
	call('i', 0x10, 'j');
	show_fault('j', 0x40, MOST);
	EXPECT("interrupts say where they came",
	       "           a() {",
	       "             b() {",
	       "               i();  at b+0x15/0x100  1 in it",
	       "               c();",
	       "               i() {  at b+0x30/0x100",
	       "                 j() {",
	       "                   j+0x40/0x100: fault",
	       AFTER);
}

static void thunks_are_jumps(void)
{
	begin();
	enter('a');
	/* call thunk; thunk: call 1f; 1: ret to the function */
	call('a', 0x10, 't');
	branch(KIPT_BRANCH_CALL, fn('t'), fn('t') + 0xc);
	branch(KIPT_BRANCH_RET, fn('t') + 0x10, fn('b'));
	leaf('b', 0x10, 'c');
	/* The same by a jump, and a return by a thunk. */
	branch(KIPT_BRANCH_JUMP, fn('b') + 0x20, fn('t'));
	branch(KIPT_BRANCH_CALL, fn('t'), fn('t') + 0xc);
	branch(KIPT_BRANCH_RET, fn('t') + 0x10, fn('d'));
	call('d', 0x10, 'e');
	branch(KIPT_BRANCH_JUMP, fn('e') + 0x20, fn('r'));
	branch(KIPT_BRANCH_RET, fn('r'), fn('d') + 0x15);
	show_fault('d', 0x18, MOST);
	EXPECT("thunks have no lines, who jumps has both names",
	       "           a() {",
	       "             b -> d() {",
	       "               c();",
	       "               e();",
	       "               d+0x18/0x100: fault",
	       AFTER);
}

static void other_returns_fit(void)
{
	begin_in_b();
	call('b', 0x10, 'c');
	/* A trampoline the return address was replaced by. */
	branch(KIPT_BRANCH_RET, fn('c') + 0x80, fn('t'));
	leaf('t', 0x10, 'h');
	branch(KIPT_BRANCH_RET, fn('t') + 0x40, fn('b') + 0x15);
	show_fault('b', 0x20, MOST);
	EXPECT("a call returns over a trampoline",
	       "           a() {",
	       "             b() {",
	       "               c();  1 in it",
	       "               b+0x20/0x100: fault",
	       AFTER);
	begin_in_b();
	branch(KIPT_BRANCH_RET, fn('b') + 0x80, fn('s') + 0x15);
	leaf('s', 0x20, 'c');
	branch(KIPT_BRANCH_RET, fn('s') + 0x80, fn('u') + 0x15);
	leaf('u', 0x20, 'd');
	show_fault('u', 0x30, MOST);
	EXPECT("a line says that another stack follows",
	       "           a() {",
	       "             b() {",
	       "           --- another stack, then in s+0x15/0x100 ---",
	       "           s();  called before that  1 in it",
	       "           d();",
	       "           u+0x30/0x100: fault",
	       AFTER);
}

static void another_stack_at_the_end(void)
{
	begin_in_b();
	branch(KIPT_BRANCH_RET, fn('b') + 0x80, fn('s') + 0x15);
	branch(KIPT_BRANCH_JUMP, fn('s') + 0x18, fn('j'));
	call('s', 0x20, 'c');
	show_fault('c', 0x30, MOST);
	EXPECT("what is on another stack is nobody's who was before",
	       "           a() {",
	       "             b() {",
	       "           --- another stack, then in s+0x15/0x100 ---",
	       "           c() {",
	       "             c+0x30/0x100: fault",
	       AFTER);
	begin_in_b();
	branch(KIPT_BRANCH_RET, fn('b') + 0x80, fn('s') + 0x15);
	call('s', 0x20, 'c');
	branch(KIPT_BRANCH_RET, fn('c') + 0x80, fn('u') + 0x15);
	branch(KIPT_BRANCH_IRET, fn('u') + 0x80, fn('q'));
	enter('e');
	show_fault('e', 0x30, MOST);
	EXPECT("nor what returns from an interrupt there",
	       "           a() {",
	       "             b() {",
	       "           --- another stack, then in s+0x15/0x100 ---",
	       "           c() {",
	       "           --- another stack, then in u+0x15/0x100 ---",
	       "           u();  called before that",
	       "           e() {",
	       "             e+0x30/0x100: fault",
	       AFTER);
}

/* The next task enters user space, and returns from a system call of its own. */
static void another_stack_that_stays(u32 room, u32 leaves)
{
	u32 i;

	begin_room(room);
	enter('a');
	call('a', 0x10, 'b');
	call('b', 0x10, 'c');
	branch(KIPT_BRANCH_RET, fn('c') + 0x80, fn('s') + 0x15);
	branch(KIPT_BRANCH_SYSRET, fn('s') + 0x80, 0x401000);
	branch(KIPT_BRANCH_SYSCALL, 0x401000, fn('e'));
	for (i = 0; i < leaves; i++)
		leaf('e', i * 8, 'f');
	ret('e', 'b', 0x10);
	show_fault('b', 0x20, MOST);
	check("what a task left is not returned to by the one after the next",
	      nr_shown > 4 && !strcmp(shown[nr_shown - 3],
		"           --- another stack, then in b+0x15/0x100 ---"));
}

static void begins_in_the_middle(void)
{
	begin();
	add_record(KIPT_RECORD_SYNC, KIPT_SYNC_START, 0, fn('d') + 0x30, 0);
	leaf('d', 0x40, 'e');
	leaf('d', 0x50, 'f');
	ret('d', 'c', 0x10);
	leaf('c', 0x20, 'g');
	ret('c', 'b', 0x10);
	call('b', 0x20, 'h');
	show_fault('h', 0x30, MOST);
	EXPECT("functions that the trace begins in",
	       "           c();  called before that  4 in it",
	       "           h() {",
	       "             h+0x30/0x100: fault",
	       AFTER);
}

static void gaps_are_gaps(void)
{
	begin();
	gap(KIPT_GAP_DECODE);
	enter('a');
	call('a', 0x10, 'b');
	gap(KIPT_GAP_OVERFLOW);
	/* Nobody knows where: nothing more is closed than the gap has. */
	add_record(KIPT_RECORD_DISABLE, KIPT_DISABLE_BRANCH,
		   KIPT_RF_NO_IP | KIPT_RF_NO_VALUE, 0, 0);
	resume('c', 0x10);
	leaf('c', 0x20, 'd');
	gap(KIPT_GAP_NO_CODE);
	resume('c', 0x10);
	gap(KIPT_GAP_NO_CODE);
	resume('c', 0x40);
	call('c', 0x50, 'e');
	show_fault('e', 0x30, MOST);
	EXPECT("nothing is open across a gap",
	       "           a() {",
	       "             b() {",
	       "           --- gap: lost by the CPU, then in c+0x10/0x100 ---",
	       "           d();",
	       "           --- gap: code that cannot be read, then in "
	       "c+0x40/0x100 ---  x 2",
	       "           e() {",
	       "             e+0x30/0x100: fault",
	       AFTER);
}

/* Also where room is made for the line of the gap itself. */
static void nothing_returns_across_a_gap(void)
{
	bool good = true;
	u32 leaves, i;

	for (leaves = 8; leaves < 2 * KIPT_EXCERPT_ROOM_MIN; leaves++) {
		begin_room(KIPT_EXCERPT_ROOM_MIN);
		enter('a');
		call('a', 0x10, 'b');
		call('b', 0x10, 'c');
		for (i = 0; i < leaves; i++)
			leaf('c', i * 8, 'f');
		gap(KIPT_GAP_OVERFLOW);
		resume('e', 0x10);
		ret('e', 'b', 0x10);
		show_fault('b', 0x20, MOST);
		good &= nr_shown > 4 && !strcmp(shown[nr_shown - 3],
			"           e();  called before that");
	}
	check("nor is anything returned to across one", good);
}

static void user_code_is_left_out(void)
{
	begin();
	add_record(KIPT_RECORD_SYNC, KIPT_SYNC_START, 0, 0x401000, 0);
	branch(KIPT_BRANCH_CALL, 0x401000, 0x402000);
	add_record(KIPT_RECORD_GAP, KIPT_GAP_NO_CODE, 0, 0x402000, 0);
	add_record(KIPT_RECORD_ENABLE, KIPT_ENABLE_RESUME, 0, 0x403000, 0);
	branch(KIPT_BRANCH_SYSCALL, 0x403000, fn('a'));
	leaf('a', 0x10, 'b');
	branch(KIPT_BRANCH_SYSRET, fn('a') + 0x80, 0x403002);
	branch(KIPT_BRANCH_RET, 0x403010, 0x402000);
	branch(KIPT_BRANCH_EVENT, 0x403000, fn('i'));
	call('i', 0x10, 'c');
	show_fault('c', 0x30, MOST);
	EXPECT("user code has no lines",
	       "           a();  1 in it",
	       "           i() {",
	       "             c() {",
	       "               c+0x30/0x100: fault",
	       AFTER);
}

static void show_user(u32 most)
{
	struct kipt_excerpt_text text = text_of;

	text.end.faulted = true;
	text.user = most;
	strcpy(text.task, "sh");
	text.tid = 186;
	text.program = 0x400000;
	show_end(&text, KIPT_BRANCH_EVENT, fn('b') + 0x30, MOST);
}

/* Of user code: a loop, a call, a return, an interrupt, a system call. */
static void user_loop(void)
{
	u32 i;

	add_record(KIPT_RECORD_SYNC, KIPT_SYNC_START, 0, 0x401000, 0);
	for (i = 0; i < 100; i++)
		branch(KIPT_BRANCH_COND, 0x401010, 0x401000);
	branch(KIPT_BRANCH_CALL, 0x401020, 0x402000);
	branch(KIPT_BRANCH_EVENT, 0x402008, fn('i'));
	branch(KIPT_BRANCH_IRET, fn('i') + 0x80, 0x402008);
	branch(KIPT_BRANCH_RET, 0x402010, 0x401025);
	branch(KIPT_BRANCH_SYSCALL, 0x403000, fn('a'));
	call('a', 0x10, 'b');
}

static void user_code_has_lines(void)
{
	u32 i;

	begin();
	user_loop();
	show_user(64);
	EXPECT("branches of user code come before what they led to",
	       "           i();",
	       "           user code of sh (186), its program's code is at 0x400000",
	       "             0x401010 -> 0x401000  x 100",
	       "             0x401020 -> 0x402000",
	       "             0x402008 -> i()",
	       "             0x402010 -> 0x401025",
	       "             0x403000 -> a()",
	       "           a() {",
	       "             b() {",
	       "               b+0x30/0x100: fault",
	       AFTER);
	show_user(1);
	EXPECT("the last of them",
	       "           i();",
	       "           user code of sh (186), its program's code is at 0x400000",
	       "             0x403000 -> a()",
	       "           a() {",
	       "             b() {",
	       "               b+0x30/0x100: fault",
	       AFTER);
	begin();
	user_loop();
	branch(KIPT_BRANCH_SYSRET, fn('a') + 0x80, 0x403002);
	add_record(KIPT_RECORD_GAP, KIPT_GAP_NO_CODE, 0, 0x402000, 0);
	add_record(KIPT_RECORD_ENABLE, KIPT_ENABLE_RESUME, 0, 0x403000, 0);
	branch(KIPT_BRANCH_SYSCALL, 0x403000, fn('b'));
	show_user(64);
	EXPECT("none from before a gap",
	       "           i();",
	       "           a();  1 in it",
	       "           user code of sh (186), its program's code is at 0x400000",
	       "             0x403000 -> b()",
	       "           b() {",
	       "             b+0x30/0x100: fault",
	       AFTER);
	begin();
	for (i = 0; i < 100; i++)
		user_loop();
	show_user(100);
	check("no more than are remembered",
	      nr_shown <= MOST + KIPT_EXCERPT_USER_MOST +
			  KIPT_EXCERPT_LINES_MORE);
}

static void ends_at_a_call(void)
{
	struct kipt_excerpt_text text = text_of;

	begin_in_b();
	show_end(&text, KIPT_BRANCH_CALL, fn('b') + 0x20, MOST);
	EXPECT("the end is a call",
	       "           a() {",
	       "             b() {",
	       "               b+0x20/0x100 calls z()",
	       AFTER);
	check("and is named so", !strcmp(shown[0],
		"CPU 1, calls before the call of z() at b+0x20/0x100"));
}

static void ends_at_an_nmi(void)
{
	struct kipt_excerpt_text text = text_of;

	begin_in_b();
	time_us(7);
	leaf('b', 0x10, 'c');
	show_nmi(fn('b') + 0x20);
	EXPECT_ALL("what an NMI met ends there",
		   "CPU 1, calls before the NMI 500.0 us later at b+0x20/0x100",
		   "           a() {",
		   "             b() {",
		   "       0.0     c();",
		   "       0.0     b+0x20/0x100: NMI");
	begin();
	enter('a');
	leaf('a', 0x10, 'b');
	leave('a');
	show_nmi(0x401000);
	EXPECT_ALL("or in user code",
		   "CPU 1, calls before the NMI 500.0 us later in user code",
		   "           a();  1 in it",
		   "           user code: NMI");
	begin_in_b();
	text.end.nmi = true;
	text.end.known = true;
	text.end.ip = fn('q');
	show(&text, MOST);
	EXPECT_ALL("of a CPU that stopped by itself there is what is there",
		   "CPU 1, the last calls",
		   "           a() {",
		   "             b() {",
		   "               here tracing stopped: b+0x0/0x100");
}

static void end_is_not_there(void)
{
	struct kipt_excerpt_text text = text_of;

	begin_in_b();
	text.end.ip = fn('q') + 0x10;
	text.end.known = true;
	text.end.faulted = true;
	show(&text, MOST);
	EXPECT("a line says that the end is not in the trace",
	       "           a() {",
	       "             b() {",
	       "               here tracing stopped: b+0x0/0x100",
	       "the fault at q+0x10/0x100 is not in the "
	       "trace");
	text.cut = text.over = true;
	begin();
	show(&text, MOST);
	text.cut = text.over = false;
	EXPECT("an empty trace, and no time",
	       "           here time was up: 0x0",
	       "the fault at q+0x10/0x100 was not reached "
	       "in time");
	begin_in_b();
	text.end.known = false;
	show(&text, MOST);
	EXPECT("a CPU that did not die",
	       "           a() {",
	       "             b() {",
	       "               here tracing stopped: b+0x0/0x100");
	check("its first line names no end",
	      !strcmp(shown[0], "CPU 1, the last calls"));
}

static bool ends(u64 ip, bool faulted, u8 kind, u64 from)
{
	const struct kipt_excerpt_end end = {
		.ip = ip, .known = true, .faulted = faulted,
	};
	const struct kipt_record record = {
		.type = KIPT_RECORD_BRANCH, .kind = kind, .ip = from,
	};

	return kipt_excerpt_ends(&end, &record);
}

static bool ends_nmi(u64 ip, u8 type, u64 from)
{
	const struct kipt_excerpt_end end = {
		.ip = ip, .known = true, .nmi = true,
	};
	const struct kipt_record record = {
		.type = type, .kind = KIPT_BRANCH_EVENT, .ip = from,
	};

	return kipt_excerpt_ends(&end, &record);
}

static void what_ends(void)
{
	u64 ip = fn('b') + 0x20;

	check("an exception of the instruction is the end",
	      ends(ip, true, KIPT_BRANCH_EVENT, ip));
	check("also of a call to address 0",
	      ends(0, true, KIPT_BRANCH_EVENT, 0));
	check("another's is not",
	      !ends(ip, true, KIPT_BRANCH_EVENT, ip + 1) &&
	      !ends(ip, true, KIPT_BRANCH_JUMP, ip));
	check("a call is, by its own address and the one after it",
	      ends(ip, false, KIPT_BRANCH_CALL, ip) &&
	      ends(ip + 5, false, KIPT_BRANCH_CALL, ip) &&
	      ends(ip + 2, false, KIPT_BRANCH_CALL_IND, ip));
	check("an NMI is, and in user code also where a trace begins anew",
	      ends_nmi(ip, KIPT_RECORD_BRANCH, ip) &&
	      ends_nmi(0x401000, KIPT_RECORD_ENABLE, ip) &&
	      !ends_nmi(ip, KIPT_RECORD_ENABLE, ip));
	check("another call is not",
	      !ends(ip, false, KIPT_BRANCH_CALL, ip + 5) &&
	      !ends(ip + 10, false, KIPT_BRANCH_CALL, ip) &&
	      !ends(ip, false, KIPT_BRANCH_EVENT, ip));
}

static void lines_are_bounded(void)
{
	u32 i, most;

	for (most = 1; most <= 1000; most = most * 10) {
		begin();
		enter('a');
		for (i = 0; i < 3000; i++) {
			leaf('a', i, 'b');
			if (i % 3 == 0)
				call('a', 0x10 + i, 'a');
		}
		show_fault('a', 0x20, most);
		ktap_result(&ktap, nr_shown > most &&
			    nr_shown <= most + KIPT_EXCERPT_LINES_MORE,
			    "%u lines are %u lines", most, most);
	}
	begin_in_b();
	for (i = 0; i < 100; i++)
		leaf('b', i * 8, 'c');
	call('b', 0x900, 'd');
	show_fault('d', 0x20, 6);
	EXPECT("what does not fit is counted where it was",
	       "           a() {",
	       "             b() {  ... 97 more",
	       "               c();",
	       "               c();",
	       "               c();",
	       "               d() {",
	       "                 d+0x20/0x100: fault",
	       AFTER);
}

/* Calls of @in, each from elsewhere, so that each is a line. */
static void many_leaves(char in, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		leaf(in, i * 8, 'c');
}

static void what_has_no_room_counts(void)
{
	u32 i;

	begin_room(KIPT_EXCERPT_ROOM_MIN);
	enter('a');
	call('a', 0x10, 'b');
	many_leaves('b', 14);
	check("as many lines are kept as there is room for",
	      list.count == KIPT_EXCERPT_ROOM_MIN);
	many_leaves('b', 1);
	check("then a quarter of the room is made free, and no more",
	      list.count == KIPT_EXCERPT_ROOM_MIN / 4 * 3 + 1 && list.lines[0].open &&
	      list.lines[1].open && !list.lines[2].open);
	check("what went is counted where it was called", list.lines[1].dropped == 4);
	many_leaves('b', 100);
	ret('b', 'a', 0x10);
	leaf('a', 0x20, 'd');
	show_fault('a', 0x30, MOST);
	EXPECT("and in what returns",
	       "           a() {",
	       "             b();  115 in it",
	       "             d();",
	       "             a+0x30/0x100: fault",
	       AFTER);
	begin_room(KIPT_EXCERPT_ROOM_MIN);
	enter('a');
	call('a', 0x10, 'b');
	call('b', 0x10, 'e');
	many_leaves('e', 50);
	leave('a');
	enter('x');
	show_fault('x', 0x30, MOST);
	EXPECT("and in what is left all at once",
	       "           a();  52 in it",
	       "           x() {",
	       "             x+0x30/0x100: fault",
	       AFTER);
	begin_room(KIPT_EXCERPT_ROOM_MIN);
	enter('a');
	for (i = 0; i < 40; i++)
		call((char)('a' + i % 20), 0x10, (char)('a' + (i + 1) % 20));
	many_leaves('a', 40);
	check("half of what is kept are the innermost that are open",
	      list.lines[5].open && list.lines[5].ip == fn('a') &&
	      !list.lines[6].open);
}

static void long_names_are_cut(void)
{
	u32 i;

	begin();
	long_names = true;
	enter('a');
	for (i = 0; i < 40; i++)
		call((char)('a' + i % 24), 0x10,
		     (char)('a' + (i + 1) % 24));
	show_fault('b', 0x20, 100);
	long_names = false;
	check("lines are no longer than they may be",
	      !overlong && nr_shown > 40);
}

static u64 random_ip(void)
{
	u32 some = next_random() % 20;

	if (!some)
		return next_random();
	if (some == 1)
		return ~0ULL - next_random() % 16;
	return TEXT + next_random() % 24 * APART + next_random() % 4 * 5;
}

static void random_records(void)
{
	struct kipt_excerpt_text text = text_of;
	bool good = true;
	u32 run, i;

	for (run = 0; run < RANDOM_RUNS; run++) {
		u32 most = 1 + next_random() % 40;

		begin_room(KIPT_EXCERPT_ROOM_MIN + next_random() % 100);
		for (i = 0; i < RANDOM_RECORDS; i++)
			add_record(next_random() % 4 ? KIPT_RECORD_BRANCH :
				   (u8)(next_random() % 30),
				   (u8)(next_random() % 16),
				   next_random() % 8 ? 0 :
				   (u16)next_random(),
				   random_ip(), random_ip());
		text.end.known = next_random() % 2;
		text.end.nmi = next_random() % 2;
		text.tsc_khz = next_random() % 2 ? TICKS_MS : 0;
		text.user = next_random() % 80;
		show(&text, most);
		good &= !overlong &&
			nr_shown <= most + text.user + KIPT_EXCERPT_LINES_MORE;
	}
	check("random records keep to all bounds", good);
}

int main(void)
{
	ktap_start();
	returned_calls_are_one_line();
	system_calls_are_one_line();
	system_calls_are_named();
	recursion_is_counted();
	recursion_by_jumps();
	recursion_returns();
	loops_are_counted();
	events_have_lines();
	guests_have_no_lines();
	thunks_are_jumps();
	other_returns_fit();
	another_stack_at_the_end();
	another_stack_that_stays(ROOM, 0);
	another_stack_that_stays(KIPT_EXCERPT_ROOM_MIN, 14);
	begins_in_the_middle();
	gaps_are_gaps();
	nothing_returns_across_a_gap();
	user_code_is_left_out();
	user_code_has_lines();
	ends_at_a_call();
	ends_at_an_nmi();
	end_is_not_there();
	what_ends();
	lines_are_bounded();
	what_has_no_room_counts();
	long_names_are_cut();
	random_records();
	free(memory);
	return ktap_end(&ktap);
}
