#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel and user code of many processes on two CPUs, traced and decoded: each
# process is seen in its own code, and there is no gap but a few where kernel
# code was patched meanwhile. A kernel full of checks
# executes many times as much for the same, and decodes it slowly: there a
# small buffer ends the trace early.

# shellcheck disable=SC2034
TEST_NAME=mixed_work_decodes_without_gaps
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

need_tracing list_records mix branches system
# Gap 4: code was patched while it was traced; 5: a ring has overwritten the
# oldest; 7: the buffer was full; 6: it ended within a packet, which has up to
# 16 bytes.
size=64M expected='^gap 4 '
[ -z "${KIPT_SLOWNESS:-}" ] ||
	size=1M expected='^gap [47] \|^gap 6 .* value ffff[0-9a-f]$'
choose_buffer $size
[[ ${BUFFER[*]} != *ring* ]] || expected='^gap [45] '
# What kselftest's runner preloads is no 32-bit code.
unset LD_PRELOAD
ROUNDS=8
[ -z "${KIPT_TEST_SHORT:-}" ] || ROUNDS=3
mkdir "$WORK/programs"
ln -s "$FLOW/branches" "$FLOW/system" "$WORK/programs/"
# Built where the compiler makes 32-bit code; a kernel need not run it.
if "$FLOW/branches32" 1 >/dev/null 2>&1; then
	ln -s "$FLOW/branches32" "$WORK/programs/"
else
	echo "# without 32-bit code: branches32 is not built, or does not run here"
fi
record -o "$WORK/packed" --cpus 0,1 "${BUFFER[@]}" -- \
	"$FLOW/mix" "$WORK/programs" 0,1 $ROUNDS >"$WORK/processes" ||
	fail "kipt record: exit status $?"
"$KIPT" show "$WORK/packed" -o "$WORK/records" >/dev/null ||
	fail "kipt show: exit status $?"
counts=$("$FLOW/list_records" count "$WORK/records")
echo "# $counts"
"$FLOW/list_records" gaps "$WORK/records" >"$WORK/gaps" ||
	fail "the records file cannot be read"
branches=${counts#branches } branches=${branches%% *}
[ "$branches" -gt 100000 ] || fail "only $branches transfers were decoded"
# All of the trace is there: so is each process.
if [ "$size" = 64M ] && [[ ${BUFFER[*]} != *ring* ]]; then
	"$KIPT" show "$WORK/packed" --counts --json >"$WORK/edges" ||
		fail "kipt show --counts: exit status $?"
	[ -s "$WORK/processes" ] || fail "mix listed no process"
	while read -r _ pid _ program on; do
		grep -q "\"pid\": *$pid,.*_symbol\": *\"[^\"]*\[$program\]\"" \
			"$WORK/edges" ||
			fail "process $pid, $program $on, ended well and is not in the trace"
	done <"$WORK/processes"
fi
gaps=$(wc -l <"$WORK/gaps")
[ "$gaps" -le $((10 + branches / 100000)) ] ||
	fail "$gaps gaps, more than 10 and one in 100000 transfers"
grep -v "$expected" "$WORK/gaps" | head -n 10 | sed 's/^/# /'
grep -qv "$expected" "$WORK/gaps" && fail "there are gaps"
pass
