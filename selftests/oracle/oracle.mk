# SPDX-License-Identifier: GPL-2.0-only
# The flow rules read a second time, in Python, against the decoder. The test
# is the same each time; `make oracle` takes a fresh SEED and SECONDS.

ORACLE_DIR := $(ROOT)/selftests/oracle
ORACLE_OUT := $(BUILD)/oracle
ORACLE_PROGRAMS := $(addprefix $(ORACLE_OUT)/,kipt_cases kipt_random)

kipt_cases-with := $(addprefix $(ROOT)/selftests/decode/,flow_case.c \
	record_list.c record_text.c expand.c)
kipt_random-with := $(ROOT)/selftests/decode/record_text.c \
	$(patsubst %,$(RANDOM_DIR)/%.c,code encode program truth walk walk_far \
		walk_rules walk_side)

define oracle-program
$(ORACLE_OUT)/$(1): $(call objects,$(PLAIN),$(ORACLE_DIR)/$(1).c $($(1)-with)) \
		$(DECODE_LIB) $$(IN_FOLDER)
	$$(PLAIN_CC) $$^ -o $$@
endef

$(foreach program,kipt_cases kipt_random,\
	$(eval $(call oracle-program,$(program))))

oracle-test: $(ORACLE_PROGRAMS)
	$(ORACLE_DIR)/oracle --build $(ORACLE_OUT) --seed 1

oracle: $(ORACLE_PROGRAMS)
	nice -n 19 $(ORACLE_DIR)/oracle --build $(ORACLE_OUT) \
		--seconds $(SECONDS) $(if $(findstring command,$(origin SEED)),--seed $(SEED))

.PHONY: oracle oracle-test
