# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# kipt decode with several threads, little memory, packed records, edge counts,
# progress and Ctrl-C: whatever is asked for, the answer is that of one thread.
# Sourced by tool_test.sh after decode_tests.sh, whose code it decodes.

CODE_AT="--image code@0x401000"

trace() {
	python3 "$HERE/make_trace.py" "$@"
}

# Each view and each form of it. What took how long is no part of the answer.
views() {
	local trace=$1 mode form
	shift
	for mode in --calls --branches --insns --counts; do
		for form in --json --hash --stats --time --no-fold; do
			echo "== $mode $form"
			"$KIPT" decode "$trace" $CODE_AT $mode $form --top 0 \
				"$@" 2>&1 | sed -E 's/ decoded in .*//
s/, "?seconds.*|,"seconds.*//'
			echo "exit ${PIPESTATUS[0]}"
		done
		"$KIPT" decode "$trace" $CODE_AT $mode -o rec "$@" 2>/dev/null
		# Edges come in any order.
		echo "== $mode -o"
		"$KIPT" show rec $mode --json --top 0 | md5sum
	done
	for mode in --calls --branches; do
		"$KIPT" decode "$trace" $CODE_AT $mode --packed rec "$@" \
			2>/dev/null
		echo "== $mode --packed"
		"$KIPT" show rec $mode --json | md5sum
	done
}

# same_views NAME TRACE...: with any number of threads as with one
same_views() {
	local name=$1 trace=$2 jobs
	shift 2
	trace "$trace" "$@"
	views "$trace" --jobs 1 >one.views
	for jobs in $(fewer "2 3 64" 3); do
		views "$trace" --jobs $jobs >more.views
		same "jobs_${name}_as_with_$jobs" "" \
			"$(diff one.views more.views | head -n 20)"
	done
}

equality_tests() {
	same_views "clean" clean.pt 100000
	same_views "trouble" trouble.pt 60000 --trouble
	same_views "late_psb" late.pt 60000 --head 30000 --cut 3
	same_views "no_psb" none.pt 1 --head 30000 --psb-every 0
	same_views "one_chunk" one.pt 1000
	same_views "one_psb" single.pt 10 --psb-every 2
	trace flip.pt 100000
	views flip.pt --jobs 2 >one.views
	python3 -c '
data = bytearray(open("flip.pt", "rb").read())
data[len(data) // 2:] = data[len(data) // 2:].replace(b"\x04\x2d", b"\x06\x2d", 1)
open("flip.pt", "wb").write(data)'
	views flip.pt --jobs 2 >more.views
	# There is no call in it whose hash could change.
	same "jobs_control_one_bit_differs_in_each_view" \
		"$(grep -v '^== --calls --hash' one.views |
			grep -c '^== .*\(--hash\|--packed\|-o\)$')" \
		"$(diff <(paste -s <one.views | sed 's/\t==/\n==/g') \
			<(paste -s <more.views | sed 's/\t==/\n==/g') |
		grep -c '^> == .*\(--hash\|--packed\|-o\)')"
}

# A packed file is read as the one that is not; so are its counts.
packed_tests() {
	local form
	"$KIPT" decode trouble.pt $CODE_AT -o plain.rec 2>/dev/null
	"$KIPT" decode trouble.pt $CODE_AT --packed packed.rec --jobs 3 2>/dev/null
	for form in --branches "--branches --json" --calls --counts --stats \
		"--branches --hash"; do
		same "packed_shows_${form// /_}" \
			"$("$KIPT" show plain.rec $form 2>&1 | md5sum)" \
			"$("$KIPT" show packed.rec $form 2>&1 | md5sum)"
	done
	"$KIPT" show packed.rec -o unpacked.rec 2>/dev/null
	# But for the times, which need not be, and the header they are equal.
	same "packed_to_a_plain_file" "$(md5sum <plain.rec)" \
		"$(md5sum <unpacked.rec)"
	trace large.pt 400000
	"$KIPT" decode large.pt $CODE_AT -o plain.rec 2>/dev/null
	"$KIPT" decode large.pt $CODE_AT --packed packed.rec 2>/dev/null
	if [ $((2 * $(stat -c %s packed.rec))) -lt "$(stat -c %s plain.rec)" ]; then
		ok "packed_is_less_than_half"
	else
		not_ok "packed_is_less_than_half" "$(ls -l ./*.rec)"
	fi
}

