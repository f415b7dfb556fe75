#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel and user code of CPU 1, and user code of CPU 0 with compressed RETs, decoded
# from the raw trace by libipt and by kipt: both must see the same instructions, and
# another trace gives other branches. The kernel without RET compression: libipt,
# unlike the manual, keeps the entry of a CALL whose RET went elsewhere, and so
# loses its way in retpolines.

# shellcheck disable=SC2034
TEST_NAME=libipt_sees_the_same_instructions
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

# Where packets were lost, or code was patched meanwhile, there is no truth of
# what libipt should see: another run.
TRIES=5

# trace_and_compare CPU CTL: 0: the same; 1: not; 2: try again.
trace_and_compare()
{
	local pages

	rm -rf "$WORK/saved"
	# The tool stays off the CPU: the pages it saves are the command's.
	taskset -c $((1 - $1)) "$KIPT" record --save "$WORK/saved" --cpus "$1" \
		"${BUFFER[@]}" --ctl="$2" -- "$FLOW/branches" 6 >/dev/null ||
		fail "kipt record: exit status $?"
	"$KIPT" decode "$WORK/saved/cpu$1.pt" --dir "$WORK/saved" \
		-o "$WORK/records" 2>"$WORK/decode" ||
		fail "kipt decode: exit status $?: $(cat "$WORK/decode")"
	"$FLOW/list_records" gaps "$WORK/records" >"$WORK/gaps" ||
		fail "the records file cannot be read"
	! grep -q '^gap [14] ' "$WORK/gaps" || return 2
	pages=("$WORK/saved"/*.addr)
	"$FLOW/libipt_insns" "$WORK/saved/cpu$1.pt" "${pages[@]%.addr}" \
		>"$WORK/libipt"
	ours=$("$KIPT" decode "$WORK/saved/cpu$1.pt" --dir "$WORK/saved" \
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

# check_cpu CPU CTL
check_cpu()
{
	local branches flipped try status

	for ((try = 1; try <= TRIES; try++)); do
		trace_and_compare "$1" "$2"
		status=$?
		[ "$status" = 2 ] || break
		sed 's/^/# tries again: /' "$WORK/gaps" | head -n 3
	done
	[ "$status" != 2 ] ||
		fail "packets were lost or code was patched in each of $TRIES traces"
	sed "s/^/# CPU $1, libipt: /" "$WORK/libipt"
	echo "# CPU $1, kipt: $ours"
	sed 's/^/# kipt: /' "$WORK/gaps" | head -n 10
	[ "$status" = 0 ] || fail "libipt and kipt see different instructions"

	# The control: a branch that went the other way must be seen.
	branches=$(hash_of "cpu$1.pt")
	"$FLOW/flip_tnt" "$WORK/saved/cpu$1.pt" "$WORK/saved/flipped.pt" |
		sed 's/^/# control: /'
	flipped=$(hash_of flipped.pt)
	[ -n "$branches" ] || fail "the branches have no hash"
	[ -n "$flipped" ] || fail "the changed trace cannot be decoded"
	[ "$flipped" != "$branches" ] ||
		fail "a changed byte of the trace was not found"
}

# hash_of FILE: of all branches.
hash_of()
{
	"$KIPT" decode "$WORK/saved/$1" --dir "$WORK/saved" --branches --hash \
		2>/dev/null
}

check_cpu 1 +DisRETC
check_cpu 0 -OS,-DisRETC
pass
