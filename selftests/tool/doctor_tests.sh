# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# kipt doctor on machines whose files are in a folder, and whose CPU and module
# fake_machine.c makes up. Sourced by tool_test.sh.

# doctor_file PATH TEXT: a file of that machine
doctor_file() {
	mkdir -p "root$(dirname "$1")"
	printf '%s\n' "$2" >"root$1"
}

# A machine on which nothing is in the way, of root.
doctor_root() {
	rm -rf root
	doctor_file /proc/cpuinfo "flags		: fpu vme"
	doctor_file /proc/sys/kernel/osrelease 6.12.1-made-up
	doctor_file /proc/sys/kernel/perf_event_paranoid 2
	doctor_file /proc/self/status "CapEff:	000001ffffffffff"
	doctor_file /proc/kallsyms "0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text"
	doctor_file /proc/self/uid_map "         0          0 4294967295"
	doctor_file /proc/meminfo "MemAvailable:    4194304 kB"
	doctor_file /sys/kernel/kexec_crash_loaded 1
	doctor_file /sys/kernel/security/lockdown "[none] integrity confidentiality"
	doctor_file /sys/bus/event_source/devices/intel_pt/type 8
	doctor_file /usr/bin/perf ""
	doctor_file /usr/lib/debug/boot/vmlinux-6.12.1-made-up ""
}

# doctor NAME STATUS STATES LAST VARIABLE=... [-- OPTION...]: the states of all checks, in
# order, by their first letters, and the last line
doctor() {
	local name=$1 wanted=$2 states=$3 last=$4 variables=()
	shift 4
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	OUT=$(env "${variables[@]}" "$fake" doctor --root root "${@:2}" 2>err </dev/null)
	same "doctor_$name" "$wanted $states $last" "$? $(sed -nE \
		's/^[a-z-]+ +(good|note|bad) .*/\1/p' <<<"$OUT" | cut -c1 | paste -sd '') $(
		tail -n 1 <<<"$OUT")"
}

# doctor_does NAME WORDS: what is to be done
doctor_does() {
	same "doctor_$1" 1 "$(grep -c -e "^ *-> .*$2" <<<"$OUT")"
}

doctor_tests() {
	local fake all="trace: yes, open: yes, arm: yes" none="trace: no, open: yes, arm: no"
	fake=$(dirname "$KIPT")/kipt_fake
	if [ ! -x "$fake" ]; then
		skip "doctor" "kipt_fake is not built beside the tool"
		return
	fi
	doctor_root
	doctor all_good 0 gggggggg "$all" FAKE_PT=1 FAKE_MODULE=all
	same "doctor_good_has_nothing_to_do" 0 "$(grep -c -e '->' <<<"$OUT")"
	doctor no_pt 1 bggggggg "$none" FAKE_MODULE=all
	doctor_does no_pt_says_where firmware
	doctor_file /proc/cpuinfo "flags		: fpu hypervisor vme"
	doctor hidden_pt 1 bggggggg "$none" FAKE_MODULE=all
	doctor_does hidden_pt_says_how "trace on the host"
	doctor_root
	doctor_file /proc/self/status "CapEff:	0000000000000000"
	doctor user 1 ggbggggg "$none" FAKE_PT=1 FAKE_MODULE=all
	doctor_does user_says_how cap_perfmon
	doctor user_opens 0 gggg "open: yes" FAKE_PT=1 FAKE_MODULE=all -- --for open
	doctor_file /proc/self/status "CapEff:	0000004000000000"
	doctor perfmon 0 ggnggggg "$all" FAKE_PT=1 FAKE_MODULE=all
	doctor_does perfmon_knows_what_is_roots "is for root"
	doctor_root
	doctor_file /proc/self/uid_map "         0       1000          1"
	doctor container 1 ggbggggg "$none" FAKE_PT=1 FAKE_MODULE=all
	doctor_does container_says_where "outside the container"
	doctor_root
	doctor_file /sys/kernel/security/lockdown "none integrity [confidentiality]"
	doctor confidential 1 gbgggggg "$none" FAKE_PT=1 FAKE_MODULE=all
	doctor_root
	doctor_file /proc/sys/kernel/perf_event_paranoid -1
	doctor not_paranoid 0 gggggggg "$all" FAKE_PT=1 FAKE_MODULE=all
	same "doctor_not_paranoid_text" 1 "$(grep -c "perf_event_paranoid is -1" <<<"$OUT")"
	doctor_root
	doctor_file /proc/sys/kernel/perf_event_paranoid 3
	doctor_file /proc/kallsyms "0000000000000000 T _text"
	doctor_file /proc/meminfo "MemAvailable:      65536 kB"
	doctor_file /sys/kernel/kexec_crash_loaded 0
	rm root/usr/lib/debug/boot/vmlinux-6.12.1-made-up
	doctor notes 0 gggnnnnn "$all" FAKE_PT=1 FAKE_MODULE=all DEBUGINFOD_URLS=
	same "doctor_note_has_what_to_do" 5 "$(grep -c -e '->' <<<"$OUT")"
	env FAKE_PT=1 FAKE_MODULE=all "$fake" doctor --root root --json >json 2>/dev/null
	same "doctor_json" "0 9 5" "$? $(wc -l <json) $(python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
assert lines[-1] == {"type": "doctor", "trace": True, "open": True, "arm": True}
print(sum("do" in line for line in lines))' <json)"
	if [ ! -d /sys/module/kipt ]; then
		doctor_root
		doctor_file /sys/kernel/security/lockdown "none [integrity] confidentiality"
		doctor no_module_locked_down 1 gbgggggg "$none" FAKE_PT=1
		doctor_does no_module_locked_down_says_all "linux-headers.*mokutil.*modprobe"
		doctor_root
		doctor no_module 1 gbgggggg "$none" FAKE_PT=1
		doctor_does no_module_says_how "linux-headers-6.12.1-made-up, then the package kipt-dkms"
		doctor_file /lib/modules/6.12.1-made-up/modules.dep "updates/kipt.ko.xz: a.ko"
		doctor not_loaded 1 gbgggggg "$none" FAKE_PT=1
		doctor_does not_loaded_says_how "modprobe kipt$"
		doctor_file /sys/kernel/security/lockdown "none [integrity] confidentiality"
		doctor locked_down 1 gbgggggg "$none" FAKE_PT=1
		doctor_does locked_down_says_how mokutil
	fi
	mkdir -p no_files
	OUT=$(FAKE_PT=1 FAKE_MODULE=all "$fake" doctor --root no_files 2>&1)
	same "doctor_without_files" "0 8" "$? $(grep -cE '^[a-z-]+ +(good|note|bad) ' <<<"$OUT")"
	refused doctor_for_twice 2 "none of trace" doctor --for trace --for fly
	refused doctor_for 2 "none of trace, open, arm" doctor --for fly
}