# Counts are those of the branches, one by one.
counts_decode_tests() {
	same "counts_are_those_of_the_branches" \
		"$("$KIPT" decode trouble.pt $CODE_AT --branches --json |
		python3 -c 'import collections, json, sys
n = collections.Counter()
for o in map(json.loads, sys.stdin):
    if o["type"] == "branch":
        n[o["ip"], o["to"], o["kind"]] += 1
print(sorted(n.items()))')" \
		"$("$KIPT" decode trouble.pt $CODE_AT --counts --json |
		python3 -c 'import json, sys
print(sorted(((o["ip"], o["to"], o["kind"]), o["count"])
             for o in map(json.loads, sys.stdin) if o["type"] == "edge"))')"
}

memory_tests() {
	local form
	for form in "--branches --hash" "--counts --hash" "--insns --hash"; do
		same "memory_1M_${form// /_}" \
			"$("$KIPT" decode trouble.pt $CODE_AT $form)" \
			"$("$KIPT" decode trouble.pt $CODE_AT $form \
				--memory 1M --jobs 64)"
	done
	refused "memory_too_small" 2 "memory 1000K: allowed are 1M to 4G" \
		decode small.pt --memory 1000K
	refused "memory_too_large" 2 "allowed are 1M to 4G" \
		decode small.pt --memory 5G
	refused "memory_is_a_size" 2 "allowed are 1M to 4G" \
		decode small.pt --memory much
	for form in 0 65 x -1; do
		refused "jobs_$form" 2 "jobs $form: allowed are 1 to 64" \
			decode small.pt --jobs $form
	done
}

# interrupt ARGS...: Ctrl-C when some of the output was read; output in "cut",
# errors in "err", exit status in "status".
interrupt() {
	python3 - "$KIPT" "$@" <<'END'
import signal, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE,
                     stderr=open("err", "wb"))
data = p.stdout.read(100000)
p.send_signal(signal.SIGINT)
data += p.stdout.read()
open("cut", "wb").write(data)
open("status", "w").write(str(p.wait()))
END
}

interrupt_tests() {
	local jobs form
	trace long.pt 3000000
	for form in --branches "--branches --json" --insns; do
		"$KIPT" decode long.pt $CODE_AT $form >whole 2>/dev/null
		for jobs in $(fewer "1 2 5" "1 5"); do
			interrupt decode long.pt $CODE_AT $form --jobs $jobs
			if grep -q '^kipt: cancelled: this is the trace up to there, .* of 2.86 MiB (ECANCELED)$' err &&
				[ "$(cat status)" = 1 ] && is_beginning "$form"
			then
				ok "interrupt_${form// /_}_$jobs"
			else
				not_ok "interrupt_${form// /_}_$jobs" \
					"exit $(cat status), $(wc -c <cut) of $(wc -c <whole) bytes; $(cat err)"
			fi
		done
	done
}

# Whole lines that the whole begins with, and not all of them. The last line
# of JSON is the summary.
is_beginning() {
	[[ $1 != *json ]] || sed -i '$d' cut
	[ "$(wc -c <cut)" -lt "$(wc -c <whole)" ] &&
		[ "$(wc -c <cut)" -ge 90000 ] &&
		[ "$(tail -c 1 cut | wc -l)" = 1 ] &&
		cmp -s cut <(head -c "$(wc -c <cut)" whole)
}

