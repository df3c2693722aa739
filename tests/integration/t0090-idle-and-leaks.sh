#!/bin/bash
# SPDX-License-Identifier: ISC
# While nothing is due nothing wakes up; after hundreds of runs no descriptor
# and no zombie is left.
. "$(dirname "$0")/lib.sh"

job idle.ini <<'INI'
[yearly]
schedule = 0 0 1 1 *
command = true
[by-hand]
schedule = @manual
command = true
INI

# All the daemon's and the workers' threads.
all_switches() {
	local pid sum=0
	for pid in $(daemon_pid) $(worker_pids); do
		sum=$((sum + $(switches "$pid")))
	done
	echo $sum
}
all_fds() {
	local pid sum=0
	for pid in $(daemon_pid) $(worker_pids); do
		sum=$((sum + $(fd_count "$pid")))
	done
	echo $sum
}
all_zombies() {
	local pid sum=0
	for pid in $(daemon_pid) $(worker_pids); do
		sum=$((sum + $(zombies "$pid")))
	done
	echo $sum
}

# One stretch of five seconds without a single one, of at most six: whatever
# was still going on at the beginning must be over by then.
sleeps() {
	local before after i
	for i in 1 2 3 4 5 6; do
		before=$(all_switches)
		let_pass 5
		after=$(all_switches)
		echo "stretch $i: $((after - before)) switches"
		[ "$after" -ne "$before" ] || return 0
	done
	return 1
}
idle_with_jobs() {
	start_daemon
	expect_equal "$(worker_pids | wc -l)" 2
	sleeps
}
idle_after_runs() {
	expect_status 0 cc run by-hand --wait
	sleeps
}
idle_with_client() {
	mkfifo "$T/fifo"
	cc add silent @manual -o "env.FIFO=$T/fifo" -- \
	    'read x <"$FIFO"'
	(cc run silent --wait >/dev/null; touch "$T/silent-over") &
	wait_for 30 has_live_runs 1 silent
	# A live run and somebody who waits for it cost nothing either.
	sleeps
	echo end >"$T/fifo"
	wait_for 30 test -e "$T/silent-over"
}

busy_enough() {
	[ "$(cc --json status | json succeeded)" -ge "$1" ]
}
nothing_runs() {
	[ "$(cc --json status | json running)" = 0 ]
}
is_quiet() {
	[ "$(all_zombies)" = 0 ] && [ "$(all_fds)" -le "$1" ]
}
leaks_nothing() {
	local fds i
	fds=$(all_fds)
	for i in {1..20}; do
		printf '[busy-%d]\nschedule = * * * * * *\n' "$i"
		printf 'overlap = allow\ncommand = echo %d\n' "$i"
	done | job busy.ini
	cc reload >/dev/null
	wait_for 90 busy_enough 200
	rm "$JOBS/busy.ini"
	cc reload >/dev/null
	wait_for 60 nothing_runs
	echo "descriptors: $fds before, $(all_fds) after"
	wait_for 30 is_quiet "$fds"
}
each_has_one_outcome() {
	local rows
	rows=$(cc --json history -n 5000 | grep '"busy-')
	[ "$(grep -c '"outcome":"started"' <<<"$rows")" -ge 200 ]
	expect_equal "$(paste -d: <(json job <<<"$rows") \
	    <(json nominal <<<"$rows") | sort | uniq -d)" ""
	expect_equal "$(grep -c '"state":"succeeded"' <<<"$rows")" \
	    "$(grep -c '"outcome":"started"' <<<"$rows")"
}
# Clients that come and go, or go in the middle of a line.
clients_leave_nothing() {
	local fds i
	fds=$(all_fds)
	for i in {1..20}; do
		cc list >/dev/null
		: "$i"
	done
	for i in {1..5}; do
		CC_TIMEOUT=0.2 cc wait by-hand >/dev/null 2>&1 || :
	done
	wait_for 30 is_quiet "$fds"
}

test_expect "nothing wakes up while nothing is due" idle_with_jobs
test_expect "nor after a run" idle_after_runs
test_expect "nor while a silent run is waited for" idle_with_client
test_expect "200 runs leave no descriptor and no zombie" leaks_nothing
test_expect "each of them has exactly one outcome" each_has_one_outcome
test_expect "clients leave no descriptor" clients_leave_nothing
test_expect "the daemon stops" stop_daemon
