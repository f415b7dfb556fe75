# SPDX-License-Identifier: GPL-2.0-only
#
# The test machine's targets. vm-setup fills the cache outside the clone,
# vm-clean removes what runs left in the clone and leaves the cache alone.

.PHONY: vm-setup vm-debug vm-console-test vm-test vm-clean

# The kernel debug is built from source: some minutes of two cores, once.
vm-setup:
	$(ROOT)/tools/vm/setup --ksft --debug

# The kernel kcsan beside it, some minutes more.
vm-debug:
	$(ROOT)/tools/vm/setup --ksft --debug --kcsan

vm-console-test:
	$(ROOT)/tools/vm/console_test

vm-test:
	$(ROOT)/tools/vm/test

vm-clean:
	rm -rf $(BUILD)/vm $(BUILD)/module
