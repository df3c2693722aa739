# SPDX-License-Identifier: ISC
# shellcheck shell=bash
#
# What integration tests share: a private daemon in a directory of its own,
# conditions with deadlines, and TAP on standard output.  A test begins with
#
#	. "$(dirname "$0")/lib.sh"
#
# and consists of functions given to test_expect.  Each runs in a subshell
# under "set -e", so that every line of it must hold; what later ones need
# goes into files.  At exit the processes of this test are ended (only those),
# and a sanitizer's report anywhere fails it.
#
# Places of the current instance (see instance): T of the test, then STATE,
# RUNTIME, JOBS, SOCK, LOG, D (where this library keeps pid and status).

set -u
srcdir=${srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
builddir=${builddir:-$srcdir/build-check}
CRONCTLD=${CRONCTLD:-$builddir/cronctld}
CRONCTL=${CRONCTL:-$builddir/cronctl}
WORKER=${WORKER:-$builddir/cronctl-worker}
export LC_ALL=C.UTF-8 TZ=UTC
umask 022

T=$(mktemp -d "${TMPDIR:-/tmp}/cronctl-test.XXXXXX") || exit 1
chmod 755 "$T"
mkdir -m 777 "$T/san"
export ASAN_OPTIONS="log_path=$T/san/asan:detect_leaks=1:exitcode=99"
export UBSAN_OPTIONS="log_path=$T/san/ubsan:print_stacktrace=1"
export LSAN_OPTIONS="log_path=$T/san/lsan:exitcode=99"
export TSAN_OPTIONS="log_path=$T/san/tsan:exitcode=99"
# Marks what this test starts, through every fork and exec of ours.
export CRONCTL_TEST_MARK=$T

# A command that holds a job until a file is there; after ten minutes it gives
# up, so that nothing is left for ever of a test that was killed.
HOLD=$T/hold
cat >"$HOLD" <<'SH'
#!/bin/sh
i=0
until [ -e "$1" ] || [ $i -gt 3000 ] || [ ! -e "$0" ]; do
	i=$((i + 1))
	sleep 0.2
done
SH
chmod 755 "$HOLD"

n_tests=0
n_failed=0

# instance NAME: the places of one private daemon; "main" to begin with.
instance() {
	D=$T/$1
	STATE=$D/state
	RUNTIME=$D/runtime
	JOBS=$D/jobs
	SOCK=$RUNTIME/control.sock
	LOG=$D/log
	mkdir -p "$D" "$JOBS"
	[ -d "$STATE" ] || mkdir -m 700 "$STATE"
	[ -d "$RUNTIME" ] || mkdir -m 755 "$RUNTIME"
}

# test_expect 'name' COMMAND...: one test; passes if COMMAND holds.
test_expect() {
	local name=$1
	shift
	n_tests=$((n_tests + 1))
	(
		set -e
		"$@"
	) >"$T/out" 2>&1
	local status=$?
	if [ $status -eq 0 ]; then
		echo "ok $n_tests - $name"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_tests - $name"
		echo "# status $status"
		tail -n 60 "$T/out" | sed 's/^/# /'
	fi
}

# test_skip 'name' 'why': one test that can't run here.
test_skip() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

# skip_all 'why': ends a test that can't run here at all.
skip_all() {
	n_tests=-1
	echo "1..0 # SKIP $1"
	exit 0
}

# is_crash STATUS: ended by a signal, a sanitizer, or not run at all.
is_crash() {
	[ "$1" -ge 99 ] && [ "$1" -ne 124 ]
}

# must_fail COMMAND...: a refusal, status 1 to 5, and not a crash.
must_fail() {
	local status=0
	"$@" || status=$?
	if [ "$status" -ge 1 ] && [ "$status" -le 5 ]; then
		return 0
	fi
	if [ "$status" -eq 0 ]; then
		echo "this should have been refused: $*" >&2
	elif is_crash "$status"; then
		echo "crashed with status $status: $*" >&2
	else
		echo "status $status is no refusal: $*" >&2
	fi
	return 1
}

# expect_status N COMMAND...: ends with exactly this status.
expect_status() {
	local want=$1 status=0
	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ] && return 0
	echo "status $status instead of $want: $*" >&2
	return 1
}

# expect_match TEXT PATTERN: an extended regular expression, on any line.
expect_match() {
	grep -qE -- "$2" <<<"$1" && return 0
	printf 'no line matches "%s" in:\n%s\n' "$2" "$1" >&2
	return 1
}

# expect_equal GOT WANT
expect_equal() {
	[ "$1" = "$2" ] && return 0
	printf 'got:\n%s\ninstead of:\n%s\n' "$1" "$2" >&2
	return 1
}

