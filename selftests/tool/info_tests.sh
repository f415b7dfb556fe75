# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2013
#
# kipt info on machines that fake_machine.c makes: what works there all the same.
# Sourced by tool_test.sh.

# info NAME STATUS SENTENCE VARIABLE=...: the sentence as far as a parenthesis
info() {
	local name=$1 status=$2 sentence=$3
	shift 3
	OUT=$(env "$@" "$fake" info 2>err </dev/null)
	STATUS=$?
	same "info_${name}_exit" "$status" "$STATUS"
	same "info_${name}_sentence" "$sentence" "$(sed 's/^kipt: //; s/ (.*//' err)"
	env "$@" "$fake" info --json >json 2>/dev/null
	same "info_${name}_json" "$status 0" "$? $(
		python3 -c 'import json, sys
for line in sys.stdin:
    assert json.loads(line)["type"] == "info"' <json >/dev/null 2>&1; echo $?)"
}

# info_has NAME OFFLINE PERF KERNEL CAPS: how many lines of each kind there are
info_has() {
	local name=$1 pattern
	shift
	same "info_${name}_has" "$*" "$(for pattern in '^  kipt (open|decode|show|crash) ' \
		'^  perf record -e intel_pt//u ' '^  perf record .*--kcore' \
		'^Capabilities:'; do
		grep -cE -e "$pattern" <<<"$OUT"
	done | paste -sd ' ')"
}

# Each command that is named there is one, with the options it has.
info_commands_exist() {
	local verb option rest
	while read -r _ verb rest; do
		for option in $(grep -oE -- '--[a-z-]+' <<<"$rest"); do
			grep -q -- "$option" <<<"$("$KIPT" "$verb" --help)" ||
				{ not_ok "info_names_$verb" "no option $option"; continue 2; }
		done
		"$KIPT" "$verb" --help >/dev/null 2>&1
		same "info_names_$verb" 0 "$?"
	done < <(grep -E '^  kipt ' <<<"$OUT" | sed 's/   .*//; s/^  //')
}

# Who may not use perf gets a sentence before anything runs, and no file is made.
record_perf_refused() {
	local nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	if [ "$(id -u)" != 0 ] || ! $nobody test -x "$1" ||
		! [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
		skip "record_perf_refused" "there is nobody whom perf would refuse"
		return
	fi
	(cd /tmp && FAKE_PT=1 FAKE_MODULE=all $nobody "$1" record \
		-o /tmp/kipt-no.$$.data -- touch /tmp/kipt-ran.$$) 2>err </dev/null
	same "record_perf_refused" "1 1" "$? $(grep -cE \
		'CAP_PERFMON.*kernel.perf_event_paranoid.*(EACCES|EPERM)' err)"
	same "record_perf_refused_runs_nothing" "" "$(ls /tmp/kipt-no.$$.data \
		/tmp/kipt-ran.$$ 2>/dev/null)"
}

# fetched FAKE: what comes of a trace that the fake machine has
fetched() {
	local fake=$1
	export FAKE_PT=1 FAKE_MODULE=all
	"$fake" fetch 2 -o fetched.rec 2>err
	same "fetch_keeps_the_clock" "0 2000000" "$? $(od -An -tu4 -j4 -N4 fetched.rec | xargs)"
	same "fetch_shows_times" 1 "$("$KIPT" show fetched.rec --branches --time 2>err |
		grep -c '^ *0.500 us .* -> 401005')"
	FAKE_FETCH=endless interrupted 0 "$fake" fetch 2 --totals --json >out 2>err
	same "fetch_cancelled" "1 1" "$? $(grep -c '^kipt: cancelled: ' err)"
	refused "fetch_cancelled_is_not_merged" 1 "the file is not whole" merge out
	unset FAKE_PT FAKE_MODULE
}

# saved_pids: the processes whose code is in saved, all but the one that ran last
saved_pids() {
	find saved -name 'user-*.addr' | sort
}

# What a run that failed has saved is not mixed with what the next one saves: the fake machine has
# no trace.
save_failed_tests() {
	local fake=$1 first
	export FAKE_PT=1 FAKE_MODULE=all
	"$fake" record --cpus 0 --save saved -- sh -c 'true & true $(true)' $'b\xe9' 2>err </dev/null
	same "save_failed" "1 1" "$? $(
		grep -cm1 'cannot \(open /dev/kipt\|reach the trace\)' err)"
	same "save_meta_is_utf8" "'b?'" "$(python3 -c 'import json
