# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# --html: what read_html.py, which shares nothing with the writer, finds in the pages.
# Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# read_html ARGS...: of out.html
read_html() {
	python3 "$HERE/read_html.py" out.html "$@"
}

# Each tick is in the sum of its call path, however the records come.
html_known_tests() {
	same "html_sums_are_those_of_totals" "totals_no_times: no file
totals_of_edges: no file" "$(cat html.bad)"
	known_calls | records stacks.rec
	run show stacks.rec --kallsyms kallsyms --html out.html
	same "html_shows_nothing_else" "0 " "$STATUS $OUT"
	same "html_known" "path 100 0 process 7;main [kernel]
path 250 1 process 7;main [kernel];first [kernel]
path 50 1 process 7;main [kernel];first [kernel];first [kernel]
path 300 1 process 7;main [kernel];first [kernel];second [kernel]
path 100 1 process 7;main [kernel];third [kernel]
call 0 600 cpu 0 task 7 level 2 flags 0 first [kernel]
call 100 300 cpu 0 task 7 level 3 flags 0 second [kernel]
call 1000 100 cpu 0 task 7 level 2 flags 0 third [kernel]
call 500 50 cpu 0 task 7 level 3 flags 0 first [kernel]" \
		"$(read_html dump | grep '^path\|^call')"
	same "html_known_losses" "1 300" "$(read_html dump | awk '$1 == "lost" && /overflow/ {
		ticks += $4; count += $5 } END { print count, ticks }')"
	cp out.html file.html
	"$KIPT" show stacks.rec --kallsyms kallsyms --html - >out.html 2>err
	same "html_to_standard_output" "$(md5sum <file.html)" "$(md5sum <out.html)"
	sed 's/"traced":/"traced":1/' file.html >out.html
	same "html_control_sum" 1 "$(read_html | grep -c '^wrong: paths are')"
	sed 's/"file"/"<file"/' file.html >out.html
	same "html_control_element" "wrong: the data could end their element" "$(read_html)"
	sed 's/<title>/<img src="x"><title>/' file.html >out.html
	same "html_control_outside" 1 "$(read_html | grep -c '^wrong: it names something outside')"
}

# The sums of call paths are those of --folded.
html_folded_tests() {
	local seed
	for seed in $(seq "$(fewer 3 1)"); do
		random_calls $seed 3000 2,3,18 timed | records random.rec
		"$KIPT" open random.rec --kallsyms kallsyms --html out.html 2>err
		"$KIPT" open random.rec --kallsyms kallsyms --folded --json 2>err | read_html folded
	done >html.bad
	same "html_paths_are_those_of_folded" "" "$(cat html.bad)"
}

html_lost_tests() {
	random_calls 3 3000 2,3,18 timed | records lanes.rec
	"$KIPT" open lanes.rec --kallsyms kallsyms --html out.html 2>err
	same "html_losses" "$("$KIPT" open lanes.rec --lost 2>err | awk '/in all$/ { print $2 }')" \
		"$(read_html dump | awk '$1 == "lost" { sum += $4 } END { print sum }')"
	same "html_gaps" "$("$KIPT" open lanes.rec --json --branches 2>err | grep -c '"type":"gap"')" \
		"$(read_html dump | awk '$1 == "lost" { sum += $5 } END { print sum + 0 }')"
}

# All calls while there are few; the longest as --totals has it.
html_call_tests() {
	random_calls 5 20000 2,2 timed | records random.rec
	"$KIPT" open random.rec --kallsyms kallsyms --html out.html 2>err
	same "html_longest_is_that_of_totals" "$("$KIPT" open random.rec --kallsyms kallsyms \
		--totals --json --top 0 2>err | python3 -c 'import json, sys
print(max(json.loads(line).get("longest", 0) for line in sys.stdin))')" \
		"$(read_html dump | awk '/^call/ && $11 % 2 == 0 && !n++ { print $3 }')"
	"$KIPT" open random.rec --kallsyms kallsyms --html out.html --time 5000,20000 2>err
	same "html_of_a_stretch_has_all" "$(read_html members callsSeen | cut -d' ' -f2)" \
		"$(($(read_html dump | grep -c '^call') + $(read_html members untimedCalls | cut -d' ' -f2)))"
	same "html_command" "command kipt open
typed  random.rec --kallsyms kallsyms
typedCpus 
time 5000,20000" "$(read_html members command typed typedCpus time)"
	"$KIPT" show random.rec --html out.html --cpu=0 --tid 8 2>err
	same "html_command_keeps_cpus" "file random.rec
command kipt show
typed  random.rec --tid 8
typedCpus  --cpu=0" "$(read_html members file command typed typedCpus)"
}

# 300,000 functions, each called once, and their paths.
many_functions() {
	records_by many.rec '
base = 0xffffffff81000010
out += (record(19, 0, 1, 1, 0, 0), record(5, 0, 1, 7, 0, 7), record(8, 0, 1, 0, 0, 100),
        record(2, 1, 0, 0, base, 0))
for i in range(300000):
    at = 0xffffffff90000000 + 16 * i
    out += (record(1, 3, 0, 1, base, at), record(8, 0, 1, 0, 0, 102 + 5 * i),
            record(1, 6, 0, 1, at + 1, base + 5), record(8, 0, 1, 0, 0, 105 + 5 * i))'
}

