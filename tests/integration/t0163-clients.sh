#!/bin/bash
# SPDX-License-Identifier: ISC
# Clients that send half a line, trickle, don't read, or hold connections
# until no descriptor is left: others are served, and the daemon neither
# spins nor stays in that state.
. "$(dirname "$0")/lib.sh"

CLIENTS=$srcdir/tests/faults/clients.pl
command -v perl >/dev/null || skip_all "no perl"

job jobs.ini <<'INI'
[beat]
schedule = * * * * * *
workdir = /
command = true
INI

# client NAME ARGS...: one in the background, saying what it does in NAME.
client() {
	local name=$1
	shift
	"$CLIENTS" "$SOCK" "$@" >"$T/$name" 2>&1 &
	echo $! >"$T/$name.pid"
	disown
}
# A quick answer, and the next run of the job.
served() {
	local before
	before=$(rows beat | wc -l)
	CC_TIMEOUT=5 cc status >/dev/null
	CC_TIMEOUT=5 cc list >/dev/null
	wait_for 10 has_more_rows "$before"
}
has_more_rows() {
	[ "$(rows beat | wc -l)" -gt "$1" ]
}
bad_ones() {
	client half half
	client trickle trickle
	# Some megabytes of replies, of which none is read.
	client deaf deaf 4000 \
	    '{"jsonrpc":"2.0","id":1,"method":"daemon.status"}'
	for n in half trickle deaf; do
		wait_for 10 grep -qx ready "$T/$n"
	done
}
many_idle() {
	client idle idle 200
	wait_for 10 grep -qx ready "$T/idle"
	served
	kill "$(cat "$T/idle.pid")"
}
# After the 10 s that a line may take, from its first byte.
are_cut() {
	wait_for 20 grep -q cut "$T/half"
	wait_for 20 grep -q cut "$T/trickle"
	awk '/cut/ { exit !($3 >= 9 && $3 < 20) }' "$T/half"
	awk '/cut/ { exit !($3 >= 9 && $3 < 20) }' "$T/trickle"
	kill "$(cat "$T/deaf.pid")"
}

cpu_ticks() {
	sed 's/.*) //' "/proc/$(daemon_pid)/stat" | awk '{ print $12 + $13 }'
}
# As many connections as it has descriptors, from a daemon with 64.
starved() {
	local before after
	stop_daemon
	# shellcheck disable=SC2119 # no options
	(
		ulimit -n 64
		start_daemon
	)
	client many idle 150
	wait_for 10 grep -qx ready "$T/many"
	before=$(rows_in_log)
	after=$(cpu_ticks)
	let_pass 3
	echo $(($(cpu_ticks) - after)) >"$T/ticks"
	# A second's grain: two runs at least, and no more than a third of
	# the time (100 ticks a second) for them.
	[ "$(rows_in_log)" -ge $((before + 2)) ]
	[ "$(cat "$T/ticks")" -lt 100 ]
}
rows_in_log() {
	grep -c 'job=beat.* succeeded' "$LOG"
}
recovers() {
	kill "$(cat "$T/many.pid")"
	wait_for 10 daemon_answers
	served
}

test_expect "the daemon starts" start_daemon
test_expect "there are clients that send half a line, trickle, don't read" \
    bad_ones
test_expect "others are served" served
test_expect "200 that are idle don't matter" many_idle
test_expect "half a line is cut at the deadline" are_cut
test_expect "without descriptors jobs go on, and it doesn't spin" starved
echo "# processor time in 3 s: $(cat "$T/ticks" 2>/dev/null) ticks"
test_expect "it recovers when connections go" recovers
test_expect "the daemon stops" stop_daemon