# wait_for SECONDS COMMAND...: until COMMAND holds; fails at the deadline.
wait_for() {
	local seconds=$1 end
	shift
	end=$(($(uptime_ms) + seconds * 1000))
	until "$@" >/dev/null 2>&1; do
		if [ "$(uptime_ms)" -ge $end ]; then
			echo "not within $seconds s: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# let_pass SECONDS: for what must not happen meanwhile.
let_pass() {
	local end
	end=$(($(uptime_ms) + $1 * 1000))
	wait_for $(($1 + 30)) is_past "$end"
}
is_past() {
	[ "$(uptime_ms)" -ge "$1" ]
}

# Milliseconds on a clock that is never set.
uptime_ms() {
	local up rest
	read -r up rest </proc/uptime
	: "$rest"
	echo $((10#${up%.*} * 1000 + 10#${up#*.} * 10))
}

# cc ARGS...: cronctl, talking to the current instance.  Looking for leaks
# takes longer than all that it does; LEAKS=1 has it done.
cc() {
	ASAN_OPTIONS=${ASAN_OPTIONS/leaks=1/leaks=${LEAKS:-0}} timeout -k 5 "${CC_TIMEOUT:-90}" "$CRONCTL" --socket "$SOCK" "$@"
}

# json FIELD: the values of one field in lines of JSON objects on stdin, the
# first of each line; strings without their quotes, as they were escaped.
json() {
	awk -v key="\"$1\":" '{
		at = index($0, key)
		if (at == 0)
			next
		value = substr($0, at + length(key))
		sub(/^ */, "", value)
		if (value ~ /^"/) {
			value = substr(value, 2)
			match(value, /^([^"\\]|\\.)*/)
		} else
			match(value, /^[^],} ]*/)
		print substr(value, 1, RLENGTH)
	}'
}

# expect_json: every line of stdin is one JSON value (RFC 8259), and there is
# one at least.  Values are folded from the inside out.
expect_json() {
	awk '
	{
		text = $0
		hex = "[0-9a-fA-F]"
		string = "\"([^\"\\\\]|\\\\[\"\\\\/bfnrt]|\\\\u" \
		    hex hex hex hex ")*\""
		gsub(string, "S", text)
		gsub(/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/, "V",
		    text)
		gsub(/true|false|null/, "V", text)
		gsub(/[ \t]/, "", text)
		do {
			n = gsub(/\{(S:[SV](,S:[SV])*)?\}/, "V", text)
			n += gsub(/\[([SV](,[SV])*)?\]/, "V", text)
		} while (n > 0)
		if (text !~ /^[SV]$/) {
			print "no JSON: " $0
			bad = 1
		}
	}
	END { exit bad || NR == 0 }' >&2
}

# rows JOB: its history as JSON, the newest first.
rows() {
	cc --json history "$1" -n 1000
}
# count_rows JOB FIELD VALUE: how many of these rows have that.
count_rows() {
	rows "$1" | json "$2" | grep -cxF -- "$3"
}
# has_rows N JOB FIELD VALUE: at least N.
has_rows() {
	[ "$(count_rows "$2" "$3" "$4")" -ge "$1" ]
}
# worst_start: of the rows on stdin, the longest time from due to started.
worst_start() {
	awk '
	{
		due = start = 0
		if (match($0, /"due":[0-9.]+/))
			due = substr($0, RSTART + 6, RLENGTH - 6)
		if (match($0, /"started":[0-9.]+/))
			start = substr($0, RSTART + 10, RLENGTH - 10)
		if (due > 0 && start - due > worst)
			worst = start - due
	}
	END { printf "%.3f\n", worst }'
}
# live_runs JOB: how many run now.
live_runs() {
	cc --json list "$1" | json running
}
has_live_runs() {
	[ "$(live_runs "$2")" -eq "$1" ]
}

# job FILE: writes a job file of the current instance from stdin.
job() {
	cat >"$JOBS/.$1.new"
	chmod 644 "$JOBS/.$1.new"
	mv "$JOBS/.$1.new" "$JOBS/$1"
}

# start_daemon [OPTIONS...]: starts it and waits until it answers.
start_daemon() {
	launch_daemon "$@"
	wait_for 60 daemon_settled
	if daemon_ended; then
		echo "the daemon ended with status $(daemon_status):" >&2
		tail -n 20 "$LOG" >&2
		return 1
	fi
}

# launch_daemon [OPTIONS...]: starts it and doesn't wait.  Its parent is a
# shell that keeps the exit status.
launch_daemon() {
	rm -f "$D/status" "$D/pid"
	(
		exec >>"$LOG" 2>&1 </dev/null
		trap '' INT
		"$CRONCTLD" --state "$STATE" --runtime "$RUNTIME" \
		    --jobs "$JOBS" --worker "$WORKER" "$@" &
		echo $! >"$D/pid.new"
		mv "$D/pid.new" "$D/pid"
		status=0
		wait $! || status=$?
		echo $status >"$D/status.new"
		mv "$D/status.new" "$D/status"
	) &
	disown
	wait_for 10 test -s "$D/pid"
}

daemon_answers() {
	cc status
}
daemon_ended() {
	[ -s "$D/status" ]
}
daemon_settled() {
	daemon_ended || daemon_answers
}
daemon_pid() {
	cat "$D/pid"
}
daemon_status() {
	cat "$D/status"
}

# stop_daemon: a clean stop: running jobs finish, exit status 0.
stop_daemon() {
	cc stop --wait >/dev/null
	wait_for 30 daemon_ended
	expect_equal "$(daemon_status)" 0
}

# term_daemon: SIGTERM, as for a restart: jobs go on.
term_daemon() {
	kill -TERM "$(daemon_pid)"
	wait_for 30 daemon_ended
	expect_equal "$(daemon_status)" 0
}

# kill_daemon: SIGKILL.
kill_daemon() {
	kill -KILL "$(daemon_pid)"
	wait_for 30 daemon_ended
}

# own_pids [NAME]: processes that this test started, by its directory in their
# arguments or environment, or, of workers, open; with a NAME only those of
# that program.
own_pids() {
	local p comm
	{
		# Both fail when a process goes while they look.
		grep -lsF -e "$T" /proc/[0-9]*/environ /proc/[0-9]*/cmdline || :
		find /proc/[0-9]*/fd/6 -lname "$T/*" || :
	} 2>/dev/null | cut -d/ -f3 | sort -u |
	    while read -r p; do
		[ "$p" != "$$" ] && [ -e "/proc/$p/exe" ] || continue
		if [ -n "${1-}" ]; then
			read -r comm <"/proc/$p/comm" || continue
			[ "$comm" = "${1:0:15}" ] || continue
		fi
		echo "$p"
	done 2>/dev/null
	return 0
}
worker_pids() {
	own_pids cronctl-worker
}
has_no_worker() {
	[ -z "$(worker_pids)" ]
}

# fd_count PID, switches PID (times it was scheduled, all threads),
# zombies PID (children that nobody has waited for).
fd_count() {
	find "/proc/$1/fd" -mindepth 1 | wc -l
}
switches() {
	cat "/proc/$1"/task/*/status |
	    awk '/^(non)?voluntary_ctxt_switches/ { n += $2 } END { print n }'
}
zombies() {
	cat /proc/[0-9]*/stat 2>/dev/null |
	    sed 's/^\([0-9]*\) (.*) /\1 /' |
	    awk -v parent="$1" '$2 == "Z" && $3 == parent' | wc -l
}

# as_nobody COMMAND...: as another user, when we are root.
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Ends what this test started: the daemons first, so that none starts more.
end_processes() {
	local signal pids i
	for signal in TERM KILL; do
		pids=$(own_pids)
		[ -n "$pids" ] || return 0
		# shellcheck disable=SC2046,SC2086 # lists of pids
		kill -KILL $(own_pids cronctld) 2>/dev/null
		# shellcheck disable=SC2086
		kill -$signal $pids 2>/dev/null
		for i in {1..60}; do
			: "$i"
			[ -n "$(own_pids)" ] || return 0
			sleep 0.05
		done
	done
}

# Reports of sanitizers, in their files or, without one, in a log.
sanitizer_reports() {
	local f
	for f in "$T"/san/* "$T"/*/log; do
		[ -s "$f" ] || continue
		case $f in
		*/log) grep -q -e 'Sanitizer' -e 'runtime error:' "$f" ||
			continue ;;
		esac
		echo "# $f"
		grep -n -e Sanitizer -e 'runtime error:' "$f" | head -n 1 |
		    cut -d: -f1 >"$T/first"
		tail -n "+$(cat "$T/first")" "$f" | head -n 50 |
		    sed 's/^/# /'
	done
}

finish() {
	local status=$? reports
	trap - EXIT
	trap '' INT TERM HUP
	end_processes
	if [ $n_tests -ge 0 ]; then
		n_tests=$((n_tests + 1))
		reports=$(sanitizer_reports)
		if [ -z "$reports" ]; then
			echo "ok $n_tests - no sanitizer reports anything"
		else
			n_failed=$((n_failed + 1))
			echo "not ok $n_tests - no sanitizer reports anything"
			echo "$reports"
		fi
		if [ $n_failed -gt 0 ]; then
			for f in "$T"/*/log; do
				echo "# the end of ${f#"$T"/}:"
				tail -n 30 "$f" | sed 's/^/# /'
			done
		fi
		[ "$status" -ne 0 ] || echo "1..$n_tests"
	fi
	if [ -n "${KEEP-}" ]; then
		echo "# kept: $T"
	else
		rm -rf "$T"
	fi
	[ $n_failed -eq 0 ] || [ "$status" -ne 0 ] || status=1
	exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

instance main
