#!/bin/bash
# SPDX-License-Identifier: ISC
# Workers die while jobs run: their processes come to the daemon, and every
# status is right; with the daemon gone too, the ends are unknown, but nothing
# runs twice.  A worker that is told to end ends its runs; one that is stopped
# refuses what has become too late.
. "$(dirname "$0")/lib.sh"

mkdir "$T/pid"
# All runs on one worker.
printf '[daemon]\nworkers = 1\n' >"$T/conf"

write_jobs() {
	local i
	for i in {1..20}; do
		echo "[job-$i]"
		echo "schedule = @manual"
		cat <<-INI
		command = echo \$\$ >>$T/pid/$i; echo begun; \\
		    until [ -e $T/go-$((i % 2)) ]; do sleep 0.5; done; exit $i
		INI
	done | job twenty.ini
	job others.ini <<-INI
	[writes]
	schedule = @manual
	command = echo one; until [ -e $T/write ]; do sleep 0.5; done; echo two
	[limited]
	schedule = @manual
	timeout = 4s
	command = while :; do sleep 0.5; done
	INI
}
worker() {
	cc --json status |
	    grep -oE '"number":[0-9]+,"pid":[0-9]+,"state":"attached"' |
	    sed -E 's/.*"pid":([0-9]+).*/\1/'
}
other_worker() {
	[ -n "$(worker)" ] && [ "$(worker)" != "$(cat "$T/worker")" ]
}
states() {	# states STATE: how many runs are so
	cc --json history -n 1000 | json state | grep -cx "$1"
}
has_states() {
	[ "$(states "$2")" = "$1" ]
}
newest() {	# newest JOB FIELD
	cc --json history "$1" -n 1 | json "$2"
}
newest_is() {
	[ "$(newest "$1" "$2")" = "$3" ]
}

starts_all() {
	local name
	write_jobs
	start_daemon --config "$T/conf"
	# Its shell would say that its sleep was terminated, and get SIGPIPE.
	cc add stops @manual -o stop_grace=20s -- \
	    "exec 2>/dev/null; trap 'exit 3' TERM; while :; do sleep 0.5; done"
	cc add resists @manual -o stop_grace=1s -- \
	    "trap '' TERM; while :; do sleep 0.5; done"
	for name in job-{1..20} writes stops resists limited; do
		cc run "$name"
	done
	wait_for 60 has_states 24 running
}

# kill_worker: -9, as the kernel does when memory is short.
kill_worker() {
	local begun
	worker >"$T/worker"
	begun=$(uptime_ms)
	kill -KILL "$(cat "$T/worker")"
	wait_for 20 other_worker
	echo "# the next worker was attached after" \
	    "$(($(uptime_ms) - begun)) ms"
}
all_live_on() {
	local i
	wait_for 20 grep -q 'job=job-20 .* has lost its worker' "$LOG"
	expect_equal "$(states lost)" 0
	for i in {1..20}; do
		kill -0 "$(cat "$T/pid/$i")"
	done
	# They still overlap.
	must_fail cc run job-1
	cc add fresh @manual -- 'echo fresh'
	expect_status 0 cc run fresh --wait
}

# ended_well N...: the last run of each has its own status, and whole output.
ended_well() {
	local i row
	cc --json history -n 1000 >"$T/rows"
	for i in "$@"; do
		row=$(grep "\"job\":\"job-$i\"" "$T/rows")
		expect_equal "$(json state <<<"$row")" failed
		expect_equal "$(json code <<<"$row")" "$i"
		expect_equal "$(wc -l <"$T/pid/$i")" 1
	done
	expect_equal "$(cc logs "job-$1")" begun
}
half_end() {
	touch "$T/go-0"
	wait_for 30 has_states 10 failed
	ended_well 2 4 6 8 10 12 14 16 18 20
}
writer_ends() {
	touch "$T/write"
	wait_for 20 newest_is writes state signaled
	expect_equal "$(newest writes signal)" 13
	expect_equal "$(cc logs writes)" one
}
ladder_works() {
	cc remove stops --running=stop
	cc remove resists --running=stop
	wait_for 20 newest_is stops state killed
	expect_equal "$(newest stops code)" 3
	wait_for 20 newest_is resists state killed
	expect_equal "$(newest resists signal)" 9
	wait_for 20 newest_is limited state timed_out
}
others_end() {
	touch "$T/go-1"
	wait_for 30 has_states 20 failed
	ended_well 1 3 5 7 9 11 13 15 17 19
	expect_equal "$(states lost)" 0
}
no_zombies() {
	[ "$(zombies "$(daemon_pid)")" = 0 ]
}

