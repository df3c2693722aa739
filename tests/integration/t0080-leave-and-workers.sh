#!/bin/bash
# SPDX-License-Identifier: ISC
# SIGTERM leaves running jobs to the next daemon; a worker's death does no
# harm to runs, its own (t0081) or others.
. "$(dirname "$0")/lib.sh"

job jobs.ini <<INI
[long-1]
schedule = @manual
command = echo begun; $HOLD $T/go; echo end; exit 6
[long-2]
schedule = @manual
command = echo begun; $HOLD $T/go; echo end; exit 7
[long-3]
schedule = @manual
command = echo begun; $HOLD $T/go; echo end; exit 8
[long-4]
schedule = @manual
command = echo begun; $HOLD $T/go; echo end; exit 9
INI

live_pids() {
	cc --json history -n 100 | grep '"state":"running"' | json pid | sort
}
four_run() {
	[ "$(live_pids | wc -l)" = 4 ]
}
leaves_at_once() {
	local start took
	start_daemon
	cc run long-1
	cc run long-2
	cc run long-3
	cc run long-4
	wait_for 30 four_run
	live_pids >"$T/pids"
	start=$(uptime_ms)
	kill -TERM "$(daemon_pid)"
	wait_for 30 daemon_ended
	took=$(($(uptime_ms) - start))
	echo "$took" >"$T/took"
	expect_equal "$(daemon_status)" 0
	# The jobs and their workers are there.
	while read -r pid; do
		kill -0 "$pid"
	done <"$T/pids"
	expect_equal "$(worker_pids | wc -l)" 2
	expect_status 3 cc list
}

next_takes_over() {
	start_daemon
	four_run
	expect_equal "$(live_pids)" "$(cat "$T/pids")"
	expect_equal "$(worker_pids | wc -l)" 2
}
has_all() {
	touch "$T/go"
	for n in 1 2 3 4; do
		wait_for 30 has_rows 1 long-$n state failed
		expect_equal "$(rows long-$n | json code)" $((n + 5))
		expect_equal "$(cc logs long-$n)" $'begun\nend'
	done
}

# Ended while nobody was there, and the workers with them.
ended_meanwhile() {
	rm "$T/go"
	cc run long-1
	cc run long-2
	cc run long-3
	cc run long-4
	wait_for 30 four_run
	term_daemon
	touch "$T/go"
	wait_for 60 has_no_worker
	start_daemon
	for n in 1 2 3 4; do
		expect_equal "$(count_rows long-$n state failed)" 2
		expect_equal "$(cc --json history long-$n -n 1 | json code)" \
		    $((n + 5))
		expect_equal "$(cc logs long-$n)" $'begun\nend'
	done
	wait_for 30 two_workers
}

# workers: number and pid of each that is attached.
workers() {
	cc --json status |
	    grep -oE '"number":[0-9]+,"pid":[0-9]+,"state":"attached"' |
	    sed -E 's/[^0-9]+/ /g'
}
two_workers() {
	[ "$(workers | wc -l)" = 2 ]
}
settled() {
	[ "$(cc --json history -n 100 | json state |
	    grep -cx -e running -e starting)" = 0 ]
}

worker_dies() {
	local n victim
	rm "$T/go"
	for n in 1 2 3 4; do
		cc run long-$n
	done
	wait_for 30 four_run
	read -r victim pid <<<"$(workers | head -n 1)"
	echo "$victim" >"$T/victim"
	for n in 1 2 3 4; do
		cc --json history long-$n -n 1 | json worker >"$T/worker-of-$n"
	done
	# Both have some.
	expect_equal "$(sort -u "$T"/worker-of-* | wc -l)" 2
	kill -KILL "$pid"
	wait_for 60 grep -q 'has lost its worker' "$LOG"
	four_run
}
replaced_soon() {
	wait_for 30 two_workers
	workers | grep -v "^ *$(cat "$T/victim") "
	cc add new @manual -- echo new
	expect_status 0 cc run new --wait
	expect_equal "$(cc logs new)" new
}
others_unaffected() {
	local n victim
	victim=$(cat "$T/victim")
	touch "$T/go"
	wait_for 60 settled
	for n in 1 2 3 4; do
		if [ "$(cat "$T/worker-of-$n")" = "$victim" ]; then
			# It gets SIGPIPE at its second line.
			expect_equal "$(cc --json history long-$n -n 1 |
			    json signal)" 13
			expect_equal "$(cc logs long-$n)" begun
		else
			expect_equal "$(cc --json history long-$n -n 1 |
			    json code)" $((n + 5))
			expect_equal "$(cc logs long-$n)" $'begun\nend'
		fi
	done
}

# The status for whoever waits.
waiting_is_told() {
	local pid
	rm "$T/go"
	cc add quiet @manual -- \
	    "until [ -e $T/go ]; do sleep 0.1; done; exit 11"
	(
		status=0
		cc run quiet --wait >"$T/waited" 2>&1 || status=$?
		echo $status >"$T/waited-status"
	) &
	wait_for 30 has_live_runs 1 quiet
	wait_for 30 has_rows 1 quiet state running
	pid=$(workers | awk -v w="$(cc --json history quiet -n 1 |
	    json worker)" '$1 == w { print $2 }')
	kill -KILL "$pid"
	wait_for 30 two_workers
	touch "$T/go"
	wait_for 30 test -s "$T/waited-status"
	expect_equal "$(cat "$T/waited-status")" 11
}

# A stopped worker is not waited for by the others, and nothing is lost.
worker_hangs() {
	local pid i
	wait_for 30 two_workers
	pid=$(workers | awk 'NR == 1 { print $2 }')
	kill -STOP "$pid"
	cc add many @manual -o overlap=allow -- echo many
	for i in 1 2 3 4; do
		cc run many
		: "$i"
	done
	wait_for 60 has_rows 2 many state succeeded
	kill -CONT "$pid"
	wait_for 60 has_rows 4 many state succeeded
	expect_equal "$(count_rows many state lost)" 0
	expect_equal "$(rows many | wc -l)" 4
}

test_expect "SIGTERM leaves, and jobs go on" leaves_at_once
echo "# left after $(cat "$T/took" 2>/dev/null) ms"
test_expect "the next daemon takes workers and runs over" next_takes_over
test_expect "it has every exit status and whole output" has_all
test_expect "what ends while no daemon is there is kept" ended_meanwhile
test_expect "the runs of a killed worker live on" worker_dies
test_expect "a new worker takes its place" replaced_soon
test_expect "the runs of the other are not touched" others_unaffected
test_expect "whoever waits for such a run is told" waiting_is_told
test_expect "a worker that hangs holds up no other" worker_hangs
test_expect "the daemon stops" stop_daemon
