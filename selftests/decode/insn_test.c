// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruction classifier by table: what objdump over whole programs does
 * not meet. Every instruction is also cut off at every byte. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/code/insn.h"
#include "ktap.h"

#define IP	0x401000ULL

struct good {
	u8 bits;
	const char *bytes;
	u8 class;
	u64 target;
};

#define C(name)	KIPT_INSN_##name

static const struct good goods[] = {
	{ 64, "7402", C(COND), IP + 4 },
	{ 64, "2e7402", C(COND), IP + 5 },
	{ 64, "0f8402000000", C(COND), IP + 8 },
	{ 64, "660f8402000000", C(COND), IP + 9 },
	{ 32, "660f840200", C(COND), 0x1007 },
	{ 16, "0f840200", C(COND), IP + 6 },
	{ 16, "0f84fbef", C(COND), IP - 0x1001 + 0x10000 },
	{ 16, "660f8402000000", C(COND), IP + 9 },
	{ 64, "e000", C(COND), IP + 2 },
	{ 64, "67e3fe", C(COND), IP + 1 },
	{ 64, "ebfe", C(JUMP), IP },
	{ 64, "e900000080", C(JUMP), IP + 5 - 0x80000000ULL },
	{ 16, "ebfe", C(JUMP), IP },
	{ 32, "66e9fdff", C(JUMP), 0x1001 },
	{ 64, "e800000000", C(CALL), IP + 5 },
	{ 64, "6648e800000000", C(CALL), IP + 7 },
	{ 64, "66e800000000", C(CALL), IP + 6 },
	{ 64, "f2e800000000", C(CALL), IP + 6 },
	{ 32, "66e80000", C(CALL), 0x1004 },
	{ 16, "e8f70f", C(CALL), IP + 0xffa },
	{ 64, "ff20", C(JUMP_IND), 0 },
	{ 64, "3effe0", C(JUMP_IND), 0 },
	{ 64, "f2ff242578563412", C(JUMP_IND), 0 },
	{ 64, "41ffe7", C(JUMP_IND), 0 },
	{ 64, "ffd0", C(CALL_IND), 0 },
	{ 64, "ff542408", C(CALL_IND), 0 },
	{ 64, "ff1d00000000", C(FAR), 0 },
	{ 64, "48ff2d00000000", C(FAR), 0 },
	{ 64, "ff30", C(OTHER), 0 },
	{ 64, "d500a18877665544332211", C(JUMP_IND), 0x1122334455667788 },
	{ 64, "c3", C(RET), 0 },
	{ 64, "f3c3", C(RET), 0 },
	{ 64, "f2c3", C(RET), 0 },
	{ 64, "c20800", C(RET), 0 },
	{ 64, "cb", C(FAR), 0 },
	{ 64, "48cb", C(FAR), 0 },
	{ 64, "ca0800", C(FAR), 0 },
	{ 32, "9a785634120800", C(FAR), 0 },
	{ 32, "669a34120800", C(FAR), 0 },
	{ 16, "ea34120800", C(FAR), 0 },
	{ 16, "66ea785634120800", C(FAR), 0 },
	{ 16, "66b878563412", C(OTHER), 0 },
	{ 16, "b83412", C(OTHER), 0 },
	{ 32, "82c001", C(OTHER), 0 },
	{ 32, "c5c058c1", C(OTHER), 0 },
	{ 64, "48cf", C(IRET), 0 },
	{ 64, "cc", C(INT), 0 },
	{ 64, "cd80", C(INT), 0 },
	{ 64, "f1", C(INT), 0 },
	{ 32, "ce", C(INTO), 0 },
	{ 64, "0f05", C(SYSCALL), 0 },
	{ 64, "0f34", C(SYSCALL), 0 },
	{ 64, "480f07", C(SYSRET), 0 },
	{ 64, "0f35", C(SYSRET), 0 },
	{ 64, "0faa", C(FAR), 0 },
	{ 64, "0f01c1", C(VMCALL), 0 },
	{ 64, "0f01c2", C(VMENTRY), 0 },
	{ 64, "0f01c3", C(VMENTRY), 0 },
	{ 64, "0f01c4", C(OTHER), 0 },
	{ 64, "f30f01ec", C(IRET), 0 },
	{ 64, "f30f01ca", C(IRET), 0 },
	{ 64, "f20f01ca", C(IRET), 0 },
	{ 64, "0f01ca", C(OTHER), 0 },
	{ 64, "0f22d8", C(MOV_CR3), 0 },
	{ 64, "0f2218", C(MOV_CR3), 0 },
	{ 64, "440f22d8", C(OTHER), 0 },
	{ 64, "0f22e0", C(OTHER), 0 },
	{ 64, "0f20d8", C(OTHER), 0 },
	{ 64, "f30faee0", C(PTWRITE), 0 },
	{ 64, "f3480fae6008", C(PTWRITE), 0 },
	{ 64, "0fae20", C(OTHER), 0 },
	{ 64, "66f30faee0", C(OTHER), 0 },
	{ 64, "f30faee8", C(OTHER), 0 },
	{ 64, "c7f800000000", C(OTHER), 0 },
	{ 64, "48b88877665544332211", C(OTHER), 0 },
	{ 64, "66b83412", C(OTHER), 0 },
	{ 64, "a18877665544332211", C(OTHER), 0 },
	{ 64, "67a144332211", C(OTHER), 0 },
	{ 32, "a144332211", C(OTHER), 0 },
	{ 16, "a12211", C(OTHER), 0 },
	{ 64, "66f7c03412", C(OTHER), 0 },
	{ 64, "f7d0", C(OTHER), 0 },
	{ 64, "f6c012", C(OTHER), 0 },
	{ 64, "c8100001", C(OTHER), 0 },
	{ 64, "8b042578563412", C(OTHER), 0 },
	{ 32, "678b061234", C(OTHER), 0 },
	{ 32, "678b4012", C(OTHER), 0 },
	{ 16, "8b061234", C(OTHER), 0 },
	{ 32, "c50424", C(OTHER), 0 },
	{ 32, "c40424", C(OTHER), 0 },
	{ 32, "620424", C(OTHER), 0 },
	{ 32, "c5f877", C(OTHER), 0 },
	{ 32, "40", C(OTHER), 0 },
	{ 32, "d50a", C(OTHER), 0 },
	{ 64, "c5f877", C(OTHER), 0 },
	{ 64, "c5fa1000", C(OTHER), 0 },
	{ 64, "c4e3790fc108", C(OTHER), 0 },
	{ 64, "c4e27918c1", C(OTHER), 0 },
	{ 64, "62f17c48105001", C(OTHER), 0 },
	{ 64, "62f37d4803c101", C(OTHER), 0 },
	{ 64, "62f47c1883c008", C(OTHER), 0 },
	{ 64, "62f47c1881c078563412", C(OTHER), 0 },
	/* Of EVEX.pp 66 and EVEX.W the latter says how wide operands are. */
	{ 64, "62f47d1881c03412", C(OTHER), 0 },
	{ 64, "62f4fd1881c078563412", C(OTHER), 0 },
	{ 64, "8fe878c0c101", C(OTHER), 0 },
	{ 64, "8fe97880c1", C(OTHER), 0 },
	{ 64, "8fea7810c178563412", C(OTHER), 0 },
	{ 64, "8fc0", C(OTHER), 0 },
	{ 64, "0f0fc1b4", C(OTHER), 0 },
	{ 64, "660f78c10203", C(OTHER), 0 },
	{ 64, "f20f78c10203", C(OTHER), 0 },
	{ 64, "0f78c1", C(OTHER), 0 },
	{ 64, "0f3a0fc108", C(OTHER), 0 },
	{ 64, "660f3840c1", C(OTHER), 0 },
	{ 64, "f30f1efa", C(OTHER), 0 },
	{ 64, "662e0f1f840000000000", C(OTHER), 0 },
	{ 64, "0f0b", C(OTHER), 0 },
	{ 64, "0fb9c0", C(OTHER), 0 },
	{ 64, "666666662e0f1f840000000000", C(OTHER), 0 },
	{ 64, "c5f970c108", C(OTHER), 0 },
	{ 64, "c5f8c2c108", C(OTHER), 0 },
	/* 15 bytes are as many as there can be. */
	{ 64, "666666666666666666666666666690", C(OTHER), 0 },
	/* A REX that a prefix follows counts for nothing. */
	{ 64, "4866b83412", C(OTHER), 0 },
};

