/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code for the trace of a CPU that died: of the dump, of the running kernel or
 * of files; kernel text as it was when it ran, as far as the module's log of
 * patches says.
 */
#ifndef KIPT_DUMP_CODE_H
#define KIPT_DUMP_CODE_H

#include "../../../kmod/decode/flow.h"
#include "../../../kmod/shared/text_view.h"
#include "../symbols/code_image.h"
#include "../symbols/kernel_text.h"
#include "dump_memory.h"
#include "fatal_program.h"
#include "module_logs.h"

/**
 * struct crash_code - where code comes from
 * @memory: of the dump; NULL: there is none
 * @live: the running kernel's code, where @memory has none; NULL: there is none
 * @image: more code, for what the dump has not; NULL: none
 * @program: user code of a program that was killed; NULL: there is none
 * @patched: there are patches of kernel text
 * @text: what is to be taken back of them
 */
struct crash_code {
	struct crash_memory *memory;
	struct kcore *live;
	const struct image *image;
	const struct crash_program *program;
	bool patched;
	struct kipt_text_view text;
};

/**
 * crash_code_patches() - follow patches of kernel text
 * @code: its sources are set
 * @logs: outlive it
 * @since: TSC of the begin of the trace; 0: unknown
 * @tsc_khz: of the clock of their times
 */
void crash_code_patches(struct crash_code *code, const struct crash_logs *logs,
			u64 since, u32 tsc_khz);

/**
 * crash_code_callbacks() - what to give to kipt_flow_init()
 * @code: the context of the callbacks
 * @callbacks: filled
 */
void crash_code_callbacks(struct crash_code *code,
			  struct kipt_code *callbacks);

#endif /* KIPT_DUMP_CODE_H */
