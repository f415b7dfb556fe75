# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a guest boots from: the kernels taken out of their packages, one
# initramfs per kernel, and the file system image with the userland. Made from
# the roots of apt_root.sh, inside the trixie root's own tools.

# Modules that reach the image, the shared folders and the output ports. Names
# that a kernel has built in or does not have are passed over.
INITRAMFS_MODULES=(virtio_pci virtio_blk virtio_console 9pnet_virtio 9p erofs
	overlay qemu_fw_cfg)

# What guest/init calls, each a name of busybox.
INIT_COMMANDS=(cat chmod cp insmod mkdir mount poweroff sh sleep switch_root)

# Left out of the image: what only building and emulating needs.
IMAGE_EXCLUDES='\./((proc|sys|dev|run|tmp|boot|work|root)/.*|var/(cache|lib/apt)/.*|'\
'usr/(include|src|libx32)|usr/share/(doc|man|locale|qemu|seabios|gcc|bug|info|mime|icons)|'\
'usr/bin/(qemu-.*|(x86_64-linux-gnu-)?(gcc|cpp|lto|gcov).*)|'\
'usr/lib/(gcc|linux-kbuild.*|modules)|usr/lib(32|x32)?/.*\.a|usr/lib/x86_64-linux-gnu/(qemu|.*\.a)|'\
'usr/libexec/gcc)'

# The cache is seen in a root at its own path. Binds are read by enter_root.
in_root()
{
	# shellcheck disable=SC2034
	local name=$1 BINDS=("$CACHE")
	shift
	enter_root "$(root_dir "$name")" "$@"
}

in_trixie()
{
	in_root trixie "$@"
}

