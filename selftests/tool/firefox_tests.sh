# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# --firefox: what read_firefox.py, which shares nothing with the writer, finds in the files.
# Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# read_firefox ARGS...: of out.firefox
read_firefox() {
	python3 "$HERE/read_firefox.py" out.firefox "$@"
}

# Time in a thunk is not of what it leads to. Where the TSC is set back stretches are of no
# call, and of frames that are forgotten the stack keeps what they were in.
firefox_known_tests() {
	same "firefox_sums_are_those_of_totals" "totals_thunk_has_its_own_time: first [kernel]: 30, 30; wanted 30, 50
totals_time_set_back: main [kernel]: 0, 30; wanted 0, 0
totals_no_times: no file
totals_of_edges: no file
totals_deep: main [kernel]: 0, 200; wanted 0, 0
totals_unseen_after_time_set_back: main [kernel]: 100, 100; wanted 100, 0" "$(cat firefox.bad)"
	known_calls | records stacks.rec
	run show stacks.rec --kallsyms kallsyms --firefox out.firefox
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
	cp out.firefox file.json
	"$KIPT" show stacks.rec --kallsyms kallsyms --firefox - >out.firefox 2>err
	same "firefox_to_standard_output" "$(md5sum <file.json)" "$(md5sum <out.firefox)"
	sed 's/"prefix":.null,0/"prefix":[null,1/' file.json >out.firefox
	same "firefox_control_no_tree" "wrong: a stack before 1 of 1" "$(read_firefox)"
	sed 's/0.001100,/0.000900,/' file.json >out.firefox
	same "firefox_control_goes_back" 1 "$(read_firefox | grep -c '^wrong: times go back')"
	sed 's/0.000300,/0.000301,/' file.json >out.firefox
	same "firefox_control_weight" 1 "$(read_firefox | grep -c '^wrong: the sample before')"
}

# A task is away and comes back; another goes to another CPU; nobody is known at first.
firefox_task_tests() {
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; task 7; tsc 120; call 110 200; tsc 130
	  task 8; tsc 140; call 020 300; tsc 150; task 7; tsc 160; ret 220 115; tsc 170; cpu 1
	  task 8; tsc 180; enable 110; call 110 300; tsc 190; } | records stacks.rec
	"$KIPT" show stacks.rec --kallsyms kallsyms --firefox out.firefox 2>err
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

# Tracing ended and goes on where it did; what comes next, at no later time, is a return, a
# call or a jump to another function.
firefox_away_tests() {
	local next
	: >firefox.bad
	for next in "ret 120 015" "call 120 300" "jump 120 300"; do
		{ cpu 1; task 7; tsc 100; enable 010; call 010 100; tsc 200; disable 120; tsc 300
		  enable 120; $next; tsc 400; } | records stacks.rec
		own_file_sums firefox "$next" stacks.rec --kallsyms kallsyms
		read_firefox dump | sed -n '/not traced/s/^/away /p' >>firefox.bad
	done
	same "firefox_away" "away 200 100 main [kernel];first [kernel];[not traced]
away 200 100 main [kernel];first [kernel];[not traced]
away 200 100 main [kernel];first [kernel];[not traced]" "$(cat firefox.bad)"
}

# What is lost, by the markers and by --lost.
firefox_lost_tests() {
	random_calls 3 3000 2,3,18 timed | records lanes.rec
	"$KIPT" open lanes.rec --kallsyms kallsyms --firefox out.firefox 2>err
	same "firefox_losses" "$("$KIPT" open lanes.rec --lost 2>err | awk '/in all$/ { print $2 }')" \
		"$(read_firefox dump | awk '$1 == "lost" { sum += $3 } END { print sum }')"
	known_calls | sed 's/^18 1 /18 3 /' | records stacks.rec
	"$KIPT" open stacks.rec --firefox out.firefox 2>err
	same "firefox_says_why" "$("$KIPT" open stacks.rec --lost 2>err | sed -n '2s/.*: //p')" \
		"$(read_firefox dump | sed -n 's/^lost [0-9]* [0-9]* //p')"
}

firefox_refused_tests() {
	known_calls | records stacks.rec
	own_file_refused firefox show stacks.rec
	refused "firefox_and_perfetto" 2 "only one of .*--firefox" show stacks.rec \
		--perfetto new.pf --firefox new.out
	own_file_untimed firefox
	full "firefox" show stacks.rec --firefox -
}

firefox_tests() {
	firefox_known_tests
	firefox_task_tests
	firefox_away_tests
	own_file_random_tests firefox
	firefox_lost_tests
	firefox_refused_tests
	own_file_recordings_tests firefox '^thread [0-9]+ [0-9]+ small$'
}
