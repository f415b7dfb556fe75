# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2046,SC2086,SC2154
#
# What each verb prints with --json is what docs/schema/kipt.schema.json says. Sourced by
# tool_test.sh; uses what record_tests.sh, totals_tests.sh, decode_tests.sh, doctor_tests.sh,
# perf_tests.sh and perf_text_tests.sh make files with.

# Starts the process that answers all questions of schema_check. Subshells have no coproc: they
# read and write copies of its ends.
schema_start() {
	coproc SCHEMA { command python3 "$HERE/check_schema.py" \
		"$ROOT/docs/schema/kipt.schema.json" 2>&1; }
	# The shell forgets these variables once the process has ended.
	SCHEMA_PROCESS=$SCHEMA_PID
	exec {SCHEMA_ANSWERS}<&"${SCHEMA[0]}" {SCHEMA_QUESTIONS}>&"${SCHEMA[1]}"
	eval "exec ${SCHEMA[0]}<&- ${SCHEMA[1]}>&-"
}

schema_stop() {
	exec {SCHEMA_QUESTIONS}>&- {SCHEMA_ANSWERS}<&-
	wait "$SCHEMA_PROCESS"
}

# schema_check QUESTION FILE...: what check_schema.py answers. Runs in a subshell.
schema_check() {
	local line="" text=""
	trap '' PIPE
	echo "$*" >&"$SCHEMA_QUESTIONS"
	while IFS= read -r line && [ "$line" != . ]; do
		text+=$line$'\n'
	done <&"$SCHEMA_ANSWERS"
	[ "$line" = . ] || text+="not ok check_schema.py: it ended without an answer"$'\n'
	printf '%s' "$text"
}

# json NAME VERB ARGS...: what it prints becomes the file lines/NAME
json() {
	"$KIPT" "${@:2}" --json >"lines/$1" 2>err </dev/null
}

# json_fake NAME VARIABLE=... VERB ARGS...: on a machine that fake_machine.c makes
json_fake() {
	env "${@:2}" --json >"lines/$1" 2>err </dev/null
}

# A record of each type and kind, and of members that are there only sometimes.
schema_every_record() {
	local kind
	cpu 1; task 7; echo "5 0 3 8 0 0"; tsc 1000; echo "8 1 1 5 0 1001"; echo "8 2 1 5 0 1002"
	for kind in {1..13}; do echo "1 $kind 0 3 0xffffffff81000010 0xffffffff81000100"; done
	echo "1 6 64 1 0xffffffff81000110 0xffffffff81000015"
	for kind in {1..5}; do echo "2 $kind 0 0 0xffffffff81000010 0"; done
	for kind in {1..3}; do echo "3 $kind 0 2 0xffffffff81000010 0x401000"; done
	echo "3 1 3 0 0 0"; echo "4 0 5 0 0 0x1ab455000"; echo "4 0 0 0 0x401000 0x1ab455018"
	for kind in 1 2 3; do echo "6 $kind 17 0 0 0"; echo "7 $kind 0 0 0x401000 0"; done
	echo "9 0 1 36 0 0"; echo "10 0 0 8 0x401000 0xdeadbeef"
	for kind in {1..4}; do echo "11 $kind 0 0x25 0x401000 1"; done
	echo "12 1 0 14 0x401000 0"; echo "13 0 1 0 0 0x7fff12345678"; echo "14 0 1 0 0 0x1abcde000"
	echo "15 0 1 0 0 0"; echo "16 1 1 5 0 0x1234"; echo "16 0 0 0 0x401000 0"
	echo "17 0 128 3 0x401000 12"; echo "17 0 3 1 0 0"
	for kind in {1..19}; do echo "18 $kind 1 4 0 4096"; done
	echo "18 3 2 4 0x401000 0"; echo "20 0 0 3 0xffffffff81000010 0"
	echo "21 1 1 0 0 32"; echo "21 2 0 9 0x401000 64"; echo "26 0 0 2 0x401000 0"
	for kind in 250 254; do echo "$kind 9 0 1 0x401000 7"; done; echo "255 0 0 0 0x401000 7"
}