# A TSC far away, and more paths and calls than a page has: no tick is lost, and it says so.
html_size_tests() {
	{ cpu 0; tsc 100; task 7; enable 010; call 010 100; tsc 110
	  tsc 0x7fffffffffff0000; ret 110 015; } | records far.rec
	"$KIPT" open far.rec --kallsyms kallsyms --html out.html 2>err
	same "html_far_time" 1 "$(read_html | grep -c '^1 tasks')"
	is_short && return
	many_functions
	"$KIPT" open many.rec --html out.html 2>err
	same "html_longest_calls" 1 "$(read_html | grep -c '^1 tasks 32768 .* 1000 calls$')"
	same "html_counts_calls" "callsSeen 300000" "$(read_html members callsSeen)"
	differ "html_says_what_is_merged" "mergedBelow 0" "$(read_html members mergedBelow)"
	same "html_says_what_is_left_out" "functionsLeftOut 229376" \
		"$(read_html members functionsLeftOut)"
	same "html_is_bounded" 1 "$(($(wc -c <out.html) <= 20 << 20))"
}

# A CPU may be idle when its trace begins and ends, or have times alone.
html_idle_tests() {
	{ cpu 0; task 7; tsc 1000; tsc 2000; enable 010; tsc 2100; disable 010; tsc 9000
	  cpu 1; task 8; tsc 4000; enable 010; tsc 4100; disable 010; tsc 9500; } | records idle.rec
	"$KIPT" open idle.rec --kallsyms kallsyms --html out.html 2>err
	same "html_idle_ends" "first 0
last 8500" "$(read_html members first last)"
	{ cpu 0; tsc 1000; tsc 9000; } | records idle.rec
	"$KIPT" open idle.rec --html out.html 2>err
	same "html_times_only" "first 0
last 8000" "$(read_html members first last)"
	differ "html_times_only_has_stretches" "buckets 0" "$(read_html members buckets)"
}

# 6,000 tasks, of which each ran a tick longer than the one before it.
many_tasks() {
	python3 -c '
print("19 0 1 0 0 0\n8 0 1 0 0 100\n2 1 0 0 0xffffffff81000010 0")
now = 100
for i in range(6000):
    now += i + 1
    print("5 0 1 %d 0 %d\n8 0 1 0 0 %d" % (i + 1, i + 1, now))'
}

# Each of 64 tasks runs on each of 4,200 CPUs: more sums than a page has, in a single stretch.
many_runs() {
	python3 -c '
for cpu in range(4200):
    print("19 0 1 %d 0 0\n8 0 1 0 0 100\n2 1 0 0 0xffffffff81000010 0" % cpu)
    for i in range(64):
        print("5 0 1 %d 0 7\n8 0 1 0 0 %d" % (i + 1, 102 + 2 * i))'
}

html_tasks_tests() {
	many_tasks | records many.rec
	"$KIPT" open many.rec --kallsyms kallsyms --html out.html 2>err
	same "html_tasks_are_bounded" 1 "$(read_html | grep -c '^4096 tasks')"
	same "html_says_how_many_tasks_are_left_out" "tasksLeftOut 1904" \
		"$(read_html members tasksLeftOut)"
	same "html_keeps_tasks_with_most_time" "4096 1905" "$(read_html dump |
		awk '$1 == "task" { n++; if (!least || $4 < least) least = $4 } END { print n, least }')"
	is_short && return
	many_runs | records many.rec
	"$KIPT" open many.rec --kallsyms kallsyms --html out.html 2>err
	same "html_joins_tasks" "mergedBelow 0
tasksLeftOut 32" "$(read_html members mergedBelow tasksLeftOut)"
}

# Each call of a recursion that is deeper than is remembered has its own begin.
html_recursion_tests() {
	is_short && return
	python3 -c '
print("19 0 1 0 0 0\n5 0 1 7 0 7\n8 0 1 0 0 100\n2 1 0 0 0xffffffff81000010 0")
for i in range(6000):
    print("1 3 0 1 0xffffffff81000110 0xffffffff81000100\n8 0 1 0 0 %d" % (101 + i))' |
		records deep.rec
	"$KIPT" open deep.rec --kallsyms kallsyms --html out.html 2>err
	same "html_recursion" "6000 6000" "$(read_html dump | awk '$1 == "call" { n++; begin[$2]++ }
		END { print n, length(begin) }')"
}

