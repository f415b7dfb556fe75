# SPDX-License-Identifier: GPL-2.0-only
# What every collection of tests has; lib.mk comes last in it. All that a test
# needs is put beside it in $(OUTPUT), so that an installed folder, which is a
# copy of it, is as good as the source tree.

TEST_GEN_PROGS += $(SCRIPTS)
TEST_GEN_FILES += $(BESIDE)

include $(KSFT)/lib.mk

# lib.mk installs those two, from the folder it works in.
all: $(OUTPUT)/settings $(OUTPUT)/config

$(OUTPUT)/settings: $(SRC)/../settings
	$(call msg,COPY,,$@)
	$(Q)cp $< $@

$(addprefix $(OUTPUT)/,$(SCRIPTS) $(BESIDE) config): $(OUTPUT)/%: $(SRC)/%
	$(call msg,COPY,,$@)
	$(Q)cp $< $@

# As lib.mk's, where there is no rsync, too.
define INSTALL_SINGLE_RULE
	$(if $(strip $(INSTALL_LIST)),@mkdir -p $(INSTALL_PATH))
	$(if $(strip $(INSTALL_LIST)),@cp -pL $(INSTALL_LIST) $(INSTALL_PATH)/)
endef

# What is not built is not brought along; the tests say what they miss.
install: install_built
.PHONY: install_built
install_built: all
	@mkdir -p $(INSTALL_PATH)
	@for file in $(BUILT); do \
		if [ -e $$file ]; then cp -pL $$file $(INSTALL_PATH)/; \
		else echo "selftests: without $$file, which is not built"; fi; \
	done