schema_records() {
	schema_every_record | records lines.rec
	json every_record show lines.rec --kallsyms kallsyms --time
	{ cpu 0; space 20 0x2000; edge 5; space 0 0; edge 1; kernel_space
	  edge 3 0xffffffff81000010 0xffffffff81000100; } | records edges.rec
	json edges show edges.rec --kallsyms kallsyms
	json counts show edges.rec --kallsyms kallsyms --counts
	json counts_top show edges.rec --counts --top 1
	known_calls | records totals.rec
	json totals show totals.rec --kallsyms kallsyms --totals
	json open open totals.rec --kallsyms kallsyms
	json lost open totals.rec --kallsyms kallsyms --lost
	json folded open totals.rec --kallsyms kallsyms --folded
	json slowest open totals.rec --kallsyms kallsyms --slowest first
	json chosen show totals.rec --kallsyms kallsyms --time 200,700
	known_calls | grep -v "^8 " | records untimed.rec
	json totals_untimed open untimed.rec
	json lost_untimed open untimed.rec --lost
	json slowest_untimed open untimed.rec --kallsyms kallsyms --slowest first
	json diff diff totals.rec untimed.rec --kallsyms kallsyms
	diff_run 0 | records slower.rec
	json diff_lost diff totals.rec slower.rec --kallsyms kallsyms
	head -c 100 totals.rec >cut.rec
	json open_cut open cut.rec
	cp lines/totals a.json
	cp lines/counts b.json
	json merge_totals merge a.json a.json
	json merge_counts merge b.json b.json --top 1
}

# A server with debug information, recorded by perf on a real kernel.
schema_recordings() {
	local folder=$ROOT/docs/tutorial
	local before=$folder/before.data after=$folder/after.data
	local -x PERF_BUILDID_DIR=$folder/debug
	json perf_open open $before
	json perf_branches open $before --branches --time 2350.022,2400 --source
	json perf_insns open $before --insns --time 2350.022,2360
	json perf_disasm open $before --disasm --source --time 2350.022,2360
	json perf_slowest open $before --slowest request_handle --top 4
	json perf_totals open $before --totals --top 5
	json perf_part open $before --totals --part 1/3
	json perf_counts open $before --counts --top 20
	json perf_folded open $before --folded
	json perf_lost open $before --lost
	json perf_stats decode $before --stats
	json perf_diff diff $before $after
	"$KIPT" packets $before --json 2>err | head -n 300 >lines/perf_packets
}

# Traces of a program of two instructions, in every form that has lines of its own.
schema_traces() {
	bytes $CODE >page.dump
	head -c 4078 /dev/zero >>page.dump
	cp page.dump prog.dump
	bytes 00 10 40 00 00 00 00 00 >prog.addr
	bytes $CODE >code
	bytes $TRACE >small.pt
	json decode decode small.pt --image code@0x401000 --time
	json decode_insns decode small.pt --image code@0x401000 --disasm
	{ bytes $TRACE; bytes 05 05 05; bytes $TRACE; bytes 6d 00; } >bad.pt
	json decode_bad decode bad.pt --image code@0x401000
	json decode_no_code decode small.pt
	make_perf small.data small.pt elf=prog thread
	json packets_of_a_thread packets small.data
	perf_trace_make
	make_perf many.data many.pt lost=4096
	json packets_lost packets many.data
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	text_make sample=sched:sched_waking@2000000000 sample=cycles@4000000000:0xffffffff9d000100
	json samples decode text.data --branches --time --image site@$TEXT_AT
	text_make sample=cycles@4000000000 unnamed
	json samples_unnamed decode text.data --branches --image site@$TEXT_AT
	# Those that are packets, and a block of PEBS items.
	bytes $(sed -n 's/^\([0-9A-F ]*\)| [^-].*/\1/p' "$HERE/packet_vectors.txt") \
		02 63 01 0C 01 02 03 04 05 06 07 08 02 33 >vectors.pt
	json packets packets --no-sync vectors.pt
	bytes FF FF $PSB 4D 00 10 40 00 05 06 >passed.pt
	json packets_passed packets passed.pt
}

schema_dumps() {
	python3 "$HERE/make_dump.py" dump --slots whole --logs
	json crash crash dump --last 50
	json crash_summary crash dump --summary
	json crash_slot crash dump --snapshot 1 --summary
	python3 "$HERE/make_dump.py" dump --cpus 3 --states 0:1,2:2 --no-event
	json crash_unanswered crash dump --summary
}

