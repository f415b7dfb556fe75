// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction classes, branch targets and memory operands of the test CPU's
 * own little decoder, against encodings written by hand from Intel SDM Vol. 2.
 * User space.
 */
#include <string.h>

#include "../../tools/testcpu/branch_class.h"
#include "ktap.h"

#define AT	0x401000

struct sample {
	const char *name;
	const char *hex;
	enum insn_mode mode;
	uint8_t class;
	uint64_t target;
};

static const struct sample samples[] = {
	{ "je_rel8", "7402", 64, BRANCH_COND, AT + 4 },
	{ "jne_rel8_back", "75fe", 64, BRANCH_COND, AT },
	{ "jb_rel32", "0f8210000000", 64, BRANCH_COND, AT + 22 },
	{ "jg_rel16", "660f8f1000", 32, BRANCH_COND, 0x1015 },
	{ "hinted_jcc", "2e7402", 64, BRANCH_COND, AT + 5 },
	{ "jrcxz", "e302", 64, BRANCH_COND, AT + 4 },
	{ "loop", "e2fe", 64, BRANCH_COND, AT },
	{ "loopne", "e0fe", 32, BRANCH_COND, AT },
	{ "jmp_rel8", "eb10", 64, BRANCH_JUMP, AT + 18 },
	{ "jmp_rel32", "e9fbffffff", 64, BRANCH_JUMP, AT },
	{ "jmp_rel16_in_16", "e91000", 16, BRANCH_JUMP, 0x1013 },
	{ "call_rel32", "e800000000", 64, BRANCH_CALL, AT + 5 },
	{ "call_66_in_64", "66e800000000", 64, BRANCH_CALL, AT + 6 },
	{ "call_66_in_32", "66e80000", 32, BRANCH_CALL, 0x1004 },
	{ "call_66_in_32_disp", "66e8f70f", 32, BRANCH_CALL, 0x1ffb },
	{ "jmp_rax", "ffe0", 64, BRANCH_JUMP_IND, 0 },
	{ "jmp_r8", "41ffe0", 64, BRANCH_JUMP_IND, 0 },
	{ "notrack_jmp", "3effe0", 64, BRANCH_JUMP_IND, 0 },
	{ "bnd_jmp_mem", "f2ff2500000000", 64, BRANCH_JUMP_IND, 0 },
	{ "call_rax", "ffd0", 64, BRANCH_CALL_IND, 0 },
	{ "call_mem", "ff1500000000", 64, BRANCH_CALL_IND, 0 },
	{ "far_call_mem", "ff1c24", 64, BRANCH_FAR, 0 },
	{ "far_jmp_mem", "ff2c24", 64, BRANCH_FAR, 0 },
	{ "push_mem", "ff3424", 64, BRANCH_NONE, 0 },
	{ "inc_mem", "ff0424", 64, BRANCH_NONE, 0 },
	{ "ret", "c3", 64, BRANCH_RET, 0 },
	{ "rep_ret", "f3c3", 64, BRANCH_RET, 0 },
	{ "ret_imm", "c20800", 64, BRANCH_RET, 0 },
	{ "retf", "cb", 64, BRANCH_FAR, 0 },
	{ "retfq", "48cb", 64, BRANCH_FAR, 0 },
	{ "retf_imm", "ca0800", 32, BRANCH_FAR, 0 },
	{ "far_jmp_direct", "ea001000002300", 32, BRANCH_FAR, 0 },
	{ "far_call_direct", "9a001000002300", 32, BRANCH_FAR, 0 },
	{ "iret", "cf", 32, BRANCH_IRET, 0 },
	{ "iretq", "48cf", 64, BRANCH_IRET, 0 },
	{ "syscall", "0f05", 64, BRANCH_SYSCALL, 0 },
	{ "sysenter", "0f34", 32, BRANCH_SYSCALL, 0 },
	{ "sysret", "480f07", 64, BRANCH_SYSRET, 0 },
	{ "sysexit", "0f35", 64, BRANCH_SYSRET, 0 },
	{ "int3", "cc", 64, BRANCH_INT, 0 },
	{ "int80", "cd80", 32, BRANCH_INT, 0 },
	{ "int1", "f1", 64, BRANCH_INT, 0 },
	{ "into", "ce", 32, BRANCH_INT, 0 },
	{ "into_is_none_in_64", "ce", 64, BRANCH_NONE, 0 },
	{ "vmcall", "0f01c1", 64, BRANCH_FAR, 0 },
	{ "vmlaunch", "0f01c2", 64, BRANCH_FAR, 0 },
	{ "rsm", "0faa", 64, BRANCH_FAR, 0 },
	{ "uiret", "f30f01ec", 64, BRANCH_FAR, 0 },
	{ "erets", "f20f01ca", 64, BRANCH_FAR, 0 },
	{ "clac", "0f01ca", 64, BRANCH_NONE, 0 },
	{ "mov_cr3", "0f22d8", 64, INSN_MOV_CR3, 0 },
	{ "mov_cr3_r15", "410f22df", 64, INSN_MOV_CR3, 0 },
	{ "mov_cr4", "0f22e0", 64, BRANCH_NONE, 0 },
	{ "mov_from_cr3", "0f20d8", 64, BRANCH_NONE, 0 },
	{ "cpuid", "0fa2", 64, INSN_CPUID, 0 },
	{ "wrmsr", "0f30", 64, INSN_WRMSR, 0 },
	{ "rdmsr", "0f32", 64, INSN_RDMSR, 0 },
	{ "rdtsc", "0f31", 64, INSN_RDTSC, 0 },
	{ "rdtscp", "0f01f9", 64, INSN_RDTSCP, 0 },
	{ "hlt", "f4", 64, INSN_HLT, 0 },
	{ "monitor", "0f01c8", 64, INSN_MONITOR, 0 },
	{ "mwait", "0f01c9", 64, INSN_MWAIT, 0 },
	{ "lgdt", "0f0110", 64, INSN_LGDT, 0 },
	{ "lidt", "0f0118", 64, INSN_LIDT, 0 },
	{ "sgdt", "0f0100", 64, BRANCH_NONE, 0 },
	{ "lldt", "0f00d0", 64, INSN_LLDT, 0 },
	{ "sti", "fb", 64, INSN_IF, 0 },
	{ "ptwrite_mem", "f30fae20", 64, INSN_PTWRITE, 0 },
	{ "ptwrite_reg64", "f3480faee0", 64, INSN_PTWRITE, 0 },
	{ "ptwrite_fs", "64f30fae20", 64, INSN_PTWRITE, 0 },
	{ "ptwrite_66_is_ud", "66f30faee0", 64, BRANCH_NONE, 0 },
	{ "ptwrite_lock_is_ud", "f0f30fae20", 64, BRANCH_NONE, 0 },
	{ "xsave", "0fae20", 64, BRANCH_NONE, 0 },
	{ "lfence", "0faee8", 64, BRANCH_NONE, 0 },
	{ "inc_eax_in_32", "40", 32, BRANCH_NONE, 0 },
	{ "vex_not_les", "c5f877", 64, BRANCH_NONE, 0 },
	{ "vex_in_32", "c5f877", 32, BRANCH_NONE, 0 },
	{ "evex", "62f17c48284000", 64, BRANCH_NONE, 0 },
	{ "bytes_of_another_mode", "e90010", 64, BRANCH_NONE, 0 },
};

