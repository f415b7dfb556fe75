# SPDX-License-Identifier: GPL-2.0-only
# Fuzz targets with ASan and UBSan; libFuzzer comes with clang. SECONDS is for
# each target, FUZZERS chooses some, SEED repeats the mutations of a run. Those of the core alone (packet insn clock
# flow) also do with FUZZ_SANITIZERS=memory and an FUZZ_OUT of its own.

FUZZ_DIR := $(ROOT)/tools/fuzz
FUZZ_OUT ?= $(BUILD)/fuzz
FUZZ_CORE := $(ROOT)/kmod/decode
FUZZ_TOOL := $(ROOT)/tools/kipt
FUZZ_SANITIZERS ?= address,undefined
FUZZ_FLAGS = $(WARNINGS) -O2 -g -fsanitize=fuzzer,$(FUZZ_SANITIZERS) \
	-fno-sanitize-recover=all
FUZZ_INSNS := code/insn code/insn_class code/insn_form code/insn_tables
FUZZ_PACKETS := packet/packet packet/packet_ext packet/packet_table
FUZZ_CLOCK := packet/clock packet/clock_span
FUZZ_GRAMMAR := $(FUZZ_DIR)/grammar.c \
	$(patsubst %,$(FUZZ_CORE)/%.c,$(FUZZ_INSNS) $(FUZZ_PACKETS))
SECONDS ?= 20
FUZZERS ?= packet insn clock flow time unpack files crash dump perf

# What each target is made of beside its own file.
fuzz_packet-with := $(FUZZ_GRAMMAR) $(FUZZ_CORE)/packet/sync.c \
	$(ROOT)/selftests/decode/sync_plain.c
fuzz_insn-with := $(patsubst %,$(FUZZ_CORE)/%.c,$(FUZZ_INSNS))
fuzz_clock-with := $(patsubst %,$(FUZZ_CORE)/%.c,$(FUZZ_CLOCK))
fuzz_flow-with := $(FUZZ_DIR)/grammar.c \
	$(ROOT)/selftests/decode/expand.c \
	$(wildcard $(FUZZ_CORE)/*.c $(FUZZ_CORE)/*/*.c)
fuzz_time-with := $(wildcard $(FUZZ_CORE)/*.c $(FUZZ_CORE)/*/*.c)
fuzz_unpack-with := $(FUZZ_GRAMMAR) $(FUZZ_DIR)/quiet.c \
	$(FUZZ_CORE)/names.c \
	$(patsubst %,$(FUZZ_TOOL)/%.c,records/unpack records/unpack_nodes records/unpack_paths records/summary cli/lookup \
		records/record_words cli/json_lines cli/printable)
fuzz_unpack-libs := $(shell pkg-config --libs json-c 2>/dev/null)
fuzz_files-with := $(FUZZ_DIR)/quiet.c \
	$(patsubst %,$(FUZZ_TOOL)/%.c,records/record_file offline/save_meta \
		filter/address_range cli/json_lines cli/output_file cli/printable \
		cli/progress cli/signals cli/standard_output \
		cli/file_map cli/lookup cli/args \
		symbols/process_maps symbols/mapped_ids symbols/build_id \
		symbols/code_image symbols/code_pages)
fuzz_files-libs := $(shell pkg-config --libs json-c libelf 2>/dev/null)
fuzz_crash-with := $(FUZZ_DIR)/quiet.c \
	$(patsubst %,$(FUZZ_CORE)/%.c,$(FUZZ_PACKETS) packet/sync packet/psb $(FUZZ_CLOCK)) \
	$(patsubst %,$(FUZZ_TOOL)/%.c,crash/crash_pages crash/trace_ring \
		crash/dump_memory crash/dump_symbols crash/header_find crash/vmcoreinfo \
		crash/module_logs crash/fatal_program crash/dump_elf_holes \
		crash/snapshot_slots symbols/kernel_symbols \
		symbols/symbols symbols/process_maps symbols/mapped_ids symbols/build_id \
		cli/file_map cli/lookup cli/printable) \
	$(patsubst %,$(ROOT)/kmod/shared/%.c,patch_log switch_log task_merge)
fuzz_dump-with := $(FUZZ_DIR)/quiet.c \
	$(patsubst %,$(FUZZ_TOOL)/%.c,crash/dump_elf_holes crash/vmcoreinfo cli/file_map)
# All of libkipt; what makes folders of saved traces is of the tool alone.
fuzz_perf-with := $(subst $(FUZZ_TOOL)/decode/,$(FUZZ_CORE)/,\
	$(subst $(FUZZ_TOOL)/shared/,$(ROOT)/kmod/shared/,\
	$(patsubst $(KIPT_OUT)/%.o,$(FUZZ_TOOL)/%.c,$(filter-out %/save_dir.o,$(KIPT_LIBRARY)))))
fuzz_perf-libs = -pthread -Wl,--wrap=jobs_create $(KIPT_LIBS)
fuzz_perf-flags := -I$(ROOT)/tools/shim $(KIPT_INCLUDES)
# For that file alone: with this option ccache shares no objects between clones.
$(FUZZ_OUT)/objects/perf/tools/kipt/view/html_page.o: FUZZ_FLAGS += -Wa,-I$(KIPT_PAGE)
fuzz_crash-libs := -lz
fuzz_crash-flags := -I$(ROOT)/tools/shim

# Tables that start small grow, also with what a small input leaves in them.
fuzz_flow-flags := $(DECODE_SMALL)

# A folder of objects for each set of flags: that of targets without any is "common".
fuzz-objects = $(call objects,$(FUZZ_OUT)/objects/$(if $(fuzz_$(1)-flags),$(1),common),\
	$(FUZZ_DIR)/fuzz_$(1).c $(fuzz_$(1)-with))

define fuzz-program
$(FUZZ_OUT)/fuzz_$(1): $(call fuzz-objects,$(1))
	clang $(FUZZ_FLAGS) $$^ $(fuzz_$(1)-libs) -o $$@
endef

$(foreach flags,common flow crash perf,$(eval $(call compile,$(FUZZ_OUT)/objects/$(flags),\
	clang $$(FUZZ_FLAGS) $$(fuzz_$(flags)-flags))))
$(foreach target,packet insn clock flow time unpack files crash dump perf,\
	$(eval $(call fuzz-program,$(target))))

fuzz: $(patsubst %,$(FUZZ_OUT)/fuzz_%,$(FUZZERS))
	$(if $(findstring command,$(origin SEED)),KIPT_FUZZ_SEED=$(SEED)) \
		$(FUZZ_DIR)/run $(FUZZ_OUT) $(SECONDS) $(FUZZERS)

# What a trace can cost at most, in counted steps: the seeds are the worst that is
# known, and what costs more than docs/speed.md says is a finding.
fuzz-time: $(FUZZ_OUT)/fuzz_time
	$(FUZZ_OUT)/fuzz_time $(wildcard $(FUZZ_DIR)/seeds/time/*) 2>&1 | sed -n 's/^time:/# seeds:/p'
	$(FUZZ_DIR)/run $(FUZZ_OUT) $(SECONDS) time
	@sed -n 's/^time:/# fuzzed:/p' $(FUZZ_OUT)/time.log

# Runs that add up, as long as the decoder's code is the same: tools/fuzz/tally --help.
tally: $(patsubst %,$(FUZZ_OUT)/fuzz_%,packet insn clock flow time) \
		$(BUILD)/random/random_diff
	nice -n 19 $(FUZZ_DIR)/tally $(if $(findstring command,$(origin SECONDS)),$(SECONDS))

.PHONY: fuzz fuzz-time tally
