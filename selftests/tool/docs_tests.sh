# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Pages whose commands can be run anywhere print what they show. Sourced by
# tool_test.sh.

run_doc() {
	python3 "$HERE/run_doc.py" "$1" "$ROOT/docs/tutorial" "$KIPT"
}

docs_tests() {
	local line number=0
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "tutorial $((++number)): ${line#ok }" ;;
		"not ok "*) not_ok "tutorial $((++number)): ${line#not ok }" "prints something else" ;;
		*) echo "# $line" ;;
		esac
	done < <(run_doc "$ROOT/docs/tutorial.md")
	# A page that shows another number, or a line more, is noticed.
	sed 's/^          2.903 us/          2.904 us/' "$ROOT/docs/tutorial.md" >other.md
	same "docs_notice_a_number" 1 "$(run_doc other.md | grep -c '^not ok')"
	sed 's/^    DA:56,3$/&\n    DA:57,3/' "$ROOT/docs/tutorial.md" >other.md
	same "docs_notice_a_line" 1 "$(run_doc other.md | grep -c '^not ok')"
}
