# SPDX-License-Identifier: GPL-2.0-only
# The graph held against the slow path as it is followed: selftests/decode/graph_prove.c.
# A node that is broken on purpose has to be found.
DECODE_PROVE := $(DECODE_OUT)/prove
DECODE_PROVE_FLAGS = $(WARNINGS) -O2 -g $(DECODE_SMALL) -DKIPT_FLOW_PROVE
DECODE_PROVE_O := $(patsubst $(DECODE_SRC)/%.c,$(DECODE_PROVE)/%.o,$(DECODE_C)) \
	$(DECODE_PROVE)/test/selftests/decode/graph_prove.o
DECODE_PROVERS := $(patsubst %,$(DECODE_PROVE)/%,flow_test again_test flow_api_test same_test)

$(DECODE_PROVE)/%.o: $(DECODE_SRC)/%.c $(DECODE_H)
	@mkdir -p $(@D)
	$(CC) $(DECODE_PROVE_FLAGS) -c $< -o $@

# Nodes are one instruction longer than their code.
$(DECODE_PROVE)/broken/graph.o: $(DECODE_SRC)/graph/graph.c $(DECODE_H)
	@mkdir -p $(@D)
	sed 's/\*insns = block->insns;/*insns = block->insns + 1;/' $< >$(@:.o=.c)
	! cmp -s $< $(@:.o=.c)
	$(CC) $(DECODE_PROVE_FLAGS) -iquote $(DECODE_SRC)/graph -c $(@:.o=.c) -o $@

$(DECODE_PROVE)/test/%.o: $(ROOT)/%.c $(DECODE_H) $(DECODE_TEST_H)
	@mkdir -p $(@D)
	$(CC) $(DECODE_PROVE_FLAGS) -c $< -o $@

define prove-program
$(DECODE_PROVE)/$(1): $(call test-objects,$(1),$(DECODE_PROVE)/test) $(DECODE_PROVE_O)
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@
endef

$(foreach program,$(notdir $(DECODE_PROVERS)),$(eval $(call prove-program,$(program))))

define broken-program
$(DECODE_PROVE)/broken/same_test-$(1): $(call test-objects,same_test,$(DECODE_PROVE)/test) \
		$(filter-out %/graph/$(1).o,$(DECODE_PROVE_O)) $(DECODE_PROVE)/broken/$(1).o
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@
endef

DECODE_BROKEN := graph
$(foreach file,$(DECODE_BROKEN),$(eval $(call broken-program,$(file))))

$(DECODE_PROVE)/random_diff: $(RANDOM_DIR)/random_diff.c $(random_diff-with) $(RANDOM_BOTH) \
		$(DECODE_PROVE_O)
	$(CC) $(WARNINGS) -O2 -g $(random_diff-flags) $^ $(random_diff-libs) -o $@

$(DECODE_PROVE)/fuzz/%.o: $(ROOT)/%.c $(FUZZ_H)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) $(DECODE_SMALL) -DKIPT_FLOW_PROVE -c $< -o $@

$(DECODE_PROVE)/fuzz_flow: $(patsubst $(ROOT)/%.c,$(DECODE_PROVE)/fuzz/%.o,$(abspath \
		$(ROOT)/tools/fuzz/fuzz_flow.c $(fuzz_flow-with) $(DECODE_TESTS)/graph_prove.c))
	clang $(FUZZ_FLAGS) $^ -o $@

decode-prove: $(DECODE_PROVERS) $(DECODE_BROKEN:%=$(DECODE_PROVE)/broken/same_test-%) \
		$(DECODE_PROVE)/random_diff \
		$(DECODE_PROVE)/fuzz_flow
	$(DECODE_TESTS)/prove $(DECODE_PROVE) $(N) $(SECONDS)

.PHONY: decode-prove
