/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of QEMU's plugin interface, version 7, that the test CPU uses.
 * Distributions ship no header for it, so the prototypes are here: they are
 * an ABI between QEMU 11.1 and a plugin. The byte array is GLib's; its symbols
 * come with QEMU.
 */
#ifndef TESTCPU_QEMU_PLUGIN_ABI_H
#define TESTCPU_QEMU_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

typedef struct qemu_info_t {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
	QEMU_PLUGIN_CB_RW_REGS_PC,
};

enum qemu_plugin_cond {
	QEMU_PLUGIN_COND_NEVER,
	QEMU_PLUGIN_COND_ALWAYS,
	QEMU_PLUGIN_COND_EQ,
	QEMU_PLUGIN_COND_NE,
	QEMU_PLUGIN_COND_LT,
	QEMU_PLUGIN_COND_LE,
	QEMU_PLUGIN_COND_GT,
	QEMU_PLUGIN_COND_GE,
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
	QEMU_PLUGIN_INLINE_STORE_U64,
};

enum qemu_plugin_discon_type {
	QEMU_PLUGIN_DISCON_INTERRUPT = 1,
	QEMU_PLUGIN_DISCON_EXCEPTION = 2,
	QEMU_PLUGIN_DISCON_HOSTCALL = 4,
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

typedef struct {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
	bool is_readonly;
} qemu_plugin_reg_descriptor;

/* GLib. */
typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;
typedef struct {
	char *data;
	unsigned int len;
} GArray;
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int len);
unsigned int g_array_get_element_size(GArray *array);
char *g_array_free(GArray *array, int free_segment);

typedef void (*qemu_plugin_udata_cb_t)(void *userdata);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu, void *userdata);
typedef void (*qemu_plugin_tb_trans_cb_t)(struct qemu_plugin_tb *tb,
					  void *userdata);
typedef void (*qemu_plugin_discon_cb_t)(unsigned int vcpu,
					enum qemu_plugin_discon_type type,
					uint64_t from_pc, uint64_t to_pc,
					void *userdata);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_udata_cb_t cb,
				       void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_tb_trans_cb_t cb,
					   void *userdata);
void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id,
					 enum qemu_plugin_discon_type types,
					 qemu_plugin_discon_cb_t cb,
					 void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    qemu_plugin_udata_cb_t cb, void *userdata);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id,
				   qemu_plugin_udata_cb_t cb, void *userdata);

void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags,
	enum qemu_plugin_cond cond, qemu_plugin_u64 entry, uint64_t imm,
	void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags,
	void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
	qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags,
	enum qemu_plugin_cond cond, qemu_plugin_u64 entry, uint64_t imm,
	void *userdata);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
	struct qemu_plugin_insn *insn, enum qemu_plugin_op op,
	qemu_plugin_u64 entry, uint64_t imm);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest,
			     size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score,
				  unsigned int vcpu);

GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *handle,
			       GByteArray *buf);
bool qemu_plugin_write_register(struct qemu_plugin_register *handle,
				GByteArray *buf);
void qemu_plugin_set_pc(uint64_t vaddr) __attribute__((noreturn));
bool qemu_plugin_read_memory_vaddr(uint64_t addr, GByteArray *data,
				   size_t len);
bool qemu_plugin_write_memory_vaddr(uint64_t addr, GByteArray *data);
/* Zero means done. */
int qemu_plugin_read_memory_hwaddr(uint64_t addr, GByteArray *data,
				   size_t len);
int qemu_plugin_write_memory_hwaddr(uint64_t addr, GByteArray *data);
void qemu_plugin_outs(const char *string);

#endif /* TESTCPU_QEMU_PLUGIN_ABI_H */
