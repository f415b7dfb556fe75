#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same program on one CPU, traced by kipt, and on the other, traced by perf with
# the kernel's own driver at the same time: each of its branches must have been seen
# as often by one as by the other. Then the other way round. Those within its own
# text count, since the rest depends on when signals and the dynamic linker come.

# shellcheck disable=SC2034
TEST_NAME=perf_sees_the_same_branches
# shellcheck source=selftests/flow/flow_lib.sh
. "$(dirname -- "$0")/flow_lib.sh"

# Where packets were lost, branches are missing on one side: another run.
TRIES=5
ROUNDS=4
[ -z "${KIPT_TEST_SHORT:-}" ] || ROUNDS=1

# own: of lines "FROM TO", 16 digits each, those within the program's text.
own()
{
	awk -v first="$start" -v end="$end" \
		'$1 "" >= first && $1 "" < end && $2 "" >= first && $2 "" < end'
}

count_edges()
{
	sort | uniq -c
}

# perf_branches: "FROM TO" of the lines of perf script.
perf_branches()
{
	awk '{
		for (i = 2; i < NF; i++)
			if ($i == "=>")
				print digits($(i - 1)), digits($(i + 1))
	}
	function digits(text) {
		return substr("0000000000000000", length(text) + 1) text
	}' "$WORK/script"
}

# trace_both CPU: kipt traces it, perf the other. Without address space randomisation,
# the program is at one place in both.
trace_both()
{
	rm -f "$WORK"/packed*
	perf --buildid-dir "$WORK/debug" record -B -N -q -e intel_pt//u -m 8M,64M \
		-C $((1 - $1)) -o "$WORK/perf.data" -- \
		taskset -c $((1 - $1)) setarch -R "$FLOW/branches" $ROUNDS \
		>"$WORK/perf.log" 2>&1 &
	record -o "$WORK/packed" --cpus "$1" "${BUFFER[@]}" \
		--ctl User,BranchEn,TSCEn -- \
		setarch -R "$FLOW/branches" $ROUNDS >/dev/null ||
		{ wait $!; fail "kipt record: exit status $?"; }
	wait $! || fail "perf record: $(tail -n 1 "$WORK/perf.log")"
	"$KIPT" show "$WORK/packed" -o "$WORK/records" >/dev/null ||
		fail "kipt show: exit status $?"
	perf --buildid-dir "$WORK/debug" script -i "$WORK/perf.data" \
		--itrace=be -F flags,ip,addr >"$WORK/script" 2>"$WORK/errors" ||
		fail "perf script: $(tail -n 1 "$WORK/errors")"
}

# compare_edges: 0: the same; 1: not; 2: try again.
compare_edges()
{
	read -r start end < <(sed -n 's,^map \([0-9a-f]*\) \([0-9a-f]*\) .*/branches$,\1 \2,p' \
		"$WORK/packed.maps")
	[ -n "$end" ] || fail "the program's text is not among the mappings"
	start=$(printf %016x "0x$start") end=$(printf %016x "0x$end")
	"$FLOW/list_records" gaps "$WORK/records" >"$WORK/gaps"
	! grep -q '^gap 1 ' "$WORK/gaps" || return 2
	! grep -q 'instruction trace error' "$WORK/script" "$WORK/errors" ||
		return 2
	"$FLOW/list_records" branches "$WORK/records" | own >"$WORK/branches"
	count_edges <"$WORK/branches" >"$WORK/ours"
	perf_branches | own | count_edges >"$WORK/theirs"
	cmp -s "$WORK/ours" "$WORK/theirs"
}

# print_counts FILE: "N branches, N edges"
print_counts()
{
	awk '{ n += $1 } END { print n + 0 " branches, " NR " edges" }' "$1"
}

need_tracing branches list_records
command -v perf >/dev/null || skip "no perf"
perf --version >/dev/null 2>&1 || skip "no perf: it cannot run"
[ -e /sys/bus/event_source/devices/intel_pt/type ] ||
	skip "the kernel has no driver of its own for Intel PT"
grep -q '^processor[[:space:]]*: 1$' /proc/cpuinfo || lack "there is no CPU 1"
choose_buffer 64M

# check_cpu CPU: kipt traces it, perf the other.
check_cpu()
{
	local try status

	for ((try = 1; try <= TRIES; try++)); do
		trace_both "$1"
		compare_edges
		status=$?
		[ "$status" = 2 ] || break
		echo "# tries again: packets were lost"
	done
	[ "$status" != 2 ] || fail "packets were lost in each of $TRIES runs"
	echo "# kipt on CPU $1: $(print_counts "$WORK/ours")"
	echo "# perf on CPU $((1 - $1)): $(print_counts "$WORK/theirs")"
	if [ "$status" != 0 ]; then
		diff "$WORK/theirs" "$WORK/ours" | head -n 20 | sed 's/^/# /'
		fail "perf and kipt saw different branches of the program"
	fi
	# A round makes about 9000 transfers, two thirds of them in the program's text.
	[ "$(awk '{ n += $1 } END { print n + 0 }' "$WORK/ours")" -gt $((ROUNDS * 4000)) ] ||
		fail "both saw too few branches"

	# The control: one branch less must be seen.
	sed '100d' "$WORK/branches" | count_edges | cmp -s - "$WORK/theirs" &&
		fail "a missing branch was not found"
}

check_cpu 0
[ -n "${KIPT_TEST_SHORT:-}" ] || check_cpu 1
pass
