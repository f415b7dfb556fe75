# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034,SC2013
#
# The command line: help, usage errors, and what is said where there is no
# module. Sourced by tool_test.sh.

help_is_whole() {
	local verb=$1 option
	run "$verb" --help
	[ "$STATUS" = 0 ] && [ -z "$ERR" ] || return 1
	grep -q "^Usage: kipt $verb" <<<"$OUT" || return 1
	grep -q '^Examples:' <<<"$OUT" || return 1
	grep -q '^Exit status:' <<<"$OUT" || return 1
	# The manual page knows each option that the help knows.
	for option in $(grep -oE '^ .. ?  --[a-z-]+|^  -., --[a-z-]+' <<<"$OUT" |
			grep -oE -- '--[a-z-]+'); do
		grep -q -- "$option" "man-$verb.txt" || return 1
	done
}

# The man page has no option that no help knows.
man_is_true() {
	local verb
	for verb in $VERBS; do
		"$KIPT" "$verb" --help
	done >help.txt
	echo "--version" >>help.txt
	same "man_has_the_options_of_help" \
		"$(grep -oE -- '--[a-z][a-z-]+' help.txt | sort -u)" \
		"$(sed 's/\\f.//g' man.txt | grep -oE -- '--[a-z][a-z-]+' |
			sort -u)"
}

