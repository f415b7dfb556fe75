# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Pages whose commands can be run anywhere print what they show. Sourced by
# tool_test.sh.

run_doc() {
	python3 "$HERE/run_doc.py" "$1" "$ROOT/docs/tutorial" "$KIPT"
}

# page NAME: each of its commands
page() {
	local line number=0
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "$1 $((++number)): ${line#ok }" ;;
		"not ok "*) not_ok "$1 $((++number)): ${line#not ok }" "prints something else" ;;
		*) echo "# $line" ;;
		esac
	done < <(run_doc "$ROOT/docs/$1.md")
}

docs_tests() {
	page tutorial
	page cookbook
	if command -v parallel >/dev/null; then
		page many-machines
	else
		skip "many-machines" "no GNU parallel"
	fi
	if command python3 -c 'import jsonschema' 2>/dev/null; then
		page json
	else
		skip "json" "no Python package jsonschema"
	fi
	# A page that shows another number, or a line more, is noticed.
	sed 's/^          2.903 us/          2.904 us/' "$ROOT/docs/tutorial.md" >other.md
	same "docs_notice_a_number" 1 "$(run_doc other.md | grep -c '^not ok')"
	sed 's/^    DA:56,3$/&\n    DA:57,3/' "$ROOT/docs/tutorial.md" >other.md
	same "docs_notice_a_line" 1 "$(run_doc other.md | grep -c '^not ok')"
}
