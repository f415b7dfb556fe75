# SPDX-License-Identifier: GPL-2.0-only
# One-line changes of the decoder core, and the named case that notices each:
# N of them, drawn by SEED. Half an hour for 240.

MUTANTS := $(ROOT)/tools/mutants
MUTANTS_OUT := $(BUILD)/mutants

mutants:
	nice -n 19 $(MUTANTS)/mutants --build $(MUTANTS_OUT) \
		$(if $(findstring command,$(origin N)),-n $(N)) \
		$(if $(findstring command,$(origin SEED)),--seed $(SEED))

.PHONY: mutants
