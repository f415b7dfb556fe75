# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which QEMU runs the machine, and how it is called. The one on this machine
# is taken when it is new enough; else the trixie root's, run by that root's
# own dynamic loader, which takes neither chroot nor root rights.

QEMU_MINIMUM=11.1

# version_of COMMAND...: MAJOR.MINOR of a QEMU, empty when it does not run.
version_of()
{
	"$@" --version 2>/dev/null |
		sed -n 's/^QEMU emulator version \([0-9]*\.[0-9]*\).*/\1/p'
}

# suitable COMMAND...: new enough, and built with TCG plugins.
suitable()
{
	local version
	version=$(version_of "$@")

	[[ -n $version ]] || return 1
	[[ $(printf '%s\n' "$QEMU_MINIMUM" "$version" | sort -V | head -n 1) == "$QEMU_MINIMUM" ]] || return 1
	"$@" --help | grep -e '^-plugin ' >/dev/null
}

# Sets QEMU to the words that start it.
find_qemu()
{
	local root lib

	if [[ -n ${KIPT_QEMU:-} ]]; then
		QEMU=("$KIPT_QEMU")
		suitable "${QEMU[@]}" || die "KIPT_QEMU=$KIPT_QEMU is version '$(version_of "${QEMU[@]}")' or has no plugins: $QEMU_MINIMUM or newer is needed"
		return
	fi
	QEMU=(qemu-system-x86_64)
	suitable "${QEMU[@]}" && return
	root=$(root_dir trixie)
	lib=$root/usr/lib/x86_64-linux-gnu
	export QEMU_MODULE_DIR=$lib/qemu
	QEMU=("$root/lib64/ld-linux-x86-64.so.2" --library-path "$lib"
		"$root/usr/bin/qemu-system-x86_64"
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
	suitable "${QEMU[@]}" || die "QEMU in the trixie root is version '$(version_of "${QEMU[@]}")': $QEMU_MINIMUM or newer with plugins is needed"
}

# quote_option TEXT: QEMU ends an option's value at a comma unless doubled.
quote_option()
{
	printf '%s' "${1//,/,,}"
}

# share TAG PATH MODE: offers a folder to the guest, at the path it has here
# unless a fourth word names another.
share()
{
	local tag=$1 path=$2 mode=$3 seen_at=${4:-$2} readonly=on options

	case $mode in
	ro) options=ro,cache=loose ;;
	live) options=ro,cache=none ;;
	rw) options=rw,cache=mmap readonly=off ;;
	esac
	options+=,trans=virtio,version=9p2000.L,msize=512000,X-mount.mkdir
	MACHINE+=(-virtfs "local,path=$(quote_option "$path"),mount_tag=$tag,security_model=none,readonly=$readonly,multidevs=remap")
	# A space would end a field of the table.
	printf '%s %s 9p %s 0 0\n' "$tag" "${seen_at// /\\040}" "$options" >>"$RUN/fstab"
}

# pass NAME: a file of the run's folder that the guest reads by its name.
pass()
{
	MACHINE+=(-fw_cfg "name=opt/kipt/$1,file=$(quote_option "${2:-$RUN/$1}")")
}

# output_port NUMBER NAME: what the guest writes to the port lands in a file,
# which never blocks, so nothing is lost when the machine ends.
output_port()
{
	: >"$RUN/$2"
	MACHINE+=(-chardev "file,id=$2,path=$(quote_option "$RUN/$2")"
		-device "virtserialport,bus=ports.0,nr=$1,chardev=$2,name=kipt.$2")
}
