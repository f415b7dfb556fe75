# SPDX-License-Identifier: GPL-2.0-only
# Random programs, walked, through our decoder and libipt. N programs from
# SEED on; failures keep program and trace in build/random/failures.

RANDOM_DIR := $(ROOT)/selftests/random
RANDOM_OUT := $(BUILD)/random
RANDOM_SEED := $(if $(SEED),$(SEED),1)
RANDOM_N := $(if $(N),$(N),100000)
RANDOM_HAS_IPT := $(wildcard /usr/include/intel-pt.h)
RANDOM_C := $(filter-out $(if $(RANDOM_HAS_IPT),,%/peer_libipt.c),\
	$(wildcard $(RANDOM_DIR)/*.c)) $(ROOT)/selftests/decode/expand.c

$(RANDOM_OUT)/random_diff: $(RANDOM_C) $(wildcard $(RANDOM_DIR)/*.h) \
		$(DECODE_LIB)
	@mkdir -p $(@D)
	$(CC) $(WARNINGS) $(CFLAGS) $(if $(RANDOM_HAS_IPT),-DHAVE_LIBIPT) \
		$(RANDOM_C) $(DECODE_LIB) $(if $(RANDOM_HAS_IPT),-lipt) -o $@

random: $(RANDOM_OUT)/random_diff
	nice -n 19 $< --seed $(RANDOM_SEED) --count $(RANDOM_N) \
		--progress 100000 --keep $(RANDOM_OUT)/failures

random-test: $(RANDOM_OUT)/random_diff
	$< --seed 1 --count 12000 --keep $(RANDOM_OUT)/failures

.PHONY: random random-test
