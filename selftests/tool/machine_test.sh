#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the kipt tool where the module is loaded and CPU 1 has PT: kipt reports
# what the kernel refuses, commands keep their exit status, signals and output,
# nothing of a trace is lost on the way. Needs root. Prints KTAP, and skips
# (exit 4) where there is no PT.
# Usage: machine_test.sh KIPT
# shellcheck disable=SC2153
set -uo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tool/ktap.sh
. "$HERE/ktap.sh"

# shellcheck source=selftests/tool/run_kipt.sh
. "$HERE/run_kipt.sh"

# value KEY: of the last line of $OUT, JSON: a number, a word, or an object without
# objects in it; 0 without it. Python takes a second to start here.
value() {
	local found=0
	[[ ${OUT##*$'\n'} =~ \"$1\":\ *(\{[^{}]*\}|[^,}]*) ]] &&
		found=${BASH_REMATCH[1]#\"}
	echo "${found%\"}"
}

more_than() {
	if [ "$3" -gt "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "want more than $2, got $3"
	fi
}

# until_or_killed PID COMMAND...: waits until the command is true, or the process is no
# more; a process that makes it wait for minutes is killed, and fails what follows
until_or_killed() {
	local pid=$1 left=1200
	shift
	until "$@" || ! kill -0 "$pid"; do
		sleep 0.1
		[ $((left -= 1)) -gt 0 ] || kill -KILL "$pid"
	done
}

exists() {
	compgen -G "$1" >/dev/null
}

# await GLOB PID: until the command makes such a file, or is no more.
await() {
	until_or_killed "$2" exists "$1"
}

session_tests() {
	local out
	refused "start_unknown_cpu" 1 'CPU list "?7777.*ENXIO' start --cpus 7777
	run start --cpus "$(printf '1,%.0s' {1..2047})1"
	same "start_with_the_longest_list" 0 "$STATUS"
	run delete "$OUT"
	refused "start_size_not_a_power" 1 "not a power of two.*EINVAL" \
		start --cpus 1 --size 5M
	refused "start_size_too_small" 1 "size: .*out of range; allowed: 65536 to.*ERANGE" \
		start --cpus 1 --size 1K
	refused "stop_no_session" 1 "no session 4000000000.*ENOENT" \
		stop 4000000000
	for out in /dev/full "$(mktemp -u)"; do
		[ -e "$out" ] || mkfifo "$out"
		if [ -p "$out" ]; then
			# A pipe that has no reader any more.
			exec 8<>"$out"
			exec 9>"$out" 8>&-
			"$KIPT" start --cpus 1 2>err >&9 9>&-
		else
			"$KIPT" start --cpus 1 2>err >"$out"
		fi
		same "start_not_printed_exit" 1 "$?"
		exec 9>&-
		run status
		same "start_not_printed_leaves_no_session" "" "$OUT"
	done
	run start --cpus 1
	same "start_prints_the_id" 0 "$STATUS"
	ID=$OUT
	refused "start_cpu_is_held" 1 "CPU 1 is held by session $ID.*EBUSY" \
		start --cpus 1
	refused "record_cpu_is_held" 1 "held by session.*EBUSY" \
		record --cpus 1 -- true
	refused "fetch_while_running" 1 "is running.*EBUSY" fetch "$ID"
	refused "raw_while_running" 1 "runs: stop it first.*EBUSY" \
		fetch "$ID" --raw raw
	run status "$ID" --json
	same "status_running" running "$(value state)"
	refused "stop" 0 "" stop "$ID"
	refused "stop_twice" 1 "EALREADY" stop "$ID"
	refused "fetch_other_cpu" 1 "has no CPU 0.*ENXIO" fetch "$ID" --cpu 0
	refused "delete" 0 "" delete "$ID"
	refused "delete_twice" 1 "ENOENT" delete "$ID"
}

# CPU 1 goes and comes back where it can.
arm_tests() {
	local online=/sys/devices/system/cpu/cpu1/online all
	all=$(cat /sys/devices/system/cpu/present)
	refused "disarm_nothing" 1 "no session is armed" disarm
	run arm --size 64K
	same "arm_exit" 0 "$STATUS"
	same "arm_says_what_it_takes" 1 \
		"$(grep -cE "armed: CPUs $all, 64 KiB each, [0-9]+ KiB in all, OS,[^U]*; prints 32 " <<<"$OUT")"
	refused "arm_twice" 1 "held by session.*armed.*kipt disarm.*EBUSY" arm
	refused "record_while_armed" 1 "armed for crashes; 'kipt disarm' ends it.*EBUSY" \
		record --cpus 1 -- true
	run status
	same "status_shows_armed" 1 "$(grep -c ", armed$" <<<"$OUT")"
	same "status_shows_lines" 1 \
		"$(grep -c "at a crash: 32 lines are printed$" <<<"$OUT")"
	run status --json
	same "status_json_armed" "true 32 running" \
		"$(value armed) $(value print_branches) $(value state)"
	refused "disarm" 0 "" disarm
	run status
	same "disarm_leaves_no_session" "" "$OUT"
	echo 0 2>/dev/null >$online
	run arm --cpus all --all --size 128K --print-branches 0
	same "arm_again_at_once" 0 "$STATUS"
	same "arm_all" 1 \
		"$(grep -cE "armed: CPUs $all, 128 KiB.* OS,User.*; prints 0 " <<<"$OUT")"
	echo 1 2>/dev/null >$online
	refused "disarm_again" 0 "" disarm
	run arm --cpus 1 --ctl OS,BranchEn
	same "arm_one_cpu" 1 "$(grep -c "armed: CPUs 1, 4096 KiB each, 4096 KiB in all, OS,BranchEn;" <<<"$OUT")"
	refused "disarm_one_cpu" 0 "" disarm
}

fetch_tests() {
	local branches bytes pid status memory jobs
	refused "start_keep_code" 2 "--keep-code is gone: --maps FILE" \
		start --cpus 1 --keep-code
	run start --cpus 1 --maps ls.maps --size 16M
	ID=$OUT
	taskset -c 1 ls / >/dev/null
	run stop "$ID"
	run fetch "$ID" --stats
	same "fetch_names_maps" 1 "$(grep -c "kipt start --maps FILE" <<<"$ERR")"
	refused "fetch_images_missing" 1 "cannot read no.maps.*ENOENT" \
		fetch "$ID" --images no.maps --stats
	refused "fetch_images_of_no_recording" 1 "kallsyms" \
		fetch "$ID" --images /proc/kallsyms --stats
	run fetch "$ID" --images ls.maps --stats --json
	branches=$(value branches)
	more_than "fetch_decodes" 10000 "$branches"
	same "fetch_has_no_gap" "{}" "$(value gaps)"
	run fetch "$ID" --stats --json
	same "fetch_again_is_the_same" "$branches" "$(value branches)"
	run fetch "$ID" --raw raw
	bytes=$(stat -c %s raw/cpu1.pt)
	run status "$ID" --json
	same "raw_is_all_of_the_trace" "$bytes" "$(($(value head) - $(value tail)))"
	for memory in $(fewer "1M 32M" 1M); do
		for jobs in $(fewer "1 2 64" "1 64"); do
			run fetch "$ID" --stats --json --memory "$memory" \
				--jobs "$jobs"
			same "fetch_memory_${memory}_with_jobs_$jobs" \
				"$branches" "$(value branches)"
		done
	done
	run fetch "$ID" --stats --memory 4G --jobs 1
	same "fetch_memory_4G_is_in_range" "" "$(grep ERANGE <<<"$ERR")"
	refused "fetch_decode_cpus" 1 "--decode-cpus 4000: cannot run there.*EINVAL" \
		fetch "$ID" --stats --decode-cpus 4000
	# It cannot be over before the signal: nobody reads more than a line till then.
	mkfifo part
	"$KIPT" fetch "$ID" --branches >part 2>err &
	pid=$!
	exec 3<part
	read -r _ <&3
	kill -INT "$pid"
	cat <&3 >/dev/null
	exec 3<&-
	wait "$pid"
	status=$?
	if [ "$status" = 1 ] && grep -q ECANCELED err; then
		ok "fetch_cancelled"
	else
		not_ok "fetch_cancelled" "exit $status: $(cat err)"
	fi
	run fetch "$ID" --stats --json
	same "fetch_after_cancel" "$branches" "$(value branches)"
	run delete "$ID"
}

unprivileged_tests() {
	cp "$KIPT" /tmp/kipt-nobody
	chmod 755 /tmp/kipt-nobody
	su nobody -s /bin/sh -c "/tmp/kipt-nobody start --cpus 1" >out 2>err
	same "unprivileged_start_exit" 1 "$?"
	if grep -q 'CAP_PERFMON.*EPERM' err; then
		ok "unprivileged_start_reported"
	else
		not_ok "unprivileged_start_reported" "$(cat err)"
	fi
	su nobody -s /bin/sh -c "/tmp/kipt-nobody info" >out 2>err
	same "unprivileged_info" 0 "$?"
	rm -f /tmp/kipt-nobody
}

# Where perf follows no other processes, those of the command are known all the same.
without_perf_tests() {
	local paranoid=/proc/sys/kernel/perf_event_paranoid before
	before=$(cat $paranoid)
	if ! echo 3 >$paranoid 2>/dev/null; then
		skip "record_without_perf" "no $paranoid"
		return
	fi
	cp "$KIPT" /tmp/kipt-perfmon
	chmod 755 /tmp/kipt-perfmon
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=+perfmon \
		--ambient-caps=+perfmon /tmp/kipt-perfmon record --cpus 1 --ctl -OS --stats \
		--json -- sh -c '/bin/true; ls / >/dev/null; (exec /bin/true); exec /bin/true' \
		>out 2>err
	same "record_without_perf_exit" 0 "$?"
	OUT=$(cat out)
	# Debian's kernels refuse it there, others do not.
	same "record_without_perf_says_so" \
		"$(grep -c 'perf may not follow' err)" \
		"$(grep -c 'only those of the command' err)"
	more_than "record_without_perf_decodes" 10000 "$(value branches)"
	same "record_without_perf_has_all_code" "{}" "$(value gaps)"
	echo "$before" >$paranoid
	rm /tmp/kipt-perfmon
}

record_command_tests() {
	local pid
	run record --cpus 1 --stats -- sh -c 'echo to stdout; exit 7'
	same "record_exit_status" 7 "$STATUS"
	same "record_passes_output_through" "to stdout" "$(head -n 1 <<<"$OUT")"
	run record --cpus 1 --stats -- sh -c 'kill -KILL $$'
	same "record_exit_status_of_a_signal" 137 "$STATUS"
	refused "record_decode_cpus" 1 "--decode-cpus 4000: cannot run there.*EINVAL" \
		record --cpus 1 --decode-cpus 4000 -- touch ran
	same "record_refused_runs_nothing" "" "$(ls ran 2>/dev/null)"
	refused "record_no_such_command" 1 "cannot run 'no-such'.*ENOENT" \
		record --cpus 1 -- no-such
	"$KIPT" record --cpus 1 --stats --json -- \
		sh -c 'touch sleeps; exec sleep 100' >out 2>err &
	pid=$!
	await sleeps "$pid"
	kill -TERM "$pid"
	wait "$pid"
	same "record_passes_signals_on" 143 "$?"
	OUT=$(cat out)
	more_than "record_shows_what_was_traced" 1000 "$(value branches)"
	run status
	same "record_leaves_no_session" "" "$OUT"
}

# perf maps far more code than most programs, and ends before it is decoded.
record_large_tests() {
	if ! command -v perf >/dev/null; then
		skip "record_large_program_has_all_its_code" "no perf here"
		return
	fi
	run record --stats --json -- perf bench sched pipe -l 20
	more_than "record_large_program_decodes" 100000 "$(value branches)"
	same "record_large_program_has_all_its_code" "{}" "$(value gaps)"
}

# Whatever ends kipt, it first prints the number of a session that it keeps.
record_kept_tests() {
	local pid id
	"$KIPT" record --keep --cpus 1 -- sh -c 'touch hangs; exec sleep 100' >out 2>err &
	pid=$!
	await hangs "$pid"
	kill -HUP "$pid"
	wait "$pid"
	same "record_passes_a_hangup_on" 129 "$?"
	id=$(sed -n 's/.*session \([0-9]*\) is kept.*/\1/p' err)
	run status "$id" --json
	same "record_kept_is_stopped_by_a_hangup" stopped "$(value state)"
	refused "record_kept_delete" 0 "" delete "$id"
	"$KIPT" record --keep --cpus 1 -- ls -R /usr/bin 2>err | head -n 1 >out
	id=$(sed -n 's/.*session \([0-9]*\) is kept.*/\1/p' err)
	refused "record_kept_is_reported_though_nobody_reads" 0 "" delete "$id"
}

# Where the kernel's core dump says the first thread of it was.
core_ip() {
	python3 - "$1" <<-'END'
	import struct, sys
	core = open(sys.argv[1], "rb").read()
	offset, = struct.unpack_from("<Q", core, 32)
	count, = struct.unpack_from("<H", core, 56)
	for i in range(count):
	    kind, _, at = struct.unpack_from("<IIQ", core, offset + 56 * i)
	    if kind == 4:
	        # struct elf_prstatus: registers from byte 112 on, RIP the 17th.
	        name, = struct.unpack_from("<I", core, at)
	        print(hex(struct.unpack_from("<Q", core, at + 12 +
	                                     (name + 3 & ~3) + 240)[0]))
	        break
	END
}

# killed KIND SIGNAL FUNCTION: the last lines end there, as the kernel says
killed() {
	local kind=$1 signal=$2 function=$3 ip
	run record --on-crash --source --branches --lines 9 -- "$CRASH" "$kind"
	same "crash_${kind}_exit_status" "$((128 + $(kill -l "${signal#SIG}")))" \
		"$STATUS"
	if grep -q "was killed by $signal.* at $function" <<<"$OUT" &&
		tail -n 2 <<<"$OUT" | grep -q "tracing ends at $function" &&
		[ "$(wc -l <<<"$OUT")" = 10 ]; then
		ok "crash_${kind}_shows_the_end"
	else
		not_ok "crash_${kind}_shows_the_end" "$OUT"
	fi
	[[ $kind != @(read|bus) ]] && is_short && return
	rm -f core
	(ulimit -c unlimited && "$KIPT" record --on-crash --json -- "$CRASH" \
		"$kind") >out 2>err </dev/null
	ip=$(tail -n 2 out | sed -n 's/.*"killed".*"ip":"\([^"]*\)".*/\1/p')
	same "crash_${kind}_is_where_the_core_says" "$(core_ip core)" "$ip"
}

crash_tests() {
	CRASH=$HERE/../../build/flow/work/crash
	if [ ! -x "$CRASH" ]; then
		skip "crash" "build/flow/work/crash is not built"
		return
	fi
	sysctl -qw kernel.core_pattern=core kernel.core_uses_pid=0
	killed read SIGSEGV die_reading
	killed divide SIGFPE die_dividing
	killed undefined SIGILL die_undefined
	killed deep SIGSEGV die_deep
	killed call SIGSEGV 0x0
	killed bus SIGBUS die_beyond_file
	killed abort SIGABRT 0x
	killed sent SIGSEGV kill
	run record --on-crash --source --lines 5 -- "$CRASH" read
	same "crash_shows_lines_of_source" "1 1" "$(grep -c \
		'^ *die_reading (crash.c:[0-9]*)$' <<<"$OUT") $(grep -c \
		'was killed.*die_reading.*(crash.c:[0-9]*)$' <<<"$OUT")"
	run record --on-crash --lines 5 -- "$CRASH" child
	same "crash_of_a_child_exit_status" 0 "$STATUS"
	same "crash_of_a_child_is_shown" 1 "$(grep -c \
		'was killed by SIGSEGV.* at die_reading' <<<"$OUT")"
	refused "crash_handled_is_none" 3 "nothing to show" \
		record --on-crash -- "$CRASH" handled
	same "crash_handled_shows_nothing" "" "$OUT"
	refused "no_crash_is_reported" 0 "nothing to show" \
		record --on-crash -- "$CRASH" none
	run record --on-crash --ctl +OS --lines 3 -- "$CRASH" read
	same "crash_with_the_kernel_ends_at_the_fault" 1 "$(tail -n 2 <<<"$OUT" |
		grep -c 'event: asm_exc_page_fault')"
	run record --on-crash -o crash.rec -- "$CRASH" read
	run show crash.rec --branches
	more_than "crash_file_has_all_records" 1000 "$(wc -l <<<"$OUT")"
	run status
	same "crash_leaves_no_session" "" "$OUT"
}

# arm_for_programs NAME: the module keeps what programs did that a signal kills. The test CPU
# takes ten times as long for whatever it traces: if is_short it traces CPU 0 alone, where
# the programs run that die, and the tool runs on CPU 1.
arm_for_programs() {
	# shellcheck disable=SC2046
	refused "$1" 0 "" arm --user --size 1M $(fewer "" "--cpus 0")
	! is_short || taskset -pc 1 $$ >out
}

# disarm_for_programs NAME: nothing is traced any more, and the tool runs on any CPU again
disarm_for_programs() {
	refused "$1" 0 "" disarm
	taskset -pc "$(</sys/devices/system/cpu/online)" $$ >out
}

# traced COMMAND...: takes the place of this shell, on a CPU that is traced
traced() {
	if is_short; then
		exec taskset -c 0 "$@"
	else
		exec "$@"
	fi
}

# left KIND: let the program die and keep what the kernel says of it
left() {
	rm -f core
	(ulimit -c unlimited && traced "$CRASH" "$1") 2>err
	core_ip core >"$1.ip"
}

# kept KIND SIGNAL FUNCTION N: snapshot N ends there, as the kernel says
kept() {
	local kind=$1 signal=$2 function=$3 id=$4
	run crash show "$id" --last 20
	if tail -n 1 <<<"$OUT" | grep -q "was killed by $signal.* at $function" &&
		tail -n 2 <<<"$OUT" | grep -q "tracing ends at $function"; then
		ok "killed_${kind}_shows_the_end"
	else
		not_ok "killed_${kind}_shows_the_end" "$OUT $(cat err)"
	fi
	if [[ $kind == @(read|bus) ]] || ! is_short; then
		run crash show "$id" --last 5 --json
		same "killed_${kind}_is_where_the_core_says" "$(cat "$kind.ip")" \
			"$(sed -n 's/.*"killed".*"ip":"\([^"]*\)".*/\1/p' <<<"$OUT")"
	fi
	refused "killed_${kind}_deleted" 0 "" crash delete "$id"
}

# await_kept N: until so many are kept, which a work item does
await_kept() {
	local tries
	for tries in {1..300}; do
		[ "$("$KIPT" crash list | grep -c 'killed by')" -lt "$1" ] || break
		sleep 0.1
	done
	[ "$tries" != 300 ] || echo "# fewer than $1 are kept"
}

# One more than there is room for of a user, which replaces the newest, and then as
# many as there is room for.
user_tests() {
	local id
	[ -x "$CRASH" ] || return
	refused "arm_user_and_kernel" 2 "give one of them" arm --user --kernel
	refused "arm_user_without_os" 1 "OS.*EINVAL" arm --user --ctl -OS
	arm_for_programs arm_user
	run status
	same "arm_user_status" 1 "$(grep -c 'a signal kills are kept' <<<"$OUT")"
	(traced "$CRASH" handled)
	left read
	left divide
	left undefined
	left call
	left deep
	# It takes the place of the fourth.
	sleep 3
	disarm_for_programs disarm_user
	run crash list
	same "killed_list" "4 2" "$(grep -c ' signal .*crash (' <<<"$OUT") $(
		grep -c 'killed by SIGSEGV, user 0' <<<"$OUT")"
	id=$(awk 'NR == 1 { print $1 }' <<<"$OUT")
	run crash show "$id" --source --last 5
	same "killed_shows_lines_of_source" 1 "$(grep -c \
		'die_reading (crash.c:[0-9]*)' <<<"$(tail -n 3 <<<"$OUT" |
		head -n 1)")"
	kept read SIGSEGV die_reading "$id"
	kept divide SIGFPE die_dividing $((id + 1))
	kept undefined SIGILL die_undefined $((id + 2))
	refused "killed_and_replaced" 1 "no snapshot" crash show $((id + 3))
	kept deep SIGSEGV die_deep $((id + 4))
	cp "$CRASH" other
	arm_for_programs arm_user_again
	left call
	left bus
	left abort
	CRASH=$PWD/other left sent
	await_kept 4
	disarm_for_programs disarm_user_again
	kept call SIGSEGV 0x0 $((id + 5))
	kept bus SIGBUS die_beyond_file $((id + 6))
	kept abort SIGABRT 0x $((id + 7))
	cp "$KIPT" new && mv new other
	run crash show $((id + 8)) --last 5
	same "killed_whose_file_is_another" 1 "$(grep -c \
		'other is not the file that ran: its code is a gap' err)"
	rm other
	run crash show $((id + 8)) --last 5
	same "killed_whose_file_is_gone" 1 "$(grep -c \
		'other is not the file that ran: its code is a gap' err)"
	kept sent SIGSEGV kill $((id + 8))
	collect_tests
}

# Of two that are collected with room for one the newest is there, whole, for
# root alone, and the module has none.
collect_tests() {
	local folder first boot foreign
	refused "collect_nothing" 0 "" crash collect collected
	arm_for_programs arm_to_collect
	left read
	left divide
	await_kept 2
	refused "collect_leaves_programs" 0 "" crash collect collected
	same "collect_left_them" "0 2" "$(find collected -mindepth 1 | wc -l) $(
		"$KIPT" crash list | grep -c 'killed by')"
	refused "collect_too_large" 1 "--most allows 64 KiB" \
		crash collect --programs --most 64K collected
	same "collect_left_all" "0 2" "$(find collected -mindepth 1 | wc -l) $(
		"$KIPT" crash list | grep -c 'killed by')"
	disarm_for_programs disarm_collected
	# As if a power failure had been between folder and slot.
	first=$("$KIPT" crash list --json | sed -n '1s/.*"id":\([0-9]*\).*/\1/p')
	boot=$(cut -c 1-8 /proc/sys/kernel/random/boot_id)
	mkdir -p collected/.kipt-unfinished collected/snapshot-prod/data \
		collected/snapshot-20200101T000000Z-1a2b3c4d-1 elsewhere
	touch collected/snapshot-prod/report elsewhere/report
	ln -s ../elsewhere collected/snapshot-20200101T000000Z-1a2b3c4d-2
	mkfifo collected/snapshot-fifo
	foreign=$(find collected/snapshot-* elsewhere/report)
	refused "collect" 0 "" crash collect --programs --keep 1 collected
	same "collect_says_what" "2 1" "$(grep -c ' is saved in ' <<<"$OUT") $(
		grep -c ' is removed' <<<"$OUT")"
	run crash list
	same "collect_took_all" 1 "$(grep -c '^no snapshots' <<<"$OUT")"
	same "collect_kept_the_newest" $((first + 1)) \
		"$(find collected -name 'snapshot-*T*Z-*' -path "*-$boot-*" |
			sed 's/.*-//' | sort -n | paste -sd " ")"
	same "collect_leaves_what_is_not_its" "$foreign" \
		"$(find collected/snapshot-* elsewhere/report ! -path "*-$boot-*")"
	same "collect_leaves_nothing_unfinished" "" \
		"$(find collected -name .kipt-unfinished)"
	rm -rf collected/snapshot-prod collected/snapshot-2020* \
		collected/snapshot-fifo elsewhere
	same "collect_is_for_root" "" "$(find collected -perm /077)"
	for folder in collected/*; do
		same "collect_reports" 1 "$(grep -c 'was killed by' "$folder/report")"
		run decode "$folder"/cpu*.pt --dir "$folder" --stats
		same "collect_decodes" 0 "$STATUS"
	done
	rm -rf collected
}

# core_of KIND: a program of user 1000 dies so, and kipt gets its core dump.
core_of() {
	local kind=$1
	rm -rf cores
	(traced setpriv --reuid 1000 --clear-groups "$CRASH" "$kind") 2>err
	same "core_${kind}_exit_status" 139 "$?"
	same "core_${kind}_is_its_users" "1000 600 1000 600" \
		"$(stat -c '%u %a' cores/core.* | paste -sd ' ')"
	same "core_${kind}_is_whole" 1 "$(core_ip "$(echo cores/core.*[0-9])" | grep -c 0x)"
	same "core_${kind}_calls_end_at_the_fault" "tracing ends; was killed by SIGSEGV" \
		"$(tail -n 3 cores/*.calls | grep -oE 'tracing ends|was killed by SIGSEGV' |
			paste -sd ';' | sed 's/;/; /')"
}

# core_calls NAME WORDS CORE OPTION...: what kipt says of process $pid's death beside CORE
core_calls() {
	local name=$1 words=$2 core=$3
	shift 3
	rm -rf cores
	"$KIPT" core "$@" cores "$pid" <"$core" 2>err
	same "$name" "1 2" "$(grep -c "$words" cores/*.calls) $("$KIPT" crash list --json | wc -l)"
}

# What a program did last is shown with code out of its core dump, and of no other.
core_code_tests() {
	local id pid now
	sysctl -qw kernel.core_pattern=core
	left compiled
	mv core compiled.core
	left read
	await_kept 2
	disarm_for_programs disarm_for_core
	id=$("$KIPT" crash list --json | sed -n '1s/.*"id":\([0-9]*\).*/\1/p')
	run crash show "$id" --last 9
	same "core_compiled_is_a_gap_without_it" 1 "$(grep -c 'gap: no code' <<<"$OUT")"
	run crash show "$id" --last 9 --core compiled.core
	same "core_compiled_is_shown_with_it" "0 1" "$(grep -c 'gap: no code' <<<"$OUT") $(
		tail -n 1 <<<"$OUT" | grep -c 'was killed by SIGSEGV')"
	refused "core_of_another_death" 1 "of another program, or of another death" \
		crash show "$id" --core core
	pid=$("$KIPT" crash list --json | sed -n '2s/.*"pid":\([0-9]*\).*/\1/p')
	now=$(date +%s)
	core_calls core_of_another_time "There is no trace of process $pid" core -t $((now - 600))
	core_calls core_of_another_user "There is no trace of process $pid" core -t "$now" -u 4242
	core_calls core_of_the_same_number "but of another one with the same number" \
		compiled.core -t "$now"
	head -c 100 compiled.core >head.core
	refused "core_cut_in_its_head" 1 "not a core dump .* or was cut" \
		crash show "$id" --core head.core
	"$KIPT" crash delete "$id"
	"$KIPT" crash delete $((id + 1))
	rm -f core compiled.core head.core
}

# Beside each core dump is what the program did last. The kernel waits for the handler.
core_tests() {
	local handler="|$KIPT core -t %t -u %u -d %d $PWD/cores %P" pattern limit handlers
	[ -x "$CRASH" ] || return
	pattern=$(</proc/sys/kernel/core_pattern)
	limit=$(</proc/sys/kernel/core_pipe_limit)
	handlers=$(</sys/devices/virtual/workqueue/cpumask)
	chmod 711 "$PWD"
	arm_for_programs arm_for_core
	! is_short || echo 2 >/sys/devices/virtual/workqueue/cpumask
	sysctl -qw kernel.core_pipe_limit=4 "kernel.core_pattern=$handler"
	core_of read
	same "core_read_shows_the_function" 1 \
		"$(tail -n 2 cores/*.calls | grep -c 'SIGSEGV .* at die_reading')"
	core_of compiled
	same "core_compiled_has_no_gap" "0 1" "$(grep -c 'gap: no code' cores/*.calls) $(
		grep -cx ' *die_compiled' cores/*.calls)"
	if ! is_short; then
		core_of large
		same "core_large_takes_little_room" yes \
			"$(find cores -name 'core.*[0-9]' -size +1G -printf '%k\n' |
				awk '$1 < 4096 { print "yes" }')"
	fi
	same "core_takes_snapshots_away" 1 "$("$KIPT" crash list | grep -c '^no snapshots')"
	core_code_tests
	sysctl -qw "kernel.core_pattern=$handler"
	rm -rf cores
	"$CRASH" read 2>err
	same "core_without_a_snapshot_says_so" 1 \
		"$(grep -c 'There is no trace of process' cores/*.calls)"
	printf '#!/bin/sh\ncat >%s/got\n' "$PWD" >other
	chmod 755 other
	sysctl -qw "kernel.core_pattern=|$KIPT core -t %t $PWD/cores %P $PWD/other %P"
	"$CRASH" read 2>err
	same "core_other_handler_gets_it" 1 "$(core_ip got | grep -c 0x)"
	sysctl -qw "kernel.core_pipe_limit=$limit" "kernel.core_pattern=$pattern"
	echo "$handlers" >/sys/devices/virtual/workqueue/cpumask
	rm -rf cores other got
}

# PT is free while the command runs, and taken back whatever ends it.
lend_tests() {
	local pid
	refused "lend_without_armed" 1 "no session is armed" arm --lend -- true
	refused "arm_to_lend" 0 "" arm --size 64K
	run arm --lend -- sh -c "\"$KIPT\" status; exit 7"
	same "lend_exits_as_its_command" "7 1" \
		"$STATUS $(grep -c "stopped: lent by 'kipt arm --lend'" <<<"$OUT")"
	run status
	same "lend_ends" "1 0" "$(grep -c '^session.* running:' <<<"$OUT") $(
		grep -c lent <<<"$OUT")"
	refused "lend_without_command" 127 "cannot run ./none.*ENOENT" \
		arm --lend -- ./none
	refused "lend_for_a_second" 130 "the command is interrupted" \
		arm --lend --for 1 -- sleep 100
	"$KIPT" arm --lend -- sh -c 'touch lent; exec sleep 100' &
	pid=$!
	await lent "$pid"
	refused "lend_twice" 1 "another 'kipt arm --lend'" arm --lend -- true
	kill "$pid"
	wait "$pid"
	same "lend_passes_on_a_signal" 143 "$?"
	run status
	same "lend_ends_with_the_command" 1 \
		"$(grep -c '^session.* running:' <<<"$OUT")"
	refused "disarm_lent" 0 "" disarm
	rm -f lent
}

# Somebody else traces the functions that are probed: in the text that looks like
# probes, which are switched off.
hidden_hooks_test() {
	local tracing=/sys/kernel/tracing name
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing"
	: >"$tracing/set_ftrace_filter"
	for name in oops_enter panic vpanic __crash_kexec __warn_printk find_bug \
		report_bug_entry printk_sprint handle_stack_overflow; do
		echo "$name" >>"$tracing/set_ftrace_filter"
	done 2>/dev/null
	refused "arm_for_hidden_hooks" 0 "" arm --size 64K
	echo function >"$tracing/current_tracer"
	run status
	same "status_of_hooks_beside_a_tracer" 0 "$(grep -c 'seen late' <<<"$OUT")"
	echo 0 >/sys/kernel/debug/kprobes/enabled
	run status
	same "status_of_hidden_hooks" 1 "$(grep -c 'kprobes do not fire' <<<"$OUT")"
	echo 1 >/sys/kernel/debug/kprobes/enabled
	echo nop >"$tracing/current_tracer"
	: >"$tracing/set_ftrace_filter"
	refused "disarm_hidden_hooks" 0 "" disarm
}

hooks_tests() {
	refused "arm" 0 "" arm --size 64K
	refused "arm_twice" 1 "armed.*EBUSY" arm --size 64K
	run status --json
	same "arm_status_has_nothing_lost" "" "$(value hooks_lost | sed 's/^0$//')"
	sysctl -qw kernel.ftrace_enabled=0
	echo 0 >/sys/kernel/debug/kprobes/enabled
	run status
	if grep -q 'a crash may be seen late or not at all: kprobes do not fire' \
		<<<"$OUT"; then
		ok "arm_status_reports_dead_hooks"
	else
		not_ok "arm_status_reports_dead_hooks" "$OUT"
	fi
	refused "disarm" 0 "" disarm
	refused "arm_reports_dead_hooks" 0 "may be seen late or not at all" \
		arm --size 64K
	echo 1 >/sys/kernel/debug/kprobes/enabled
	sysctl -qw kernel.ftrace_enabled=1
	refused "disarm_again" 0 "" disarm
	hidden_hooks_test
	refused "arm_right_after_disarm" 0 "" arm --size 64K
	refused "disarm_at_last" 0 "" disarm
	run crash list
	same "crash_list_of_a_healthy_machine" "1 0" \
		"$(grep -c '^no snapshots' <<<"$OUT") $STATUS"
	refused "crash_show_none" 1 "no snapshot 1.*ENOENT" crash show 1
	refused "crash_delete_none" 1 "no snapshot 1.*ENOENT" crash delete 1
}

# Somebody else's stop ends the trace, not the recording.
record_stopped_tests() {
	local pid
	"$KIPT" record --cpus 1 --save stopped --stats --json -- \
		sh -c 'touch begun; until [ -e over ]; do sleep 0.1; done; exit 5' \
		>out 2>record.err &
	pid=$!
	await begun "$pid"
	run status --json
	run stop "$(value id)"
	touch over
	same "record_stopped_by_another_shell" 0 "$STATUS"
	wait "$pid"
	same "record_stopped_exit_status" 5 "$?"
	if grep -q EALREADY record.err &&
		grep -q 'up to there' record.err; then
		ok "record_stopped_is_reported"
	else
		not_ok "record_stopped_is_reported" "$(cat record.err)"
	fi
	OUT=$(cat out)
	more_than "record_stopped_shows_what_was_traced" 1000 "$(value branches)"
	more_than "record_stopped_saves_what_was_traced" 1000 \
		"$(stat -c %s stopped/cpu1.pt)"
}

calls_tests() {
	run record --cpus 1 -- ls /
	if grep -q '^ *syscall: entry_SYSCALL_64' <<<"$OUT" &&
		grep -q '^-- task [0-9]* ls$' <<<"$OUT" &&
		grep -q ' \[libc.so.6\]' <<<"$OUT" &&
		grep -q '^ *do_syscall_64' <<<"$OUT"; then
		ok "record_shows_calls_of_user_and_kernel"
	else
		not_ok "record_shows_calls_of_user_and_kernel" \
			"$(head -n 15 <<<"$OUT")"
	fi
}

# The saved trace decodes elsewhere to what the kernel decoded.
save_tests() {
	mkdir saved
	echo '{"type":"meta"}' >saved/meta.json
	touch saved/{cpu99.pt,user-1.addr,user-1.dump,notes}
	run record --cpus 1 --save saved -o packed.rec -- ls /
	same "save" 0 "$STATUS"
	same "save_removes_what_an_earlier_run_saved" "saved/notes" \
		"$(ls saved/cpu99.pt saved/user-1.* saved/notes 2>/dev/null)"
	run show packed.rec -o kernel.rec
	same "show_unpacks" 0 "$STATUS"
	run decode saved/cpu1.pt --dir saved -o elsewhere.rec
	same "saved_decodes" 0 "$STATUS"
	same "saved_decodes_the_same" "" "$(python3 - <<-'END'
	import struct
	def read(path):
	    records = struct.iter_unpack("<BBHIQQ", open(path, "rb").read())
	    # Branches, enables, disables and gaps; up to the first gap, which
	    # is in the code of a process that was not saved.
	    return [r for r in records if r[0] in (1, 2, 3, 18)]
	kernel, other = read("kernel.rec"), read("elsewhere.rec")
	gap = next((i for i, r in enumerate(other) if r[0] == 18), len(other))
	for i in range(gap):
	    if kernel[i] != other[i]:
	        print("record", i, kernel[i], other[i])
	        break
	if gap < 1000:
	    print("only", gap, "records are the same")
	END
	)"
	run show packed.rec --stats
	more_than "show_what_was_saved" 1000 "${OUT%% *}"
}

# hash_of COMMAND...: how many there were, and their hash.
hash_of() {
	"$KIPT" "$@" --hash 2>err || cat err
}

packed_hash() {
	local rec=$1
	shift
	"$KIPT" "$@" "$rec" 2>err || cat err
	hash_of show "$rec" --branches
}

# fetch prints the same as decode does for the saved trace, in every form, with
# one thread and two.
equal_tests() {
	local whole=(whole/cpu1.pt --dir whole --jobs 1) id mode wanted jobs
	taskset -c 0 "$KIPT" record --keep --cpus 1 --save whole -- \
		ls -R /usr/lib/python3 >out 2>err
	id=$(sed -n 's/.*session \([0-9]*\) is kept.*/\1/p' err)
	run decode "${whole[@]}" --stats --json
	more_than "equal_trace_has_branches" 100000 "$(value branches)"
	same "equal_trace_has_no_gap" "{}" "$(value gaps)"
	for mode in counts calls branches insns; do
		wanted=$(hash_of decode "${whole[@]}" --$mode)
		more_than "equal_${mode}_are_many" 1000 "${wanted%% *}"
		for jobs in $(fewer "1 2" 2); do
			same "equal_${mode}_with_jobs_$jobs" "$wanted" \
				"$(hash_of fetch "$id" --jobs "$jobs" --$mode)"
		done
	done
	wanted=$(packed_hash whole.rec decode "${whole[@]}" --packed)
	more_than "equal_packed_are_many" 1000 "${wanted%% *}"
	for jobs in $(fewer "1 2" 2); do
		same "equal_packed_with_jobs_$jobs" "$wanted" \
			"$(packed_hash fetched.rec fetch "$id" --jobs "$jobs" -o)"
	done
	refused "equal_delete" 0 "" delete "$id"
}

# The pid of a process that counted to a number on CPU 1. All have the same code
# at the same addresses.
count_to() {
	# shellcheck disable=SC2016
	taskset -c 1 setarch -R sh -c 'echo $$
		exec awk "BEGIN { for (i = 0; i < $0; i++) sum += i }"' "$1"
}

# Each process has its own counts of what both did.
space_tests() {
	local id few many
	run start --cpus 1 --maps counts.maps --size 16M
	id=$OUT
	few=$(count_to 500)
	many=$(count_to 1500)
	run stop "$id"
	"$KIPT" fetch "$id" --images counts.maps --counts --json --jobs 2 >counts 2>err
	same "counts_of_each_process" "both loop, none without process" "$(
		python3 - "$few" "$many" <<-'END'
	import json, sys
	few, many = (int(pid) for pid in sys.argv[1:])
	edges = [o for o in map(json.loads, open("counts"))
	         if o["type"] == "edge"]
	def of(pid):
	    return {(o["ip"], o["to"], o["kind"]): o["count"] for o in edges
	            if o.get("pid") == pid}
	a, b = of(few), of(many)
	loop = [edge for edge in a if b.get(edge, 0) - a[edge] == 1000]
	def user(o):
	    return not (int(o["ip"], 16) & int(o["to"], 16)) >> 63
	stray = sum(o["count"] for o in edges if ("pid" in o) != user(o))
	print("both loop," if loop else "%d and %d edges, no loop," %
	      (len(a), len(b)), "%s without process" % (stray or "none"))
	END
	)"
	run fetch "$id" --counts --top 0
	same "counts_name_processes" 2 "$(grep -o -e '-- process [0-9]*' <<<"$OUT" |
		sort -u | grep -c -e " $few\$" -e " $many\$")"
	refused "counts_delete" 0 "" delete "$id"
}

