# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# --perfetto: what read_perfetto.py, which shares nothing with the writer, finds in the
# files. Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# read_perfetto ARGS...: of out.perfetto
read_perfetto() {
	python3 "$HERE/read_perfetto.py" out.perfetto "$@"
}

# Where the TSC is set back a lane waits. A thunk has the lane of what it leads to. Frames
# that are forgotten last as long as those that were above them.
perfetto_known_tests() {
	same "perfetto_sums_are_those_of_totals" "totals_thunk_has_its_own_time: __x86_indirect_thunk_rax [kernel]: 0 calls, 0; wanted 0, 20
totals_time_set_back: main [kernel]: 0 calls, 30; wanted 0, 0
totals_no_times: no file
totals_of_edges: no file
totals_deep: first [kernel]: 10000 calls, 300; wanted 10000, 200
totals_deep: main [kernel]: 0 calls, 300; wanted 0, 0" "$(cat perfetto.bad)"
	known_calls | records lanes.rec
	run show lanes.rec --kallsyms kallsyms --perfetto out.perfetto
	same "perfetto_shows_nothing_else" "0 " "$STATUS $OUT"
	same "perfetto_known" "track 1 0 CPU 1
track 2 0  process 7
track 3 0  thread 7 7
1000 1 B - 7
1000 3 I - runs on CPU 1
1000 3 B seen main [kernel]
1000 3 B call first [kernel]
1100 3 B call second [kernel]
1400 3 E - -
1500 3 B call first [kernel]
1550 3 E - -
1600 3 E - -
1700 1 I lost gap: the CPU lost packets (overflow), at offset 5
2000 3 B call third [kernel]
2100 3 E - -
2100 3 E - -
2100 1 E - -
flow from 1 7 at 1000 to 3 runs on CPU 1 at 1000" "$(read_perfetto dump)"
	cp out.perfetto file.pf
	"$KIPT" show lanes.rec --kallsyms kallsyms --perfetto - >out.perfetto 2>err
	same "perfetto_to_standard_output" "$(md5sum <file.pf)" "$(md5sum <out.perfetto)"
	truncate -s -1 out.perfetto
	same "perfetto_control_cut" 1 "$(read_perfetto | grep -c ^wrong)"
	head -c 100000 file.pf | head -c -10 >out.perfetto
	same "perfetto_control_never_ends" 1 "$(read_perfetto | grep -c ^wrong)"
}

# A task goes to another CPU, another comes, nobody is known at first; ratios and C-states.
perfetto_lane_tests() {
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; task 7; tsc 120; task 8
	  tsc 130; call 020 200; tsc 140; cpu 1; task 7; tsc 150; enable 110; call 110 300
	  echo "9 0 1 21 0 0"; echo "11 2 1 0x60 0 0"; tsc 170; ret 310 115
	  echo "11 4 1 0x66 0 1"; gap 3; tsc 180; } | records lanes.rec
	"$KIPT" show lanes.rec --kallsyms kallsyms --perfetto out.perfetto 2>err
	same "perfetto_lanes" "track 1 0 CPU 0
track 2 1 idle or unknown on CPU 0
track 3 0  process 7
track 4 0  thread 7 7
track 5 0  process 8
track 6 0  thread 8 8
track 7 0 CPU 1
track 8 4 on CPU 1
track 9 7 core:bus ratio counter 2
track 10 7 C-state counter 2" "$(read_perfetto dump | grep ^track)"
	same "perfetto_goes_on_where_it_is_known_whose_it_is" "100 2 B seen main [kernel]
100 2 B call first [kernel]
110 2 E - -
110 2 E - -
110 4 B goes-on main [kernel]
110 4 B goes-on first [kernel]" "$(read_perfetto dump | grep -E '^[0-9]+ [24] [BE]' | head -n 6)"
	same "perfetto_counters" "150 9 V - 21
150 10 V - 7
170 10 V - 0" "$(read_perfetto dump | grep -E '^[0-9]+ (9|10) ')"
	same "perfetto_track_count" 10 "$(read_perfetto | cut -d' ' -f1)"
	# From the task on a CPU's lane to where its own lane says that it runs.
	same "perfetto_flows" "flow from 1 7 at 110 to 4 runs on CPU 0 at 110
flow from 1 8 at 120 to 6 runs on CPU 0 at 120
flow from 7 7 at 150 to 8 runs on CPU 1 at 150" \
		"$(read_perfetto dump | grep ^flow)"
	{ cpu 0; gap 5; task 7; call 010 100; ret 110 015; tsc 100; call 010 100; tsc 120; } |
		records lanes.rec
	"$KIPT" show lanes.rec --kallsyms kallsyms --perfetto out.perfetto 2>err
	same "perfetto_gap_before_the_first_time" 1 "$(read_perfetto dump |
		grep -c '^100 .* I lost gap: older trace was overwritten')"
	same "perfetto_untimed_calls_are_counted" 1 \
		"$(grep -c 'note: 1 calls ended before the first time' err)"
}

perfetto_random_tests() {
	local seed
	own_file_random_tests perfetto
	for seed in 1 2 3; do
		head -c $((20000 + 7 * seed)) random.rec >cut.rec
		run open cut.rec --kallsyms kallsyms --perfetto out.perfetto
		echo "$STATUS $(read_perfetto | cut -d' ' -f2)"
	done >got
	same "perfetto_of_damaged_records" "1 tracks
1 tracks
1 tracks" "$(cat got)"
}

perfetto_refused_tests() {
	known_calls | records lanes.rec
	own_file_refused perfetto show lanes.rec
	refused "perfetto_and_totals" 2 "only one of .*--perfetto" show lanes.rec --totals \
		--perfetto new.out
	own_file_untimed perfetto
	full "perfetto" show lanes.rec --perfetto -
}

perfetto_tests() {
	perfetto_known_tests
	perfetto_lane_tests
	perfetto_random_tests
	perfetto_refused_tests
	own_file_recordings_tests perfetto '^track .* thread [0-9]+ [0-9]+ small$'
}
