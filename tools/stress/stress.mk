# SPDX-License-Identifier: GPL-2.0-only
# The proofs that run long, see tools/stress/README.md. Their programs run in
# the test machine; segments, which reads its truth, here. STRESS_KERNEL is 6.1,
# 6.12, new or debug.

STRESS := $(ROOT)/tools/stress
STRESS_OUT := $(BUILD)/stress
# stress-objects FILE...: objects of this folder's files, and of those that all need
stress-objects = $(call objects,$(STRESS_OUT)/objects,$(STRESS_OUT)/spec_tables.c \
	$(patsubst %,$(STRESS)/%.c,client message $(1)))
STRESS_PROGRAMS := $(addprefix $(STRESS_OUT)/,nlfuzz stress leaks extremes left \
	segments)
STRESS_KERNEL ?= 6.12
SEED ?= 1

$(STRESS_OUT)/spec_tables.c: $(STRESS)/make_spec $(ROOT)/uapi/kipt.yaml
	mkdir -p $(@D)
	$(STRESS)/make_spec $(ROOT)/uapi/kipt.yaml >$@.new
	mv $@.new $@

$(eval $(call compile,$(STRESS_OUT)/objects,\
	$$(CC) $$(WARNINGS) -O2 -g -D_GNU_SOURCE -I$(ROOT)/uapi -I$(STRESS)))

$(STRESS_OUT)/nlfuzz: $(call stress-objects,nlfuzz)
$(STRESS_OUT)/stress: $(call stress-objects,stress actors owners life trail witness)
$(foreach program,leaks extremes left,$(eval $(STRESS_OUT)/$(program): \
	$(call stress-objects,$(program) session_calls)))
$(STRESS_OUT)/segments: $(call objects,$(FLOW_OBJECTS),$(STRESS)/segments.c) $(FLOW_SHARED)
$(STRESS_PROGRAMS): $(IN_FOLDER)
	$(CC) -o $@ $^

.PHONY: stress-programs stress-judge-test stress-short
.PHONY: nlfuzz stress leaks extremes
stress-programs: testcpu flow-programs $(STRESS_PROGRAMS)

stress-judge-test: $(STRESS_OUT)/segments
	$(STRESS)/judge_test

nlfuzz: N ?= 1000000
nlfuzz: stress-programs
	$(STRESS)/run nlfuzz $(STRESS_KERNEL) $(N) $(SEED)

# SECONDS has another default for others.
stress: stress-programs kipt-guest
	$(STRESS)/run stress $(STRESS_KERNEL) \
		$(if $(filter file,$(origin SECONDS)),600,$(SECONDS)) $(SEED)

leaks: N ?= 1000
leaks: stress-programs
	$(STRESS)/run leaks $(STRESS_KERNEL) $(N)

# EXTREMES names some of them.
extremes: stress-programs kipt-guest
	$(MAKE) --no-print-directory -C selftests
	$(STRESS)/all_extremes $(STRESS_KERNEL) $(EXTREMES)

# What `make check` has time for.
stress-short: stress-programs kipt-guest
	$(STRESS)/run short $(STRESS_KERNEL) 25 $(SEED)
