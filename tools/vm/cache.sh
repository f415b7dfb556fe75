# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The cache outside the clone: where each thing lies, which kernels there are,
# and how a half made thing differs from a whole one. Sourced by every script
# here. How a root is filled is apt_root.sh's business, what the guest boots
# from is guest_image.sh's.

# shellcheck disable=SC2034
TREE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
CACHE=${KIPT_CACHE:-/var/cache/kipt}

# The kernels under test, by the short name every script takes: Debian's, and
# the two that `setup --debug` and `--kcsan` build.
KERNELS=(6.1 6.12 new)
DEBUG_KERNELS=(debug kcsan)

# say TEXT...: one progress line. Progress goes to stderr, so that stdout
# belongs to the command that was asked for.
say()
{
	printf 'tools/vm: %s\n' "$*" >&2
}

# die TEXT...: the one line that explains a failure.
die()
{
	say "$@"
	exit 1
}

# usage_error TEXT...: a command line that was not understood.
usage_error()
{
	say "$* (--help lists the options)"
	exit 2
}

# print_help FILE: the comment block under the licence is the help text.
print_help()
{
	sed -n '4,${/^[^#]/q;s/^# \{0,1\}//p}' "$1"
}

require_kernel()
{
	local kernel
	for kernel in "${KERNELS[@]}" "${DEBUG_KERNELS[@]}"; do
		[[ $kernel != "$1" ]] || return 0
	done
	usage_error "unknown kernel '$1', allowed: ${KERNELS[*]} ${DEBUG_KERNELS[*]}"
}

is_debug_kernel()
{
	[[ " ${DEBUG_KERNELS[*]} " == *" $1 "* ]]
}

# require_kernel_made KERNEL: a debug kernel is there only when asked for.
require_kernel_made()
{
	require_made
	[[ -f $(kernel_dir "$1").stamp ]] ||
		die "kernel $1 is not made: run tools/vm/setup --$1"
}

# The root whose headers and compiler belong to a kernel.
root_of_kernel()
{
	case $1 in
	6.1) echo bookworm ;;
	*) echo trixie ;;
	esac
}

# build_dir KERNEL: what a module is built against, as its root sees it.
build_dir()
{
	if is_debug_kernel "$1"; then
		echo "$(kernel_dir "$1")/build"
	else
		echo "/lib/modules/$(kernel_release "$1")/build"
	fi
}

root_dir()
{
	echo "$CACHE/roots/$1"
}

kernel_dir()
{
	echo "$CACHE/kernels/$1"
}

kernel_release()
{
	cat "$(kernel_dir "$1")/release"
}

# A thing is whole when the stamp beside it carries the key it was made from.
# The stamp is written last, so an interrupted run leaves none.
is_made()
{
	[[ -f $1.stamp && $(<"$1.stamp") == "$2" ]]
}

mark_made()
{
	printf '%s' "$2" >"$1.stamp.new"
	mv "$1.stamp.new" "$1.stamp"
}

# key_of TEXT...: a short name for everything that a made thing depends on.
key_of()
{
	printf '%s\n' "$@" | sha256sum | cut -c1-16
}

# Holds the cache for this process until it ends or lets go; a second run waits.
lock_cache()
{
	take_lock lock "setup"
}

# Building a kernel takes minutes in which nothing else here changes, so it has
# a lock of its own, and other runs find that all they need is there.
lock_kernel_builds()
{
	exec {CACHE_LOCK}>&-
	take_lock lock-debug "setup --debug"
}

take_lock()
{
	mkdir -p "$CACHE" 2>/dev/null || die "cannot make the cache folder $CACHE"
	exec {CACHE_LOCK}>"$CACHE/$1"
	flock -n "$CACHE_LOCK" && return
	say "another $2 is at work in $CACHE, waiting for it"
	flock "$CACHE_LOCK"
}

require_made()
{
	[[ -f $CACHE/setup.stamp ]] ||
		die "the machine is not set up in $CACHE: run tools/vm/setup"
}
