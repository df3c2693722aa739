#!/bin/bash
# SPDX-License-Identifier: ISC
# From a job file to its first runs, and every way of looking at them.
. "$(dirname "$0")/lib.sh"
LEAKS=1

job first.ini <<'INI'
[beat]
description = every second
tags = demo
schedule = * * * * * *
command = echo "beat $CRONCTL_RUN_ID"

[fails]
schedule = @manual
command = echo "no luck" >&2; exit 3

[never]
enabled = no
timezone = Europe/Berlin
schedule = 0 4 * * *
command = true
INI

expression_without_daemon() {
	local out
	out=$(cc next '*/20 0 4 * * *' -n 2 --zone UTC \
	    --from 2026-01-01T00:00:00Z --json)
	expect_json <<<"$out"
	# 2026-01-01T04:00:00Z, and 20 seconds later.
	expect_equal "$(json epoch <<<"$out")" $'1767240000\n1767240020'
}

runs_on_time() {
	local row
	wait_for 30 has_rows 3 beat state succeeded
	row=$(rows beat | grep '"succeeded"' | tail -n 1)
	expect_equal "$(json cause <<<"$row")" schedule
	expect_equal "$(json outcome <<<"$row")" started
	expect_match "$(json nominal <<<"$row")" '^[0-9]+$'
	# Never before it is due.
	awk -v due="$(json due <<<"$row")" -v at="$(json started <<<"$row")" \
	    'BEGIN { exit !(at >= due) }'
}

# Each second has one row, none has two.
one_row_each() {
	local nominal
	nominal=$(rows beat | json nominal)
	expect_equal "$(sort -n <<<"$nominal")" \
	    "$(sort -n <<<"$nominal" | uniq)"
	awk 'NR > 1 && $1 != last - 1 { exit 1 } { last = $1 }' <<<"$nominal"
}

shows_output() {
	local run
	run=$(rows beat | grep '"succeeded"' | head -n 1 | json run)
	expect_equal "$(cc logs "$run")" "beat $run"
	expect_match "$(cc logs beat)" '^beat [0-9]+$'
}

lists() {
	local out
	out=$(cc list)
	expect_match "$out" '^beat +(idle|running)'
	expect_match "$out" '^never +disabled'
	expect_match "$out" '^3 jobs'
	expect_equal "$(cc list --tag demo --json | json job)" beat
	expect_equal "$(cc list 'f*' --json | json job)" fails
}

says_status() {
	expect_match "$(cc status)" '^cronctld [0-9].* pid '
	expect_match "$(cc status)" '^jobs +3 '
	expect_equal "$(cc --json status | json total)" 3
}

says_next() {
	expect_equal "$(cc next beat -n 4 --json | json epoch | wc -l)" 4
	expect_match "$(cc next beat)" 'in [0-9]+ s'
}

shows_failure() {
	expect_status 3 cc run fails --wait
	expect_equal "$(cc --json history fails --failed | json code)" 3
	expect_equal "$(cc logs fails --failed)" "no luck"
	expect_match "$(cc list)" '^fails +failing'
	expect_match "$(cc history fails)" 'exit 3'
}

is_json() {
	local c
	for c in status list history "history beat" "next beat" "logs beat" \
	    "show beat" "run beat --force" "reload --plan" version keys; do
		# shellcheck disable=SC2086 # words
		cc --json $c | expect_json
	done
}

adds_and_removes() {
	cc add extra '@every 1h' -o timeout=5m -- 'echo added' >"$T/added"
	expect_match "$(cat "$T/added")" 'added extra'
	expect_match "$(cc show extra)" '5m'
	must_fail cc add extra '@every 1h' -- true
	cc add extra '@every 2h' --replace -- 'echo replaced'
	cc run extra --wait
	expect_equal "$(cc logs extra)" replaced
}

survives_restart() {
	stop_daemon
	start_daemon
	expect_equal "$(cc --json list extra | json origin)" control
	expect_equal "$(cc logs extra)" replaced
	cc remove extra
	expect_status 5 cc show extra
	expect_equal "$(cc --json history extra | json state)" succeeded
}

test_expect "an expression is shown without a daemon" expression_without_daemon
test_expect "the daemon starts and answers" start_daemon
test_expect "a job of a second's grain runs on time" runs_on_time
test_expect "each second has exactly one outcome" one_row_each
test_expect "its output is kept by run" shows_output
test_expect "list" lists
test_expect "status" says_status
test_expect "next" says_next
test_expect "a failed run is shown with its code and output" shows_failure
test_expect "--json prints JSON" is_json
test_expect "jobs are added and replaced" adds_and_removes
test_expect "a job and its history survive a restart" survives_restart
test_expect "the daemon stops" stop_daemon