# What needs the module, of one that is made up.
schema_module() {
	local fake=$1
	json_fake info_all FAKE_PT=1 FAKE_MODULE=all "$fake" info
	json_fake info_few FAKE_PT=1 FAKE_MODULE=few "$fake" info
	json_fake info_none FAKE_MODULE=none "$fake" info
	json_fake status FAKE_MODULE=all "$fake" status
	json_fake status_of_one FAKE_MODULE=all "$fake" status 2
	json_fake start FAKE_PT=1 FAKE_MODULE=all "$fake" start --cpus 0
	json_fake start_filter FAKE_PT=1 FAKE_MODULE=all "$fake" start --cpus 0 \
		--filter 0x401000-0x401fff
	json_fake crash_list FAKE_MODULE=all "$fake" crash list --kallsyms kallsyms
	doctor_root
	json_fake doctor FAKE_PT=1 FAKE_MODULE=all "$fake" doctor --root root
	json_fake doctor_for FAKE_PT=1 FAKE_MODULE=all "$fake" doctor --root root --for arm
	doctor_file /proc/self/status "CapEff:	0000000000000000"
	json_fake doctor_bad FAKE_MODULE=few "$fake" doctor --root root
	[ -d /sys/module/kipt ] || json_fake info_absent FAKE_PT=1 "$fake" info
}

# Kinds of which no line is made here: kind, and why.
SCHEMA_UNSEEN="killed: a program that a signal kills is traced by the module"

schema_judge() {
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "schema_${line#ok }" ;;
		*)
			line=${line#not ok }
			not_ok "schema_${line%%: *}" "${line#*: }"
			;;
		esac
	done < <(schema_check lines lines/*)
	same "schema_has_lines_of_each_kind" "$(cut -d: -f1 <<<"$SCHEMA_UNSEEN")" \
		"$(schema_check kinds lines/*)"
	same "schema_refuses_changed_lines" "" "$(schema_check changes lines/* | head)"
	same "schema_describes_all" "" "$(schema_check form)"
}

# refuses NAME FAULT SED-COMMAND FILE: of a file in which something was changed
schema_refuses() {
	sed "$3" "lines/$4" >"$1"
	same "schema_refuses_$1" "not ok $1: line $2" "$(schema_check lines "$1" | cut -c1-$((
		${#1} + ${#2} + 14)))"
}

# Faults that an output may come to have are noticed, and named.
schema_notices() {
	schema_refuses a_wrong_kind '1: gap: $.kind' '/"gap"/!d; s/"kind":"[a-z-]*"/"kind":"flood"/' \
		every_record
	schema_refuses a_missing_member "1: total: $: 'calls' is a required property" \
		's/"calls":[0-9]*,//' totals
	schema_refuses a_new_member '1: crash-cpu: $: Additional properties' \
		'/"crash-cpu"/!d; s/^{/{"new":1,/' crash_summary
	schema_refuses a_new_type '1: no kind has this type' 's/"type":"trace"/"type":"traces"/' open
	schema_refuses an_address_as_a_number '1: branch: $.ip' \
		'/"branch"/!d; s/"ip":"0x[0-9a-f]*"/"ip":4198400/' every_record
	schema_refuses a_number_as_text '2: total: $.self' \
		's/"self":\([0-9]*\)/"self":"\1"/' open
	schema_refuses a_member_of_a_cpu '1: session: $.cpu[0]: ' \
		's/"pmis":[0-9]*//; s/,}/}/' status
	schema_refuses a_member_twice '1: a member is there twice' \
		's/^{/{"type":"trace",/' open
	schema_refuses half_a_line '1: ' 's/}$//' open
	: >empty
	same "schema_refuses_nothing_at_all" "not ok empty: it has no line" \
		"$(schema_check lines empty)"
}

schema_tests() {
	local fake
	if ! command python3 -c 'import jsonschema' 2>/dev/null; then
		skip "schema" "no python3-jsonschema"
		return
	fi
	fake=$(dirname "$KIPT")/kipt_fake
	if [ ! -x "$fake" ]; then
		skip "schema" "kipt_fake is not built beside the tool"
		return
	fi
	mkdir schema
	pushd schema >/dev/null || return
	mkdir lines
	make_kallsyms
	schema_records
	schema_recordings
	schema_traces
	schema_dumps
	schema_module "$fake"
	schema_start
	schema_judge
	schema_notices
	schema_stop
	popd >/dev/null || return
}
