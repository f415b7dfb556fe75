# SPDX-License-Identifier: GPL-2.0-only
# How C files become objects: each by a compiler of its own, so that ccache knows it, in
# a folder for each set of flags. The compiler writes a dependency file beside each
# object: the headers it read.

.SECONDEXPANSION:

# What a rule for an object has: its folder is made before it; options for the
# dependency file.
IN_FOLDER = | $$(@D)/.
DEPFLAGS = -MMD -MP -MT $@

.PRECIOUS: %/.
%/.:
	@mkdir -p $@

# Nobody makes them but the compiler.
%.d: ;

# dependency-files FOLDER: those that were written in an earlier run
dependency-files = $(shell find $(1) -name '*.d' 2>/dev/null)

# objects FOLDER,SOURCES: the objects of sources of the tree
objects = $(patsubst $(ROOT)/%.c,$(1)/%.o,$(abspath $(2)))

# compile FOLDER,COMMAND: makes those objects by COMMAND, a compiler with its flags
define compile
$(1)/%.o: $(ROOT)/%.c $$(IN_FOLDER)
	$(2) $$(DEPFLAGS) -c -o $$@ $$<
-include $$(call dependency-files,$(1))
endef