# Ctrl-C while records come: the page is of those that came, and says so.
html_interrupted_tests() {
	random_calls 4 20000 2,2 timed | records whole.rec
	rm -f pipe.rec
	mkfifo pipe.rec
	python3 - "$KIPT" <<-'END'
	import signal, subprocess, sys
	kipt = subprocess.Popen([sys.argv[1], "show", "pipe.rec", "--html", "out.html"],
	                        stderr=subprocess.DEVNULL)
	whole = open("whole.rec", "rb").read()
	with open("pipe.rec", "wb", buffering=0) as pipe:
	    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
	    pipe.write(whole[:240000])
	    kipt.send_signal(signal.SIGINT)
	    try:
	        pipe.write(whole[240000:])
	    except BrokenPipeError:
	        pass
	kipt.wait()
	END
	same "html_interrupted" "interrupted True" "$(read_html members interrupted)"
	"$KIPT" show whole.rec --html out.html 2>err
	same "html_not_interrupted" "interrupted False" "$(read_html members interrupted)"
}

# Names that would end the element, or a line of the script, or begin one of the page.
html_hostile_tests() {
	printf '%s\n' 'ffffffff81000000 T </script><script>alert(1)</script>' \
		'ffffffff81000100 T <!--"\&'"'" | sed 's/ T \(.*\)/ T \1/' >hostile
	printf 'ffffffff81000200 T a\342\200\250b\342\200\251c\n' >>hostile
	printf 'ffffffff81000300 T \377\001@DATA@@SCRIPT@\n' >>hostile
	known_calls | records stacks.rec
	"$KIPT" show stacks.rec --kallsyms hostile --html out.html 2>err
	same "html_hostile_names" 1 "$(read_html | grep -c '^1 tasks')"
	same "html_hostile_sums" "" "$("$KIPT" show stacks.rec --kallsyms hostile --totals --json \
		2>err | read_html totals)"
	same "html_hostile_is_escaped" 1 "$(grep -c 'u003c/script' out.html)"
	cp stacks.rec '<b>&"x.rec'
	"$KIPT" open '<b>&"x.rec' --html out.html 2>err
	same "html_hostile_path" 'file <b>&"x.rec' "$(read_html members file)"
	cp stacks.rec $'a\u202eb.rec'
	"$KIPT" open $'a\u202eb.rec' --html out.html 2>err
	same "html_command_turns_nothing" "command None" "$(read_html members command)"
	printf 'ffffffff81000100 T %0600d\n' 1 >hostile
	"$KIPT" open stacks.rec --kallsyms hostile --html out.html 2>err
	same "html_cut_names_say_so" 1 "$(read_html dump | grep -c '^call 0 .* 0*…$')"
	cp stacks.rec $'a\377b.rec'
	"$KIPT" open $'a\377b.rec' --html out.html 2>err
	same "html_has_no_licence_of_its_own" 0 "$(grep -c SPDX out.html)"
	same "html_command_has_no_other_name" "command None" "$(read_html members command)"
}

# calls_with_lines FILE OPTION...: nobody called _start, which comes into view at its begin
calls_with_lines() {
	"$KIPT" open "$@" --source --calls --no-fold 2>err | grep -v ' _start '
}

# The lines of the server of docs/tutorial are those of --calls --source, of the trace and of a
# stretch; there are none unless they are wanted.
html_source_tests() {
	local folder=$ROOT/docs/tutorial time
	local -x PERF_BUILDID_DIR=$ROOT/docs/tutorial/debug
	for time in 0,9s 2350.022,2473.354; do
		"$KIPT" open "$folder/before.data" --time $time --source --html out.html 2>err
		calls_with_lines "$folder/before.data" --time $time | read_html lines
	done >got
	same "html_lines_are_those_of_calls" "3862 calls have a line
202 calls have a line" "$(cat got)"
	same "html_has_each_line_once" 1 "$(grep -o 'server.c:36' out.html | grep -c .)"
	same "html_command_keeps_source" 1 "$(read_html members typed | grep -c -- ' --source')"
	sed 's/server.c:36/server.c:37/' out.html >other.html
	same "html_control_line" 1 "$(calls_with_lines "$folder/before.data" --time $time |
		python3 "$HERE/read_html.py" other.html lines | grep -c -m 1 'server.c:37.*wanted.*server.c:36')"
	"$KIPT" open "$folder/before.data" --html out.html 2>err
	same "html_has_no_lines_unless_wanted" "" "$(grep -o 'server.c:36\|"callLines"' out.html)"
}

html_refused_tests() {
	known_calls | records stacks.rec
	own_file_refused html show stacks.rec
	refused "html_and_perfetto" 2 "only one of .*--html" show stacks.rec \
		--perfetto new.pf --html new.out
	refused "html_without_a_name" 2 "--html" open stacks.rec --html
	own_file_untimed html
	full "html" show stacks.rec --html -
}

html_tests() {
	html_known_tests
	own_file_random_tests html
	html_folded_tests
	html_lost_tests
	html_call_tests
	html_size_tests
	html_idle_tests
	html_tasks_tests
	html_recursion_tests
	html_interrupted_tests
	html_hostile_tests
	html_source_tests
	html_refused_tests
	own_file_recordings_tests html '^task [0-9]+ [0-9]+ [0-9]+ small$'
}