# on_terminal STDOUT ARGS...: what kipt writes to a terminal as stderr; STDOUT is "same" if
# standard output is that terminal too. After its first output kipt is stopped for 1.2 seconds.
on_terminal() {
	python3 - "$KIPT" "$@" <<'END'
import os, pty, signal, subprocess, sys, time
master, slave = pty.openpty()
p = subprocess.Popen(sys.argv[1:2] + sys.argv[3:], stderr=slave,
                     env=dict(os.environ, TERM="xterm"),
                     stdout=slave if sys.argv[2] == "same" else subprocess.DEVNULL)
os.close(slave)
data = b""
try:
    while True:
        begins = not data
        data += os.read(master, 4096)
        if begins:
            p.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            p.send_signal(signal.SIGCONT)
except OSError:
    pass
p.wait()
print(data)
END
}

# has NAME PATTERN FILE: a line of the file matches
has() {
	if grep -qE "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(tail -c 2000 "$3")"
	fi
}

# progresses NAME PATTERN ARGS...: kipt says it on a terminal. It may be through before it is
# stopped: then once more.
progresses() {
	local name=$1 pattern=$2
	shift 2
	for _ in {1..10}; do
		on_terminal other "$@" >progress
		! grep -qE "$pattern" progress || break
	done
	has "$name" "$pattern" progress
}

# On a terminal a line says how far it is, how fast, how long it still takes, and is gone in
# the end; else not.
progress_tests() {
	local line='[0-9]+ % of [0-9.]+ MiB, [0-9.]+ MiB/s, [0-9]+ (s|min) left \\x1b\[K'
	python3 -c '
one = open("long.pt", "rb").read()
open("longer.pt", "wb").write(one * 40)'
	progresses "progress_on_a_terminal" "decoding: .*$line.*\\\\x1b\\[K[0-9]+ branches" \
		decode longer.pt $CODE_AT --counts --jobs 1
	run decode long.pt $CODE_AT --branches -o long.rec
	python3 -c '
one = open("long.rec", "rb").read()
open("longer.rec", "wb").write(one[:24] + one[24:] * (2 + 100000000 // len(one)))'
	progresses "progress_of_records" "reading: .*$line" \
		show longer.rec --totals
	# What writes files, compares and adds up says it too.
	progresses "progress_of_pages" "decoding: .*$line" \
		decode longer.pt $CODE_AT --html page --jobs 1
	progresses "progress_of_pictures" "reading: .*$line" \
		show longer.rec --perfetto picture
	progresses "progress_of_comparisons" "reading: .*$line" \
		diff longer.rec longer.rec
	run show long.rec --totals --json
	printf '%s\n' "$OUT" >long.json
	python3 -c '
*rows, last = open("long.json").readlines()
open("longer.json", "w").write("".join(rows * (20000000 // sum(map(len, rows)))) + last)'
	progresses "progress_of_sums" "reading: .*$line" \
		merge longer.json
	rm longer.pt longer.rec long.json longer.json
	# Not among lines of results.
	head -c 50000 long.pt >start.pt
	on_terminal same packets start.pt --json >progress
	same "no_progress_among_lines" "0 1" \
		"$(grep -c 'reading:' progress) $(grep -c '"packet":"PSB"' progress)"
	make_perf start.data start.pt
	on_terminal same packets start.data --json >progress
	same "no_progress_among_lines_of_perf" "0 1" \
		"$(grep -c 'reading:' progress) $(grep -c '"packet":"PSB"' progress)"
	run decode long.pt $CODE_AT --counts
	same "no_progress_into_a_file" "" "$(grep decoding: <<<"$ERR")"
	same "speed_is_reported" 1 "$(grep -c 'MiB of trace decoded in .* s, .* MiB/s, .* million branches/s$' <<<"$ERR")"
}

jobs_tests() {
	equality_tests
	packed_tests
	counts_decode_tests
	memory_tests
	interrupt_tests
	progress_tests
}