struct bad {
	u8 bits;
	const char *bytes;
};

static const struct bad bads[] = {
	{ 64, "06" }, { 64, "0e" }, { 64, "27" }, { 64, "60" }, { 64, "82c000" },
	{ 64, "9a000000000000" }, { 64, "ce" }, { 64, "d40a" }, { 64, "d6" },
	{ 64, "ea000000000000" }, { 64, "0f04" }, { 64, "0f0a" },
	{ 64, "0f25" }, { 64, "0f36" }, { 64, "0f39" },
	{ 64, "0f7ac0" }, { 64, "62f8000000c0" },
	{ 64, "66666666666666666666666666666690" },
	{ 64, "6666666666666666666666660f1f840000000000" },
};

static u32 from_hex(const char *text, u8 *bytes)
{
	u32 len = 0;

	for (; text[0] && text[1]; text += 2)
		bytes[len++] = (u8)strtoul((char[]){ text[0], text[1], 0 },
					   NULL, 16);
	return len;
}

static u32 mode_of(u8 bits)
{
	return bits == 64 ? KIPT_EXEC_64 :
	       bits == 32 ? KIPT_EXEC_32 : KIPT_EXEC_16;
}

static enum kipt_status decode_copy(struct kipt_insn *insn, u32 mode,
				    const u8 *bytes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);
	enum kipt_status status;

	if (!copy)
		exit(2);
	memcpy(copy, bytes, len);
	status = kipt_insn_decode(insn, mode, IP, copy, len);
	free(copy);
	return status;
}