# leave FILE...: recordings that recordings_test compares outside of the machine, where
# perf is fast
leave() {
	[ ! -d /out ] || cp -r "$@" /out/
}

has_lines() {
	[ "$(grep -c "$1" err)" -ge "$2" ]
}

# says PATTERN COUNT PID: waits until the process wrote so many lines of it into the file
# err, which was empty before it began
says() {
	until_or_killed "$3" has_lines "$1" "$2"
}

# Three traces of a process that keeps its CPU: two for signals, one at its end.
snapshot_tests() {
	local work recorder number
	taskset -c 1 sh -c 'while :; do :; done' &
	work=$!
	"$KIPT" record --pid "$work" --snapshot --cpus 1 --ctl -OS --size 64K \
		-o ./of.it/snap.data >out 2>err &
	recorder=$!
	wait "$recorder"
	same "snapshot_folder_missing" 1 "$?"
	: >err
	"$KIPT" record --pid "$work" --snapshot --cpus 1 --ctl -OS --size 64K \
		-o ./snap.data >out 2>err &
	recorder=$!
	says "snapshot at each SIGUSR2 to process $recorder;" 1 "$recorder"
	kill -USR2 "$recorder"
	says 'tracing again' 1 "$recorder"
	kill -USR2 "$recorder"
	says 'tracing again' 2 "$recorder"
	kill -INT "$recorder"
	wait "$recorder"
	same "snapshot_exit" "0 " "$? $(cat out)"
	same "snapshots_are_named" "./snap.1.data ./snap.2.data ./snap.3.data" \
		"$(sed -n 's/.*snapshot [1-3] is in //p' err | paste -sd ' ')"
	same "snapshot_files" "snap.1.data snap.2.data snap.3.data" "$(echo snap.*)"
	for number in 1 2 3; do
		run decode "snap.$number.data" --stats --json
		more_than "snapshot_$number" 1000 "$(value branches)"
	done
	# The shell may look into it before kipt is started, which empties it too.
	: >err
	"$KIPT" record --pid "$work" --snapshot --cpus 1 --ctl -OS --size 64K \
		--stats >out 2>err &
	recorder=$!
	says 'a snapshot at each' 1 "$recorder"
	kill -USR2 "$recorder"
	says 'tracing again' 1 "$recorder"
	kill "$work"
	wait "$work" 2>/dev/null
	wait "$recorder"
	same "snapshot_ends_with_its_process" "0 2" "$? $(grep -c branches out)"
	rm -f snap.*.data
}