# Daemon and worker at once: there is nobody to take a status.
both_killed() {
	rm "$T"/go-* "$T"/pid/*
	for i in {1..20}; do
		cc run "job-$i"
	done
	wait_for 60 has_states 20 running
	worker >"$T/worker"
	kill -KILL "$(daemon_pid)" "$(cat "$T/worker")"
	wait_for 30 daemon_ended
	touch "$T/go-0"
	for i in {2..20..2}; do
		wait_for 20 is_gone "$(cat "$T/pid/$i")"
	done
	start_daemon --config "$T/conf"
}
is_gone() {	# or a zombie
	! grep -sq '^State:[[:space:]]*[RSD]' "/proc/$1/status"
}
ended_are_lost() {
	wait_for 30 has_states 10 lost
	expect_match "$(newest job-2 detail)" "its worker died"
	expect_equal "$(cc logs job-2)" begun
}
others_are_guarded() {
	local i
	expect_equal "$(states running)" 10
	must_fail cc run job-1
	touch "$T/go-1"
	wait_for 30 has_states 20 lost
	expect_match "$(newest job-1 detail)" "is not known"
	for i in {1..20}; do
		expect_equal "$(wc -l <"$T/pid/$i")" 1
	done
	expect_equal "$(cc --json history -n 1000 | grep -c '"job":"job-')" 40
	expect_status 1 cc run job-1 --wait
}

# SIGTERM: as when the machine goes down.
worker_is_ended() {
	rm "$T"/go-* "$T"/pid/*
	for i in {1..5}; do
		cc run "job-$i"
	done
	wait_for 60 has_states 5 running
	worker >"$T/worker"
	kill -TERM "$(cat "$T/worker")"
	wait_for 20 other_worker
	wait_for 30 has_states 7 killed
	expect_equal "$(newest job-1 signal)" 15
	expect_equal "$(cc logs job-1)" begun
}

# Stopped with a start on its way, and told to go on when that is too late.
is_stuck() {
	cc --json status | grep -q '"state":"stuck"'
}
late_is_refused() {
	cc add beat '* * * * * *' -o max_late=1s -- "echo \$CRONCTL_RUN_ID >>$T/beats"
	wait_for 30 has_rows 1 beat state succeeded
	worker >"$T/worker"
	kill -STOP "$(cat "$T/worker")"
	wait_for 30 is_stuck
	let_pass 2
	kill -CONT "$(cat "$T/worker")"
	wait_for 30 has_rows 1 beat reason overload
	cc remove beat
	wait_for 30 has_states 0 running
	expect_equal "$(states lost)" 20
	expect_equal "$(sort "$T/beats" | uniq -d)" ""
	expect_equal "$(wc -l <"$T/beats")" "$(count_rows beat state succeeded)"
}

test_expect "24 jobs run on one worker" starts_all
test_expect "it is killed; the next is there soon" kill_worker
test_expect "its runs are live, and new ones start" all_live_on
test_expect "half of 20 end with their own status" half_end
test_expect "one that writes afterwards gets SIGPIPE" writer_ends
test_expect "timeout and the stop ladder go on working" ladder_works
test_expect "the others end with their own status" others_end
test_expect "no zombies are left" wait_for 20 no_zombies
test_expect "daemon and worker are killed together" both_killed
test_expect "what ended meanwhile is lost, and says so" ended_are_lost
test_expect "what lives is guarded; nothing ran twice" others_are_guarded
test_expect "a worker that is told to end ends its runs" worker_is_ended
test_expect "a worker that was stopped refuses late starts" late_is_refused
test_expect "the daemon stops" stop_daemon
