# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# What is the same of views that write a file of their own for another program: KIND is the
# view, its option is --KIND, and read_KIND reads out.KIND. Sourced by tool_test.sh.

# own_file_sums KIND NAME FILE OPTION...: adds what differs from --totals to KIND.bad, times by
# more than $PERCENT
own_file_sums() {
	local kind=$1 name=$2 overlap=
	shift 2
	[ "$name" != totals_time_set_back ] || overlap=overlap
	rm -f "out.$kind"
	"$KIPT" open "$@" "--$kind" "out.$kind" 2>err
	if [ -e "out.$kind" ]; then
		"$KIPT" open "$@" --totals --json 2>err |
			"read_$kind" totals "${PERCENT:-0}" $overlap 2>&1 | sed "s/^/$name: /"
	else
		echo "$name: no file"
	fi >>"$kind.bad"
}

# random_calls SEED COUNT TYPES [timed]: as calls_random.py has them
random_calls() {
	python3 "$HERE/calls_random.py" "$@"
}

own_file_random_tests() {
	local kind=$1 seed form
	: >"$kind.bad"
	for seed in $(seq "$(fewer 6 2)"); do
		random_calls $seed 3000 2,2 timed | records random.rec
		own_file_sums "$kind" "$seed" random.rec --kallsyms kallsyms
	done
	same "${kind}_random_sums" "" "$(cat "$kind.bad")"
	for seed in $(seq "$(fewer 6 2)"); do
		random_calls $seed 3000 2,3,18 timed | records random.rec
		PERCENT=1 own_file_sums "$kind" "$seed" random.rec --kallsyms kallsyms
	done
	same "${kind}_random_sums_with_gaps" "" "$(cat "$kind.bad")"
	random_calls 1 3000 2,2 timed | records random.rec
	for form in "--tid 8" "--pid 7" "--time 5000,20000" "--cpu 0" "--sym second"; do
		# shellcheck disable=SC2086
		PERCENT=1 own_file_sums "$kind" "$form" random.rec --kallsyms kallsyms $form
	done
	same "${kind}_random_narrowed" "" "$(cat "$kind.bad")"
}

# own_file_refused KIND VERB FILE: options that do not go with the view, and files that are none
own_file_refused() {
	local kind=$1 verb=$2 file=$3 option
	for option in "-o x.rec" --hash --stats --json; do
		# shellcheck disable=SC2086
		refused "${kind}_and_$option" 2 \
			"--$kind writes a file of its own: ${option%% *} does not" \
			"$verb" "$file" "--$kind" new.out $option
	done
	refused "${kind}_nowhere" 1 "cannot make none/new.out.*ENOENT" "$verb" "$file" \
		"--$kind" none/new.out
	same "${kind}_nowhere_says_it_once" 1 "$(grep -c . err)"
	refused "${kind}_full" 1 "cannot write to /dev/full.*ENOSPC" "$verb" "$file" \
		"--$kind" /dev/full
	refused "${kind}_is_the_input" 1 "--$kind $file: that is the file" "$verb" "$file" \
		"--$kind" "$file"
}

# Views of calls: the trace has to have times.
own_file_untimed() {
	local kind=$1
	known_calls | grep -v "^8 " | records untimed.rec
	refused "${kind}_without_times" 1 "--$kind: the trace has no times" show untimed.rec \
		"--$kind" new.out
	same "${kind}_makes_no_file_of_nothing" "" "$(ls new.out 2>/dev/null)"
	echo mine >mine.out
	refused "${kind}_of_no_records" 1 "no-file" show no-file "--$kind" mine.out
	refused "${kind}_keeps_without_times" 1 "--$kind: the trace has no times" show \
		untimed.rec "--$kind" mine.out
	same "${kind}_keeps_what_was_there" mine "$(cat mine.out)"
}

# Recordings that are kept; NAMED is what a dump has of a thread that is called small.
own_file_recordings_tests() {
	local kind=$1 named=$2 form
	: >"$kind.bad"
	if ! command -v zstd >/dev/null; then
		skip "${kind}_recordings" "no zstd"
		skip "${kind}_names_threads" "no zstd"
		return
	fi
	zstd -dcq "$HERE/version-2.rec.zst" >old.rec
	PERCENT=1 own_file_sums "$kind" old old.rec --kallsyms kallsyms
	kept_unpack "$ROOT/selftests/perf/small"
	export PERF_BUILDID_DIR=ids
	for form in "--jobs 1" "--jobs 3" "--comm small" "--time 1400,1600"; do
		# shellcheck disable=SC2086
		PERCENT=0.1 own_file_sums "$kind" "kept $form" kept.data --no-demangle $form
	done
	unset PERF_BUILDID_DIR
	same "${kind}_recordings" "" "$(cat "$kind.bad")"
	same "${kind}_names_threads" 1 "$("read_$kind" dump | grep -cE "$named")"
}
