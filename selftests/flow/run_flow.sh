#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: selftests/flow/run_flow.sh KERNEL PROOF [ROUNDS]
#
# Boots the test machine with KERNEL (6.1, 6.12, new), traces work in it, and
# holds what was decoded against the ground truth of what executed. Prints a
# KTAP line per result and the figures. PROOF is one of
#
#   retc     two busy CPUs, kernel and user, with RET compression
#   disretc  the same without
#   events   a program that executes PTWRITE, and an idle CPU
#   perf     Linux's own driver and perf, unmodified
#   libipt   the module's raw buffers in libipt, and a flipped byte
#   lip      32-bit code in a segment that does not begin at 0, on a CPU that
#            traces linear addresses
#   rip      the same on one that traces offsets: a gap, and no wrong flow
#   filters  address ranges, stop ranges, one process
#
# ROUNDS is how much work there is; the default makes over 10 million
# transfers for retc and disretc. MIX_SIZE is the buffer that these two have for
# each CPU; a small one ends the trace early.
set -uo pipefail

cd "$(dirname -- "$0")/../.." || exit 1
KERNEL=${1:-} PROOF=${2:-} ROUNDS=${3:-}
OUT=build/flow/$KERNEL/$PROOF
BUILD=build/flow
WANTED_TRANSFERS=${WANTED_TRANSFERS:-10000000}
number=0 failures=0

# result STATUS NAME: one KTAP line.
result()
{
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $KERNEL flow $PROOF $2"
	else
		failures=$((failures + 1))
		echo "not ok $number $KERNEL flow $PROOF $2"
	fi
}

# boot COMMAND...: in the machine; /out is $OUT.
boot()
{
	local start=$SECONDS status

	rm -rf "$OUT"
	mkdir -p "$OUT"
	tools/vm/run --kernel "$KERNEL" --mem "${MEM:-3G}" --truth "$OUT/truth" \
		--out "$OUT" "${VM_OPTIONS[@]}" -- "$@" >"$OUT/guest.log" 2>&1
	status=$?
	[ $status = 0 ] || sed 's/^/# guest: /' "$OUT/guest.log" | tail -n 30
	echo "# machine: status $status after $((SECONDS - start)) s"
	return $status
}

# unpack DIR: the comparison wants each branch.
unpack()
{
	build/kipt/kipt show "$1/packed" -o "$1/records" 2>&1 |
		sed 's/^/# kipt: /'
}

# record ARGUMENT...: of guest_record. What a machine that failed left is
# compared all the same.
record()
{
	local status

	boot selftests/flow/guest_record "$@"
	status=$?
	unpack "$OUT" || status=1
	return $status
}

# compare_cpu CPU OPTION...: records of one CPU with its truth.
compare_cpu()
{
	local cpu=$1
	shift
	"$BUILD/compare" --cpu "$cpu" --negative "$@" \
		"$OUT/truth/truth.$cpu" "$OUT/records" >"$OUT/compare.$cpu"
}

# show_compare CPU: the figures, and all of it when they differ.
show_compare()
{
	grep -v '^control: .*: found$' "$OUT/compare.$1" | sed "s/^/# CPU $1: /"
}

# transfers CPU: how many were equal, 0 where something differs.
transfers()
{
	sed -n 's/^equal: \([0-9]*\) transfers.*/\1/p' "$OUT/compare.$1" | grep . ||
		echo 0
}

# ctl_of CPU: IA32_RTIT_CTL while it traced, by the test CPU's own word.
ctl_of()
{
	build/stress/segments "$OUT/truth/truth.$1" list | awk '$1 == 0 { print "0x" $4 }'
}

DISRETC=0x800

# prove_mix DISRETC: 0 with compressed RETs, $DISRETC without.
prove_mix()
{
	local cpu total=0 wanted=$1 ctl=--ctl=-DisRETC status early=()

	[ "$wanted" = 0 ] || ctl=--ctl=+DisRETC

	[ -z "${MIX_SIZE:-}" ] || early=(--early-end)
	record --cpus 0,1 --size "${MIX_SIZE:-128M}" \
		--mode once "$ctl" -- "$BUILD/work/mix" "$BUILD/work" 0,1 "${ROUNDS:-120}"
	result $? "is traced and decoded in the kernel"
	for cpu in 0 1; do
		compare_cpu "$cpu" --run 1 "${early[@]}"
		status=$?
		show_compare "$cpu"
		result $status "CPU $cpu equals the truth, and changes of it are found"
		ctl=$(ctl_of "$cpu")
		[ -n "$ctl" ] && [ $((ctl & DISRETC)) = $((wanted)) ]
		result $? "CPU $cpu traced with DisRETC as asked (IA32_RTIT_CTL ${ctl:-unknown})"
		sed -n 's/^in a known address space: //p' "$OUT/compare.$cpu" | grep -qx '[1-9].*'
		result $? "CPU $cpu traces address spaces"
		total=$((total + $(transfers "$cpu")))
	done
	echo "# $total transfers compared"
	[ "$total" -ge "$WANTED_TRANSFERS" ]
	result $? "compares $WANTED_TRANSFERS transfers or more"
}