# newest_kernel ROOT KERNEL: the release of the newest KERNEL.x for which both
# image and headers are offered; of the newest of all for the kernel "new".
newest_kernel()
{
	local dir release series
	dir=$(root_dir "$1")
	series=${2//./\\.}
	[[ $2 != new ]] || series='[0-9]+\.[0-9]+'

	while read -r release; do
		if enter_root "$dir" apt-cache show "linux-headers-$release" >/dev/null 2>&1; then
			echo "$release"
			return
		fi
	done < <(enter_root "$dir" apt-cache pkgnames linux-image- |
		sed -n -E "s/^linux-image-($series[.-][0-9].*-amd64)\$/\1/p" |
		grep -v -E 'cloud|rt-|dbg|unsigned' | sort -rV)
	die "kernel $2: the mirror has no linux-image-$series.*-amd64 with its linux-headers for the root $1"
}

# Recent kernels come in several packages; older ones in linux-image alone.
kernel_packages()
{
	local dir=$1 release=$2 part

	echo "linux-image-$release"
	for part in binary modules base; do
		if enter_root "$dir" apt-cache show "linux-$part-$release" >/dev/null 2>&1; then
			echo "linux-$part-$release"
		fi
	done
}

# Takes vmlinuz and modules out of the packages without installing them: their
# hooks would make boot files that nothing here wants.
unpack_kernel()
{
	local root=$1 kernel=$2 release=$3 target packages deb
	target=$(kernel_dir "$kernel").new

	mapfile -t packages < <(kernel_packages "$(root_dir "$root")" "$release")
	rm -rf "$target"
	mkdir -p "$target"/{debs,tree,lib/modules}
	in_root "$root" env --chdir "$target/debs" \
		apt-get -o APT::Sandbox::User=root download "${packages[@]}" \
		>"$CACHE/log/kernel-$kernel" 2>&1 ||
		die "kernel $kernel: cannot download ${packages[*]}: $(grep -m 1 '^E:' "$CACHE/log/kernel-$kernel"); where the mirror has a newer release instead, tools/vm/setup --force takes that"
	for deb in "$target"/debs/*.deb; do
		dpkg -x "$deb" "$target/tree"
	done
	take_kernel_files "$target" "$release"
	rm -rf "$target/debs" "$target/tree"
	in_trixie depmod -b "$target" "$release"
	extract_vmlinux "$target/vmlinuz" "$target/vmlinux"
	echo "$release" >"$target/release"
	rm -rf "$(kernel_dir "$kernel")"
	mv "$target" "$(kernel_dir "$kernel")"
}

# Packages differ in where they keep the boot files: under /boot, or beside
# the modules.
take_kernel_files()
{
	local target=$1 release=$2 file

	find "$target/tree" -path "*lib/modules/$release" -prune \
		-exec mv {} "$target/lib/modules/" \;
	rm -f "$target/lib/modules/$release"/{build,source}
	find "$target/tree" "$target/lib/modules/$release" -maxdepth 3 -type f \
		\( -name 'vmlinuz*' -o -name 'config*' \) |
		while read -r file; do
			mv "$file" "$target/$(basename "$file" "-$release")"
		done
	[[ -f $target/vmlinuz ]] || die "no vmlinuz in the packages of kernel $release"
}

header_number()
{
	od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# The boot protocol's header says where the compressed kernel lies; its last
# four bytes are the unpacked size and belong to no compressor.
extract_vmlinux()
{
	local image=$1 start length magic unpack

	start=$((($(header_number "$image" 497 1) + 1) * 512 + $(header_number "$image" 584 4)))
	length=$(($(header_number "$image" 588 4) - 4))
	magic=$(od -An -t x1 -j "$start" -N 4 "$image" | tr -d ' ')
	case $magic in
	fd377a58) unpack=(xz -dc) ;;
	28b52ffd) unpack=(zstd -qdc) ;;
	1f8b*) unpack=(gzip -dc) ;;
	*) die "kernel $image is packed in an unknown way (magic $magic)" ;;
	esac
	head -c "$((start + length))" "$image" | tail -c "$length" >"$2.packed"
	in_trixie "${unpack[@]}" <"$2.packed" >"$2"
	rm "$2.packed"
}

# module_closure KERNEL: the files of INITRAMFS_MODULES and of what they need,
# in an order in which each can be loaded.
module_closure()
{
	local kernel=$1 release module
	release=$(kernel_release "$kernel")

	for module in "${INITRAMFS_MODULES[@]}"; do
		in_trixie modprobe -d "$(kernel_dir "$kernel")" -S "$release" \
			--show-depends "$module" 2>/dev/null || true
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

make_initramfs()
{
	local kernel=$1 dir work file name
	dir=$(kernel_dir "$kernel")
	work=$dir/initramfs

	rm -rf "$work"
	mkdir -p "$work"/{bin,dev,links,proc,sys,modules,lower,upper,newroot}
	cp "$(root_dir trixie)/usr/bin/busybox" "$work/bin/busybox"
	for name in "${INIT_COMMANDS[@]}"; do
		ln -s busybox "$work/bin/$name"
	done
	ln -s /proc/self/fd "$work/links/fd"
	ln -s /proc/self/fd/0 "$work/links/stdin"
	ln -s /proc/self/fd/1 "$work/links/stdout"
	ln -s /proc/self/fd/2 "$work/links/stderr"
	install -m 755 "$TREE/tools/vm/guest/init" "$work/init"
	module_closure "$kernel" | while read -r file; do
		name=$(basename "$file" .xz)
		case $file in
		*.xz) in_trixie xz -dc "$file" >"$work/modules/$name" ;;
		*) cp "$file" "$work/modules/$name" ;;
		esac
		echo "$name"
	done >"$work/modules/order"
	# shellcheck disable=SC2016
	in_trixie sh -euc 'cd "$1"; find . | cpio --quiet -o -H newc -R 0:0 >"$2"' \
		sh "$work" "$dir/initramfs.new"
	mv "$dir/initramfs.new" "$dir/initramfs.cpio"
	rm -rf "$work"
}

# The image is the trixie root less what a guest has no use for, with the
# modules of every kernel.
make_image()
{
	local stage=$CACHE/image.stage kernel

	rm -rf "$stage"
	mkdir -p "$stage"
	cp -a --reflink=auto -l "$(root_dir trixie)/." "$stage/"
	(cd "$stage" && find . -regextype posix-extended -regex "$IMAGE_EXCLUDES" \
		-prune -print0 | xargs -0 rm -rf)
	mkdir -p "$stage/usr/lib/modules"
	for kernel in "${KERNELS[@]}"; do
		cp -al "$(kernel_dir "$kernel")/lib/modules/." "$stage/usr/lib/modules/"
	done
	echo kipt >"$stage/etc/hostname.new"
	mv "$stage/etc/hostname.new" "$stage/etc/hostname"
	in_trixie mkfs.erofs --quiet "$CACHE/image.new" "$stage" \
		>"$CACHE/log/image" 2>&1 || die "mkfs.erofs failed: see $CACHE/log/image"
	mv "$CACHE/image.new" "$CACHE/image.erofs"
	rm -rf "$stage"
}
