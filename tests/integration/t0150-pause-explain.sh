#!/bin/bash
# SPDX-License-Identifier: ISC
# Pauses over a restart, and what explain says of an expression.
. "$(dirname "$0")/lib.sh"

explains_a_match() {
	local out
	# 2026-11-30 is a Monday.
	out=$(cc explain '0 7 * * 1-5' '2026-11-30 07:00' --zone Europe/Berlin)
	expect_match "$out" '^Mon 2026-11-30 07:00:00 CET is an occurrence of'
	expect_match "$out" 'matches +minute 0, hour 7'
	expect_match "$out" 'before +Fri 2026-11-27 07:00:00 CET'
	expect_match "$out" 'after +Tue 2026-12-01 07:00:00 CET'
}
explains_a_field() {
	local out
	out=$(cc explain '0 7 * * 1-5' '2026-11-29 07:00' --zone UTC)
	expect_match "$out" '^Sun 2026-11-29 07:00:00 UTC is no occurrence of'
	expect_match "$out" 'not +day of week Sunday'
}
explains_daylight_saving() {
	local out
	# 02:30 does not exist; it is run at 03:00, the first instant after.
	out=$(cc explain '30 2 * * *' '2027-03-28 02:30' --zone Europe/Berlin)
	expect_match "$out" '^Sun 2027-03-28 03:00:00 CEST is an occurrence'
	expect_match "$out" '01:59:59 CET is followed by 03:00:00 CEST'
	# The second showing of a fixed time is none.
	out=$(cc explain '30 2 * * *' 2026-10-25T02:30:00+01:00 \
	    --zone Europe/Berlin)
	expect_match "$out" 'is no occurrence'
	expect_match "$out" 'shown more than once'
	# Of an interval it is one: ten past, in both passes.
	out=$(cc explain '*/10 * * * *' 2026-10-25T02:30:00+01:00 \
	    --zone Europe/Berlin)
	expect_match "$out" 'is an occurrence'
}
explain_json() {
	local out
	out=$(cc explain '0 7 * * 1-5' @1796018400 --zone UTC --json)
	# 2026-11-30T06:00:00Z
	expect_match "$out" '"matches":false'
	expect_match "$out" '"hour":false'
	expect_match "$out" '"after":1796022000'
}
explain_refuses() {
	expect_status 1 cc explain '61 * * * *' now 2>"$T/err"
	expect_status 1 cc explain '0 7 * * *' gestern 2>"$T/err"
	expect_status 2 cc explain backup now 2>"$T/err"
	expect_match "$(cat "$T/err")" 'cronctl history backup'
	expect_status 2 cc explain '0 7 * * *' 2>"$T/err"
}

runs_of() {
	cc history "$1" --json -n 200 2>/dev/null |
	    grep -c '"outcome":"started"'
}
pauses() {
	start_daemon
	cc add tick '* * * * * *' -o overlap=allow -- true >/dev/null
	wait_for 30 test_started
	expect_match "$(cc pause tick --note 'office closed')" \
	    '^paused tick until resumed'
	expect_match "$(cc list)" 'tick +paused'
	expect_match "$(cc list)" '1 paused'
	expect_match "$(cc show tick)" 'office closed'
	expect_match "$(cc status)" '1 paused'
	expect_match "$(cc list --json)" '"note":"office closed"'
	expect_match "$(cc list --state paused --json)" '"job":"tick"'
}
test_started() { [ "$(runs_of tick)" -ge 1 ]; }
lasts_over_a_restart() {
	kill_daemon
	start_daemon
	expect_match "$(cc list)" 'tick +paused'
}
runs_by_hand() {
	cc run tick --wait >/dev/null
	expect_match "$(cc history tick -n 1)" 'manual'
}
resumes() {
	expect_match "$(cc resume tick)" '^resumed tick'
	wait_for 30 skipped_paused
	expect_match "$(cc resume tick)" 'had no pause'
}
skipped_paused() { cc history tick -n 200 | grep -q 'paused'; }
pauses_all() {
	cc pause --all --for 1h >/dev/null
	cc add later '0 0 1 1 *' -- true >/dev/null
	expect_match "$(cc list)" '2 paused'
	expect_match "$(cc status)" 'all are paused'
	expect_match "$(cc resume --all)" '^resumed 2 jobs'
	expect_match "$(cc list --state paused)" 'no job matches'
}
pauses_a_pattern() {
	cc pause 'la*' --skip 2 >/dev/null
	expect_match "$(cc list later)" 'skips 2'
	# The third 1 January from now.
	expect_match "$(cc list later)" "$(($(date +%Y) + 3))-01-01"
	cc resume 'la*' >/dev/null
}
refuses() {
	expect_status 2 cc pause 2>/dev/null
	expect_status 2 cc pause tick --all 2>/dev/null
	expect_status 2 cc pause tick --for 1h --skip 2 2>/dev/null
	expect_status 2 cc pause tick --for 'one hour' 2>/dev/null
	expect_status 1 cc pause tick --until @1 2>/dev/null
	expect_status 5 cc pause nowhere 2>/dev/null
	expect_status 5 cc resume 'no*' 2>/dev/null
}

test_expect 'explain: a match, by field, with its neighbours' explains_a_match
test_expect 'explain: the field that does not match' explains_a_field
test_expect 'explain: rules of daylight saving' explains_daylight_saving
test_expect 'explain --json' explain_json
test_expect 'explain refuses what is wrong' explain_refuses
test_expect 'pause shows in list, show and status' pauses
test_expect 'a pause lasts over a crash' lasts_over_a_restart
test_expect 'a paused job runs by hand' runs_by_hand
test_expect 'resume records the stretch' resumes
test_expect 'pause --all covers jobs added later' pauses_all
test_expect 'pause with a pattern and --skip' pauses_a_pattern
test_expect 'pause refuses what is wrong' refuses
test_expect "the daemon stops" stop_daemon
