/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the decoder core needs of the world it is compiled in: integer types,
 * memcpy and friends, and the record format. The only #ifdef __KERNEL__ of
 * the core; nothing else in kmod/decode includes anything from outside.
 */
#ifndef KIPT_DECODE_PORT_H
#define KIPT_DECODE_PORT_H

/* KIPT_SUMS: there is kipt_flow_sums(), which the module does not use. */
#ifdef __KERNEL__
#define KIPT_SUMS	0
#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/compiler.h>
#else
#define KIPT_SUMS	1
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif
#ifndef OPTIMIZER_HIDE_VAR
#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "=r"(var) : "0"(var))
#endif
#ifndef noinline
#define noinline	__attribute_noinline__
#endif
#ifndef fallthrough
#define fallthrough	__attribute__((__fallthrough__))
#endif
#endif

#include "../../uapi/linux/kipt_record.h"

#endif /* KIPT_DECODE_PORT_H */
