# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Runs the tool for a test, in a folder of its own that goes away in the end.
# Needs ktap.sh. Sourced.

KIPT=$(realpath "$1")
# What is built for the tests.
# shellcheck disable=SC2034
PROGRAMS=$(dirname "$KIPT")
WORK=$(mktemp -d)
# A process that the shell has only just forked still has the shell's handlers: a signal that ends
# it would remove the folder.
trap '[ $BASHPID != $$ ] || rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

# is_short: whether what takes a while is left out or done less often
is_short() {
	[ -n "${KIPT_TEST_SHORT:-}" ]
}

# fewer WHOLE SHORT: how many seeds, threads or events there are, or are if is_short
fewer() {
	if is_short; then
		echo "$2"
	else
		echo "$1"
	fi
}

# run ARGS...: output in $OUT, errors in $ERR, exit status in $STATUS
run() {
	# shellcheck disable=SC2034
	OUT=$("$KIPT" "$@" 2>err </dev/null)
	STATUS=$?
	ERR=$(<err)
}

# interrupted DELAY PROGRAM ARGS...: what it prints, and its exit status, with SIGINT that it gets
# DELAY seconds after it began to catch it; it has a minute to end
interrupted() {
	python3 -c 'import re, subprocess, sys, time
program = subprocess.Popen(sys.argv[2:])
def catches():
    with open(f"/proc/{program.pid}/status") as status:
        caught = re.search(r"SigCgt:\s*(\w+)", status.read())
    return caught and int(caught[1], 16) >> 1 & 1
end = time.time() + 60
while program.poll() is None and not catches() and time.time() < end:
    time.sleep(0.002)
time.sleep(float(sys.argv[1]))
program.send_signal(2)
try:
    sys.exit(program.wait(60))
except subprocess.TimeoutExpired:
    program.kill()
    sys.exit("it does not end")' "$@"
}

# has_line PATTERN TEXT: as `grep -qE -e PATTERN <<<TEXT`, without a process
has_line() {
	local line
	while IFS= read -r line; do
		[[ ! $line =~ $1 ]] || return 0
	done <<<"$2"
	return 1
}

# refused NAME STATUS PATTERN ARGS...: exit status and sentence
refused() {
	local name=$1 status=$2 pattern=$3
	shift 3
	run "$@"
	if [ "$STATUS" = "$status" ] && has_line "$pattern" "$ERR"; then
		ok "$name"
	else
		not_ok "$name" "exit $STATUS, want $status and '$pattern'
$ERR"
	fi
}
