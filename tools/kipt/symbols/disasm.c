// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions in words through Zydis, see disasm.h. The decoder knows how long an
 * instruction is: where Zydis says otherwise, it is not asked.
 */
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "../../../uapi/linux/kipt_record.h"
#include "disasm.h"

bool disasm_there(void)
{
	return true;
}

static bool decoder_init(ZydisDecoder *decoder, u32 mode)
{
	switch (mode) {
	case KIPT_EXEC_64:
		return ZYAN_SUCCESS(ZydisDecoderInit(decoder,
						     ZYDIS_MACHINE_MODE_LONG_64,
						     ZYDIS_STACK_WIDTH_64));
	case KIPT_EXEC_32:
		return ZYAN_SUCCESS(ZydisDecoderInit(decoder,
						     ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
						     ZYDIS_STACK_WIDTH_32));
	case KIPT_EXEC_16:
		return ZYAN_SUCCESS(ZydisDecoderInit(decoder,
						     ZYDIS_MACHINE_MODE_LONG_COMPAT_16,
						     ZYDIS_STACK_WIDTH_16));
	}
	return false;
}

/* Displacements are shown as they are in the code; what they lead to is @target. */
static bool formatter_init(ZydisFormatter *formatter)
{
	return ZYAN_SUCCESS(ZydisFormatterInit(formatter,
					       ZYDIS_FORMATTER_STYLE_INTEL)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS,
			ZYDIS_SIGNEDNESS_UNSIGNED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
			ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
			ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_DISP_PADDING,
			ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(formatter,
			ZYDIS_FORMATTER_PROP_IMM_PADDING,
			ZYDIS_PADDING_DISABLED));
}

static void target_find(struct disasm *insn, u64 ip,
			const ZydisDecodedInstruction *decoded,
			const ZydisDecodedOperand *operands)
{
	ZyanU64 target;
	u32 i;

	for (i = 0; i < decoded->operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		bool branches = operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
				operand->imm.is_relative;
		bool named = operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			     (operand->mem.base == ZYDIS_REGISTER_RIP ||
			      operand->mem.base == ZYDIS_REGISTER_EIP);

		if ((!branches && !named) ||
		    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(decoded, operand, ip,
							   &target)))
			continue;
		insn->target = target;
		insn->has_target = true;
		insn->branches = branches;
		return;
	}
}

/* Conditions that binutils call otherwise. */
static const struct {
	const char *zydis;
	const char *gnu;
} conditions[] = {
	{ "z", "e" },
	{ "nz", "ne" },
	{ "nb", "ae" },
	{ "nbe", "a" },
	{ "nl", "ge" },
	{ "nle", "g" },
};

/* The name of the condition in that of an instruction; NULL: it has none. */
static const char *condition_of(const char *name)
{
	static const char *const stems[] = { "j", "set", "cmov" };
	size_t i, length;

	for (i = 0; i < sizeof(stems) / sizeof(*stems); i++) {
		length = strlen(stems[i]);
		if (!strncmp(name, stems[i], length))
			return name + length;
	}
	return NULL;
}

static void condition_rename(struct disasm *insn,
			     const ZydisDecodedInstruction *decoded)
{
	const char *name = ZydisMnemonicGetString(decoded->mnemonic);
	const char *condition = name ? condition_of(name) : NULL;
	char *at = condition ? strstr(insn->text, name) : NULL;
	size_t i, old, new;

	if (!at)
		return;
	at += condition - name;
	for (i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		if (strcmp(condition, conditions[i].zydis))
			continue;
		old = strlen(conditions[i].zydis);
		new = strlen(conditions[i].gnu);
		memmove(at + new, at + old, strlen(at + old) + 1);
		memcpy(at, conditions[i].gnu, new);
		return;
	}
}

static void bytes_tell(struct disasm *insn, const u8 *bytes, u32 size)
{
	size_t length = snprintf(insn->text, sizeof(insn->text), ".byte");
	u32 i;

	for (i = 0; i < size && length < sizeof(insn->text); i++)
		length += snprintf(insn->text + length,
				   sizeof(insn->text) - length, "%s0x%02x",
				   i ? "," : " ", bytes[i]);
}

void disasm(struct disasm *insn, u32 mode, u64 ip, const u8 *bytes, u32 size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	memset(insn, 0, sizeof(*insn));
	if (!decoder_init(&decoder, mode) || !formatter_init(&formatter) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size,
						 &decoded,
						 operands)) ||
	    decoded.length != size ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &decoded,
				operands, decoded.operand_count_visible,
				insn->text, sizeof(insn->text), ip,
				NULL))) {
		bytes_tell(insn, bytes, size);
		return;
	}
	condition_rename(insn, &decoded);
	target_find(insn, ip, &decoded, operands);
}