static unsigned int unhex(const char *hex, uint8_t *out)
{
	unsigned int n = 0;

	for (; hex[0] && hex[1]; hex += 2) {
		unsigned int v;

		sscanf(hex, "%2x", &v);
		out[n++] = (uint8_t)v;
	}
	return n;
}

static void test_classes(void)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct branch_info info;
		uint8_t bytes[INSN_MAX];

		info = branch_classify(bytes, unhex(s->hex, bytes), s->mode,
				       AT);
		if (!ktap_case(info.class == s->class &&
			       info.target == s->target, "class_%s", s->name))
			printf("# class %u target %llx\n", info.class,
			       (unsigned long long)info.target);
	}
}

static struct branch_info classify(const char *hex, enum insn_mode mode)
{
	uint8_t bytes[INSN_MAX];

	return branch_classify(bytes, unhex(hex, bytes), mode, AT);
}

static void test_details(void)
{
	ktap_case(classify("e800000000", 64).no_push &&
		  !classify("e801000000", 64).no_push, "class_call_no_push");
	/* Its target is cut to 16 bits and is not the next address. */
	ktap_case(classify("66e80000", 32).no_push &&
		  !classify("66e8fcef", 32).no_push,
		  "class_call_66_no_push");
	ktap_case(classify("c3", 64).ret_width == 64 &&
		  classify("c3", 32).ret_width == 32 &&
		  classify("66c3", 32).ret_width == 16 &&
		  classify("c3", 16).ret_width == 16, "class_ret_width");
}

