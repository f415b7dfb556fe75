# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Manual pages and completions, which the build makes from the table of verbs and puts
# beside the tool: they have the verbs and options of the help. Sourced by tool_test.sh.

# Verbs that `kipt --help` lists.
listed_verbs() {
	"$KIPT" --help | awk '/^Verbs:/ { on = 1; next } on && !NF { exit } on { print $1 }'
}

# Options of the help of a verb, one a line.
help_options() {
	"$KIPT" "$1" --help | sed -n '/^Options:/,/^$/p' |
		grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort
}

page_options() {
	sed -n '/^\.SH OPTIONS/,/^\.SH EX/p' "$PAGES/man/kipt-$1.1" | grep -A 1 '^\.TP' |
		sed 's/\\-/-/g; s/\\f.//g' | grep -oE -- '--[a-z][a-z-]*' | sort
}

# verb_of_case FILE VERB: the branch of a verb in the shell's `case`
verb_of_case() {
	sed -n "/^	$2)$/,/^	[a-z]*)$/p" "$PAGES/completions/$1"
}

bash_options() {
	verb_of_case kipt "$1" | grep -m 1 options= | grep -oE -- '--[a-z-]+' | sort
}

zsh_options() {
	verb_of_case _kipt "$1" | sed 's/\[.*//; s/_arguments.*{/{/' |
		grep -oE -- '--[a-z][a-z-]*' | sort
}

fish_options() {
	{ echo --help; sed -n "s/.*'__kipt_verb $1' -l \([a-z-]*\).*/--\1/p" \
		"$PAGES/completions/kipt.fish"; } | sort
}

options_are_those_of_help() {
	local verb kind want
	for verb in $(listed_verbs); do
		want=$(help_options "$verb")
		for kind in page bash zsh fish; do
			same "pages_${kind}_$verb" "${want:-options}" "$(${kind}_options "$verb")"
		done
	done
}

# What a program says of files, which is nothing: checked NAME COMMAND...
checked() {
	local name=$1
	shift
	if type "$1" >/dev/null 2>&1; then
		same "pages_$name" "" "$("$@" 2>&1)"
	else
		skip "pages_$name" "there is no $1"
	fi
}

# completes WANT WORD...: what bash offers for the last word
completes() {
	local want=$1
	shift
	# shellcheck disable=SC2016
	same "pages_bash_completes_${*:2}" "$want" "$(bash -c '. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_kipt
		printf "%s\n" "${COMPREPLY[@]}" | sort -u | paste -sd " "' \
		"$PAGES/completions/kipt" "$@")"
}

bash_completes() {
	touch trace.pt
	mkdir -p trace.dir
	completes "decode delete diff disarm doctor" kipt d
	completes "--version" kipt --ver
	completes "--sym --symfs" kipt decode --sy
	completes "trace.dir trace.pt" kipt diff trace
	completes "trace.dir trace.pt" kipt decode trace
	completes "trace.dir" kipt decode --dir trace
	completes "once ring" kipt start --mode ""
	completes "once" kipt start --mode = o
	completes "" kipt start --cpus ""
	completes "" kipt stop ""
	completes "list" kipt crash li
	install -m 755 /dev/null trace.dir/frobnicate
	PATH=$PWD/trace.dir:$PATH completes "frobnicate" kipt record -- frobni
	completes "trace.dir trace.pt" kipt record -- bash trace
}

fish_completes() {
	if ! type fish >/dev/null 2>&1; then
		skip "pages_fish_completes" "there is no fish"
		return
	fi
	# shellcheck disable=SC2016
	same "pages_fish_completes" "--sym --symfs once ring trace.dir/ list" "$(fish -c '
		source $argv[1]
		for line in "kipt decode --sym" "kipt start --mode " \
				"kipt decode --dir trace" "kipt crash li"
			complete -C $line
		end' "$PAGES/completions/kipt.fish" | cut -f 1 | paste -sd " ")"
}

# A text of an option that is gone would be in no page.
texts_fit() {
	cp -R "$ROOT/tools/kipt/pages/man" texts
	mkdir -p made/man made/completions
	printf '%s\n' '.\" @ decode --frobnicate N' 'Does it N times.' >>texts/options.text
	same "pages_text_of_no_option" \
		"kipt: options.text: no verb has the option 'decode --frobnicate N' 1" \
		"$("$PAGES/make_pages" texts made 2>&1) $?"
}

pages_tests() {
	local PAGES
	PAGES=$(dirname "$KIPT")
	same "pages_are_those_of_the_verbs" \
		"$({ echo kipt.1; listed_verbs | sed 's/.*/kipt-&.1/'; } | sort)" \
		"$(find "$PAGES/man" -name '*.1' -printf '%f\n' | sort)"
	same "pages_index_lists_the_verbs" "$(listed_verbs)" \
		"$(sed -n 's/^\.BR kipt\\-\([a-z]*\) (1)$/\1/p' "$PAGES/man/kipt.1" |
			awk '!seen[$0]++')"
	options_are_those_of_help
	checked "lint" mandoc -T lint -W warning "$PAGES"/man/*.1
	checked "bash_parses" bash -n "$PAGES/completions/kipt"
	checked "zsh_parses" zsh -n "$PAGES/completions/_kipt"
	checked "fish_parses" fish -n "$PAGES/completions/kipt.fish"
	bash_completes
	fish_completes
	texts_fit
}
