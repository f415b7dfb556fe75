#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An idle CPU, traced with PwrEvtEn: it must be seen to go to sleep, at a
# kernel address, and to wake as often as it slept.

# shellcheck disable=SC2034
TEST_NAME=idle_cpu_sleeps_and_wakes
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

need_tracing list_records
choose_buffer 16M
record -o "$WORK/packed" --cpus 1 "${BUFFER[@]}" \
	--ctl +PwrEvtEn -- sleep 0.3 2>"$WORK/errors"
status=$?
grep -q 'PwrEvtEn' "$WORK/errors" && skip "this CPU has no power event trace"
[ $status = 0 ] || fail "kipt record: exit status $status: $(cat "$WORK/errors")"
"$KIPT" show "$WORK/packed" -o "$WORK/records" >/dev/null ||
	fail "kipt show: exit status $?"
"$FLOW/list_records" power "$WORK/records" >"$WORK/power" ||
	fail "the records file cannot be read"

sleeps=$(grep -c '^sleep ffff' "$WORK/power")
wakes=$(grep -c '^wake [0-9a-f]' "$WORK/power")
echo "# $sleeps sleeps, $wakes wake-ups"
[ "$sleeps" -gt 0 ] || fail "the CPU was not seen to sleep"
# The trace may end in a sleep.
case $((sleeps - wakes)) in
0 | 1) ;;
*) fail "sleeps and wake-ups do not match" ;;
esac
grep -qvE '^(sleep ffff|wake [0-9a-f])' "$WORK/power" &&
	fail "a sleep at no kernel address, or a wake-up that says no reason"
pass
