# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The debug kernels, built in the trixie root from the distribution's own
# source with the configurations in kernel/. What a machine boots and what a
# module is built against is kept, source and objects are not. Stamps and
# order are the caller's decision.

# What a kernel's build needs beyond a module's. They go into the trixie root
# when first asked for and are no part of its key: nothing else depends on
# them.
KERNEL_BUILD_PACKAGES=(flex bison libssl-dev openssl)

# The source, its objects, and what is said while they are made.
kernel_work()
{
	echo "$CACHE/kernel-build"
}

# A build runs beside whatever else this computer does, so it gives way.
make_kernel()
{
	in_trixie env --chdir=/ nice -n 10 make -s -C "$(kernel_work)/source" \
		O="$(kernel_work)/$1" -j "${KIPT_JOBS:-$(nproc)}" "${@:2}"
}

have_build_packages()
{
	local dir package
	dir=$(root_dir trixie)

	for package in "${KERNEL_BUILD_PACKAGES[@]}"; do
		enter_root "$dir" dpkg-query -W -f '${db:Status-Status}' \
			"$package" 2>/dev/null | grep -qx installed || return 1
	done
}

# fetch_source_archive PACKAGE FILE: the archive out of the source package.
fetch_source_archive()
{
	local package=$1 debs
	debs=$(kernel_work)/debs

	rm -rf "$debs"
	mkdir -p "$debs"
	in_trixie env --chdir "$debs" apt-get -o APT::Sandbox::User=root \
		download "$package" >"$CACHE/log/kernel-source" 2>&1 ||
		die "package $package not in suite trixie of the mirror: $(grep -m 1 '^E:' "$CACHE/log/kernel-source")"
	dpkg --fsys-tarfile "$debs"/*.deb |
		tar -xO --wildcards './usr/src/*.tar.xz' >"$2"
	rm -rf "$debs"
}

# unpack_source PACKAGE: into kernel_work's folder.
unpack_source()
{
	local work
	work=$(kernel_work)

	rm -rf "$work/source" "$work/source.stamp"
	mkdir -p "$work/source"
	fetch_source_archive "$1" "$work/source.tar.xz"
	in_trixie xz -T2 -dc "$work/source.tar.xz" |
		tar -x -C "$work/source" --strip-components=1
	rm "$work/source.tar.xz"
}

kernel_fragments()
{
	cat "$TREE/tools/vm/kernel/base.config" "$TREE/tools/vm/kernel/$1.config"
}

# unheard_wishes CONFIG WISHES: options that the configuration does not have
# as they were asked for, since something they need is missing.
unheard_wishes()
{
	local name value

	grep '^CONFIG_' "$2" | while IFS='=' read -r name value; do
		case $value in
		n) ! grep -q "^$name=" "$1" || echo "$name=n" ;;
		*) grep -qxF "$name=$value" "$1" || echo "$name=$value" ;;
		esac
	done
}

# Everything that the fragments do not ask for is left out. The last line of
# what it prints says why it failed.
configure_kernel()
{
	local objects unheard
	objects=$(kernel_work)/$1

	mkdir -p "$objects"
	kernel_fragments "$1" >"$objects/wishes"
	make_kernel "$1" KCONFIG_ALLCONFIG="$objects/wishes" allnoconfig || return
	unheard=$(unheard_wishes "$objects/.config" "$objects/wishes")
	[[ -z $unheard ]] && return
	echo "it cannot have ${unheard//$'\n'/, } of tools/vm/kernel"
	return 1
}

build_debug_kernel()
{
	local kernel=$1 start=$SECONDS
	local log=$CACHE/log/kernel-$kernel

	configure_kernel "$kernel" >"$log" 2>&1 ||
		die "kernel $kernel is not configured: $(tail -n 1 "$log")"
	make_kernel "$kernel" bzImage modules >>"$log" 2>&1 ||
		die "kernel $kernel does not build: $(grep -m 1 -E 'error|Error' "$log") (log: $log)"
	say "kernel $kernel: built in $((SECONDS - start)) s"
}

# A headers tree such as a distribution packages, by the kernel's own script.
take_headers()
{
	# shellcheck disable=SC2016
	in_trixie sh -euc 'cd "$1"
		export srctree="$2" SRCARCH=x86 CC=gcc HOSTCC=gcc MAKE=make
		sh "$srctree/scripts/package/install-extmod-build" "$3"' \
		sh "$(kernel_work)/$1" "$(kernel_work)/source" "$2"
}

take_debug_kernel()
{
	local kernel=$1 objects target release
	objects=$(kernel_work)/$kernel
	target=$(kernel_dir "$kernel").new

	release=$(<"$objects/include/config/kernel.release")
	rm -rf "$target"
	mkdir -p "$target/lib/modules"
	cp "$objects/arch/x86/boot/bzImage" "$target/vmlinuz"
	cp "$objects/.config" "$target/config"
	in_trixie strip -g -o "$target/vmlinux" "$objects/vmlinux"
	make_kernel "$kernel" INSTALL_MOD_PATH="$target" modules_install \
		>>"$CACHE/log/kernel-$kernel" 2>&1
	rm -f "$target/lib/modules/$release"/{build,source}
	take_headers "$kernel" "$target/build" >>"$CACHE/log/kernel-$kernel" 2>&1
	cp "$objects/.config" "$target/build/.config"
	echo "$release" >"$target/release"
	rm -rf "$(kernel_dir "$kernel")"
	mv "$target" "$(kernel_dir "$kernel")"
}
