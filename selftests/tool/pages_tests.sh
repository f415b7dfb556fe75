# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Manual pages, which the build makes from the table of verbs and puts beside the tool:
# they have the verbs and options of the help. Sourced by tool_test.sh.

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

options_are_those_of_help() {
	local verb kind want
	for verb in $(listed_verbs); do
		want=$(help_options "$verb")
		for kind in page; do
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

# A text of an option that is gone would be in no page.
texts_fit() {
	cp -R "$ROOT/tools/kipt/pages/man" texts
	mkdir -p made/man
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
	texts_fit
}
