# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Traces that real CPUs wrote, against the instruction counts and hashes that
# libipt gave. They are not part of this project. Sourced by tool_test.sh.

# one_trace NAME INSNS HASH
one_trace() {
	local name=$1 gaps
	run decode "$name.pt" --pages "$name" --insns --hash
	same "trace_$name" "$2 $3" "$OUT"
	run decode "$name.pt" --pages "$name" --stats --json
	gaps=$(python3 -c 'import json, sys
gaps = json.loads(sys.stdin.readlines()[-1])["gaps"]
gaps.pop("overflow", 0)
print(gaps)' <<<"$OUT")
	same "trace_${name}_without_resynchronisation" "{}" "$gaps"
	trace_jobs "$name"
	trace_totals "$name"
}

# total FORM...: how many branches the summary has
total() {
	"$KIPT" decode five.pt --pages "$NAME" "$@" --stats |
		sed -n 's/ branches.*//p'
}

# However they are counted: by the decoder, by path, one by one, as lines.
trace_totals() {
	local NAME=$1 form want jobs
	want=$("$KIPT" decode five.pt --pages "$NAME" --branches --jobs 1 \
		2>/dev/null | grep -c ' -> ')
	for form in --branches --counts --insns; do
		for jobs in 1 3; do
			same "trace_${NAME}_total_of_${form#--}_${jobs}_jobs" \
				"$want" "$(total $form --jobs $jobs)"
		done
	done
	same "trace_${NAME}_total_in_json" "$want" \
		"$("$KIPT" decode five.pt --pages "$NAME" --counts --json |
		python3 -c 'import json, sys
print(sum(o["count"] for o in map(json.loads, sys.stdin)
          if o["type"] == "edge"))')"
}

# Five times the trace, so that there are chunks to share.
trace_jobs() {
	local name=$1 form want
	cat "$name.pt" "$name.pt" "$name.pt" "$name.pt" "$name.pt" >five.pt
	for form in --insns --branches --calls --counts; do
		want=$("$KIPT" decode five.pt --pages "$name" $form --hash \
			--jobs 1)
		same "trace_${name}_${form#--}_3_jobs" "${want:-nothing}" \
			"$("$KIPT" decode five.pt --pages "$name" $form \
				--hash --jobs 3)"
	done
	# Packed records of a long trace are shown for some seconds.
	if is_short && [ "$(stat -c %s five.pt)" -gt 500000 ]; then
		return
	fi
	"$KIPT" decode five.pt --pages "$name" --packed packed.rec --jobs 3 \
		2>/dev/null
	same "trace_${name}_packed_3_jobs" \
		"$("$KIPT" decode five.pt --pages "$name" --branches --json \
			--time --jobs 1 2>/dev/null | grep -v '"summary"' |
			md5sum)" \
		"$("$KIPT" show packed.rec --branches --json --time \
			--kallsyms "" 2>/dev/null | grep -v '"summary"' | md5sum)"
}

# The comparison must fail for a trace with one wrong byte.
flipped_trace() {
	local name=$1 form
	python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = next(i for i in range(len(data) // 2, len(data))
          if data[i] & 1 == 0 and data[i] >= 8)
data[at] ^= 4
open("flipped.pt", "wb").write(data)' "$name.pt"
	run decode flipped.pt --pages "$name" --insns --hash
	differ "trace_control_flipped_byte" "$2 $3" "$OUT"
	for form in --branches --calls --counts; do
		run decode flipped.pt --pages "$name" $form --hash
		differ "trace_control_flipped_byte_${form#--}" "$OUT" \
			"$("$KIPT" decode "$name.pt" --pages "$name" $form \
				--hash)"
	done
}

# calls_summary NAME COMMAND...: of conditional branches --calls makes only sums
calls_summary() {
	local name=$1
	shift
	same "calls_sum_all_branches $name" \
		"$("$@" --branches 2>&1 >/dev/null | cut -d';' -f1)" \
		"$("$@" --calls --jobs 3 2>&1 >/dev/null | cut -d';' -f1)"
}

trace_tests() {
	local name insns hash
	if [ ! -f "$TRACES/real-hardware.tar.xz" ]; then
		skip "real_traces" "no real-hardware.tar.xz in $TRACES"
		return
	fi
	if ! tar -xf "$TRACES/real-hardware.tar.xz"; then
		not_ok "real_traces" "cannot unpack real-hardware.tar.xz"
		return
	fi
	while IFS='|' read -r _ name _ _ _ insns _ _ hash _; do
		name=${name// /} insns=${insns// /} hash=${hash// /}
		[ -f "$name.pt" ] || continue
		one_trace "$name" "$insns" "$hash"
		calls_summary "$name" "$KIPT" decode "$name.pt" --pages "$name"
		[ "$name" != arcus-hello ] ||
			flipped_trace "$name" "$insns" "$hash"
	done <"$TRACES/README.md"
}
