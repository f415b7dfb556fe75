# SPDX-License-Identifier: GPL-2.0-only
# The decoder core in user space: the library, its tests, its symbol check.
# decode-objdump reads the roots tools/vm made; the rest needs nothing.

DECODE_OUT := $(BUILD)/decode
DECODE_SRC := $(ROOT)/kmod/decode
DECODE_TESTS := $(ROOT)/selftests/decode
DECODE_C := $(sort $(wildcard $(DECODE_SRC)/*.c $(DECODE_SRC)/*/*.c))
DECODE_LIB := $(DECODE_OUT)/libkiptdecode.a

# Objects of others too that have these flags.
PLAIN := $(BUILD)/objects/plain
PLAIN_CC = $(CC) $(WARNINGS) $(CFLAGS)
ASAN := $(BUILD)/objects/asan
ASAN_CC = $(CC) $(WARNINGS) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
$(eval $(call compile,$(PLAIN),$$(PLAIN_CC)))
$(eval $(call compile,$(ASAN),$$(ASAN_CC)))

# libipt_diff only where libipt-dev is installed; the tests say so if not.
DECODE_HAS_IPT := $(wildcard /usr/include/intel-pt.h)
DECODE_PROGRAMS := packet_test psb_test read_test again_test \
	insn_test clock_test fup_test flow_api_test flow_test same_test trace_test \
	damage_test objdump_check \
	$(if $(DECODE_HAS_IPT),libipt_diff libipt_time)

$(DECODE_LIB): $(call objects,$(PLAIN),$(DECODE_C)) $(IN_FOLDER)
	rm -f $@
	$(AR) rcs $@ $^

decode-lib: $(DECODE_LIB)

# What each test program is made of beside its own file and the library.
packet_test-with :=
psb_test-with :=
read_test-with := sync_plain.c
insn_test-with :=
objdump_check-with :=
clock_test-with :=
fup_test-with :=
flow_api_test-with :=
flow_test-with := flow_case.c flow_flips.c flow_ways.c record_list.c record_text.c expand.c
again_test-with := $(flow_test-with)
same_test-with := expand.c ../../tools/fuzz/fuzz_flow.c ../../tools/fuzz/grammar.c
trace_test-with := image.c
damage_test-with := image.c record_list.c expand.c
libipt_diff-with := image.c
libipt_diff-libs := -lipt
libipt_time-with := image.c
libipt_time-libs := -lipt

# test-objects PROGRAM,FOLDER: of a test program's own files
test-objects = $(call objects,$(2),$(addprefix $(DECODE_TESTS)/,$(1).c $($(1)-with)))

define decode-program
$(DECODE_OUT)/$(1): $(call test-objects,$(1),$(PLAIN)) $(DECODE_LIB)
	$$(PLAIN_CC) $$^ $($(1)-libs) -o $$@

$(DECODE_OUT)/asan/$(1): $(call test-objects,$(1),$(ASAN)) \
		$(call objects,$(ASAN),$(DECODE_C)) $$(IN_FOLDER)
	$$(ASAN_CC) $$^ $($(1)-libs) -o $$@
endef

# The core's objects apart, so that its counters have one place. Tables start
# small: tests make them grow.
DECODE_SMALL := -DKIPT_INDEX_FIRST=8U -DKIPT_COUNTS_FOLD=256ULL
DECODE_COVERAGE := $(DECODE_OUT)/coverage
$(eval $(call compile,$(DECODE_COVERAGE)/core,\
	$$(CC) $$(WARNINGS) $$(DECODE_SMALL) -O0 -g --coverage))

define coverage-program
$(DECODE_COVERAGE)/$(1): $(call test-objects,$(1),$(PLAIN)) \
		$(call objects,$(DECODE_COVERAGE)/core,$(DECODE_C))
	$$(PLAIN_CC) $$^ --coverage $($(1)-libs) -o $$@
endef

$(foreach program,$(DECODE_PROGRAMS),$(eval $(call coverage-program,$(program))))

$(foreach program,$(DECODE_PROGRAMS),$(eval $(call decode-program,$(program))))

decode-programs: $(addprefix $(DECODE_OUT)/,$(DECODE_PROGRAMS))

decode-test: decode-programs decode-freestanding
	$(DECODE_TESTS)/run $(DECODE_OUT)

decode-asan: $(addprefix $(DECODE_OUT)/asan/,$(DECODE_PROGRAMS))
	$(DECODE_TESTS)/run $(DECODE_OUT)/asan

# Objects have the paths of what they count, which ccache may take from another clone.
coverage: export CCACHE_DISABLE := 1
coverage: $(addprefix $(DECODE_COVERAGE)/,$(DECODE_PROGRAMS))
	$(DECODE_TESTS)/coverage $(DECODE_COVERAGE)

decode-freestanding:
	$(DECODE_TESTS)/freestanding $(DECODE_OUT)

decode-objdump: $(DECODE_OUT)/objdump_check
	$(DECODE_TESTS)/objdump_all $< $(DECODE_OUT)/objdump

.PHONY: decode-lib decode-programs decode-test decode-asan \
	coverage decode-freestanding decode-objdump
