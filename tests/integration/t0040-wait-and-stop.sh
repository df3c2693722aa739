#!/bin/bash
# SPDX-License-Identifier: ISC
# Exit statuses of run --wait; and the order of a stop: scheduling ends at
# once, every started run finishes, only then are those who wait told.
. "$(dirname "$0")/lib.sh"

job exits.ini <<INI
[exit-0]
schedule = @manual
command = exit 0
[exit-3]
schedule = @manual
command = exit 3
[signal]
schedule = @manual
command = kill -USR1 \$\$
[too-long]
schedule = @manual
timeout = 1s
stop_grace = 1s
command = trap '' TERM; while :; do sleep 1; done
[no-directory]
schedule = @manual
workdir = $T/missing
command = true
[no-user]
schedule = @manual
user = no-such-user-here
command = true
INI
job stop.ini <<INI
[beat]
schedule = * * * * * *
command = echo beat
[long]
schedule = @manual
command = echo begun; $HOLD $T/go; echo over; \\
    echo over >$T/long-over
[quick]
schedule = @manual
overlap = allow
command = sleep 1; echo x >>$T/quick-over
[queued]
schedule = * * * * * *
overlap = queue
command = $HOLD $T/go; echo queued
INI

statuses() {
	start_daemon
	expect_status 0 cc run exit-0 --wait
	expect_status 3 cc run exit-3 --wait
	expect_status 138 cc run signal --wait
	expect_status 124 cc run too-long --wait
}
start_failures() {
	expect_status 126 cc run no-directory --wait >"$T/no-directory" 2>&1
	expect_match "$(cat "$T/no-directory")" 'missing'
	expect_equal "$(rows no-directory | json stage)" workdir
	if [ "$(id -u)" = 0 ]; then
		expect_status 126 cc run no-user --wait
		expect_match "$(rows no-user | json detail)" no-such-user
	fi
}
no_such_job() {
	expect_status 5 cc run exit-9
	# With --wait a failure of cronctl is told from the job's own.
	expect_status 125 cc run exit-9 --wait
}
waits_for_live_run() {
	cc run long
	expect_status 1 cc run long
	(
		status=0
		cc wait long >"$T/waited" || status=$?
		echo $status >"$T/waited-status"
	) &
	wait_for 30 has_live_runs 1 queued
}

# In the background: a waiting stop that writes down what is so when it comes
# back.
waiting_stop() {
	(
		status=0
		cc stop --wait >"$T/stop-$1" 2>&1 || status=$?
		ls "$T/long-over" >"$T/stop-$1-over" 2>&1
		echo $status >"$T/stop-$1-status.new"
		mv "$T/stop-$1-status.new" "$T/stop-$1-status"
	) &
}
is_stopping() {
	[ "$(cc --json status | json stopping)" = true ]
}
stop_returns_at_once() {
	local i
	# Runs that are started just before are not forgotten either.
	for i in 1 2 3 4; do
		cc --json run quick | json run >>"$T/quick-runs" &
	done
	cc run quick >/dev/null
	wait
	cc stop >"$T/stop"
	test ! -e "$T/long-over"
	is_stopping
	waiting_stop 1
	waiting_stop 2
}
refuses_while_stopping() {
	must_fail cc run exit-0 >"$T/refused" 2>&1
	expect_match "$(cat "$T/refused")" stopping
	must_fail cc add late @manual -- true >"$T/refused" 2>&1
	expect_match "$(cat "$T/refused")" stopping
	cc list
	cc history
}
last_skipped() {
	[ "$(cc --json history beat -n 1 | json reason)" = stopping ]
}
schedules_nothing() {
	local before
	wait_for 30 last_skipped
	before=$(count_rows beat outcome started)
	# What waited is given up; what runs goes on.
	wait_for 30 has_rows 1 queued reason stopping
	has_live_runs 1 queued
	has_live_runs 1 long
	expect_equal "$(count_rows beat outcome started)" "$before"
}
nobody_is_told_yet() {
	daemon_answers
	test ! -e "$T/stop-1-status"
	test ! -e "$T/stop-2-status"
	test ! -e "$T/waited-status"
}
told_when_the_last_has_ended() {
	touch "$T/go"
	wait_for 60 test -s "$T/stop-1-status"
	wait_for 60 test -s "$T/stop-2-status"
	wait_for 60 daemon_ended
	expect_equal "$(daemon_status)" 0
	for i in 1 2; do
		expect_equal "$(cat "$T/stop-$i-status")" 0
		# The long run was over before either was told.
		expect_equal "$(cat "$T/stop-$i-over")" "$T/long-over"
	done
	wait_for 30 test -s "$T/waited-status"
	expect_equal "$(cat "$T/waited-status")" 0
	wait_for 30 has_no_worker
}
everything_was_recorded() {
	start_daemon
	expect_equal "$(count_rows long state succeeded)" 1
	expect_equal "$(cc logs long)" $'begun\nover'
	expect_equal "$(count_rows quick state succeeded)" 5
	expect_equal "$(wc -l <"$T/quick-over")" 5
	for state in lost killed start_failed; do
		expect_equal "$(count_rows long state $state)" 0
		expect_equal "$(count_rows queued state $state)" 0
	done
}
stop_with_a_timeout() {
	rm -f "$T/go"
	cc run long
	expect_status 2 cc stop long
	expect_status 0 cc stop --wait --timeout 1s
	wait_for 30 daemon_ended
	expect_equal "$(daemon_status)" 0
	start_daemon
	expect_equal "$(cc --json history long -n 1 | json state)" killed
}
interrupt_is_a_stop() {
	touch "$T/go"
	cc run quick
	kill -INT "$(daemon_pid)"
	wait_for 30 daemon_ended
	expect_equal "$(daemon_status)" 0
	start_daemon
	expect_equal "$(cc --json history quick -n 1 | json state)" succeeded
	rm "$T/go"
	cc run long
	kill -INT "$(daemon_pid)"
	wait_for 30 is_stopping
	kill -INT "$(daemon_pid)"
	wait_for 30 daemon_ended
	touch "$T/go"
	start_daemon
	expect_equal "$(cc --json history long -n 1 | json state)" killed
}

test_expect "run --wait exits as the job did" statuses
test_expect "run --wait exits 126 when it can't be started" start_failures
test_expect "run of no job" no_such_job
test_expect "wait for a live run" waits_for_live_run
test_expect "stop returns at once" stop_returns_at_once
test_expect "add and run are refused while stopping" refuses_while_stopping
test_expect "scheduling ends, live runs go on" schedules_nothing
test_expect "nobody is told before the end" nobody_is_told_yet
test_expect "all are told when the last run has ended" \
    told_when_the_last_has_ended
test_expect "every started run was recorded" everything_was_recorded
test_expect "stop --timeout ends what is left" stop_with_a_timeout
test_expect "SIGINT is a stop, a second one ends runs" interrupt_is_a_stop
test_expect "the daemon stops" stop_daemon
