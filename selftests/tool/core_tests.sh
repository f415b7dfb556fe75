# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# kipt core where there is no module: core dumps are saved whatever else fails. Sourced by
# tool_test.sh; machine_test.sh has what it shows.

core_usage_tests() {
	refused "core_needs_a_process" 2 "core needs DIR PID" core cores
	refused "core_process" 2 "x: the number of a process is meant" core cores x
	refused "core_time" 2 "--time x: allowed are 0 to" core -t x cores 7
	refused "core_uid" 2 "--uid -1: allowed are 0 to 4294967295" core -u -1 cores 7
	refused "core_keep" 2 "--keep 0: allowed are 1 to 10000" core -k 0 cores 7
	refused "core_most" 2 "--most x: a size such as 200M is meant" core -m x cores 7
	refused "core_last" 2 "--last 0: allowed are 1 to" core -n 0 cores 7
	refused "core_of_a_dump" 2 "--core goes with crash show only" crash --core x dump
	refused "core_of_a_list" 2 "--core goes with crash show only" crash list --core x
	refused "core_and_save" 2 "not with --save" crash show 1 --core x --save y
}

# Bytes, zeros that take no room, and bytes.
core_bytes() {
	printf begin
	head -c 20000000 /dev/zero
	printf end
}

core_save_tests() {
	core_bytes >whole
	"$KIPT" core -t 5 cores 123 <whole 2>err
	same "core_without_module_fails" 1 "$?"
	cmp whole cores/core.123.5
	same "core_is_saved" 0 "$?"
	same "core_has_holes" yes "$([ "$(stat -c %b cores/core.123.5)" -lt 2000 ] && echo yes)"
	same "core_says_that_nothing_is_known" 1 \
		"$(grep -c 'trace of process 123 is not known' cores/core.123.5.calls)"
	same "core_files_are_their_users" "711 600 600" "$(stat -c %a cores cores/* | paste -sd ' ')"
	"$KIPT" core -t 5 cores 123 </dev/null 2>err
	same "core_does_not_overwrite" "1 1" \
		"$(grep -c 'cannot make cores/core.123.5:.*EEXIST' err) $(cmp whole cores/core.123.5 && echo 1)"
	ln -s "$PWD/elsewhere" cores/core.124.5
	"$KIPT" core -t 5 cores 124 <whole 2>err
	same "core_follows_no_link" "1 " \
		"$(grep -c 'core.124.5: .*EEXIST' err) $(find elsewhere 2>/dev/null)"
	rm cores/core.124.5
	"$KIPT" core -t 5 cores 125 <whole >&- 2>&-
	cmp whole cores/core.125.5
	same "core_without_outputs" 0 "$?"
	chmod 777 cores
	refused "core_folder_of_all" 1 "others may write to this folder" core cores 126
	chmod 711 cores
	touch cores/mine cores/core.1.x cores/core.1.1.calls.old
	for time in 6 7 8; do
		"$KIPT" core -t $time -k 2 cores 12$time <whole 2>err
	done
	same "core_keeps_the_newest" \
		"core.1.1.calls.old core.1.x core.127.7 core.127.7.calls core.128.8 core.128.8.calls mine" \
		"$(find cores -type f -printf '%f\n' | LC_ALL=C sort | paste -sd ' ')"
	# A clock that went back, and a core dump that another handler writes.
	exec 9<cores/core.127.7
	flock -s 9
	"$KIPT" core -t 3 -k 1 cores 129 <whole 2>err
	exec 9<&-
	same "core_removes_none_that_is_new_or_written" "core.127.7 core.128.8 core.129.3" \
		"$(find cores -name 'core.12?.?' -printf '%f\n' | LC_ALL=C sort | paste -sd ' ')"
	"$KIPT" core -t 9 -m 1M cores 130 <whole 2>err
	same "core_is_cut" "1048576 1" \
		"$(stat -c %s cores/core.130.9) $(grep -c 'is cut: --most allows 1024 KiB' err)"
	rm -rf cores
}

# The disk is full: the begin stays, and room for others.
core_full_tests() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs -o size=4m tmpfs "$1" &&
		tr "\\0" x <"$2" | "$0" core -t 5 "$1/cores" 123 2>err
		stat -c %s "$1/cores/core.123.5"' "$KIPT" "$PWD/core.full" "$PWD/whole" >got
	same "core_on_a_full_disk" "1048576 1" "$(cat got) $(grep -c ENOSPC err)"
}

# The other handler gets its arguments, the core dump, and runs whatever fails before.
core_command_tests() {
	core_bytes | "$KIPT" core -t 5 cores 123 /bin/sh -c 'cat >got; echo "$0 $1"
		umask' a -b 2>err >out
	same "core_command_has_its_arguments" "a -b $(umask)" "$(paste -sd ' ' out)"
	cmp whole got
	same "core_command_has_all" 0 "$?"
	same "core_command_leaves_calls" core.123.5.calls "$(ls cores)"
	touch file
	core_bytes | "$KIPT" core -t 5 file/none 123 /bin/sh -c 'cat >got2' 2>err
	cmp whole got2
	same "core_command_runs_without_a_folder" 0 "$?"
	refused "core_no_command" 1 "cannot run /none" core -t 6 cores 123 /none
	rm -rf cores whole got got2
}

core_tests() {
	core_usage_tests
	core_save_tests
	mkdir -p core.full
	core_full_tests
	core_command_tests
}
