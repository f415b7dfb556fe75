# SPDX-License-Identifier: GPL-2.0-only
#
# The test machine's targets. vm-setup fills the cache outside the clone,
# vm-clean removes what runs left in the clone and leaves the cache alone.

.PHONY: vm-setup vm-test vm-clean

vm-setup:
	$(ROOT)/tools/vm/setup --ksft

vm-test:
	$(ROOT)/tools/vm/test

vm-clean:
	rm -rf $(BUILD)/vm $(BUILD)/module
