// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PSB search as the kernel has it, without SSE2, under names of its own: tests hold it
 * against the other in one program. User space.
 */
#undef __SSE2__
#define kipt_sync_next kipt_sync_next_plain
#define kipt_sync_before kipt_sync_before_plain
#include "../../kmod/decode/packet/sync.c"
