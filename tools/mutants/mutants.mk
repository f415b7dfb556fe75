# SPDX-License-Identifier: GPL-2.0-only
# One-line changes of the decoder core, and the named case that notices each: N
# of them, drawn by SEED. Half an hour for 240. Then the same of other files that
# have tests in user space; mutants-files does only these, FILE= only one.

MUTANTS := $(ROOT)/tools/mutants
MUTANTS_OUT := $(BUILD)/mutants
MUTANTS_DRAWN = $(if $(findstring command,$(origin N)),-n $(N)) \
	$(if $(findstring command,$(origin SEED)),--seed $(SEED))

mutants:
	nice -n 19 $(MUTANTS)/mutants --build $(MUTANTS_OUT) $(MUTANTS_DRAWN); \
	core=$$?; $(MAKE) --no-print-directory mutants-files && exit $$core

mutants-files:
	nice -n 19 $(MUTANTS)/files --build $(MUTANTS_OUT)-files \
		$(MUTANTS_DRAWN) $(FILE:%=--file %)

.PHONY: mutants mutants-files