prove_events()
{
	local cpu count

	record --cpus 0,1 --size 32M --mode once \
		--ctl=+PTWEn,+FUPonPTW,+PwrEvtEn -- \
		selftests/flow/guest_events
	result $? "are traced and decoded in the kernel"
	for cpu in 0 1; do
		compare_cpu "$cpu" --run 1
		result $? "on CPU $cpu equal the truth, and changes of it are found"
		show_compare "$cpu"
	done
	count=$(cat "$OUT"/compare.[01] | grep -o 'ptwrite [0-9]*' |
		awk '{ n += $2 } END { print n + 0 }')
	[ "$count" = 64 ]
	result $? "include the 64 values written (found $count)"
	"$BUILD/list_records" ptwrite "$OUT/records" | cmp - "$OUT/values"
	result $? "are the values that the program printed"
	count=$(cat "$OUT"/compare.[01] | grep -o 'idle [0-9]*' |
		awk '{ n += $2 } END { print n + 0 }')
	[ "$count" -gt 0 ]
	result $? "include sleeps (found $count)"
}

prove_perf()
{
	local cpu

	boot selftests/flow/guest_perf "${ROUNDS:-4}"
	result $? "records with Linux's own driver"
	tools/vm/in-root trixie -- selftests/flow/perf_script "$OUT" \
		>"$OUT/script.log" 2>&1
	result $? "perf script ends well"
	for cpu in 0 1; do
		"$BUILD/perf_records" "$cpu" "$OUT/records" <"$OUT/script" >"$OUT/perf_records.log"
		result $? "perf finds no decoding error on CPU $cpu, and each branch has a kind"
		sed 's/^/# /' "$OUT/perf_records.log"
		compare_cpu "$cpu"
		result $? "perf's branches of CPU $cpu equal the truth, and changes of it are found"
		show_compare "$cpu"
	done
}

# libipt_cpu CPU FOLDER OPTION...: what guest_save left of a CPU there; options are of
# compare.
libipt_cpu()
{
	local ours theirs cpu=$1 dir=$2 pages
	local trace=$dir/cpu$cpu.pt

	pages=("$dir"/*.addr)
	theirs=$("$BUILD/libipt_insns" "$trace" "${pages[@]%.addr}")
	result $? "libipt decodes the raw buffer of CPU $cpu without error"
	ours=$(build/kipt/kipt decode "$trace" --dir "$dir" --insns --hash)
	result $? "kipt decodes the raw buffer of CPU $cpu without error"
	echo "# libipt: $theirs"
	echo "# kipt: $ours"
	theirs=$(sed -n 's/^insns \(.*\) hash \(.*\) errors .*/\1 \2/p' <<<"$theirs")
	[ -n "$ours" ] && [ "$ours" = "$theirs" ]
	result $? "both see the same instructions on CPU $cpu"
	build/kipt/kipt decode "$trace" --dir "$dir" -o "$OUT/records"
	compare_cpu "$cpu" "${@:3}"
	result $? "the saved trace of CPU $cpu decodes to the truth here too"
	show_compare "$cpu"
	mkdir "$dir/flipped"
	"$BUILD/flip_tnt" "$trace" "$dir/flipped/cpu$cpu.pt"
	build/kipt/kipt decode "$dir/flipped/cpu$cpu.pt" --dir "$dir" \
		-o "$OUT/records"
	compare_cpu "$cpu" "${@:3}"
	[ $? = 1 ]
	result $? "one flipped byte of the trace of CPU $cpu is found"
	show_compare "$cpu" | head -n 4
}

prove_libipt()
{
	boot selftests/flow/guest_save "${ROUNDS:-6}"
	result $? "is traced and saved"
	libipt_cpu 1 "$OUT/all" --run 1
	libipt_cpu 0 "$OUT/user"
}

# filter_cpu NAME: a recording of guest_filters with its truth.
filter_cpu()
{
	local name=$1 ctl least entries

	ctl=$(sed -n 's/.*"ctl_bits": *"\(0x[0-9a-f]*\)".*/\1/p' \
		"$OUT/$name/meta.json")
	unpack "$OUT/$name" &&
		"$BUILD/compare" --cpu 1 --negative --ctl "$ctl" \
			"$OUT/truth/truth.1" "$OUT/$name/records" \
			>"$OUT/compare.$name"
	result $? "$name equals the truth, and changes of it are found"
	show_compare "$name"
	read -r least entries < <(fewest "$name")
	[ "$(transfers "$name")" -ge "$least" ] && [ "$(enables "$name")" -ge "$entries" ]
	result $? "$name has $least transfers and is entered $entries times, at least"
}

# enables NAME: how often tracing went on, where it equals the truth.
enables()
{
	sed -n 's/^equal: .*, enable \([0-9]*\),.*/\1/p' "$OUT/compare.$1" | grep . ||
		echo 0
}

# fewest NAME: transfers and entries that the program of a recording must make on
# any kernel; what depends on interrupts is left out.
fewest()
{
	case $1 in
	user | user-retc | user-events) echo 600000 2000 ;;
	user-all) echo 600000 50 ;;
	user-touch) echo 600 20 ;;
	user-library) echo 0 1 ;;
	process | process-user) echo 600000 50 ;;
	process-fork | process-user-fork) echo 1200000 50 ;;
	stop) echo 100000 1 ;;
	stop-inside) echo 600 1 ;;
	stop-filter) echo 6 2 ;;
	stop-kernel) echo 0 5 ;;
	module) echo 10 10 ;;
	part) echo 0 3 ;;
	symbol | addresses) echo 0 5 ;;
	interrupt) echo 0 20 ;;
	*) echo "unknown recording $1" >&2 ;;
	esac
}

