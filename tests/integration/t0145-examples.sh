#!/bin/bash
# SPDX-License-Identifier: ISC
# The sample configuration and the job files that come as examples: all load
# without an error, say what they look after, and what only reads runs.
. "$(dirname "$0")/lib.sh"

for f in "$srcdir"/conf/jobs.d/*.ini; do
	install -m 644 "$f" "$JOBS/"
done
n_sections=$(cat "$JOBS"/*.ini | grep -c '^\[')

check_finds_nothing() {
	local out
	out=$("$CRONCTL" check "$JOBS")
	expect_match "$out" "^15 files, no errors.*; $n_sections jobs are fine\$"
	none_warns
}
# Users that this host doesn't have are all that may be warned of.
none_warns() {
	"$CRONCTL" check "$JOBS" >"$T/check" 2>&1
	if grep '^warning' "$T/check" | grep -v 'there is no user'; then
		return 1
	fi
}
daemon_check() {
	local out
	out=$("$CRONCTLD" --check --config "$srcdir/conf/cronctld.conf" \
	    --jobs "$JOBS" --state "$STATE" --runtime "$RUNTIME")
	expect_match "$out" '^0 errors$'
}
# Each command begins with a test whether what it looks after is there.
every_job_is_guarded() {
	awk '
	/^\[/ { job = $0 }
	/^command = / && !/ \|\| exit 0|^command = command -v|^command = df / &&
	    !/^command = \[ / { print FILENAME ": " job ": no guard"; bad = 1 }
	END { exit bad }' "$JOBS"/*.ini
}
every_job_says_what_it_does() {
	expect_equal "$(cat "$JOBS"/*.ini | grep -c '^description = ')" \
	    "$n_sections"
}
loads() {
	# shellcheck disable=SC2119 # it has no options here
	start_daemon
	expect_equal "$(cc --json list | wc -l)" "$n_sections"
}
# Ended by itself with a verdict: 0, or 1 where this host is not well.
gives_verdict() {
	local status=0
	cc run "$1" --wait >/dev/null || status=$?
	[ "$status" -le 1 ] && return 0
	cc logs "$1" >&2
	echo "$1: status $status" >&2
	return 1
}
readers() {
	awk '/^\[/ { gsub(/[][]/, ""); job = $0 }
	    /^tags = readonly$/ { print job }' "$JOBS"/*.ini
}
what_only_reads_runs() {
	local n=0 name
	for name in $(readers); do
		gives_verdict "$name"
		n=$((n + 1))
	done
	[ $n -ge 6 ]
}
# With directories of its own instead of the host's.
dpkg_rotates() {
	local i
	mkdir "$T/from" "$T/to"
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "state $i" >"$T/from/status"
		cc run dpkg-backup --wait --env "FROM=$T/from" \
		    --env "TO=$T/to" >/dev/null
	done
	# The same once more is no new state.
	cc run dpkg-backup --wait --env "FROM=$T/from" --env "TO=$T/to" \
	    >/dev/null
	expect_equal "$(cat "$T/to/dpkg.status.0")" "state 9"
	expect_equal "$(zcat "$T/to/dpkg.status.1.gz")" "state 8"
	expect_equal "$(zcat "$T/to/dpkg.status.6.gz")" "state 3"
	expect_equal "$(find "$T/to" -type f | wc -l)" 7
}
backup_keeps_days() {
	local day
	mkdir "$T/data" "$T/disk"
	echo one >"$T/data/file"
	expect_status 1 cc run backup --wait --env "FROM=$T/data" \
	    --env "TO=$T/disk" >/dev/null
	touch "$T/disk/.this-is-the-backup-disk"
	for day in 01 02 03; do
		mkdir "$T/disk/2020-01-$day"
	done
	cc run backup --wait --env "FROM=$T/data" --env "TO=$T/disk" \
	    --env KEEP=2 >/dev/null
	expect_equal "$(cat "$T/disk/latest/data/file")" one
	expect_equal "$(find "$T/disk" -mindepth 1 -maxdepth 1 -type d |
	    wc -l)" 2
}

test_expect "cronctl check finds nothing wrong" check_finds_nothing
test_expect "nor does cronctld --check, with the sample configuration" \
    daemon_check
test_expect "every job is guarded" every_job_is_guarded
test_expect "every job says what it does" every_job_says_what_it_does
test_expect "the daemon takes them all" loads
test_expect "what only reads runs" what_only_reads_runs
test_expect "the backup of dpkg's state rotates" dpkg_rotates
if command -v rsync >/dev/null; then
	test_expect "the backup keeps days" backup_keeps_days
else
	test_skip "the backup keeps days" "no rsync here"
fi
test_expect "the daemon stops" stop_daemon
