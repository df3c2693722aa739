#!/bin/bash
# SPDX-License-Identifier: ISC
# A job is removed just before it is due, while it runs, while it waits: its
# outcome is recorded, nothing runs that should not, and nothing is lost.
. "$(dirname "$0")/lib.sh"

# Twelve jobs are removed at instants all over a second, each close to one at
# which it is due.  What had begun ends; nothing begins afterwards.
just_before_due() {
	local i started
	start_daemon
	for i in {1..12}; do
		cc -q add "due-$i" '* * * * * *' -o overlap=allow -- \
		    "echo x >>$T/due-$i"
	done
	for i in {1..12}; do
		# Around the next full second.
		wait_for 5 eval '[ "$(date +%N | cut -c1)" -ge 8 ]'
		cc -q remove "due-$i"
		touch "$T/removed-$i"
	done
	wait_for 30 nothing_runs
	for i in {1..12}; do
		started=$(count_rows "due-$i" outcome started)
		expect_equal "$(count_rows "due-$i" state succeeded)" "$started"
		expect_equal "$(wc -l <"$T/due-$i")" "$started"
	done
	cc --json history -n 1000 | json state | sort | uniq -c
}
nothing_runs() {
	[ "$(cc --json status | json running)" = 0 ]
}

# No row of a removed job is younger than its removal by a second.
no_ghost() {
	local before after
	before=$(cc --json history -n 1000 | json run | wc -l)
	let_pass 2
	after=$(cc --json history -n 1000 | json run | wc -l)
	expect_equal "$after" "$before"
	expect_equal "$(cc --json list | wc -l)" 0
}

while_it_runs() {
	cc add runs @manual -- "$HOLD $T/go; echo end"
	cc run runs
	expect_match "$(cc remove runs)" 'runs'
	expect_status 5 cc show runs
	expect_equal "$(cc --json status | json running)" 1
	touch "$T/go"
	wait_for 30 has_rows 1 runs state succeeded
	expect_equal "$(cc logs runs)" end
}

while_it_runs_and_stop() {
	rm "$T/go"
	cc add stops @manual -- "$HOLD $T/go"
	cc run stops
	cc remove stops --running=stop
	wait_for 30 has_rows 1 stops state killed
	wait_for 30 nothing_runs
}

while_it_waits() {
	cc add waits '* * * * * *' -o overlap=queue -- \
	    "echo x >>$T/waits; $HOLD $T/go"
	wait_for 30 eval '[ "$(cc --json list waits | json waiting)" = 1 ]'
	expect_equal "$(wc -l <"$T/waits")" 1
	cc remove waits
	wait_for 30 has_rows 1 waits reason removed
	# Its live run was let be, and the waiting one never starts.
	expect_equal "$(cc --json status | json running)" 1
	expect_equal "$(cc --json status | json waiting)" 0
	touch "$T/go"
	wait_for 30 has_rows 1 waits state succeeded
	expect_equal "$(wc -l <"$T/waits")" 1
}

# The same name again is another job, and the old one's run goes on.
added_again() {
	rm "$T/go"
	cc add again @manual -- "$HOLD $T/go"
	cc run again
	cc remove again
	cc add again @manual -- "echo new"
	touch "$T/go"
	wait_for 30 has_rows 1 again state succeeded
	expect_status 0 cc run again --wait
	expect_equal "$(cc logs again)" new
	expect_equal "$(rows again | json job_id | sort -u | wc -l)" 2
}

# Removed and killed in between, the job stays removed and its run is kept.
over_a_crash() {
	rm "$T/go"
	cc add crash @manual -- "$HOLD $T/go; exit 4"
	cc run crash
	cc remove crash
	kill_daemon
	start_daemon
	expect_status 5 cc show crash
	touch "$T/go"
	wait_for 30 has_rows 1 crash code 4
}

refusals() {
	expect_status 5 cc remove nothing-like-it
	must_fail cc remove
	# A pattern asks; without a terminal it needs --yes.
	cc add some-1 @manual -- true
	cc add some-2 @manual -- true
	must_fail cc remove 'some-*'
	cc --yes remove 'some-*'
	expect_equal "$(cc --json list | json job)" again
}

test_expect "just before it is due" just_before_due
test_expect "no ghost runs afterwards" no_ghost
test_expect "while it runs" while_it_runs
test_expect "while it runs, with --running=stop" while_it_runs_and_stop
test_expect "while it waits" while_it_waits
test_expect "the name is added again" added_again
test_expect "over a crash" over_a_crash
test_expect "what is refused" refusals
test_expect "the daemon stops" stop_daemon
