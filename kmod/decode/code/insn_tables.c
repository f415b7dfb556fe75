// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows each opcode: ModRM, immediates, or nothing, for the legacy
 * one-byte and 0F maps (Intel SDM Vol. 2D, "Opcode Map"). Constant.
 */
#include "insn_form.h"

#define N	SHAPE_NONE
#define B	SHAPE_IB
#define W	SHAPE_IW
#define Z	SHAPE_IZ
#define V	SHAPE_IV
#define O	SHAPE_OFFSET
#define J	SHAPE_REL8
#define K	SHAPE_RELZ
#define P	SHAPE_PREFIX
#define X	SHAPE_BAD
#define M	SHAPE_MODRM
#define MB	(SHAPE_MODRM | SHAPE_IB)
#define MZ	(SHAPE_MODRM | SHAPE_IZ)
#define G	(SHAPE_MODRM | SHAPE_GROUP3)
#define E	SHAPE_IW_IB
#define NN	(SHAPE_NOT64 | SHAPE_NONE)
#define NB	(SHAPE_NOT64 | SHAPE_IB)
#define NF	(SHAPE_NOT64 | SHAPE_FAR)
#define NM	(SHAPE_NOT64 | SHAPE_MODRM)
#define NMB	(SHAPE_NOT64 | SHAPE_MODRM | SHAPE_IB)
#define Q	(SHAPE_MODRM | SHAPE_EXTRQ)

/* 40-4F are INC and DEC here: REX was taken before. C4, C5 and 62 are LES,
 * LDS and BOUND: VEX and EVEX were taken before, as was REX2 at D5.
 */
const u8 kipt_one_byte_map[256] = {
/*	 0   1   2   3    4   5   6   7    8   9   a   b    c   d   e   f  */
/* 0 */	 M,  M,  M,  M,   B,  Z, NN, NN,   M,  M,  M,  M,   B,  Z, NN,  X,
/* 1 */	 M,  M,  M,  M,   B,  Z, NN, NN,   M,  M,  M,  M,   B,  Z, NN, NN,
/* 2 */	 M,  M,  M,  M,   B,  Z,  P, NN,   M,  M,  M,  M,   B,  Z,  P, NN,
/* 3 */	 M,  M,  M,  M,   B,  Z,  P, NN,   M,  M,  M,  M,   B,  Z,  P, NN,
/* 4 */	NN, NN, NN, NN,  NN, NN, NN, NN,  NN, NN, NN, NN,  NN, NN, NN, NN,
/* 5 */	 N,  N,  N,  N,   N,  N,  N,  N,   N,  N,  N,  N,   N,  N,  N,  N,
/* 6 */	NN, NN, NM,  M,   P,  P,  P,  P,   Z, MZ,  B, MB,   N,  N,  N,  N,
/* 7 */	 J,  J,  J,  J,   J,  J,  J,  J,   J,  J,  J,  J,   J,  J,  J,  J,
/* 8 */	MB, MZ, NMB, MB,  M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* 9 */	 N,  N,  N,  N,   N,  N,  N,  N,   N,  N, NF,  N,   N,  N,  N,  N,
/* a */	 O,  O,  O,  O,   N,  N,  N,  N,   B,  Z,  N,  N,   N,  N,  N,  N,
/* b */	 B,  B,  B,  B,   B,  B,  B,  B,   V,  V,  V,  V,   V,  V,  V,  V,
/* c */	MB, MB,  W,  N,  NM, NM, MB, MZ,   E,  N,  W,  N,   N,  B, NN,  N,
/* d */	 M,  M,  M,  M,  NB, NB, NN,  N,   M,  M,  M,  M,   M,  M,  M,  M,
/* e */	 J,  J,  J,  J,   B,  B,  B,  B,   K,  K, NF,  J,   N,  N,  N,  N,
/* f */	 P,  N,  P,  P,   N,  N,  G,  G,   N,  N,  N,  N,   N,  N,  M,  M,
};

const u8 kipt_two_byte_map[256] = {
/*	 0   1   2   3    4   5   6   7    8   9   a   b    c   d   e   f  */
/* 0 */	 M,  M,  M,  M,   X,  N,  N,  N,   N,  N,  X,  N,   X,  M,  N, MB,
/* 1 */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* 2 */	 M,  M,  M,  M,   M,  X,  M,  X,   M,  M,  M,  M,   M,  M,  M,  M,
/* 3 */	 N,  N,  N,  N,   N,  N,  X,  N,   X,  X,  X,  X,   X,  X,  X,  X,
/* 4 */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* 5 */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* 6 */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* 7 */	MB, MB, MB, MB,   M,  M,  M,  N,   Q,  M,  X,  X,   M,  M,  M,  M,
/* 8 */	 K,  K,  K,  K,   K,  K,  K,  K,   K,  K,  K,  K,   K,  K,  K,  K,
/* 9 */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* a */	 N,  N,  N,  M,  MB,  M,  M,  M,   N,  N,  N,  M,  MB,  M,  M,  M,
/* b */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M, MB,  M,   M,  M,  M,  M,
/* c */	 M,  M, MB,  M,  MB, MB, MB,  M,   N,  N,  N,  N,   N,  N,  N,  N,
/* d */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* e */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
/* f */	 M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,   M,  M,  M,  M,
};
