#!/bin/bash
# SPDX-License-Identifier: ISC
#
# The programs of a build in an emulated machine of its own, where the clock
# is really set (make check-guest); speaks TAP.  By hand, since it takes
# minutes and wants root the first time (setup.sh, into BUILD/guest).
# No KVM is needed.  This machine's own clock is left alone.
#
# usage: run.sh --build DIR [--guest DIR] [--seconds N]
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
build=
guest=
seconds=600
while [ $# -gt 0 ]; do
	case $1 in
	--build) build=${2:?}; shift ;;
	--guest) guest=${2:?}; shift ;;
	--seconds) seconds=${2:?}; shift ;;
	*) echo "usage: run.sh --build DIR [--guest DIR] [--seconds N]" >&2
	    exit 2 ;;
	esac
	shift
done
[ -x "${build:=.}/cronctld" ] || {
	echo "run.sh: there is no cronctld in \"$build\"; run make" >&2
	exit 2
}
guest=${guest:-$build/guest}
if [ ! -e "$guest/root.cpio" ] || [ ! -e "$guest/vmlinuz" ]; then
	"$here/setup.sh" "$guest" >&2 || exit 1
fi
guest=$(cd "$guest" && pwd) || exit 1

# The programs, the libraries they are linked with, and the first process; an
# archive that follows another adds to it.
add=$guest/add
rm -rf "$add"
mkdir -p "$add/opt/cronctl/lib" || exit 1
for program in cronctld cronctl cronctl-worker; do
	install -m 755 "$build/$program" "$add/opt/cronctl/" || exit 1
	ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | while read -r library; do
	case ${library##*/} in
	libc.so.* | libm.so.* | libpthread.so.*) continue ;;
	esac
	install -m 755 "$library" "$add/opt/cronctl/lib/" || exit 1
done
install -m 755 "$here/payload.sh" "$add/init" || exit 1
(cd "$add" && find . | cpio -o -H newc --quiet) >"$guest/add.cpio" || exit 1
cat "$guest/root.cpio" "$guest/add.cpio" >"$guest/initrd" || exit 1
rm -rf "$add"

: >"$guest/console"
timeout -k 5 "$seconds" qemu-system-x86_64 -machine q35 \
    -accel tcg,thread=multi -cpu max -smp 2 -m 1536 -nodefaults -no-reboot \
    -display none -nic none -serial "file:$guest/console" \
    -kernel "$guest/vmlinuz" -initrd "$guest/initrd" \
    -append "console=ttyS0 quiet loglevel=3 rdinit=/init mitigations=off panic=-1"
status=$?
tr -d '\r' <"$guest/console" | grep -aE '^(ok|not ok|#|1\.\.)'
if ! grep -aq '^1\.\.' "$guest/console"; then
	echo "not ok - the guest ended early (qemu: $status); its console:"
	tail -n 40 "$guest/console" | sed 's/^/# /'
	exit 1
fi
! grep -aq '^not ok' "$guest/console"
