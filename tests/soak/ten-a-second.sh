#!/bin/bash
# SPDX-License-Identifier: ISC
#
# Ten jobs each second for a minute, and then a minute in which nothing is
# due: figures for a machine that does nothing else, from a build without
# sanitizers.  By hand: make soak, or builddir=build tests/soak/ten-a-second.sh
# Ends with status 1 if an occurrence has no outcome or two, a zombie or a
# descriptor is left, or something woke up in the idle minute.
. "$(dirname "$0")/../integration/lib.sh"
SECONDS_BUSY=${SECONDS_BUSY:-60}
SECONDS_IDLE=${SECONDS_IDLE:-60}
N_JOBS=${N_JOBS:-10}

pids() {
	daemon_pid
	worker_pids
}
total() {	# total COUNTER: over daemon and workers
	local pid sum=0
	for pid in $(pids); do
		sum=$((sum + $("$1" "$pid")))
	done
	echo $sum
}
memory() {
	local pid
	for pid in $(pids); do
		echo "$(cat "/proc/$pid/comm")" "$(awk '/^(VmRSS|RssAnon)/ {
		    printf "%s %d kB  ", $1, $2 }' "/proc/$pid/status")"
	done
}
ended_runs() {
	[ "$(cc --json status | json running)" = 0 ]
}

busy() {
	local i begin
	start_daemon
	# What is opened when it is first needed is open now.
	cc add first @manual -- true >/dev/null
	cc run first --wait >/dev/null
	cc history >/dev/null
	cc remove first >/dev/null
	let_pass 2
	total fd_count >"$T/fds"
	for ((i = 0; i < N_JOBS; i++)); do
		printf '[job-%d]\nschedule = * * * * * *\n' "$i"
		printf 'overlap = allow\ncommand = echo %d\n' "$i"
	done | job ten.ini
	cc reload >/dev/null
	begin=$(date +%s)
	let_pass "$SECONDS_BUSY"
	rm "$JOBS/ten.ini"
	cc reload >/dev/null
	echo "$begin $(date +%s)" >"$T/span"
	wait_for 60 ended_runs
	cc --json history -n 100000 | grep -v '"job":"first"' >"$T/rows"
}

# Each second of the stretch, for each job, one row.
exactly_one() {
	local begin end
	read -r begin end <"$T/span"
	paste -d' ' <(json job <"$T/rows") <(json nominal <"$T/rows") |
	    sort >"$T/have"
	for ((i = 0; i < N_JOBS; i++)); do
		seq -f "job-$i %.0f" $((begin + 2)) $((end - 2))
	done | sort >"$T/want"
	echo "occurrences: $(wc -l <"$T/have")," \
	    "started: $(grep -c '"outcome":"started"' "$T/rows")," \
	    "succeeded: $(grep -c '"state":"succeeded"' "$T/rows")"
	echo "twice: $(uniq -d "$T/have" | wc -l)," \
	    "missing: $(comm -13 "$T/have" "$T/want" | wc -l)"
	expect_equal "$(uniq -d "$T/have")" ""
	expect_equal "$(comm -13 "$T/have" "$T/want")" ""
}
lateness() {
	json late <"$T/rows" | grep -v null | sort -n | awk '
	{ v[NR] = $1 }
	function p(q,    i) {
		i = int(NR * q + 0.999999)
		return sprintf("%.2f", v[i < 1 ? 1 : i] * 1000)
	}
	END { print "start lateness, ms: p50 " p(0.5) "  p90 " p(0.9) \
	    "  p99 " p(0.99) "  max " p(1) "  of " NR }'
}
leaks() {
	local zombies_left fds_left
	zombies_left=$(total zombies)
	fds_left=$(total fd_count)
	echo "zombies: $zombies_left, descriptors: $(cat "$T/fds") before," \
	    "$fds_left after"
	expect_equal "$zombies_left" 0
	[ "$fds_left" -le "$(cat "$T/fds")" ]
}
idle() {
	local before after
	let_pass 5
	before=$(total switches)
	let_pass "$SECONDS_IDLE"
	after=$(total switches)
	echo "context switches in $SECONDS_IDLE s of idleness:" \
	    $((after - before))
	expect_equal "$after" "$before"
}
tell() {	# tell FUNCTION: a test that shows its figures
	n_tests=$((n_tests + 1))
	if (set -e; "$1") >"$T/out" 2>&1; then
		sed 's/^/# /' "$T/out"
		echo "ok $n_tests - $1"
	else
		sed 's/^/# /' "$T/out"
		n_failed=$((n_failed + 1))
		echo "not ok $n_tests - $1"
	fi
}

for what in busy exactly_one lateness leaks idle memory stop_daemon; do
	tell $what
done
