# SPDX-License-Identifier: GPL-2.0-only
# Compares the graph with the slow path as it is followed: selftests/decode/graph_prove.c.
# Nodes that are wrong on purpose have to be found by each of its programs.
DECODE_PROVE := $(DECODE_OUT)/prove
DECODE_PROVE_FLAGS = $(WARNINGS) -O2 -g $(DECODE_SMALL) -DKIPT_FLOW_PROVE
DECODE_PROVE_O := $(call objects,$(DECODE_PROVE)/objects,\
	$(DECODE_C) $(DECODE_TESTS)/graph_prove.c)
DECODE_PROVERS := $(patsubst %,$(DECODE_PROVE)/%,flow_test again_test flow_api_test same_test)

$(eval $(call compile,$(DECODE_PROVE)/objects,$$(CC) $$(DECODE_PROVE_FLAGS)))

# Nodes that are wrong on purpose: one instruction longer than their code, with a target that is
# not the branch's, of another kind, and built from code that was forgotten. The objects know
# when headers change.
BROKEN_length := s/\*insns = block->insns;/*insns = block->insns + 1;/
BROKEN_target := s/to = which ? last->target :/to = which ? last->target + 1 :/
BROKEN_kind := s/KIPT_NODE_SLOW : KIPT_NODE_RET;/KIPT_NODE_SLOW : KIPT_NODE_TARGET;/
BROKEN_version := s/(!all \&\& is_whole(flow, i))/!all || is_whole(flow, i)/
DECODE_BROKEN := length target kind version

# broken-graph FOLDER,COMPILER: graph-KIND.o for each
define broken-graph
$(DECODE_BROKEN:%=$(1)/graph-%.o): $(1)/graph-%.o: $(DECODE_SRC)/graph/graph.c $(DECODE_PROVE_O)
	@mkdir -p $$(@D)
	sed '$$(BROKEN_$$*)' $$< >$$(@:.o=.c)
	! cmp -s $$< $$(@:.o=.c)
	$(2) -iquote $(DECODE_SRC)/graph -c $$(@:.o=.c) -o $$@
endef

$(eval $(call broken-graph,$(DECODE_PROVE)/broken,$$(CC) $$(DECODE_PROVE_FLAGS)))
$(eval $(call broken-graph,$(DECODE_PROVE)/broken/fuzz,\
	clang $$(FUZZ_FLAGS) $$(DECODE_SMALL) -DKIPT_FLOW_PROVE))

define prove-program
$(DECODE_PROVE)/$(1): $(call test-objects,$(1),$(DECODE_PROVE)/objects) $(DECODE_PROVE_O)
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@
endef

$(foreach program,$(notdir $(DECODE_PROVERS)),$(eval $(call prove-program,$(program))))

$(DECODE_PROVE)/random_diff: $(random_diff-objects) $(DECODE_PROVE_O)
	$(CC) $^ $(random_diff-libs) -o $@

$(eval $(call compile,$(DECODE_PROVE)/fuzz,\
	clang $$(FUZZ_FLAGS) $$(DECODE_SMALL) -DKIPT_FLOW_PROVE))

DECODE_PROVE_FUZZ_O := $(call objects,$(DECODE_PROVE)/fuzz,\
	$(FUZZ_DIR)/fuzz_flow.c $(fuzz_flow-with) $(DECODE_TESTS)/graph_prove.c)

$(DECODE_PROVE)/fuzz_flow: $(DECODE_PROVE_FUZZ_O)
	clang $(FUZZ_FLAGS) $^ -o $@

define broken-program
$(DECODE_PROVE)/broken/same_test-$(1): $(call test-objects,same_test,$(DECODE_PROVE)/objects) \
		$(filter-out %/graph/graph.o,$(DECODE_PROVE_O)) $(DECODE_PROVE)/broken/graph-$(1).o
	$$(CC) $$(DECODE_PROVE_FLAGS) $$^ -o $$@

$(DECODE_PROVE)/broken/random_diff-$(1): $(random_diff-objects) \
		$(filter-out %/graph/graph.o,$(DECODE_PROVE_O)) $(DECODE_PROVE)/broken/graph-$(1).o
	$$(CC) $$^ $$(random_diff-libs) -o $$@

$(DECODE_PROVE)/broken/fuzz_flow-$(1): $(filter-out %/graph/graph.o,$(DECODE_PROVE_FUZZ_O)) \
		$(DECODE_PROVE)/broken/fuzz/graph-$(1).o
	clang $$(FUZZ_FLAGS) $$^ -o $$@
endef

$(foreach kind,$(DECODE_BROKEN),$(eval $(call broken-program,$(kind))))

decode-prove: $(DECODE_PROVERS) $(DECODE_PROVE)/random_diff $(DECODE_PROVE)/fuzz_flow \
		$(foreach kind,$(DECODE_BROKEN),$(patsubst %,$(DECODE_PROVE)/broken/%-$(kind),\
			same_test random_diff fuzz_flow))
	$(DECODE_TESTS)/prove $(DECODE_PROVE) $(N) $(SECONDS)

.PHONY: decode-prove