# What is kept for perf.
perf_data_tests() {
	local pid
	run record --cpus 1 --ctl -OS -o user.data -- \
		sh -c 'echo a | gzip -c >/dev/null; sh -c "exec true"'
	same "perf_data_exit" "0 " "$STATUS $ERR"
	refused "perf_data_shows_nothing" 2 "leave --stats out" \
		record --cpus 1 -o t.data --stats -- true
	refused "perf_data_no_command" 1 "cannot run 'no-such-command'.*ENOENT" \
		record --cpus 1 --ctl -OS -o no.data -- no-such-command
	same "perf_data_no_file_of_nothing" "" "$(ls no.data 2>/dev/null)"
	# A process that keeps its CPU.
	taskset -c 1 sh -c 'while :; do :; done' &
	pid=$!
	run record --pid "$pid" --cpus 1 --ctl -OS --size 64K -o pid.data -- sleep 0.2
	kill "$pid"
	wait "$pid" 2>/dev/null
	same "perf_data_pid_exit" "0 " "$STATUS $ERR"
	echo "$pid" >pid
	run record --cpus 1 --mode once --size 1M -o kernel.data -- true
	same "perf_data_kernel_exit" "0 " "$STATUS $ERR"
	same "perf_data_kernel_folder" "data kallsyms kcore modules" \
		"$(find kernel.data -type f -printf '%f\n' | sort | paste -sd ' ')"
	leave user.data pid.data pid kernel.data
	perf_data_ended_tests
}

