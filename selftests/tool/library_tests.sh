# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2086,SC2046
#
# libkipt: installed as a user installs it, and programs built with what pkg-config
# says. Sourced by tool_test.sh.

# library_build NAME SOURCE: with all warnings
library_build() {
	gcc -std=gnu11 -Wall -Wextra -Werror -O1 -g "$2" -o "$1" \
		$(PKG_CONFIG_PATH=there/lib/pkgconfig pkg-config --cflags --libs kipt) \
		>"$1.log" 2>&1 || { not_ok "library_$1_builds" "$(cat "$1.log")"; return 1; }
}

# What it adds to a program are names of its own, and a header that C++ has, too.
library_names() {
	same "library_names" "libkipt" "$(nm there/lib/libkipt.a |
		sed -n 's/^[0-9a-f]* [A-TV-Z] \([a-z]*\)_.*/\1/p' | sort -u)"
	same "library_header" "" "$(for compiler in "gcc -std=c99 -xc" "g++ -xc++"; do
		echo '#include <libkipt.h>' | $compiler -Wall -Wextra -pedantic \
			-fsyntax-only -Ithere/include - 2>&1
	done)"
}

# counted_as_totals NAME FILE: the functions that are called most
counted_as_totals() {
	./count_calls "$2" >counted 2>err
	same "library_$1" "$("$KIPT" decode "$2" --totals --top 0 --json 2>/dev/null |
		python3 -c '
import json, sys
for line in map(json.loads, sys.stdin):
    if line["type"] == "total" and line["calls"]:
        name = line.get("symbol") or line.get("offset") or line["ip"]
        print("%8d  %s [%s]" % (line["calls"], name, line.get("object", "unknown")))' |
		sort -k1,1nr -k2 | head)" "$(sort -k1,1nr -k2 counted)"
	same "library_$1_prints_no_more" 0 "$(wc -c <err)"
}

# A program that calls a function which has a name, once.
library_named() {
	printf '%s\n' '.globl _start, inner' '.type _start, @function' '_start: call *%rax' \
		'.size _start, . - _start' '.org 16' '.type inner, @function' 'inner: nop' \
		'nop' '.size inner, . - inner' >named.s
	gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,--build-id=sha1 -o named \
		named.s 2>/dev/null || { skip library_named "gcc makes no program"; return; }
	bytes $PSB 02 23 99 01 51 00 10 40 00 2D 10 10 3D 10 10 01 >named.pt
	python3 "$HERE/make_perf.py" named.data named.pt map=named@0x400000
	counted_as_totals named named.data
	same "library_named_call" "1 inner [named]" "$(sed 's/^ *//; s/  / /' counted)"
}

# What the example counts is what the tool counts.
library_counts() {
	local dir=$ROOT/selftests/perf/small id
	library_build count_calls "$ROOT/tools/kipt/example/count_calls.c" || return
	same "library_counts_error" "cannot read none: No such file or directory (ENOENT)" \
		"$(./count_calls none 2>&1)"
	library_named
	if ! command -v zstd >/dev/null; then
		skip "library_kept" "no zstd"
		return
	fi
	kept_unpack "$dir"
	export PERF_BUILDID_DIR=ids
	counted_as_totals kept kept.data
	unset PERF_BUILDID_DIR
	same "library_kept_calls" "3 871" "$(awk '{ n++; sum += $1 } END { print n, sum }' counted)"
}

# A program of two instructions.
library_use() {
	local line
	library_build use "$HERE/libkipt_test.c" || return
	bytes $CODE >two.dump
	head -c 4078 /dev/zero >>two.dump
	bytes 00 10 40 00 00 00 00 00 >two.addr
	bytes $TRACE >two.pt
	cp two.pt cpu3.pt
	bytes $PSB 02 23 99 01 51 00 10 40 00 04 $PSB 99 01 5D 04 10 40 00 02 23 \
		2D 10 10 3D 10 10 01 >reached.pt
	python3 "$HERE/make_perf.py" two.data two.pt elf=two
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "${line#ok * }" ;;
		"not ok "*) not_ok "${line#not ok * }" "libkipt_test says so" ;;
		"KTAP "* | "# "* | 1..*) ;;
		*) not_ok "library_prints_nothing" "$line" ;;
		esac
	done < <(./use two.data two.pt two 2>&1 || echo "not ok 0 library_use_ends_well")
}

library_tests() {
	if ! MAKEFLAGS='' make -s -C "$ROOT" install-tool PREFIX="$WORK/there" \
		>install.log 2>&1; then
		not_ok "library_installs" "$(cat install.log)"
		return
	fi
	same "library_installs" "bin/kipt include/libkipt.h lib/libkipt.a lib/pkgconfig/kipt.pc share/bash-completion/completions/kipt share/fish/vendor_completions.d/kipt.fish share/kipt/kipt.schema.json share/man/man1/kipt.1 share/zsh/site-functions/_kipt" \
		"$(cd there && find . -type f ! -name 'kipt-*.1' | sed 's:^\./::' | sort | paste -sd ' ')"
	same "library_installs_a_page_for_each_verb" \
		"$("$KIPT" --help | sed -n '/^Verbs:/,/^$/s:^  \([a-z]*\) .*:kipt-\1.1:p' | sort)" \
		"$(cd there/share/man/man1 && printf '%s\n' kipt-*.1)"
	library_names
	library_counts
	library_use
	# It has no module to remove.
	MAKEFLAGS='' make -s -C "$ROOT" uninstall DESTDIR="$WORK/there" PREFIX='' KDIR=/none \
		>uninstall.log 2>&1
	same "library_uninstalls" "" "$(find there -type f)"
}
