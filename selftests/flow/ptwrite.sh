#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A program executes PTWRITE with values that it also prints: the same values,
# in the same order, with the address of their instruction, must be fetched.

# shellcheck disable=SC2034
TEST_NAME=ptwrite_values_are_fetched
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

need_tracing list_records ptwrite
"$FLOW/ptwrite" >/dev/null 2>&1
[ $? != 4 ] || skip "this CPU has no PTWRITE"

record -o "$WORK/packed" --cpus 0 --size 16M --mode once \
	--ctl +PTWEn,+FUPonPTW -- "$FLOW/ptwrite" 0 >"$WORK/wanted" ||
	fail "kipt record: exit status $?"
"$KIPT" show "$WORK/packed" -o "$WORK/records" >/dev/null ||
	fail "kipt show: exit status $?"
"$FLOW/list_records" ptwrite "$WORK/records" >"$WORK/fetched" ||
	fail "the records file cannot be read"
[ "$(wc -l <"$WORK/wanted")" = 64 ] || fail "the program wrote no 64 values"
cmp "$WORK/wanted" "$WORK/fetched" || {
	diff "$WORK/wanted" "$WORK/fetched" | head -n 20 | sed 's/^/# /'
	fail "what was fetched is not what was written"
}

# The control: one changed digit must be seen.
sed '32s/.$/x/' "$WORK/wanted" | cmp -s - "$WORK/fetched" &&
	fail "a changed value was not found"
pass
