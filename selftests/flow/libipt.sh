#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel and user code of CPU 1, decoded from the raw trace by libipt and by kipt:
# both must see the same instructions, and another trace gives another hash.
# Without RET compression: libipt, unlike the manual, keeps the entry of a CALL
# whose RET went elsewhere, and so loses its way in retpolines.

# shellcheck disable=SC2034
TEST_NAME=libipt_sees_the_same_instructions
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

# Where packets were lost, or code was patched meanwhile, there is no truth of
# what libipt should see: another run.
TRIES=5

# trace_and_compare: 0: the same; 1: not; 2: try again.
trace_and_compare()
{
	local pages

	rm -rf "$WORK/saved"
	# The tool stays off the CPU: the pages it saves are the command's.
	taskset -c 0 "$KIPT" record --save "$WORK/saved" --cpus 1 \
		"${BUFFER[@]}" --ctl +DisRETC -- "$FLOW/branches" 6 >/dev/null ||
		fail "kipt record: exit status $?"
	"$KIPT" decode "$WORK/saved/cpu1.pt" --dir "$WORK/saved" \
		-o "$WORK/records" 2>"$WORK/decode" ||
		fail "kipt decode: exit status $?: $(cat "$WORK/decode")"
	"$FLOW/list_records" gaps "$WORK/records" >"$WORK/gaps" ||
		fail "the records file cannot be read"
	! grep -q '^gap [14] ' "$WORK/gaps" || return 2
	pages=("$WORK/saved"/*.addr)
	"$FLOW/libipt_insns" "$WORK/saved/cpu1.pt" "${pages[@]%.addr}" \
		>"$WORK/libipt"
	ours=$("$KIPT" decode "$WORK/saved/cpu1.pt" --dir "$WORK/saved" \
		--insns --hash 2>/dev/null)
	theirs=$(sed -n 's/^insns \(.*\) hash \(.*\) errors 0$/\1 \2/p' \
		"$WORK/libipt")
	[ -n "$ours" ] && [ "$ours" = "$theirs" ]
}

need_tracing branches list_records
[ -x "$FLOW/libipt_insns" ] || skip "no libipt: libipt_insns is not built"
"$FLOW/libipt_insns" >/dev/null 2>&1
[ $? = 2 ] || skip "no libipt: libipt_insns cannot run"
grep -q '^processor[[:space:]]*: 1$' /proc/cpuinfo || lack "there is no CPU 1"
choose_buffer 64M
for ((try = 1; try <= TRIES; try++)); do
	trace_and_compare
	status=$?
	[ "$status" = 2 ] || break
	sed 's/^/# tries again: /' "$WORK/gaps" | head -n 3
done
[ "$status" != 2 ] || fail "packets were lost or code was patched in each of $TRIES traces"
sed 's/^/# libipt: /' "$WORK/libipt"
echo "# kipt: $ours"
sed 's/^/# kipt: /' "$WORK/gaps" | head -n 10
[ "$status" = 0 ] || fail "libipt and kipt see different instructions"

# The control: a branch that went the other way must be seen.
"$FLOW/flip_tnt" "$WORK/saved/cpu1.pt" "$WORK/saved/flipped.pt" |
	sed 's/^/# control: /'
flipped=$("$KIPT" decode "$WORK/saved/flipped.pt" --dir "$WORK/saved" \
	--insns --hash 2>/dev/null)
[ -n "$flipped" ] || fail "the changed trace cannot be decoded"
[ "$flipped" != "$theirs" ] || fail "a changed byte of the trace was not found"
pass
