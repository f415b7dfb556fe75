# SPDX-License-Identifier: GPL-2.0-only
# How C files become objects: each by a compiler of its own, so that ccache knows it, in
# a folder for each set of flags. The compiler notes beside an object which headers it
# read.

.SECONDEXPANSION:

# What each rule for an object has: its folder before it, and the compiler's notes.
IN_FOLDER = | $$(@D)/.
NOTES = -MMD -MP -MT $@
notes = $(shell find $(1) -name '*.d' 2>/dev/null)

.PRECIOUS: %/.
%/.:
	@mkdir -p $@

%.d: ;

# objects FOLDER,SOURCES: the objects of sources of the tree
objects = $(patsubst $(ROOT)/%.c,$(1)/%.o,$(abspath $(2)))

# compile FOLDER,COMMAND: what makes those objects
define compile
$(1)/%.o: $(ROOT)/%.c $$(IN_FOLDER)
	$(2) $$(NOTES) -c -o $$@ $$<
-include $$(call notes,$(1))
endef
