#!/bin/bash
# SPDX-License-Identifier: ISC
#
# Boots this machine's own systemd in namespaces of its own, for tests of
# units, readiness, the watchdog and activation by sockets.  Its root is an
# overlay over this machine's, with everything written kept in memory; the
# network is empty, /sys and the kernel's settings are read-only, and clock
# and machine stay as they are.  Needs root.
#
#	boot.sh can		whether it is possible; else says why, status 1
#	boot.sh up DIR		boots; DIR/root is copied over the guest's root,
#				DIR/shared is its /shared; takes DIR/pid
#	boot.sh run DIR COMMAND...
#				runs a command in the guest
#	boot.sh down DIR	powers it off, or kills it after 20 s
#
# Nothing stays behind after "down" but the files in DIR.
set -u
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
action=${1:?"boot.sh can | up | run | down"}
dir=${2-}

init=
for f in /usr/lib/systemd/systemd /lib/systemd/systemd; do
	[ ! -x "$f" ] || init=$f
done

# Where the unified hierarchy of control groups is.
cgroup_root() {
	awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts
}
own_group() {
	echo "$(cgroup_root)/cronctl-test-$(basename "$dir")"
}

can() {
	local program
	[ "$(id -u)" -eq 0 ] || { echo "not root"; return 1; }
	[ -n "$init" ] || { echo "no systemd here"; return 1; }
	for program in unshare nsenter setsid pivot_root systemctl \
	    journalctl; do
		command -v "$program" >/dev/null ||
		    { echo "no $program here"; return 1; }
	done
	[ -n "$(cgroup_root)" ] ||
	    { echo "no unified control groups here"; return 1; }
	unshare --mount --pid --ipc --uts --net --cgroup --fork sh -ec '
		mount --make-rprivate /
		mount -t tmpfs none /mnt
		mkdir /mnt/a /mnt/b /mnt/c
		mount -t overlay -o lowerdir=/,upperdir=/mnt/a,workdir=/mnt/b \
		    none /mnt/c
		mount -t proc proc /mnt/c/proc
		mount -t sysfs -o ro none /mnt/c/sys
		mount -t cgroup2 none /mnt/c/sys/fs/cgroup
		mkdir /mnt/d
		mknod /mnt/d/null c 1 3' >/dev/null 2>&1 ||
	    { echo "no namespaces, overlay or devices here"; return 1; }
}

