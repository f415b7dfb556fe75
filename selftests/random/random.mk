# SPDX-License-Identifier: GPL-2.0-only
# Random programs, walked, through our decoder, libipt and perf. N programs
# from SEED on; failures keep program and trace in build/random.

RANDOM_DIR := $(ROOT)/selftests/random
RANDOM_OUT := $(BUILD)/random
RANDOM_HAS_IPT := $(wildcard /usr/include/intel-pt.h)
RANDOM_BOTH := $(patsubst %,$(RANDOM_DIR)/%.c,check code encode features keep lists \
	program truth walk walk_far walk_rules walk_side) $(ROOT)/selftests/decode/expand.c

random_diff-with := $(patsubst %,$(RANDOM_DIR)/%.c,controls tally \
	$(if $(RANDOM_HAS_IPT),peer_libipt))
random_diff-libs := $(if $(RANDOM_HAS_IPT),-lipt)
random_perf-with := $(patsubst %,$(RANDOM_DIR)/%.c,peer_perf perf_data)

define random-program
$(1)-objects := $(call objects,$(PLAIN),$(RANDOM_DIR)/$(1).c $($(1)-with) $(RANDOM_BOTH))
$(RANDOM_OUT)/$(1): $$($(1)-objects) $(DECODE_LIB) $$(IN_FOLDER)
	$$(PLAIN_CC) $$^ $($(1)-libs) -o $$@
endef

$(foreach program,random_diff random_perf,\
	$(eval $(call random-program,$(program))))

random: $(RANDOM_OUT)/random_diff
	nice -n 19 $< --seed $(or $(SEED),1) --count $(or $(N),100000) \
		--progress 100000 --keep $(RANDOM_OUT)/failures

random-perf: $(RANDOM_OUT)/random_perf
	nice -n 19 $< --seed $(or $(SEED),1) --count $(or $(N),4000) \
		--keep $(RANDOM_OUT)/perf

random-test: $(RANDOM_OUT)/random_diff $(RANDOM_OUT)/random_perf
	$(RANDOM_DIR)/run $(RANDOM_OUT)

.PHONY: random random-perf random-test