static bool check_good(const struct good *good)
{
	u32 mode = mode_of(good->bits), len, cut;
	struct kipt_insn insn = { 0 };
	enum kipt_status status;
	u8 bytes[32];

	len = from_hex(good->bytes, bytes);
	status = decode_copy(&insn, mode, bytes, len);
	if (status != KIPT_OK || insn.len != len ||
	    insn.class != good->class || insn.target != good->target) {
		printf("# %s: %u bytes, class %u, target %llx\n",
		       kipt_status_name(status), insn.len, insn.class,
		       (unsigned long long)insn.target);
		return false;
	}
	for (cut = 0; cut < len; cut++) {
		if (decode_copy(&insn, mode, bytes, cut) != KIPT_TRUNCATED)
			return false;
	}
	return true;
}

static bool check_bad(const struct bad *bad)
{
	struct kipt_insn insn;
	u8 bytes[32];
	u32 len = from_hex(bad->bytes, bytes);

	return decode_copy(&insn, mode_of(bad->bits), bytes, len) ==
	       KIPT_BAD_INSN;
}

/* No bytes may be read, or lengths given, beyond what is allowed. */
static bool check_random(void)
{
	u64 seed = 0x9e3779b97f4a7c15ULL;
	struct kipt_insn insn;
	u8 bytes[16];
	u32 i, j;

	for (i = 0; i < 300000; i++) {
		for (j = 0; j < sizeof(bytes); j++) {
			seed = seed * 6364136223846793005ULL + 1;
			bytes[j] = (u8)(seed >> 56);
		}
		if (decode_copy(&insn, 1 + i % 3, bytes, 1 + i % 15) ==
			    KIPT_OK &&
		    (!insn.len || insn.len > 1 + i % 15))
			return false;
	}
	return true;
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	for (i = 0; i < sizeof(goods) / sizeof(goods[0]); i++)
		ktap_result(&ktap, check_good(&goods[i]), "insn %u %s",
			    goods[i].bits, goods[i].bytes);
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++)
		ktap_result(&ktap, check_bad(&bads[i]), "insn %u %s is refused",
			    bads[i].bits, bads[i].bytes);
	ktap_result(&ktap, check_random(), "insn random bytes stay in bounds");
	return ktap_end(&ktap);
}