print(ascii(json.loads(open("saved/meta.json", "rb").read().decode())["command"][-1]))')"
	first=$(saved_pids)
	"$fake" record --cpus 0 --save saved -- sh -c 'true & true $(true)' 2>err </dev/null
	same "save_failed_is_cleared" "some 0" "${first:+some} $(
		comm -12 <(saved_pids) - <<<"$first" | wc -l)"
	"$fake" record --cpus 0 --raw saved-raw -- true 2>err </dev/null
	touch saved-raw/cpu7.pt
	"$fake" record --cpus 0 --raw saved-raw -- true 2>err </dev/null
	same "raw_keeps_what_is_there" "cpu7.pt meta.json" "$(ls saved-raw | xargs)"
	unset FAKE_PT FAKE_MODULE
}

# Ctrl-C that comes while the session stops: nothing is shown, and no file is left half made.
record_signal_tests() {
	local fake=$1 pid
	export FAKE_PT=1 FAKE_MODULE=all
	FAKE_STOP=1 "$fake" record --cpus 0 -o stopped.rec -- true 2>err </dev/null
	same "record_interrupted_at_its_end" "1 1" "$? $(grep -c 'cancelled' err)"
	"$fake" record --cpus 0 --ctl -OS -o whole.data -- true 2>err </dev/null
	if grep -q 'whole.data has no trace of CPU' err; then
		FAKE_STOP=1 "$fake" record --cpus 0 --ctl -OS -o stopped.data -- true \
			2>err </dev/null
		same "record_for_perf_interrupted_at_its_end" "1 1 " "$? $(
			grep -c 'interrupted: there is no recording' err) $(
			find . -name 'stopped.data*')"
	else
		skip "record_for_perf_interrupted_at_its_end" "perf records nothing here"
	fi
	sleep 1000 &
	pid=$!
	FAKE_START=again timeout 120 "$fake" record --cpus 0 --pid $pid --snapshot 2>err </dev/null \
		>out &
	for _ in {1..6000}; do
		! grep -q 'a snapshot at each SIGUSR2' err || break
		sleep 0.01
	done
	pkill -USR2 -P $! kipt_fake
	wait $!
	same "record_snapshots_interrupted_between" "0 1" "$? $(grep -c 'tracing again' err)"
	kill $pid
	wait $pid 2>/dev/null
	# What it is executed from has a child.
	FAKE_START=refused timeout 120 sh -c 'sleep 1000 & echo $! >sleeps
		exec "$0" record --cpus 0 -- true' "$fake" 2>err </dev/null
	same "record_refused_waits_for_no_others" "1 1" "$? $(grep -c 'cannot start session' err)"
	kill "$(<sleeps)"
	unset FAKE_PT FAKE_MODULE
}

# Signals that a process sends to kipt are passed on to the command that Intel PT is lent to.
lend_signal_tests() {
	local fake=$1 number
	for number in INT QUIT TERM HUP; do
		FAKE_MODULE=all FAKE_LEND=1 timeout 120 "$fake" arm --lend -- bash -c '
			trap "exit 9" INT QUIT TERM HUP
			echo ready >lent
			for _ in {1..6000}; do sleep 0.01; done' 2>err </dev/null &
		for _ in {1..6000}; do
			! [ -s lent ] || break
			sleep 0.01
		done
		rm -f lent
		pkill -$number -P $! kipt_fake
		wait $!
		same "lend_passes_on_$number" 9 $?
	done
}

info_tests() {
	local fake
	fake=$(dirname "$KIPT")/kipt_fake
	if [ ! -x "$fake" ]; then
		skip "info" "kipt_fake is not built beside the tool"
		return
	fi
	record_perf_refused "$fake"
	fetched "$fake"
	save_failed_tests "$fake"
	record_signal_tests "$fake"
	lend_signal_tests "$fake"
	info may_trace 0 "" FAKE_PT=1 FAKE_MODULE=all
	info_has may_trace 0 0 0 1
	info may_not_trace 0 "" FAKE_PT=1 FAKE_MODULE=few
	info_has may_not_trace 4 1 1 1
	same "info_says_which_right" 1 \
		"$(grep -c "^Tracing needs CAP_PERFMON or CAP_SYS_ADMIN" <<<"$OUT")"
	info module_no_pt 0 "" FAKE_MODULE=none
	info_has module_no_pt 4 0 0 0
	if [ -d /sys/module/kipt ]; then
		skip "info_absent" "the kipt module is loaded"
		return
	fi
	info no_module 1 "the kipt module is not loaded: modprobe kipt" FAKE_PT=1
	info_has no_module 4 1 1 1
	same "info_no_module_json_is_a_line" 1 "$(grep -c '"loaded":false' json)"
	info no_pt 1 "no PT on this CPU" A=1
	info_has no_pt 4 0 0 0
	same "info_no_pt_json_has_nothing" 0 "$(wc -l <json)"
	info_commands_exist
}
