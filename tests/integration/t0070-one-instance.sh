#!/bin/bash
# SPDX-License-Identifier: ISC
# One daemon on a state and a runtime directory; what may be in the way of a
# start, and what may not.
. "$(dirname "$0")/lib.sh"

# refused STATE RUNTIME PATTERN [OPTION...]: a daemon started with these ends
# at once, with status 1, saying so.
refused() {
	local state=$1 runtime=$2 pattern=$3
	shift 3
	expect_status 1 timeout -k 5 60 "$CRONCTLD" --state "$state" \
	    --runtime "$runtime" --jobs "$JOBS" --worker "$WORKER" "$@" \
	    >"$T/refused" 2>&1
	expect_match "$(cat "$T/refused")" "$pattern"
}

second_is_refused() {
	local pid
	start_daemon
	pid=$(daemon_pid)
	mkdir -m 700 "$T/state2"
	mkdir "$T/runtime2"
	refused "$STATE" "$RUNTIME" "pid $pid"
	refused "$STATE" "$T/runtime2" "pid $pid"
	refused "$T/state2" "$RUNTIME" "pid $pid"
}
first_is_unharmed() {
	cc add here @manual -- echo here
	expect_status 0 cc run here --wait
	expect_equal "$(worker_pids | wc -l)" 2
}
another_place_is_fine() {
	instance second
	start_daemon
	cc add there @manual -- echo there
	expect_status 0 cc run there --wait
	expect_equal "$(cc --json list | json job)" there
	stop_daemon
	instance main
	expect_equal "$(cc --json list | json job)" here
}

stale_socket() {
	kill_daemon
	test -S "$SOCK"
	start_daemon
	expect_status 0 cc run here --wait
	# Twice, and with the lock file's pid long gone.
	kill_daemon
	test -S "$SOCK"
	start_daemon
	term_daemon
}
# What is no socket is somebody's, and is not removed.
no_socket() {
	rm -f "$SOCK"
	echo precious >"$SOCK"
	refused "$STATE" "$RUNTIME" "$SOCK"
	expect_equal "$(cat "$SOCK")" precious
	rm "$SOCK"
}

long_path() {
	local long
	long=$T/$(printf '%0120d' 0)
	mkdir "$long"
	refused "$T/state2" "$long" 'too long'
	expect_match "$(cat "$T/refused")" "$long"
}

# cronctl says so too, and doesn't take it for a daemon that is down.
long_path_of_client() {
	must_fail "$CRONCTL" --socket "$T/$(printf '%0120d' 0)" status \
	    >"$T/long" 2>&1
	expect_match "$(cat "$T/long")" 'long'
}

no_worker() {
	refused "$T/state2" "$T/runtime2" 'no-worker' --worker "$T/no-worker"
}

tightens_state() {
	chmod 755 "$STATE"
	start_daemon
	expect_equal "$(stat -c %a "$STATE")" 700
	expect_equal "$(stat -c %a "$RUNTIME")" 755
	grep -q "warning.*$STATE" "$LOG"
	term_daemon
}

anothers_state() {
	mkdir -m 700 "$T/nobodys"
	chown 65534 "$T/nobodys"
	refused "$T/nobodys" "$T/runtime2" "$T/nobodys"
}

# A daemon of somebody else than root serves its own user, and root.
serves_own_user() {
	instance nobody
	chown -R 65534:65534 "$D"
	touch "$LOG"
	CRONCTLD_BEFORE=$CRONCTLD
	CRONCTLD=$T/as-nobody
	printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 %s\n' \
	    "--clear-groups \"$CRONCTLD_BEFORE\" \"\$@\"" >"$CRONCTLD"
	chmod 755 "$CRONCTLD"
	start_daemon
	expect_equal "$(stat -c %a "$SOCK")" 600
	as_nobody "$CRONCTL" --socket "$SOCK" add mine @manual -o workdir=/ \
	    -- 'id -u'
	expect_status 0 cc run mine --wait
	expect_equal "$(cc logs mine)" 65534
	stop_daemon
}

damaged_store() {
	instance damaged
	printf 'this is no database, whatever its name says\n%01000d' 1 \
	    >"$STATE/cronctl.db"
	refused "$STATE" "$RUNTIME" 'cronctl\.db'
}

test_expect "a second daemon ends and names the first one's pid" \
    second_is_refused
test_expect "the first one goes on" first_is_unharmed
test_expect "a daemon elsewhere knows nothing of it" another_place_is_fine
test_expect "a stale socket blocks no start" stale_socket
test_expect "a file in the socket's place is left alone" no_socket
test_expect "a too long socket path is refused" long_path
test_expect "cronctl refuses a too long path" long_path_of_client
test_expect "a missing worker program is refused" no_worker
test_expect "a state directory that is open to others is closed" \
    tightens_state
if [ "$(id -u)" = 0 ]; then
	test_expect "another user's state directory is refused" anothers_state
	test_expect "a daemon of another user" serves_own_user
else
	test_skip "another user's state directory is refused" "not root"
	test_skip "a daemon of another user" "not root"
fi
test_expect "a damaged database is refused" damaged_store
