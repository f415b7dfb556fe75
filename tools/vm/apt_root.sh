# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian roots made by debootstrap: the mirror they come from, the packages
# in them, and running a command inside one. Needs root. What the packages
# are is the caller's decision; locking and stamps are cache.sh's.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The packages the host itself must have before a root can be made.
HOST_PACKAGES=(debootstrap debian-archive-keyring)

# The mirror of the Debian main archive that this machine's apt uses. apt
# itself reads its sources, so both of their formats are understood.
mirror_of_host()
{
	local known='(stable|oldstable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)'

	apt-get indextargets --format "\$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
		'Created-By: Packages' 2>/dev/null |
		awk -v known="^${known}\$" '$2 ~ known && $3 == "main" { print $1; exit }'
}

find_mirror()
{
	local mirror=${KIPT_MIRROR:-$(mirror_of_host)}

	[[ -n $mirror ]] ||
		die "apt's sources name no Debian archive with component main: set KIPT_MIRROR to one"
	echo "${mirror%/}"
}

# apt's own helper fetches, so the machine's proxy settings hold here too.
check_mirror()
{
	local probe
	probe=$(mktemp -d)
	if ! /usr/lib/apt/apt-helper download-file "$1/dists/trixie/InRelease" \
		"$probe/InRelease" >/dev/null 2>&1; then
		rm -rf "$probe"
		die "no network: the mirror $1 has no readable dists/trixie/InRelease (KIPT_MIRROR names another)"
	fi
	rm -rf "$probe"
}

install_host_packages()
{
	local package missing=()

	for package in "${HOST_PACKAGES[@]}"; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || missing+=("$package")
	done
	((${#missing[@]})) || return 0
	say "installing ${missing[*]}"
	{ apt-get -o Acquire::Check-Valid-Until=false update &&
		DEBIAN_FRONTEND=noninteractive apt-get install -y \
			--no-install-recommends "${missing[@]}"; } >"$CACHE/log/host-packages" 2>&1 ||
		die "cannot install ${missing[*]}: see $CACHE/log/host-packages"
}

# Settings of the host's apt that decide how a mirror is reached.
host_transport_settings()
{
	apt-config dump --no-empty --format '%F "%v";%n' Acquire |
		grep -E '^Acquire::(http|https|ftp|Retries|ForceIPv)' || true
}

write_apt_settings()
{
	local dir=$1 mirror=$2 suite
	shift 2

	{
		echo 'Acquire::Check-Valid-Until "false";'
		echo 'Acquire::Languages "none";'
		echo 'APT::Install-Recommends "false";'
		host_transport_settings
	} >"$dir/etc/apt/apt.conf.d/90kipt"
	rm -f "$dir"/etc/apt/sources.list.d/*
	for suite; do
		echo "deb $mirror $suite main"
	done >"$dir/etc/apt/sources.list"
	{
		echo force-unsafe-io
		echo path-exclude=/usr/share/doc/*
		echo path-exclude=/usr/share/man/*
		echo path-exclude=/usr/share/locale/*
	} >"$dir/etc/dpkg/dpkg.cfg.d/kipt"
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
	chmod 755 "$dir/usr/sbin/policy-rc.d"
}

# make_base DIR MIRROR SUITE [MORE-SUITES...]: a minimal root.
make_base()
{
	local dir=$1 mirror=$2 suite=$3 proxy

	rm -rf "$dir"
	mkdir -p "$dir"
	proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy | head -n 1)
	if [[ -n $proxy ]]; then
		export http_proxy=$proxy
	fi
	debootstrap --variant=minbase --keyring="$KEYRING" "$suite" "$dir" \
		"$mirror" >"$CACHE/log/debootstrap-$suite" 2>&1 ||
		die "debootstrap of $suite from $mirror failed: $(tail -n 1 "$CACHE/log/debootstrap-$suite")"
	write_apt_settings "$dir" "$mirror" "${@:3}"
}

update_index()
{
	enter_root "$1" apt-get update >"$CACHE/log/apt-update" 2>&1 ||
		die "apt cannot read the index: $(grep -m 1 '^E:' "$CACHE/log/apt-update")"
}

# install_packages DIR SUITE PACKAGE...: names the first package SUITE lacks.
install_packages()
{
	local dir=$1 suite=$2 log package
	log=$CACHE/log/install-$(basename "$dir")
	shift 2

	for package; do
		enter_root "$dir" apt-cache show "${package%%=*}" >/dev/null 2>&1 ||
			die "package $package not in suite $suite of the mirror"
	done
	enter_root "$dir" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -t "$suite" "$@" >>"$log" 2>&1 ||
		die "cannot install in root $(basename "$dir"): $(grep -m 1 -E '^(E:|dpkg: error)' "$log") (log: $log)"
}

# enter_root DIR COMMAND...: runs COMMAND in the root, with /proc, /dev, and
# every folder of the array BINDS at the path it has here, or of FOLDER::PATH at PATH. The
# mounts are private to the command and vanish with it. Compilers are those of ccache if CCACHE_DIR
# names its folder, which is one of BINDS then.
enter_root()
{
	local dir=$1
	shift

	# shellcheck disable=SC2016
	unshare --mount --propagation private -- bash -euc '
		dir=$1 count=$2; shift 2
		for ((; count > 0; count--)); do
			mkdir -p "$dir${1##*::}"
			mount --rbind "${1%%::*}" "$dir${1##*::}"
			shift
		done
		mount -t proc proc "$dir/proc"
		mount --rbind /dev "$dir/dev"
		cat /etc/resolv.conf >"$dir/etc/resolv.conf" 2>/dev/null || true
		cat /etc/hosts >"$dir/etc/hosts" 2>/dev/null || true
		exec chroot "$dir" "$@"
	' enter_root "$dir" "${#BINDS[@]}" "${BINDS[@]}" \
		env LC_ALL=C.UTF-8 PATH="${CCACHE_DIR:+/usr/lib/ccache:}"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin "$@"
}
BINDS=()
