#!/bin/bash
# SPDX-License-Identifier: ISC
#
# Makes what tests/guest/run.sh boots, once: a kernel of Debian's and a
# minimal Debian of this machine's release as one archive that is the guest's
# initial RAM disk, so that it needs no disk, no module and no network.
#
# usage: setup.sh DIR
#
# Wants root, apt-get and about 500 MB in DIR; installs qemu-system-x86,
# seabios, debootstrap and cpio where they are missing.
set -eu
dir=${1:?usage: setup.sh DIR}
[ "$(id -u)" -eq 0 ] || { echo "setup.sh: must be root" >&2; exit 1; }
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
# shellcheck source=/dev/null
. /etc/os-release
arch=$(dpkg --print-architecture)
[ "$arch" = amd64 ] || { echo "setup.sh: only for amd64" >&2; exit 1; }

want=()
command -v qemu-system-x86_64 >/dev/null || want+=(qemu-system-x86 seabios)
command -v debootstrap >/dev/null || want+=(debootstrap)
command -v cpio >/dev/null || want+=(cpio)
if [ ${#want[@]} -gt 0 ]; then
	echo "== installing ${want[*]}"
	DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq \
	    --no-install-recommends "${want[@]}" >"$dir/apt.log" 2>&1 || {
		tail -n 20 "$dir/apt.log" >&2
		exit 1
	}
fi

if [ ! -e "$dir/vmlinuz" ]; then
	echo "== fetching a kernel"
	kernel=$(apt-cache depends linux-image-cloud-amd64 |
	    awk '/Depends: linux-image/ { print $2; exit }')
	mkdir -p "$dir/kernel"
	(cd "$dir/kernel" && apt-get download "$kernel" >/dev/null &&
	    dpkg -x ./"$kernel"*.deb . && cp boot/vmlinuz-* "$dir/vmlinuz.new")
	rm -rf "$dir/kernel"
	mv "$dir/vmlinuz.new" "$dir/vmlinuz"
fi

if [ ! -e "$dir/root.cpio" ]; then
	echo "== a minimal $VERSION_CODENAME"
	mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
	    awk '/^URIs:/ { print $2; exit }')
	rm -rf "$dir/root"
	debootstrap --variant=minbase --include=tzdata "$VERSION_CODENAME" \
	    "$dir/root" "${mirror:-http://deb.debian.org/debian}" \
	    >"$dir/debootstrap.log" 2>&1 || {
		tail -n 20 "$dir/debootstrap.log" >&2
		exit 1
	}
	rm -rf "$dir"/root/usr/share/{doc,man,locale,info} \
	    "$dir"/root/var/{cache,lib}/apt "$dir"/root/var/lib/dpkg/info \
	    "$dir"/root/dev "$dir"/root/proc
	mkdir "$dir"/root/{dev,proc}
	mknod -m 600 "$dir/root/dev/console" c 5 1
	(cd "$dir/root" && find . | cpio -o -H newc --quiet) \
	    >"$dir/root.cpio.new"
	rm -rf "$dir/root"
	mv "$dir/root.cpio.new" "$dir/root.cpio"
fi
echo "== ready: $dir"
