#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: selftests/tool/recordings_test.sh KIPT FOLDER
#
# What `kipt record -o FILE.data` left in FOLDER, in the test machine: perf reads it
# without complaint, and sees each branch that KIPT sees. Runs where the machine's
# programs are, at the paths they have there. Prints KTAP.
set -uo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/tool/ktap.sh
. "$HERE/ktap.sh"
KIPT=$(realpath "$1")
FOLDER=$(realpath "$2")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

# branches_of_perf FILE [ITRACE]: from and to of each branch, without begin and end of trace.
# With "be" for ITRACE a line is "error" where perf had an error.
branches_of_perf() {
	perf script --itrace="${2:-b}" -F ip,addr,flags -i "$1" 2>err | awk '
		/^ *tr (strt|end)/ { next }
		/instruction trace error/ { print "error"; next }
		{ sub("=>", ""); print $(NF - 1), $NF }'
	# Of the host, of the vDSO, or of symbols that nobody needs here.
	grep -v -e 'read max cpus' -e '^Warning:$' -e 'instruction trace errors' \
		-e 'No kallsyms or vmlinux' err >&2
}

branches_of_kipt() {
	"$KIPT" decode --branches "$1" 2>err |
		awk '$1 ~ /^[0-9a-f]+$/ { for (i = 2; $i != "->"; i++); print $1, $(i + 1) }'
	grep -v -e '^[0-9]* branches' -e 'vdso' -e 'perf archive' -e 'code was changed' err >&2
}

# unlike OURS THEIRS FILE: where branches differ, but for what follows an entry into the
# vDSO: the recorded kernel's is not here, so kipt shows gaps, and perf takes this one's.
unlike() {
	perf script --show-mmap-events -i "$3" 2>/dev/null | grep -F '[vdso]' >vdso
	python3 - "$1" "$2" <<-'END'
	import re, sys
	ours, theirs = ([tuple(int(x, 16) for x in line.split()) for line in open(name)]
	                for name in sys.argv[1:])
	vdso = [(int(a, 16), int(a, 16) + int(n, 16)) for a, n in
	        re.findall(r"\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\)", open("vdso").read())]
	REACH, SAME = 64, 4
	def in_vdso(edge):
	    return any(begin <= end < last for end in edge for begin, last in vdso)
	def resync(i, j):
	    """The nearest places from which several are the same again."""
	    for ahead in range(2 * REACH):
	        for a in range(max(0, ahead - REACH), min(ahead, REACH) + 1):
	            at = ours[i + a:i + a + SAME]
	            if at and at == theirs[j + ahead - a:j + ahead - a + SAME]:
	                return i + a, j + ahead - a
	    return None
	i = j = 0
	while i < len(ours) and j < len(theirs):
	    if ours[i] == theirs[j]:
	        i, j = i + 1, j + 1
	        continue
	    near = ours[max(0, i - REACH):i + 1] + theirs[max(0, j - REACH):j + 1]
	    there = resync(i, j) if any(map(in_vdso, near)) else None
	    if not there:
	        sys.exit("branch %d: %x -> %x, perf has %x -> %x" % (i, *ours[i], *theirs[j]))
	    i, j = there
	if max(len(ours) - i, len(theirs) - j) > REACH:
	    sys.exit("one ends at branch %d of %d, perf's at %d of %d" %
	             (i, len(ours), j, len(theirs)))
	END
}

# kernel_unlike OURS THEIRS: where branches of the kernel differ. perf takes the vDSO of this
# kernel for that of the recorded one, and reports an error there. In the 500 branches after an
# error it may leave out others of the kernel without reporting it; THEIRS has these errors.
kernel_unlike() {
	grep -v error "$2" | diff "$1" - | awk '
		FILENAME != "-" {
			if ($1 == "error")
				error[count + 0]
			else
				count++
			next
		}
		/^[0-9]/ {
			split($0, range, "d")
			lost = 0
			for (at in error)
				lost += $0 ~ /d/ && range[2] - at >= 0 && range[2] - at <= 500
		}
		!lost && ++lines <= 20' "$2" -
}

# compared NAME FILE MIN: the same branches, at least so many, and no error elsewhere
compared() {
	branches_of_kipt "$FOLDER/$2" >ours 2>ours.err
	branches_of_perf "$FOLDER/$2" >theirs 2>theirs.err
	more_than "recording_$1_branches" "$3" "$(wc -l <ours)"
	same "recording_$1_same" "" "$(unlike ours theirs "$FOLDER/$2" 2>&1)"
	same "recording_$1_no_complaints" "" "$(cat ours.err theirs.err)"
}

more_than() {
	local verdict=no
	[ "$3" -gt "$2" ] && verdict=yes
	same "$1" yes "$verdict"
}

ktap_start
compared user user.data 1000
perf report --itrace=b --stdio -s comm -i "$FOLDER/user.data" >out 2>err
same "recording_report" "0 gzip sh true" "$? $(awk '$2 ~ /^(gzip|sh|true)$/ { print $2 }' out |
	sort | paste -sd ' ')"
perf inject -i "$FOLDER/user.data" -o injected.data >out 2>err
same "recording_inject" "0 " "$? $(cat out; grep -v 'read max cpus' err)"
branches_of_perf injected.data >theirs
branches_of_kipt "$FOLDER/user.data" >ours
same "recording_injected_same" "" "$(unlike ours theirs "$FOLDER/user.data" 2>&1)"
branches_of_kipt "$FOLDER/kernel.data" 2>ours.err | grep '^ffff.* ffff' >ours
branches_of_perf "$FOLDER/kernel.data" be 2>theirs.err | grep -E '^(error|ffff.* ffff)' >theirs
more_than "recording_kernel_branches" 10000 "$(wc -l <ours)"
same "recording_kernel_same" "" "$(kernel_unlike ours theirs)"
same "recording_kernel_no_complaints" "" "$(cat ours.err theirs.err)"
same "recording_pid_is_whose" "$(cat "$FOLDER/pid")" \
	"$(perf script --itrace=b -F pid -i "$FOLDER/pid.data" 2>/dev/null | sort | uniq -c |
	sort -rn | awk 'NR == 1 { print $2 }')"
ktap_finish
