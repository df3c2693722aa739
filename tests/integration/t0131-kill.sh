#!/bin/bash
# SPDX-License-Identifier: ISC
# cronctl kill: the stop ladder and single signals, what has left the process
# group, what only waits, what there is not.
. "$(dirname "$0")/lib.sh"

run_of() {
	cc --json run "$1" | json run
}
state_of() {
	rows "$1" | json state | head -n 1
}
is_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# A job that ignores TERM is over after its grace, and not much later.
ignores_term() {
	local begin took
	start_daemon
	cc -q add deaf @manual -o stop_grace=1s -- \
	    "trap '' TERM; touch $T/deaf; while :; do sleep 0.1; done"
	run_of deaf >"$T/run"
	wait_for 30 test -e "$T/deaf"
	begin=$(uptime_ms)
	expect_match "$(cc kill deaf)" "^deaf: run $(cat "$T/run") is being stopped"
	expect_status 137 cc wait "$(cat "$T/run")"
	took=$(($(uptime_ms) - begin))
	echo "took $took ms"
	[ $took -ge 1000 ]
	[ $took -lt 6000 ]
	is_state deaf killed
	expect_equal "$(rows deaf | json detail)" "killed by uid $(id -u)"
	grep -q "uid=$(id -u) killed job=deaf run=$(cat "$T/run")" "$LOG"
	# It is over, and there is nothing to end any more.
	expect_status 1 cc kill "$(cat "$T/run")" 2>"$T/err"
	grep -q 'is over (killed)' "$T/err"
	expect_status 1 cc kill deaf 2>"$T/err"
	grep -q 'no run that is live' "$T/err"
}

# Only the signal, and the run goes on.
one_signal() {
	cc -q add usr @manual -- "trap 'touch $T/usr1' USR1; touch $T/usr; while [ ! -e $T/usr-end ]; do sleep 0.1; done"
	cc -q run usr
	wait_for 30 test -e "$T/usr"
	expect_match "$(cc kill usr --signal USR1)" 'was sent USR1'
	wait_for 30 test -e "$T/usr1"
	is_state usr running
	rm "$T/usr1"
	cc -q kill usr --signal SIGUSR1
	wait_for 30 test -e "$T/usr1"
	touch "$T/usr-end"
	wait_for 30 is_state usr succeeded
	expect_status 2 cc kill usr --signal NONE
}

# What left the process group with a double fork goes too.
escapee() {
	cc -q add escapes @manual -- \
	    "(setsid sleep 4711 & echo \$! >$T/escaped.new; mv $T/escaped.new $T/escaped) & sleep 4711"
	cc -q run escapes
	wait_for 30 test -s "$T/escaped"
	kill -0 "$(cat "$T/escaped")"
	cc -q kill escapes
	wait_for 30 is_state escapes killed
	wait_for 5 is_gone "$(cat "$T/escaped")"
}
is_gone() {
	! kill -0 "$1" 2>/dev/null
}

# A run by hand that waits is dropped; it never starts.
waiting() {
	local first second
	cc -q add queue @manual -o overlap=queue -- "echo x >>$T/queue; sleep 4711"
	first=$(run_of queue)
	wait_for 30 test -s "$T/queue"
	second=$(run_of queue)
	expect_status 1 cc kill "$second" --signal USR1 2>"$T/err"
	grep -q 'only waits' "$T/err"
	expect_match "$(cc kill "$second")" 'was waiting and will not start'
	is_state queue killed
	cc -q kill "$first"
	wait_for 30 eval '[ "$(count_rows queue state killed)" -eq 2 ]'
	expect_equal "$(wc -l <"$T/queue")" 1
	rows queue | grep "\"run\":$second," |
	    grep -q "never started: killed by uid $(id -u)"
}

# Over a restart of the daemon, and all runs of a job at once.
all_runs_after_restart() {
	cc -q add many @manual -o overlap=allow -- "sleep 4711"
	for i in 1 2 3; do
		: "$i"
		cc -q run many
	done
	kill_daemon
	start_daemon
	has_live_runs 3 many
	expect_equal "$(cc kill many | wc -l)" 3
	wait_for 30 eval '[ "$(count_rows many state killed)" -eq 3 ]'
}

patterns() {
	cc -q add pat-1 @manual -- "sleep 4711"
	cc -q add pat-2 @manual -- "sleep 4711"
	cc -q run pat-1
	expect_status 1 cc kill 'pat-*' 2>"$T/err"
	expect_match "$(cat "$T/err")" '^pat-1$'
	expect_match "$(cat "$T/err")" 'add --yes'
	! grep -q '^pat-2$' "$T/err"
	has_live_runs 1 pat-1
	cc -q --yes kill 'pat-*'
	wait_for 30 is_state pat-1 killed
	expect_status 5 cc kill 'pat-*'
}

unknown() {
	expect_status 5 cc kill 999999 2>"$T/err"
	grep -q 'no run 999999' "$T/err"
	expect_status 5 cc kill deef 2>"$T/err"
	grep -q 'did you mean deaf' "$T/err"
	expect_status 2 cc kill
	expect_status 2 cc stop deaf 2>"$T/err"
	grep -q 'cronctl kill deaf' "$T/err"
}

test_expect "a job that ignores TERM" ignores_term
test_expect "just a signal" one_signal
test_expect "what left the process group" escapee
test_expect "what waits" waiting
test_expect "all runs of a job, after a restart" all_runs_after_restart
test_expect "patterns ask first" patterns
test_expect "what there is not" unknown
test_expect "the daemon stops" stop_daemon