/* Register n holds 100H * (n + 1). */
static uint64_t test_reg(void *ctx, unsigned int n)
{
	(void)ctx;
	return 0x100ULL * (n + 1);
}

struct operand_sample {
	const char *name;
	const char *hex;
	enum insn_mode mode;
	uint64_t address;
	uint8_t segment;
};

/* PTWRITE with every form of memory operand. */
static const struct operand_sample operands[] = {
	{ "rax", "f30fae20", 64, 0x100, 0 },
	{ "rcx_disp8", "f30fae61f0", 64, 0x1f0, 0 },
	{ "rdx_disp32", "f30faea200010000", 64, 0x400, 0 },
	{ "r9", "f3410fae21", 64, 0xa00, 0 },
	{ "rip", "f30fae2500100000", 64, AT + 8 + 0x1000, 0 },
	{ "abs32_in_64", "f30fae242500100000", 64, 0x1000, 0 },
	{ "sib_base_index_8", "f30fae24c8", 64, 0x100 + 8 * 0x200, 0 },
	{ "sib_no_index", "f30fae2424", 64, 0x500, 0 },
	{ "sib_no_base", "f30fae248d00100000", 64, 0x1000 + 4 * 0x200, 0 },
	{ "sib_r8_r15", "f3430fae2438", 64, 0x900 + 0x1000, 0 },
	{ "rbp_disp8", "f30fae6508", 64, 0x608, 0 },
	{ "r13_disp8", "f3410fae6508", 64, 0xe08, 0 },
	{ "fs", "64f30fae20", 64, 0x100, 0x64 },
	{ "gs_abs", "65f30fae242508000000", 64, 8, 0x65 },
	{ "ds_ignored_in_64", "3ef30fae20", 64, 0x100, 0 },
	{ "addr32_in_64", "67f30fae60f0", 64, 0xf0, 0 },
	{ "addr32_wraps", "67f30faea000ffffff", 64, 0, 0 },
	{ "abs_in_32", "f30fae2500100000", 32, 0x1000, 0 },
	{ "addr16_bx_si", "67f30fae20", 32, 0x400 + 0x700, 0 },
	{ "addr16_disp16", "67f30fae263412", 32, 0x1234, 0 },
};

static void test_operands(void)
{
	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
		const struct operand_sample *s = &operands[i];
		struct insn_operand op;
		struct insn_shape shape;
		uint8_t bytes[INSN_MAX];
		unsigned int len = unhex(s->hex, bytes);
		uint64_t address = ~0ULL;

		if (insn_shape_parse(&shape, bytes, len, s->mode) &&
		    insn_operand_parse(&op, &shape, bytes) && !op.is_register)
			address = insn_operand_address(&op, AT + len,
						       test_reg, NULL);
		if (!ktap_case(address == s->address &&
			       op.segment == s->segment && op.end == len,
			       "operand_%s",
			       s->name))
			printf("# address %llx segment %x\n",
			       (unsigned long long)address, op.segment);
	}
}

static void test_truncated(void)
{
	static const char long_insn[] = "f3430faea43800100000";
	struct insn_operand op;
	struct insn_shape shape;
	uint8_t bytes[INSN_MAX];
	unsigned int len = unhex(long_insn, bytes);
	bool refused = true;

	for (unsigned int n = 1; n < len; n++)
		if (insn_shape_parse(&shape, bytes, n, 64) &&
		    insn_operand_parse(&op, &shape, bytes))
			refused = false;
	ktap_case(refused, "operand_truncated_refused");
	ktap_case(insn_shape_parse(&shape, bytes, len, 64) &&
		  insn_operand_parse(&op, &shape, bytes),
		  "operand_complete_accepted");
}

int main(void)
{
	test_classes();
	test_details();
	test_operands();
	test_truncated();
	return ktap_finish();
}
