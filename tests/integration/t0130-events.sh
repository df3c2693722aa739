#!/bin/bash
# SPDX-License-Identifier: ISC
# cronctl events: 50 runs and a daemon killed in the middle; a follower misses
# nothing and sees nothing twice.
. "$(dirname "$0")/lib.sh"

RUNS=50

# seqs FILE: the numbers, in the order they came.
seqs() {
	json seq <"$1"
}
# kinds FILE KIND: the runs with that kind of event.
kinds() {
	grep "\"kind\":\"$2\"" "$1" | json run
}

# No hole and nothing twice: each number is the one before plus 1.
is_gapless() {
	seqs "$1" | awk 'NR > 1 && $1 != last + 1 {
		print "after " last " comes " $1; bad = 1
	} { last = $1 } END { exit bad || NR == 0 }' >&2
}

start_follower() {
	"$CRONCTL" --socket "$SOCK" --json events -f --from 1 \
	    >"$T/followed" 2>"$T/follow-err" </dev/null &
	echo $! >"$T/follower"
	disown
}

has_ended() {
	[ "$(kinds "$T/followed" run_ended | sort -u | wc -l)" -ge "$1" ]
}

fifty_runs() {
	local i
	start_daemon
	start_follower
	cc -q add short @manual -o overlap=allow -o max_running=60 -- \
	    "exit \$((CRONCTL_RUN_ID % 2))"
	for ((i = 0; i < RUNS / 2; i++)); do
		cc -q run short
	done
	# Whatever is on its way just now.
	kill_daemon
	start_daemon
	for ((i = 0; i < RUNS / 2; i++)); do
		cc -q run short
	done
	wait_for 60 has_ended $RUNS
}

nothing_missing() {
	is_gapless "$T/followed"
	expect_json <"$T/followed"
	# Each run has started once and has ended once, in this order.
	rows short | json run | sort >"$T/runs"
	expect_equal "$(wc -l <"$T/runs")" $RUNS
	kinds "$T/followed" run_started | sort >"$T/started"
	kinds "$T/followed" run_ended | sort >"$T/ended"
	expect_equal "$(cat "$T/started")" "$(cat "$T/runs")"
	expect_equal "$(cat "$T/ended")" "$(cat "$T/runs")"
	expect_equal "$(grep -c '"kind":"daemon_started"' "$T/followed")" 2
	expect_equal "$(grep -c '"state":"succeeded"' "$T/followed")" \
	    "$(count_rows short state succeeded)"
	kill -0 "$(cat "$T/follower")"
}

# The same is told to somebody who comes later, and from the middle on.
told_again() {
	local middle
	cc --json events --from 1 >"$T/all"
	head -n "$(wc -l <"$T/followed")" "$T/all" >"$T/head"
	cmp "$T/head" "$T/followed"
	middle=$(seqs "$T/all" | sed -n 40p)
	cc --json events --from "$middle" >"$T/part"
	tail -n "$(wc -l <"$T/part")" "$T/all" | cmp - "$T/part"
	expect_equal "$(seqs "$T/part" | head -n 1)" "$middle"
	expect_equal "$(cc --json events -n 3 | wc -l)" 3
	expect_equal "$(cc events | wc -l)" 20
	must_fail cc events --from 99999999
	expect_status 2 cc events --from 1 -n 1
}

# Lines for people.
in_words() {
	cc -q add changed @manual -- true
	cc -q add --replace changed @manual -o timeout=5s -- true
	cc -q remove changed
	cc -q pause short --note lunch
	cc -q resume short
	printf '[bad]\nschedul = x\n' | job bad.ini
	cc -q reload || [ $? -eq 1 ]
	wait_for 30 eval 'cc events -n 1 | grep "job file in error"'
	cc events -n 8 >"$T/words"
	cat "$T/words"
	grep -qE "^[0-9]+ .*  changed: added by uid $(id -u)$" "$T/words"
	grep -q "changed: changed by uid $(id -u): timeout" "$T/words"
	grep -q "changed: removed by uid $(id -u)$" "$T/words"
	grep -q "short: paused by uid $(id -u): lunch" "$T/words"
	grep -q "short: resumed by uid $(id -u)$" "$T/words"
	grep -q 'job file in error: .*bad.ini:1: .bad. command' "$T/words"
}

# A stretch is told when it begins, and not again.
skipped_once() {
	cc -q add slow '* * * * * *' -- "until [ -e $T/go ]; do sleep 0.1; done"
	wait_for 30 eval '[ "$(cc --json list slow | json skips)" -ge 2 ]'
	touch "$T/go"
	cc -q remove slow --running=stop
	cc --json events --from 1 | grep '"job":"slow"' >"$T/slow"
	expect_equal "$(grep -c '"reason":"overlap"' "$T/slow")" 1
}

# A stop is told; a follower goes on with the next daemon.
over_a_stop() {
	stop_daemon
	start_daemon
	wait_for 30 eval \
	    '[ "$(grep -c "\"kind\":\"daemon_started\"" "$T/followed")" -eq 3 ]'
	is_gapless "$T/followed"
	expect_equal "$(grep -c '"kind":"daemon_stopping"' "$T/followed")" 1
	expect_equal "$(grep -c '"kind":"daemon_leaving"' "$T/followed")" 1
	kill "$(cat "$T/follower")"
}

test_expect "$RUNS runs, the daemon killed in the middle" fifty_runs
test_expect "nothing is missing, nothing is there twice" nothing_missing
test_expect "it is told again" told_again
test_expect "in words" in_words
test_expect "a stretch is told once" skipped_once
test_expect "over a stop" over_a_stop
test_expect "the daemon stops" stop_daemon
