#!/bin/bash
# SPDX-License-Identifier: ISC
# The daemon is killed while 20 jobs run, some of which end before the next
# one comes: 20 outcomes, whole outputs, the same processes, none twice.
. "$(dirname "$0")/lib.sh"

mkdir "$T/pid"

# Each writes its pid (once for each time it is started) and half its output,
# then waits; the even ones are let go while there is no daemon.
write_jobs() {
	local i
	for i in {1..20}; do
		echo "[job-$i]"
		echo "schedule = @manual"
		cat <<-INI
		command = echo \$\$ >>$T/pid/$i; i=0; \\
		    while [ \$i -lt 300 ]; do i=\$((i+1)); echo $i line \$i; done; \\
		    $HOLD $T/go-$((i % 2)); \\
		    while [ \$i -lt 600 ]; do i=\$((i+1)); echo $i line \$i; done; \\
		    exit $i
		INI
	done | job twenty.ini
}

all_begun() {
	local i
	for i in {1..20}; do
		[ -s "$T/pid/$i" ] || return 1
	done
	[ "$(cc --json history -n 100 | json state | grep -cx running)" = 20 ]
}
starts_twenty() {
	local i
	write_jobs
	start_daemon
	for i in {1..20}; do
		cc run "job-$i"
	done
	wait_for 60 all_begun
}

# pids: of the job of each run, as the daemon tells.
pids() {
	cc --json history -n 100 >"$T/rows"
	paste -d' ' <(json job <"$T/rows") <(json pid <"$T/rows") | sort
}

survive_it() {
	local i
	pids >"$T/pids-before"
	worker_pids | sort >"$T/workers-before"
	kill_daemon
	for i in {1..20}; do
		expect_equal "$(wc -l <"$T/pid/$i")" 1
		kill -0 "$(cat "$T/pid/$i")"
		grep -qx "job-$i $(cat "$T/pid/$i")" "$T/pids-before"
	done
	expect_equal "$(wc -l <"$T/workers-before")" 2
}

gone() {
	local i
	for i in {2..20..2}; do
		! kill -0 "$(cat "$T/pid/$i")" || return 1
	done
}
ten_end_without_daemon() {
	touch "$T/go-0"
	wait_for 60 gone
}

# A worker whose runs had all ended may have left them on disk and gone.
found_again() {
	start_daemon
	[ -n "$(worker_pids | sort | comm -12 - "$T/workers-before")" ]
	expect_equal "$(pids)" "$(cat "$T/pids-before")"
	expect_equal "$(cc --json list | json state | grep -cx running)" 10
	expect_equal "$(cc --json status | json running)" 10
}

ended_well() {	# ended_well N...
	local i row
	cc --json history -n 100 >"$T/rows"
	for i in "$@"; do
		row=$(grep "\"job\":\"job-$i\"" "$T/rows")
		expect_equal "$(json state <<<"$row")" failed
		expect_equal "$(json code <<<"$row")" "$i"
		seq -f "$i line %.0f" 600 >"$T/want"
		cc logs "job-$i" >"$T/got"
		cmp "$T/want" "$T/got"
		expect_equal "$(wc -l <"$T/pid/$i")" 1
	done
}
none_lives() {
	[ "$(cc --json status | json running)" = 0 ]
}
others_end() {
	touch "$T/go-1"
	wait_for 60 none_lives
	ended_well 1 3 5 7 9 11 13 15 17 19
}

# Killed again and again, at once after a start: nothing changes any more.
killed_at_once() {
	local i
	rows job-7 >"$T/before"
	for i in 1 2 3; do
		kill_daemon
		launch_daemon
		: "$i"
	done
	kill_daemon
	start_daemon
	expect_equal "$(rows job-7)" "$(cat "$T/before")"
	expect_equal "$(cc --json history -n 100 | json run | sort | uniq -d)" ""
}

# What was missed is told, with its cause.
missed_is_told() {
	cc add beat '* * * * * *' -o max_late=1s -- echo beat
	wait_for 30 has_rows 1 beat state succeeded
	kill_daemon
	let_pass 3
	start_daemon
	wait_for 30 has_rows 1 beat reason daemon_down
	wait_for 30 has_rows 2 beat state succeeded
}

test_expect "20 jobs run" starts_twenty
test_expect "they survive a kill -9 of the daemon" survive_it
test_expect "ten end while there is no daemon" ten_end_without_daemon
test_expect "the next daemon finds workers and runs" found_again
test_expect "the ten have exit status and whole output" \
    ended_well 2 4 6 8 10 12 14 16 18 20
test_expect "the other ten end under the new daemon" others_end
test_expect "kill -9 right after a start does no harm" killed_at_once
test_expect "what was due meanwhile is missed (daemon_down)" missed_is_told
test_expect "the daemon stops" stop_daemon
