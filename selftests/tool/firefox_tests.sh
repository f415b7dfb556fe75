# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# --firefox: what read_firefox.py, which shares nothing with the writer, finds in the files.
# Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# read_firefox ARGS...: of out.json
read_firefox() {
	python3 "$HERE/read_firefox.py" out.json "$@"
}

# firefox_sums NAME FILE OPTION...: adds what differs from --totals to firefox.bad, times of
# calls by more than $PERCENT
firefox_sums() {
	local name=$1 overlap=
	shift
	[ "$name" != totals_time_set_back ] || overlap=overlap
	rm -f out.json
	"$KIPT" open "$@" --firefox out.json 2>err
	if [ -e out.json ]; then
		"$KIPT" open "$@" --totals --json 2>err |
			read_firefox totals "${PERCENT:-0}" $overlap 2>&1 | sed "s/^/$name: /"
	else
		echo "$name: no file"
	fi >>firefox.bad
}

# Where the TSC is set back stretches are of no call, and of frames that are forgotten the
# stack keeps what they were in.
firefox_known_tests() {
	same "firefox_sums_are_those_of_totals" "totals_time_set_back: main [kernel]: 0, 30; wanted 0, 0
totals_no_times: no file
totals_of_edges: no file
totals_deep: main [kernel]: 0, 200; wanted 0, 0
totals_unseen_behind_time_set_back: main [kernel]: 100, 100; wanted 100, 0" "$(cat firefox.bad)"
	known_calls | records stacks.rec
	run show stacks.rec --kallsyms kallsyms --firefox out.json
	same "firefox_shows_nothing_else" "0 " "$STATUS $OUT"
	same "firefox_known" "thread 7 7 task 7
1000 100 main [kernel];first [kernel]
1100 300 main [kernel];first [kernel];second [kernel]
1400 100 main [kernel];first [kernel]
1500 50 main [kernel];first [kernel];first [kernel]
1550 50 main [kernel];first [kernel]
1600 100 main [kernel]
1700 300 main [kernel];[lost]
2000 100 main [kernel];third [kernel]
2100 0 -
lost 1700 300 the CPU lost packets (overflow)" "$(read_firefox dump)"
	cp out.json file.json
	"$KIPT" show stacks.rec --kallsyms kallsyms --firefox - >out.json 2>err
	same "firefox_to_standard_output" "$(md5sum <file.json)" "$(md5sum <out.json)"
	sed 's/"prefix":.null,0/"prefix":[null,1/' file.json >out.json
	same "firefox_control_no_tree" "wrong: a stack before 1 of 1" "$(read_firefox)"
	sed 's/0.001100,/0.000900,/' file.json >out.json
	same "firefox_control_goes_back" 1 "$(read_firefox | grep -c '^wrong: times go back')"
	sed 's/0.000300,/0.000301,/' file.json >out.json
	same "firefox_control_weight" 1 "$(read_firefox | grep -c '^wrong: the sample before')"
}

# A task is away and comes back; another goes to another CPU; nobody is known at first.
firefox_task_tests() {
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; task 7; tsc 120; call 110 200; tsc 130
	  task 8; tsc 140; call 020 300; tsc 150; task 7; tsc 160; ret 220 115; tsc 170; cpu 1
	  task 8; tsc 180; enable 110; call 110 300; tsc 190; } | records stacks.rec
	"$KIPT" show stacks.rec --kallsyms kallsyms --firefox out.json 2>err
	same "firefox_tasks" "thread 0 0 idle or unknown on CPU 0
100 10 main [kernel];first [kernel]
110 0 -
thread 7 7 task 7
110 10 main [kernel];first [kernel]
120 10 main [kernel];first [kernel];second [kernel]
130 20 main [kernel];first [kernel];second [kernel];[not traced]
150 10 main [kernel];first [kernel];second [kernel]
160 10 main [kernel];first [kernel]
170 0 -
thread 8 8 task 8
140 10 main [kernel];third [kernel]
150 0 -
180 10 first [kernel];third [kernel]
190 0 -" "$(read_firefox dump)"
}

firefox_random_tests() {
	local seed
	: >firefox.bad
	for seed in 1 2 3 4 5 6; do
		perfetto_random $seed 2,2
		firefox_sums "$seed" lanes.rec --kallsyms kallsyms
	done
	same "firefox_random_sums" "" "$(cat firefox.bad)"
	for seed in 1 2 3 4 5 6; do
		perfetto_random $seed 2,3,18
		PERCENT=1 firefox_sums "$seed" lanes.rec --kallsyms kallsyms
	done
	same "firefox_random_sums_with_gaps" "" "$(cat firefox.bad)"
	: >firefox.bad
	for form in "--tid 8" "--pid 7" "--time 5000,20000" "--cpu 0" "--sym second"; do
		perfetto_random 1 2,2
		# shellcheck disable=SC2086
		PERCENT=1 firefox_sums "$form" lanes.rec --kallsyms kallsyms $form
	done
	same "firefox_random_narrowed" "" "$(cat firefox.bad)"
}