# In the new namespaces: builds the guest's root and becomes its systemd.
guest() {
	local m=$dir/mnt new unit node
	set -e
	mount --make-rprivate /
	mount -t tmpfs -o mode=755 none "$m"
	mkdir "$m/upper" "$m/work" "$m/root"
	mount -t overlay \
	    -o "lowerdir=/,upperdir=$m/upper,workdir=$m/work" none "$m/root"
	new=$m/root
	cp -a "$dir/root/." "$new/"
	mkdir -p "$new/shared"
	mount --bind "$dir/shared" "$new/shared"
	rm -f "$new/etc/machine-id" "$new/etc/fstab"
	echo 0123456789abcdef0123456789abcdef >"$new/etc/machine-id"
	# What is of no use here, or would touch the machine.
	for unit in apt-daily.timer apt-daily-upgrade.timer \
	    console-getty.service dev-hugepages.mount getty.target \
	    kmod-static-nodes.service proc-sys-fs-binfmt_misc.automount \
	    sys-kernel-config.mount sys-kernel-debug.mount \
	    sys-kernel-tracing.mount systemd-binfmt.service \
	    systemd-hwdb-update.service systemd-logind.service \
	    systemd-modules-load.service systemd-networkd.service \
	    systemd-pcrphase.service systemd-random-seed.service \
	    systemd-remount-fs.service systemd-resolved.service \
	    systemd-sysctl.service systemd-timesyncd.service \
	    systemd-udev-trigger.service systemd-udevd.service \
	    systemd-update-utmp.service systemd-user-sessions.service; do
		ln -sf /dev/null "$new/etc/systemd/system/$unit"
	done
	rm -rf "$new"/etc/systemd/system/*.target.wants
	ln -sf "$(dirname "$init")/system/multi-user.target" \
	    "$new/etc/systemd/system/default.target"
	mount -t proc proc "$new/proc"
	mount --bind "$new/proc/sys" "$new/proc/sys"
	mount -o remount,bind,ro "$new/proc/sys"
	mount -t sysfs -o ro none "$new/sys"
	mount -t cgroup2 none "$new/sys/fs/cgroup"
	mount -t tmpfs -o mode=755 none "$new/dev"
	while read -r node unit; do
		# shellcheck disable=SC2086 # major and minor number
		mknod -m 666 "$new/dev/$node" c $unit
	done <<-EOF
		null 1 3
		zero 1 5
		full 1 7
		random 1 8
		urandom 1 9
		tty 5 0
	EOF
	mkdir "$new/dev/pts" "$new/dev/shm" "$new/dev/mqueue"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 none \
	    "$new/dev/pts"
	mount -t tmpfs -o mode=1777 none "$new/dev/shm"
	ln -s pts/ptmx "$new/dev/ptmx"
	ln -s /proc/self/fd "$new/dev/fd"
	touch "$new/dev/console"
	mount -t tmpfs -o mode=755 none "$new/run"
	mount -t tmpfs -o mode=1777 none "$new/tmp"
	ip link set lo up 2>/dev/null || true
	hostname cronctl-test
	cd "$new"
	mkdir -p .old
	pivot_root . .old
	umount -l /.old
	exec env -i container=cronctl-test TERM=linux \
	    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	    "$init" --system --log-target=console --show-status=no
}

# run_in PID COMMAND...
run_in() {
	local pid=$1
	shift
	nsenter -t "$pid" -m -u -i -n -p -C -r -w -- env -i TERM=dumb \
	    HOME=/root LC_ALL=C.UTF-8 \
	    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	    "$@"
}

# wait_until COMMAND...: for 30 s at most.
wait_until() {
	local i
	for i in {1..300}; do
		: "$i"
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# The guest's systemd is the child of the unshare that we started.
has_init() {
	local pid
	pid=$(tr -d ' ' <"/proc/$outer/task/$outer/children") || return 1
	[ -n "$pid" ] && [ "$(cat "/proc/$pid/comm")" = systemd ] || return 1
	echo "$pid" >"$dir/pid.new"
	mv "$dir/pid.new" "$dir/pid"
}
is_up() {
	case $(run_in "$(cat "$dir/pid")" systemctl is-system-running) in
	running | degraded) ;;
	*) return 1 ;;
	esac
}

up() {
	local group
	group=$(own_group)
	mkdir -p "$dir/root" "$dir/shared" "$dir/mnt" "$group" || return 1
	(
		echo "$BASHPID" >"$group/cgroup.procs" || exit 1
		exec setsid unshare --cgroup --mount --uts --ipc --net --pid \
		    --fork --kill-child -- bash "$self" guest "$dir"
	) >"$dir/console" 2>&1 </dev/null &
	outer=$!
	disown
	if ! wait_until has_init || ! wait_until is_up; then
		tail -n 20 "$dir/console"
		kill -KILL "$outer" 2>/dev/null
		down
		return 1
	fi
}

is_gone() {
	[ ! -d "/proc/$1" ]
}
down() {
	local pid group status=0
	group=$(own_group)
	pid=$(cat "$dir/pid" 2>/dev/null)
	if [ -n "$pid" ] && ! is_gone "$pid"; then
		kill -s RTMIN+4 "$pid"
		for _ in {1..200}; do
			! is_gone "$pid" || break
			sleep 0.1
		done
		if ! is_gone "$pid"; then
			echo "it didn't power off within 20 s" >&2
			kill -KILL "$pid"
			wait_until is_gone "$pid"
			status=1
		fi
	fi
	rm -f "$dir/pid"
	while read -r group; do
		rmdir "$group" || status=1
	done < <(find "$group" -depth -type d 2>/dev/null)
	return $status
}

case $action in
can) can ;;
up) up ;;
run)
	pid=$(cat "$dir/pid") || exit 1
	shift 2
	run_in "$pid" "$@"
	;;
down) down ;;
guest) guest ;;
*)
	echo "boot.sh can | up | run | down" >&2
	exit 2
	;;
esac
