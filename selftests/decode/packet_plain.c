// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt_packets_read() as the kernel has it, without SSE2, under a name of its
 * own: tests hold it against the other in one program. User space.
 */
#undef __SSE2__
#define kipt_packets_read kipt_packets_read_plain
#include "../../kmod/decode/packet/packet_read.c"