# Tracing ended and goes on where it did; what comes next, at no later time, is a return, a
# call or a jump to another function.
firefox_away_tests() {
	local next
	: >firefox.bad
	for next in "ret 120 015" "call 120 300" "jump 120 300"; do
		{ cpu 1; task 7; tsc 100; enable 010; call 010 100; tsc 200; disable 120; tsc 300
		  enable 120; $next; tsc 400; } | records stacks.rec
		firefox_sums "$next" stacks.rec --kallsyms kallsyms
		read_firefox dump | sed -n '/not traced/s/^/away /p' >>firefox.bad
	done
	same "firefox_away" "away 200 100 main [kernel];first [kernel];[not traced]
away 200 100 main [kernel];first [kernel];[not traced]
away 200 100 main [kernel];first [kernel];[not traced]" "$(cat firefox.bad)"
}

# What is lost, by the markers and by --lost.
firefox_lost_tests() {
	perfetto_random 3 2,3,18
	"$KIPT" open lanes.rec --kallsyms kallsyms --firefox out.json 2>err
	same "firefox_losses" "$("$KIPT" open lanes.rec --lost 2>err | awk '/in all$/ { print $2 }')" \
		"$(read_firefox dump | awk '$1 == "lost" { sum += $3 } END { print sum }')"
	known_calls | sed 's/^18 1 /18 3 /' | records stacks.rec
	"$KIPT" open stacks.rec --firefox out.json 2>err
	same "firefox_says_why" "$("$KIPT" open stacks.rec --lost 2>err | sed -n '2s/.*: //p')" \
		"$(read_firefox dump | sed -n 's/^lost [0-9]* [0-9]* //p')"
}

firefox_refused_tests() {
	local option
	known_calls | records stacks.rec
	for option in "-o x.rec" --hash --stats --json; do
		# shellcheck disable=SC2086
		refused "firefox_and_$option" 2 "--firefox writes a file of its own: ${option%% *} does not" \
			show stacks.rec --firefox new.json $option
	done
	refused "firefox_and_perfetto" 2 "only one of .*--firefox" show stacks.rec \
		--perfetto new.pf --firefox new.json
	refused "firefox_nowhere" 1 "cannot make none/new.json.*ENOENT" show stacks.rec \
		--firefox none/new.json
	refused "firefox_full" 1 "cannot write to /dev/full.*ENOSPC" show stacks.rec \
		--firefox /dev/full
	refused "firefox_is_the_input" 1 "--firefox stacks.rec: that is the file" show \
		stacks.rec --firefox stacks.rec
	known_calls | grep -v "^8 " | records untimed.rec
	refused "firefox_without_times" 1 "--firefox: the trace has no times" show \
		untimed.rec --firefox new.json
	same "firefox_makes_no_file_of_nothing" "" "$(ls new.json 2>/dev/null)"
	echo mine >mine.json
	refused "firefox_of_no_records" 1 "no-file" show no-file --firefox mine.json
	refused "firefox_keeps_without_times" 1 "--firefox: the trace has no times" show \
		untimed.rec --firefox mine.json
	same "firefox_keeps_what_was_there" mine "$(cat mine.json)"
	full "firefox" show stacks.rec --firefox -
}

firefox_file_tests() {
	: >firefox.bad
	if ! command -v zstd >/dev/null; then
		skip "firefox_recordings" "no zstd"
		skip "firefox_names_threads" "no zstd"
		return
	fi
	zstd -dcq "$HERE/version-2.rec.zst" >old.rec
	PERCENT=1 firefox_sums old old.rec --kallsyms kallsyms
	kept_unpack "$ROOT/selftests/perf/small"
	export PERF_BUILDID_DIR=ids
	for form in "--jobs 1" "--jobs 3" "--comm small" "--time 1400,1600"; do
		# shellcheck disable=SC2086
		PERCENT=0.1 firefox_sums "kept $form" kept.data --no-demangle $form
	done
	unset PERF_BUILDID_DIR
	same "firefox_recordings" "" "$(cat firefox.bad)"
	same "firefox_names_threads" 1 "$(read_firefox dump | grep -cE '^thread [0-9]+ [0-9]+ small$')"
}

firefox_tests() {
	firefox_known_tests
	firefox_task_tests
	firefox_away_tests
	firefox_random_tests
	firefox_lost_tests
	firefox_refused_tests
	firefox_file_tests
}