help_tests() {
	local verb
	sed 's/\\-/-/g' "$(dirname "$KIPT")"/man/*.1 >man.txt
	run --help
	for verb in $VERBS; do
		sed 's/\\-/-/g' "$(dirname "$KIPT")/man/kipt-$verb.1" >"man-$verb.txt"
		grep -q "^  $verb " <<<"$OUT" || STATUS=9
		if help_is_whole "$verb"; then
			ok "help_$verb"
		else
			not_ok "help_$verb" "$OUT$ERR"
		fi
	done
	run --help
	same "help_exits_0" 0 "$STATUS"
	man_is_true
	run help decode
	same "help_verb_is_verb_help" "$("$KIPT" decode --help)" "$OUT"
	run --version
	same "version" 0 "$STATUS"
	same "version_is_that_of_module_and_man_page" \
		"$(sed -n 's/.*KIPT_VERSION.*"\(.*\)"/\1/p' \
			"$ROOT/kmod/lib/version.h") $(cut -d'"' -f4 <<<"$(
			grep '^\.TH KIPT 1' man.txt)")" \
		"$(cut -d' ' -f2 <<<"$OUT") kipt $(cut -d' ' -f2 <<<"$OUT")"
	refused "no_verb_is_usage" 2 "^Usage"
	refused "unknown_verb_is_usage" 2 "no verb 'frobnicate'" frobnicate
	for verb in $VERBS; do
		refused "unknown_option_$verb" 2 "no option '--frobnicate'" \
			"$verb" --frobnicate
	done
}

# Names that --ctl lists where it refuses one, and its help lacks.
ctl_names_without_help() {
	local help names
	help=$("$KIPT" start --help)
	names=$("$KIPT" start --ctl OS,Foo 2>&1 | head -n 1)
	for name in $(sed "s/.*there are: //; s/by perf's names: //; s/=N//g; s/[,;]//g" \
			<<<"$names"); do
		grep -qw "$name" <<<"$help" || echo "$name"
	done
}

option_tests() {
	local verb option
	refused "stop_needs_id" 2 "stop needs ID" stop
	refused "stop_one_id" 2 "too many: '2'" stop 1 2
	refused "stop_id_is_a_number" 2 "'x' is no session id" stop x
	refused "stop_id_fits" 2 "no session id" stop 4294967296
	for verb in stop status fetch delete; do
		refused "${verb}_id_zero" 2 "'0' is no session id" "$verb" 0
	done
	refused "status_id_is_a_number" 2 "'x' is no session id" status x
	refused "fetch_cpu_is_a_number" 2 "not a CPU number" fetch 1 --cpu -1
	refused "value_missing" 2 "--size needs a value" start --size
	refused "value_unwanted" 2 "--json takes no value" info --json=1
	refused "help_takes_no_value" 2 "--help takes no value" info --help=1
	refused "doctor_root_missing" 1 "cannot look into --root nothere.*ENOENT" doctor --root nothere
	refused "hash_is_no_json" 2 "--hash prints no JSON" show f --hash --json
	refused "begin_of_several" 2 "several options that begin with '--to'" show --to f
	refused "begin_of_none" 2 "no option '--tox'" show --tox=1 f
	refused "ctl_unknown_lists_names" 2 \
		"no field 'Foo'.*OS, User, BranchEn, DisRETC.*MTCFreq=N.*DisTNT" \
		start --ctl OS,Foo
	refused "ctl_unknown_lists_perf_names" 2 \
		"by perf's names: branch, noretcomp, .*mtc_period=N.*notnt" \
		start --ctl OS,Foo
	refused "ctl_near_a_perf_name" 2 "no field 'mtc_perod'; near it: mtc_period;" \
		start --ctl mtc_perod=3
	refused "ctl_near_a_field" 2 "no field 'BranchE'; near it: BranchEn, branch;" \
		start --ctl BranchE
	same "ctl_help_has_all_names" "" "$(ctl_names_without_help)"
	refused "ctl_value_range" 2 "MTCFreq=16: allowed are 0 to 15" \
		start --ctl OS,MTCFreq=16
	refused "ctl_value_missing" 2 "PSBFreq needs a value" \
		start --ctl PSBFreq
	refused "ctl_value_unwanted" 2 "OS takes no value" start --ctl OS=1
	refused "ctl_empty_name" 2 "no field ''" start --ctl OS,
	refused "ctl_mixed_signs" 2 "either each name" start --ctl +OS,User
	refused "size_words" 2 "not a size" start --size big
	refused "size_overflow" 2 "not a size" start --size 99999999999999999G
	refused "size_negative" 2 "not a size" start --size -4M
	refused "cpus_backwards" 2 "not a CPU list" start --cpus 3-1
	refused "cpus_words" 2 "not a CPU list" start --cpus a
	refused "cpus_trailing_comma" 2 "not a CPU list" start --cpus 1,
	refused "cpus_huge" 2 "not a CPU list" start --cpus 0-999999999
	refused "cpus_too_long" 2 "the list has 4096 characters, allowed are 4095" \
		start --cpus "$(printf '%04096d' 0)"
	refused "cpus_long" 2 "allowed are ring" \
		start --cpus "$(printf '%04095d' 0)" --mode loop
	refused "mode_unknown" 2 "allowed are ring and once" start --mode loop
	refused "filter_no_end" 2 "--filter 0x401000: where does it end" \
		start --filter 0x401000
	refused "filter_backwards" 2 "the last address is less" \
		start --filter 0x402000-0x401000
	refused "stop_at_is_named" 2 "--stop-at vfs_read/0: '0' is no size" \
		record --stop-at vfs_read/0 -- true
	refused "filter_five" 2 "no CPU has more than 4 ranges" start \
		--filter a_ --filter b_ --filter c_ --stop-at d_ --filter e_
	refused "pid_is_a_number" 2 "--pid x: not a process id" start --pid x
	refused "pid_zero" 2 "--pid 0: not a process id" start --pid 0
	refused "arm_cpus_words" 2 "not a CPU list" arm --cpus every
	refused "arm_size_words" 2 "not a size" arm --size big
	refused "arm_lines_bound" 2 "--print-branches 1001: allowed are 0 to 1000" \
		arm --print-branches 1001
	refused "arm_lines_are_a_number" 2 "--print-branches x: allowed" \
		arm --print-branches x
	refused "arm_lines_of_others_bound" 2 \
		"--print-cpus 1001: allowed are 0 to 1000" arm --print-cpus 1001
	refused "arm_user_bound" 2 "--print-user 65: allowed are 0 to 64" \
		arm --all --print-user 65
	refused "arm_kernel_or_all" 2 "give one of them" arm --kernel --all
	refused "arm_no_operand" 2 "too many: '1'" arm 1
	refused "arm_once_is_no_option" 2 "no option '--mode'" arm --mode once
	refused "disarm_no_operand" 2 "too many: '1'" disarm 1
	refused "decode_jobs_zero" 2 "--jobs 0: allowed are 1 to 64" \
		decode x.pt --jobs 0
	refused "decode_memory_one" 2 "--memory 1: allowed are 1M to 4G" \
		decode x.pt --memory 1
	refused "decode_filter_is_a_range" 2 "--filter x: the trace may be" \
		decode x.pt --filter x
	refused "decode_stop_at_is_a_range" 2 "--stop-at x: the trace may" \
		decode x.pt --stop-at x
	refused "decode_image_is_there" 1 "cannot read none.*ENOENT" \
		decode x.pt --image none@0x1000
	refused "decode_two_outputs" 2 "give one of them" \
		decode x.pt --packed p1 --output p2
	refused "decode_packed_insns" 2 "instructions cannot be packed" \
		decode x.pt --packed p1 --insns
	refused "no_octal" 2 "--max-depth 010001: allowed are" \
		fetch 1 --max-depth 010001
	refused "no_octal_digits" 2 "--jobs 065: allowed are" fetch 1 --jobs 065
	refused "hex_without_digits" 2 "--jobs 0x: allowed" fetch 1 --jobs 0x
	refused "fork_needs_pid" 2 "--fork needs --pid" start --fork
	refused "fork_needs_only" 2 "--fork needs --only or --pid" \
		record --fork -- true
	refused "only_or_pid" 2 "give one of them" \
		record --only --pid 1 -- true
	refused "snapshot_needs_a_process" 2 "give --pid and no command" \
		record --snapshot -- true
	refused "snapshot_or_command" 2 "give --pid and no command" \
		record --snapshot --pid 1 -- true
	refused "snapshot_keeps_the_last" 2 "once keeps the first" \
		record --snapshot --pid 1 --mode once
	refused "snapshot_or_save" 2 "of which --save keeps one" \
		record --snapshot --pid 1 --save saved
	refused "snapshots_in_files" 2 "cannot all be in -o -" \
		record --snapshot --pid 1 -o -
	refused "on_crash_or_pid" 2 "give one of them" \
		record --on-crash --pid 1 -- true
	refused "on_crash_keeps_the_last" 2 "once keeps the first" \
		record --on-crash --mode once -- true
	refused "on_crash_or_counts" 2 "give --on-crash or --counts" \
		record --on-crash --counts -- true
	refused "lines_need_on_crash" 2 "needs --on-crash" \
		record --lines 5 -- true
	refused "lines_zero" 2 "--lines 0: allowed are 1 to 100000" \
		record --on-crash --lines 0 -- true
	refused "crash_show_needs_a_number" 2 "needs the number of a snapshot" \
		crash show
	refused "crash_delete_needs_a_number" 2 "needs the number of a snapshot" \
		crash delete 0
	refused "arm_lend_needs_a_command" 2 "needs a command" arm --lend
	refused "arm_lend_arms_nothing" 2 "only --for goes with it" \
		arm --lend --size 1M -- true
	refused "arm_for_is_of_lend" 2 "how long --lend lends" arm --for 5
	refused "arm_for_has_an_end" 2 "allowed are 1 to 604800" \
		arm --lend --for 0 -- true
	refused "crash_collect_needs_a_folder" 2 "needs the folder" crash collect
	refused "crash_collect_keeps_one" 2 "allowed are 1 to 10000" \
		crash collect --keep 0 dir
	refused "crash_collect_most" 2 "a size such as 200M" \
		crash collect --most much dir
	refused "crash_collect_shows_nothing" 2 "--last does not go with it" \
		crash collect --last 5 dir
	refused "crash_collect_is_no_json" 2 "--json does not go with it" \
		crash collect --json dir
	refused "crash_show_keeps_nothing" 2 "--keep goes with crash collect only" \
		crash show 1 --keep 5
	refused "two_views" 2 "only one of --calls and --branches can be shown" \
		fetch 1 --calls --branches
	refused "two_views_of_record" 2 "only one of --lost and --folded can be shown" \
		record --lost --folded -- true
	refused "top_of_calls" 1 "--top does nothing here: it is for --counts" \
		open no.data --calls --top 3
	refused "depth_of_branches" 1 "--max-depth does nothing here: it is for --calls" \
		open no.data --branches --max-depth 3
	refused "fold_of_the_screen" 1 "--no-fold does nothing here: it is for --calls" \
		open no.data --no-fold
	refused "depth_of_json" 1 "--max-depth does nothing here: it is for --calls" \
		show no.rec --json --max-depth 3
	refused "fold_of_stats" 1 "--no-fold does nothing here: it is for --calls" \
		show no.rec --stats --no-fold
	for option in --json --stats --hash; do
		refused "records_or_$option" 2 "records go to standard output: $option does not" \
			show no.rec -o - $option
	done
	refused "packed_or_stats" 2 "records go to standard output: --stats does not" \
		decode x.pt --packed - --stats
	refused "on_crash_or_lost" 2 "--lost has no end to be shown: give --on-crash or --lost" \
		record --on-crash --lost -- true
	for option in "--max-depth 3" --no-fold --time --source "--top 3" "--jobs 2" \
		"--memory 8M" "--decode-cpus 0" "--nice 1" "--kallsyms x" "--maps x"; do
		# shellcheck disable=SC2086
		refused "perf_data_or_${option% *}" 2 "shows nothing: leave ${option% *} out" \
			record -o x.data $option -- true
	done
	for option in "-o x.rec" --stats --hash --counts --branches "--last 5" --merged; do
		# shellcheck disable=SC2086
		refused "summary_or_${option// /_}" 2 "--summary decodes nothing: --?[a-z]* does not" \
			crash vmcore --summary $option
	done
	refused "depth_zero" 2 "allowed are 1 to 10000" fetch 1 --max-depth 0
	refused "record_needs_command" 2 "needs a command" record
	refused "record_needs_command_dashes" 2 "needs a command" record --
}

# What there is to collect is asked first, then where it is to go.
collect_tests() {
	local fake
	fake=$(dirname "$KIPT")/kipt_fake
	if [ ! -d /sys/module/kipt ]; then
		refused "crash_collect_absent" 1 "no PT on this CPU|module is not loaded" \
			crash collect new
		same "crash_collect_absent_makes_no_folder" "" "$(ls -d new 2>/dev/null)"
	fi
	if [ ! -x "$fake" ]; then
		skip "crash_collect" "kipt_fake is not built beside the tool"
		return
	fi
	local KIPT=$fake
	export FAKE_MODULE=1
	mkdir -p open && chmod 777 open
	refused "crash_collect_wants_a_folder_of_its_own" 1 "others may write" \
		crash collect open
	touch file
	refused "crash_collect_wants_a_folder" 1 "cannot use folder file.*ENOTDIR" \
		crash collect file
	mkdir -p -m 700 locked
	same "crash_collect_waits_until_ctrl_c" "1 1" "$(
		exec 9<locked
		flock 9
		interrupted 0 "$KIPT" crash collect locked 2>err
		echo "$? $(grep -c 'interrupted: another process has' err)")"
	unset FAKE_MODULE
}

# Which code is traced is known when the module has said what --ctl changes.
arm_code_tests() {
	local fake ctl
	fake=$(dirname "$KIPT")/kipt_fake
	if [ ! -x "$fake" ]; then
		skip "arm_code" "kipt_fake is not built beside the tool"
		return
	fi
	local KIPT=$fake
	export FAKE_MODULE=1
	for ctl in "" "--ctl +CYCEn" "--all --ctl -User" "--ctl OS,BranchEn"; do
		# shellcheck disable=SC2086
		refused "arm_print_user_needs_user_code $ctl" 2 \
			"--print-user 8: no user code is traced: --all or --user, or User in --ctl" \
			arm --print-user 8 $ctl
	done
	refused "arm_kernel_or_user_code" 2 "--kernel: --ctl [+]User traces user code" \
		arm --kernel --ctl +User
	for ctl in "--all" "--user" "--ctl +User"; do
		# shellcheck disable=SC2086
		run arm --print-user 8 $ctl
		same "arm_print_user $ctl" "0 1" "$STATUS $(grep -c 'session 3 is armed' <<<"$OUT")"
	done
	run arm --kernel --ctl +CYCEn
	same "arm_kernel_with_ctl" 0 "$STATUS"
	unset FAKE_MODULE
}

# One clear sentence, whichever of the three reasons holds here.
absent_tests() {
	local verb
	if [ -d /sys/module/kipt ]; then
		skip "absent" "the kipt module is loaded"
		return
	fi
	for verb in info start "stop 1" status "fetch 1" "delete 1" arm disarm \
		"record -- true"; do
		# shellcheck disable=SC2086
		refused "absent_${verb%% *}" 1 \
			"no PT on this CPU|module is not loaded: modprobe kipt" \
			$verb
		same "absent_${verb%% *}_one_sentence" 1 "$(wc -l <<<"$ERR")"
	done
}

# full NAME ARGS...: kipt reports output that is lost, whatever it was.
full() {
	local name=$1
	shift
	"$KIPT" "$@" >/dev/full 2>err
	same "full_${name}_exit" 1 "$?"
	same "full_${name}_reported" 1 \
		"$(grep -c '^kipt: cannot write to standard output: No space left' err)"
}

# No character that a terminal like that of an editor shows as it is.
dumb_tests() {
	local term
	for term in xterm dumb; do
		TERM=$term python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
			sh -c '"$0" show full.rec --totals >/dev/null' "$KIPT" </dev/null | grep -c $'\033\[K'
	done >escapes
	same "dumb_terminal_has_no_progress" "yes 0" \
		"$(head -1 escapes | sed 's/^[1-9].*/yes/') $(tail -1 escapes)"
}

full_tests() {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		bytes $PSB
	done >full.pt
	{ echo "19 0 1 0 0 0"; echo "1 3 0 1 0x401000 0x402000"; } |
		records full.rec
	full "help" --help
	full "verb_help" fetch --help
	full "version" --version
	full "packets" packets full.pt
	full "show" show full.rec
	full "output" show full.rec -o -
	# The file that is opened first is not taken for it.
	for i in --calls --branches --totals; do
		"$KIPT" show full.rec $i 2>err >&-
		same "closed_output $i" "1 1" \
			"$? $(grep -c '^kipt: cannot write to standard output: Bad file' err)"
	done
}

usage_tests() {
	help_tests
	option_tests
	collect_tests
	arm_code_tests
	full_tests
	dumb_tests
	absent_tests
	info_tests
	doctor_tests
}
