# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The perf that belongs to each kernel, as a folder that runs in any root: the program,
# every library it needs, and `perf`, which starts it with these. Stamps and order are
# the caller's decision.

perf_dir()
{
	echo "$CACHE/perf/$1"
}

# The suite whose linux-perf has the version of a kernel.
perf_suite_of()
{
	case $1 in
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	new) echo trixie-backports ;;
	esac
}

# take_perf KERNEL: packages go no further than the folder, the root stays as it is.
take_perf()
{
	local kernel=$1 dir root work library log=$CACHE/log/perf-$1
	dir=$(perf_dir "$kernel") root=$(root_dir "$(root_of_kernel "$kernel")")
	work=$dir.work

	rm -rf "$dir" "$work"
	mkdir -p "$work/debs/partial" "$work/root" "$dir/lib"
	BINDS=("$CACHE")
	enter_root "$root" apt-get -o APT::Sandbox::User=root \
		-o Dir::Cache::archives="$work/debs" install -y --download-only --reinstall \
		-t "$(perf_suite_of "$kernel")" linux-perf >"$log" 2>&1 ||
		die "no linux-perf of suite $(perf_suite_of "$kernel"): $(grep -m 1 '^E:' "$log")"
	for library in "$work"/debs/*.deb; do
		dpkg-deb -x "$library" "$work/root"
	done
	cp -L "$work/root/usr/bin/perf" "$dir/program"
	# shellcheck disable=SC2016
	enter_root "$root" env LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" \
		sh -euc 'ldd "$1" >"$2/needs"
		! grep -F "not found" "$2/needs"
		grep -o "/[^ ]*" "$2/needs" | while read -r file; do
			cp -L "$file" "$2/lib/"
		done' - "$dir/program" "$dir" >>"$log" 2>&1 ||
		die "a library of perf for kernel $kernel is missing: $(tail -n 1 "$log")"
	BINDS=()
	cat >"$dir/perf" <<'END'
#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" --argv0 perf \
	"$here/program" "$@"
END
	chmod 755 "$dir/perf"
	rm -rf "$work" "$dir/needs"
}