# What there was stays as it was, or is replaced, and nothing else is left.
perf_data_ended_tests() {
	local pid sum
	run record --cpus 1 --ctl -OS -o k.data -- true
	same "perf_data_replaces_a_folder" "0  regular file" \
		"$STATUS $ERR $(stat -c %F k.data)"
	sum=$(cksum <k.data)
	"$KIPT" record --cpus 1 -o k.data -- true >out 2>err &
	pid=$!
	await 'k.data.??????/kcore_dir/kallsyms' "$pid"
	kill -INT "$pid"
	wait "$pid"
	same "perf_data_interrupted" \
		"1 kipt: interrupted: there is no recording, and k.data is as it was" \
		"$? $(cat out err)"
	"$KIPT" record --cpus 1 -o k.data -- sleep 60 >out 2>err &
	pid=$!
	await 'k.data.??????/kcore_dir/kallsyms' "$pid"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	# Nobody else removes it.
	rm -r k.data.??????
	same "perf_data_kept" "$sum" "$(cksum <k.data)"
	same "perf_data_no_session" "" "$("$KIPT" status)"
	mkdir full
	mount -t tmpfs -o size=8k none full
	refused "perf_data_disk_full" 1 "cannot write to full/f.data: .*ENOSPC" \
		record --cpus 1 --ctl -OS -o full/f.data -- true
	same "perf_data_nothing_left" "" "$(ls full)"
	umount full
	"$KIPT" record --cpus 1 --ctl -OS -o k.data -- \
		sh -c ': >ran; exec sleep 60' >out 2>err &
	pid=$!
	await ran "$pid"
	kill -INT "$pid"
	wait "$pid"
	same "perf_data_interrupted_command" \
		"130 kipt: note: 'sh' ended with status 130" "$? $(cat out err)"
	more_than "perf_data_after_interrupt" 100 \
		"$("$KIPT" decode --branches k.data 2>/dev/null | wc -l)"
	same "perf_data_part_is_gone" "" "$(compgen -G 'k.data.*')"
	mkdir other.data
	refused "perf_data_other_folder" 1 "other.data is a folder and no recording" \
		record --cpus 1 --ctl -OS -o other.data -- true
}

if ! "$KIPT" info >out 2>err; then
	echo "1..0 # SKIP $(head -n 1 err)"
	exit 4
fi
ktap_start
session_tests
arm_tests
fetch_tests
unprivileged_tests
record_command_tests
without_perf_tests
record_large_tests
record_stopped_tests
record_kept_tests
crash_tests
user_tests
core_tests
lend_tests
hooks_tests
calls_tests
save_tests
equal_tests
space_tests
snapshot_tests
perf_data_tests
ktap_finish
