#!/bin/bash
# SPDX-License-Identifier: ISC
# stderr of the daemon is a pipe that is full and that nobody reads: jobs go
# on in time, the daemon answers, and later the log tells how many lines it
# has lost.
. "$(dirname "$0")/lib.sh"

CLIENTS=$srcdir/tests/faults/clients.pl
command -v perl >/dev/null || skip_all "no perl"
[ "$(id -u)" = 0 ] || skip_all "nobody to refuse anything to: not root"

job jobs.ini <<'INI'
[beat]
schedule = * * * * * *
workdir = /
command = true
INI

# A FIFO as the log.  It is held open by a process that only waits, so that
# writing neither fails nor ends, and filled before the daemon has a line.
LOG=$D/pipe
mkfifo "$LOG"
tail -f /dev/null <>"$LOG" &
holder=$!
disown
fill() {
	# A whole pipe takes 64 KiB; dd ends at the first EAGAIN.
	dd if=/dev/zero of="$LOG" bs=4096 count=1024 oflag=nonblock \
	    conv=notrunc 2>"$T/dd" || :
	grep -q 'unavailable' "$T/dd"
}
is_answered() {
	CC_TIMEOUT=5 cc status >/dev/null
	wait_for 15 has_rows 2 beat state succeeded
}
# More lines than the queue takes (4096): each that is refused is one.
flood() {
	chroot --userspec=+65534:+65534 --groups= / "$CLIENTS" "$SOCK" \
	    flood 50 100 '{"jsonrpc":"2.0","id":1,"method":"daemon.stop"}' \
	    >"$T/flood"
	CC_TIMEOUT=5 cc status >/dev/null
}
# A hang has no end, so that whatever waits for one is seen; the bound is far
# above what a loaded machine does.
in_time() {
	local worst
	wait_for 15 has_rows 5 beat state succeeded
	worst=$(rows beat | worst_start)
	echo "$worst" >"$T/worst"
	awk -v worst="$worst" 'BEGIN { exit !(worst < 5) }'
}
tells_of_lost_lines() {
	# The first lines were read by the time the last are written.
	cat "$LOG" >"$D/log" &
	echo $! >"$T/reader"
	wait_for 15 log_is_live
	wait_for 15 grep -aqE 'warning log: [0-9]+ lines were dropped' \
	    "$D/log"
}
log_is_live() {
	cc reload >/dev/null
	grep -aq 'asked for a reload' "$D/log"
}

test_expect "a pipe is filled" fill
test_expect "the daemon starts" start_daemon --log-level debug
test_expect "it answers, and jobs run" is_answered
test_expect "it answers when its log overflows" flood
test_expect "no run was late" in_time
echo "# the latest start: $(cat "$T/worst" 2>/dev/null) s"
test_expect "read again, the log tells how much was lost" tells_of_lost_lines
test_expect "the daemon stops" stop_daemon
kill "$holder"
