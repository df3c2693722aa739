#!/bin/bash
# SPDX-License-Identifier: ISC
# A file system that never answers as work directory or shell, and a FIFO:
# that run alone is delayed, ends start_failed with its stage at
# start_timeout, and everything else goes on in time.
#
# The mounts are in a namespace of this test's own.
if [ "$(id -u)" = 0 ] && [ -z "${CRONCTL_TEST_MOUNTS-}" ] &&
    unshare --mount true 2>/dev/null; then
	CRONCTL_TEST_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

FUSE_HANG=$builddir/tests/faults/fuse_hang
[ -n "${CRONCTL_TEST_MOUNTS-}" ] || skip_all "no mount namespace: not root"
[ -c /dev/fuse ] || skip_all "no /dev/fuse"
[ -x "$FUSE_HANG" ] || skip_all "tests/faults/fuse_hang is not built"

# hang NAME [OPTIONS...]: mounts one at $T/NAME.
hang() {
	local name=$1
	shift
	mkdir "$T/$name"
	"$FUSE_HANG" "$@" "$T/$name" >"$T/$name.log" 2>&1 &
	echo $! >"$T/$name.pid"
	disown
	wait_for 10 test -s "$T/$name.log" &&
	    grep -qx mounted "$T/$name.log"
}
if ! hang dead || ! hang asleep --unread; then
	skip_all "FUSE can't be mounted: $(cat "$T"/*.log)"
fi
mkfifo -m 666 "$T/fifo"

job hang.ini <<INI
[defaults]
start_timeout = 1s
schedule = @manual
overlap = allow
command = echo here
[dead-dir]
workdir = $T/dead
[dead-below]
workdir = $T/dead/below/it
[asleep-dir]
workdir = $T/asleep
[dead-shell]
workdir = /
shell = $T/dead/sh
[fifo-dir]
workdir = $T/fifo
[fifo-shell]
workdir = /
shell = $T/fifo
INI
job beat.ini <<'INI'
[beat]
schedule = * * * * * *
workdir = /
command = true
INI

# ends_at STAGE JOB...: each ends start_failed with that stage, in time.
ends_at() {
	local stage=$1 j row
	shift
	for j in "$@"; do
		cc run "$j" &
	done
	wait
	for j in "$@"; do
		wait_for 15 has_rows 1 "$j" state start_failed
		row=$(rows "$j" | head -n 1)
		expect_equal "$(json stage <<<"$row")" "$stage"
		expect_match "$row" 'start_timeout, 1000 ms'
		# At the timeout, and the second in which it may still die.
		awk -v a="$(json due <<<"$row")" \
		    -v b="$(json ended <<<"$row")" \
		    'BEGIN { print b - a; exit !(b - a >= 1 && b - a < 5) }'
	done
}
beats() {
	wait_for 15 has_rows 1 beat state succeeded
}
# Two of each at once, a worker's every slot no less free for others.
many_hang() {
	local n j
	for n in 1 2; do
		for j in dead-dir asleep-dir dead-shell; do
			cc run "$j"
		done
		: "$n"
	done
	# Asked while they hang.
	CC_TIMEOUT=2 cc status >/dev/null
	for j in dead-dir asleep-dir dead-shell; do
		wait_for 15 has_rows 3 "$j" state start_failed
	done
}
no_worker_is_stuck() {
	expect_equal "$(cc --json status | grep -o '"state":"attached"' |
	    wc -l)" "$(cc --json status | grep -o '"number":' | wc -l)"
}
# A hang has no end, so that whatever waits for one is seen; the bound is far
# above what a loaded machine does.
others_in_time() {
	local worst
	wait_for 15 has_rows 5 beat state succeeded
	worst=$(rows beat | worst_start)
	echo "$worst" >"$T/worst"
	awk -v worst="$worst" 'BEGIN { exit !(worst < 5) }'
}
is_refused_at_once() {
	expect_status 126 cc run fifo-dir --wait
	expect_status 126 cc run fifo-shell --wait
	expect_equal "$(rows fifo-dir | json stage)" workdir
	expect_equal "$(rows fifo-shell | json stage)" exec
}
# What could not be killed goes when the mount answers at last.
nothing_stays() {
	kill -TERM "$(cat "$T/dead.pid")" "$(cat "$T/asleep.pid")"
	wait_for 10 none_hangs
	expect_status 0 cc run dead-dir --wait
	expect_equal "$(cc logs dead-dir)" here
}
# No child of a worker that has not become its command.
none_hangs() {
	local worker child
	for worker in $(worker_pids); do
		# shellcheck disable=SC2013 # words are wanted
		for child in $(cat "/proc/$worker"/task/*/children); do
			[ "$(cat "/proc/$child/comm")" != cronctl-worker ] ||
				return 1
		done
	done 2>/dev/null
}

test_expect "the daemon starts" start_daemon
test_expect "a job runs every second" beats
test_expect "a dead mount as work directory" \
    ends_at workdir dead-dir dead-below asleep-dir
test_expect "a dead mount as shell" ends_at exec dead-shell
test_expect "a FIFO as work directory or shell fails at once" \
    is_refused_at_once
test_expect "many that hang at once end too" many_hang
test_expect "no worker is stuck" no_worker_is_stuck
test_expect "the other job was started in time" others_in_time
echo "# the latest start: $(cat "$T/worst" 2>/dev/null) s"
test_expect "nothing stays behind when the mount is gone" nothing_stays
test_expect "the daemon stops" stop_daemon