# filter_edges NAME KIND...: the packets at its edges.
filter_edges()
{
	local name=$1
	shift
	build/kipt/kipt packets --json "$OUT/$name/cpu1.pt" \
		>"$OUT/$name/packets" 2>/dev/null
	selftests/flow/edges.py "$OUT/truth/truth.1" "$OUT/$name/meta.json" \
		"$OUT/$name/packets" "$@" >"$OUT/$name/edges" 2>&1
	result $? "$name has the packets of its edges"
	sed "s/^/# $name: /" "$OUT/$name/edges"
}

# Which ways in and out each recording must have.
edge_kinds()
{
	case $1 in
	symbol | addresses | part) echo in:ret out:call ;;
	module) echo in:ret out:call ;;
	interrupt) echo in:interrupt ;;
	user | user-retc)
		echo in:call in:call* in:jmp in:jcc in:ret in:sysret in:iret \
			out:ret out:jmp out:jcc out:jmp* out:call out:call* \
			out:syscall out:exception out:interrupt
		;;
	user-events)
		echo in:jmp out:jmp out:syscall out:exception out:interrupt
		;;
	user-touch) echo in:call out:ret ;;
	user-all) echo in:ret out:syscall out:exception ;;
	user-library) echo in:jmp* ;;
	stop) echo stop:call ;;
	stop-filter) echo in:call stop:jmp ;;
	stop-inside) echo stop:jmp ;;
	stop-kernel) echo in:ret out:call ;;
	esac
}

prove_filters()
{
	local name

	boot selftests/flow/guest_filters
	result $? "are traced and decoded in the kernel"
	while read -r name; do
		filter_cpu "$name"
		# shellcheck disable=SC2046
		filter_edges "$name" $(set -f; edge_kinds "$name")
	done <"$OUT/runs"
}

# based_compare OPTION...: CPU 1 of a run of work/based.
based_compare()
{
	compare_cpu 1 --run 1 "$@"
	result $? "equals the truth, and changes of it are found"
	show_compare 1
}

prove_based()
{
	local segment

	record --cpus 1 --size 16M --mode once -- \
		"$BUILD/work/based" "${ROUNDS:-20000}"
	result $? "is traced and decoded in the kernel"
	segment=$(grep -axE '[0-9a-f]+-[0-9a-f]+' "$OUT/guest.log")
	if [ "$PROOF" = lip ]; then
		based_compare
		grep -q '^gaps: 0;' "$OUT/compare.1"
		result $? "has no gap"
	else
		based_compare --based "$segment"
		grep -q '^gaps: .*no-code [1-9]' "$OUT/compare.1"
		result $? "has gaps where the code cannot be found"
	fi
}

VM_OPTIONS=()
case $PROOF in
retc) prove_mix 0 ;;
disretc) prove_mix $DISRETC ;;
events) VM_OPTIONS=(--plugin-arg mwait=on); prove_events ;;
perf) prove_perf ;;
libipt) prove_libipt ;;
filters) VM_OPTIONS=(--cpu-model caps=newest); prove_filters ;;
lip) VM_OPTIONS=(--cpu-model caps=goldmont); prove_based ;;
rip) VM_OPTIONS=(--cpu-model caps=skylake); prove_based ;;
*)
	echo "run_flow.sh: '$PROOF' is no proof: retc, disretc, events, perf, libipt, filters, lip, rip" >&2
	exit 2
	;;
esac
echo "1..$number"
[ "$failures" = 0 ]
