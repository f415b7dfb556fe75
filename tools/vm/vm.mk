# SPDX-License-Identifier: GPL-2.0-only
#
# The test machine's targets. vm-setup fills the cache outside the clone,
# vm-clean removes what runs left in the clone and leaves the cache alone.

.PHONY: vm-setup vm-debug vm-console-test vm-test vm-clean

vm-setup:
	$(ROOT)/tools/vm/setup --ksft

# The kernels debug and kcsan, built from source: some minutes of two cores.
vm-debug:
	$(ROOT)/tools/vm/setup --ksft --debug

vm-console-test:
	$(ROOT)/tools/vm/console_test

vm-test:
	$(ROOT)/tools/vm/test

vm-clean:
	rm -rf $(BUILD)/vm $(BUILD)/module
