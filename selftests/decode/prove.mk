# SPDX-License-Identifier: GPL-2.0-only
# Compares the graph with the slow path as it is followed: selftests/decode/graph_prove.c.
# A node that is broken on purpose has to be found.
DECODE_PROVE := $(DECODE_OUT)/prove
DECODE_PROVE_FLAGS = $(WARNINGS) -O2 -g $(DECODE_SMALL) -DKIPT_FLOW_PROVE
DECODE_PROVE_O := $(call objects,$(DECODE_PROVE)/objects,\
	$(DECODE_C) $(DECODE_TESTS)/graph_prove.c)
DECODE_PROVERS := $(patsubst %,$(DECODE_PROVE)/%,flow_test again_test flow_api_test same_test)

$(eval $(call compile,$(DECODE_PROVE)/objects,$$(CC) $$(DECODE_PROVE_FLAGS)))

# Nodes are one instruction longer than their code. The objects know when headers change.
$(DECODE_PROVE)/broken/graph.o: $(DECODE_SRC)/graph/graph.c $(DECODE_PROVE_O) $(IN_FOLDER)
	sed 's/\*insns = block->insns;/*insns = block->insns + 1;/' $< >$(@:.o=.c)
	! cmp -s $< $(@:.o=.c)
	$(CC) $(DECODE_PROVE_FLAGS) -iquote $(DECODE_SRC)/graph -c $(@:.o=.c) -o $@

define prove-program
$(DECODE_PROVE)/$(1): $(call test-objects,$(1),$(DECODE_PROVE)/objects) $(DECODE_PROVE_O)
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@
endef

$(foreach program,$(notdir $(DECODE_PROVERS)),$(eval $(call prove-program,$(program))))

define broken-program
$(DECODE_PROVE)/broken/same_test-$(1): $(call test-objects,same_test,$(DECODE_PROVE)/objects) \
		$(filter-out %/graph/$(1).o,$(DECODE_PROVE_O)) $(DECODE_PROVE)/broken/$(1).o
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@
endef

DECODE_BROKEN := graph
$(foreach file,$(DECODE_BROKEN),$(eval $(call broken-program,$(file))))

$(DECODE_PROVE)/random_diff: $(random_diff-objects) $(DECODE_PROVE_O)
	$(CC) $^ $(random_diff-libs) -o $@

$(eval $(call compile,$(DECODE_PROVE)/fuzz,\
	clang $$(FUZZ_FLAGS) $$(DECODE_SMALL) -DKIPT_FLOW_PROVE))

$(DECODE_PROVE)/fuzz_flow: $(call objects,$(DECODE_PROVE)/fuzz,\
		$(FUZZ_DIR)/fuzz_flow.c $(fuzz_flow-with) $(DECODE_TESTS)/graph_prove.c)
	clang $(FUZZ_FLAGS) $^ -o $@

decode-prove: $(DECODE_PROVERS) $(DECODE_BROKEN:%=$(DECODE_PROVE)/broken/same_test-%) \
		$(DECODE_PROVE)/random_diff \
		$(DECODE_PROVE)/fuzz_flow
	$(DECODE_TESTS)/prove $(DECODE_PROVE) $(N) $(SECONDS)

.PHONY: decode-prove
