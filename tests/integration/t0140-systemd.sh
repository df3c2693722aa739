#!/bin/bash
# SPDX-License-Identifier: ISC
# timeout: 240
# The units, in a systemd that is booted for it (tests/support/boot.sh): ready
# when it answers, restarts and a hang that lose no running job, activation by
# the socket, the journal, and jobs that end in order at shutdown.
. "$(dirname "$0")/lib.sh"

boot=$srcdir/tests/support/boot.sh
why=$(bash "$boot" can) || skip_all "no systemd can be booted here: $why"

G=$T/guest
mkdir "$G" "$G/root"
# The guest's /shared is $T, where reports of sanitizers belong.
ln -s "$T" "$G/shared"
end_guest() {
	bash "$boot" down "$G"
}
trap 'end_guest >/dev/null 2>&1; finish' EXIT

in_guest() {
	timeout -k 5 60 bash "$boot" run "$G" "$@"
}
guest_cc() {
	in_guest cronctl "$@"
}
# place OPTION: the default that the daemon's help tells.
place() {
	"$CRONCTLD" --help | sed -n "s/^  --$1 .*\[\(.*\)\].*/\1/p"
}
jobs_dir=$(place jobs)
state_dir=$(place state)

install_everything() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$builddir" \
	    install "DESTDIR=$G/root" >/dev/null
	mkdir -p "$G/root/etc/systemd/system/cronctld.service.d"
	cat >"$G/root/etc/systemd/system/cronctld.service.d/test.conf" <<-INI
		[Service]
		WatchdogSec=5s
		TimeoutAbortSec=1s
		Environment=ASAN_OPTIONS=log_path=/shared/san/asan
		Environment=UBSAN_OPTIONS=log_path=/shared/san/ubsan
		Environment=SECRET=of-the-daemon
	INI
	# Stands for the network and remote file systems.
	cat >"$G/root/etc/systemd/system/remote.service" <<-INI
		[Unit]
		Before=remote-fs.target
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/true
		ExecStop=/bin/touch /shared/remote-is-gone
	INI
	# Keeps what the daemon left when it ended.
	cat >"$G/root/etc/systemd/system/keep.service" <<-INI
		[Unit]
		Before=cronctld.service
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/true
		ExecStop=/bin/cp -a $state_dir /shared/kept
	INI
	cat >"$G/root$jobs_dir/jobs.ini" <<-'INI'
		[env]
		schedule = @manual
		command = tr '\0' '\n' </proc/$$/environ; \
			echo "oom=$(cat /proc/$$/oom_score_adj)"; \
			echo "nofile=$(ulimit -Sn)"
		[long-1]
		schedule = @manual
		command = echo begun; until [ -e /shared/go ]; do sleep 0.1; done; \
			echo end; exit 5
		[long-2]
		schedule = @manual
		command = echo begun; until [ -e /shared/go ]; do sleep 0.1; done; \
			echo end; exit 6
		[ordered]
		schedule = @manual
		command = trap 'echo told; [ -e /shared/remote-is-gone ] || \
			echo "in order" >/shared/ordered; exit 7' TERM; \
			touch /shared/ordered-runs; while :; do sleep 0.1; done
		[left]
		schedule = @manual
		command = trap 'echo told; exit 8' TERM; \
			touch /shared/left-runs; while :; do sleep 0.1; done
	INI
}

# none FILE PATTERN: no line matches.
none() {
	if grep -E -- "$2" "$1"; then
		echo "that should not be in $1" >&2
		return 1
	fi
}
property() {
	in_guest systemctl show --value -p "$1" "${2:-cronctld.service}"
}
state_is() {
	[ "$(property ActiveState)" = "$1" ]
}
main_pid_is_not() {
	local pid
	pid=$(property MainPID)
	[ "$pid" != 0 ] && [ "$pid" != "$1" ] && state_is active
}
n_running() {
	[ "$(guest_cc --json list "$2" | json running)" = "$1" ]
}
last_is() {
	[ "$(guest_cc --json history "$1" -n 1 | json "$2")" = "$3" ]
}
says() {
	in_guest journalctl -q -o cat -u cronctld "$@"
}

units_are_right() {
	local units=/usr/local/lib/systemd
	[ -d "$G/root$units" ] || units=$(dirname "$(dirname "$(find \
	    "$G/root" -name cronctld.socket -print -quit)")")
	units=${units#"$G/root"}
	in_guest systemd-analyze verify --man=no \
	    "$units/system/cronctld.service" "$units/system/cronctld.socket" \
	    "$units/system/cronctl-jobs-shutdown.service" >"$T/verify" 2>&1
	in_guest env XDG_RUNTIME_DIR=/run systemd-analyze --user verify \
	    --man=no "$units/user/cronctld.service" \
	    "$units/user/cronctld.socket" \
	    "$units/user/cronctl-jobs-shutdown.service" >>"$T/verify" 2>&1
	# Of others' units nothing is said here.
	none "$T/verify" '[Cc]ronctl'
}
ready_means_ready() {
	in_guest systemctl start keep.service remote.service remote-fs.target \
	    cronctld
	guest_cc status >/dev/null
	expect_equal "$(property ActiveState)" active
	expect_match "$(property StatusText)" '^5 jobs, 0 running$'
	expect_equal "$(property ActiveState cronctl-jobs-shutdown.service)" \
	    active
	expect_equal "$(in_guest stat -c '%a %U' "$state_dir")" "700 root"
	expect_equal "$(in_guest stat -c %a /run/cronctl/control.sock)" 666
}
jobs_see_nothing_of_it() {
	guest_cc run env --wait >/dev/null
	guest_cc logs env >"$T/env"
	expect_match "$(cat "$T/env")" '^CRONCTL_JOB=env$'
	none "$T/env" 'NOTIFY|LISTEN_|WATCHDOG|INVOCATION|JOURNAL|SECRET|ASAN'
	expect_equal "$(grep -c '^oom=0$' "$T/env")" 1
	expect_equal "$(sed -n 's/^nofile=//p' "$T/env")" \
	    "$(property LimitNOFILESoft)"
	expect_equal "$(property OOMScoreAdjust)" -500
}
restart_keeps_jobs() {
	local old
	guest_cc run long-1 >/dev/null
	guest_cc run long-2 >/dev/null
	wait_for 20 n_running 1 long-1
	wait_for 20 n_running 1 long-2
	old=$(property MainPID)
	in_guest systemctl restart cronctld
	main_pid_is_not "$old"
	expect_equal "$(property ActiveState cronctl-jobs-shutdown.service)" \
	    active
	n_running 1 long-1
	n_running 1 long-2
}
hang_is_ended() {
	local old
	old=$(property MainPID)
	in_guest kill -STOP "$old"
	wait_for 40 main_pid_is_not "$old"
	expect_equal "$(property NRestarts)" 1
	wait_for 20 n_running 1 long-1
	touch "$T/go"
	wait_for 20 last_is long-1 code 5
	wait_for 20 last_is long-2 code 6
	expect_equal "$(guest_cc logs long-1)" "begun
end"
	expect_equal "$(guest_cc --json history long-1 | wc -l)" 1
	expect_equal "$(guest_cc --json history long-2 | wc -l)" 1
}
has_six() {
	[ "$(guest_cc --json list | wc -l)" = 6 ]
}
status_is_six() {
	expect_match "$(property StatusText)" '^6 jobs, 0 running$'
}
reload_is_told() {
	in_guest sh -c "printf '[new]\nschedule = @manual\ncommand = true\n' \
	    >$jobs_dir/new.ini"
	in_guest systemctl reload cronctld
	wait_for 20 has_six
	wait_for 20 state_is active
	# The next turn of the loop tells, at the latest that of the watchdog.
	wait_for 20 status_is_six
}
client_comes_first() {
	in_guest systemctl stop cronctld
	must_fail guest_cc list >/dev/null
	in_guest systemctl start cronctld.socket
	expect_equal "$(property ActiveState)" inactive
	guest_cc --json list >"$T/list"
	expect_equal "$(wc -l <"$T/list")" 6
	state_is active
	jobs_see_nothing_of_it
}
nobody_is_refused() {
	local restarts i
	in_guest systemctl restart cronctld &
	restarts=$!
	for i in {1..8}; do
		: "$i"
		guest_cc status >/dev/null
	done
	wait $restarts
	in_guest test -S /run/cronctl/control.sock
}
lines_have_priorities() {
	local line
	line=$(in_guest journalctl -q -o json -u cronctld --output-fields \
	    PRIORITY,MESSAGE | grep -m 1 '"MESSAGE":"daemon: cronctld .* ready')
	expect_equal "$(json PRIORITY <<<"$line")" 6
	in_guest sh -c "echo nonsense >$jobs_dir/bad.ini"
	in_guest systemctl reload cronctld
	wait_for 20 says_of_bad
	in_guest rm "$jobs_dir/bad.ini"
	says >"$T/journal"
	none "$T/journal" '^<[0-9]>'
}
says_of_bad() {
	says -p warning | grep -F bad.ini
}
workers_end_what_is_left() {
	local program
	guest_cc run left >/dev/null
	wait_for 20 test -e "$T/left-runs"
	in_guest systemctl stop cronctld.socket cronctld
	program=$(in_guest systemctl show --value -p ExecStop \
	    cronctl-jobs-shutdown.service | sed 's/.*path=\([^ ;]*\).*/\1/')
	in_guest "$program" --system 2>/dev/null
	in_guest systemctl start cronctld
	wait_for 20 n_running 0 left
	expect_match "$(guest_cc logs left)" '^told$'
	expect_match "$(guest_cc --json history left)" '"code":8'
}
shutdown_is_in_order() {
	guest_cc run ordered >/dev/null
	wait_for 20 test -e "$T/ordered-runs"
	end_guest
	expect_equal "$(cat "$T/ordered")" "in order"
	[ -e "$T/remote-is-gone" ]
}
shutdown_is_recorded() {
	STATE=$T/kept
	# shellcheck disable=SC2119 # it has no options here
	start_daemon
	expect_match "$(cc --json history ordered)" '"state":"killed"'
	expect_match "$(cc logs ordered)" '^told$'
	stop_daemon
}

test_expect "everything is installed" install_everything
booted=$(bash "$boot" up "$G" 2>&1) || {
	echo "# $booted" | head -n 20
	skip_all "systemd does not boot here"
}
test_expect "systemd-analyze has nothing to say of the units" units_are_right
test_expect "the service is active when the daemon answers" ready_means_ready
if ! state_is active; then
	says -n 20 | sed 's/^/# /'
	tail -n 20 "$G/console" | sed 's/^/# /'
	n_failed=1
	exit 1
fi
test_expect "jobs see nothing of the service" jobs_see_nothing_of_it
test_expect "systemctl restart: running jobs go on" restart_keeps_jobs
test_expect "a daemon that hangs is replaced, and no run is lost" \
    hang_is_ended
test_expect "systemctl reload reads the job files" reload_is_told
test_expect "the journal has lines with priorities" lines_have_priorities
test_expect "a client that comes before the daemon starts it" \
    client_comes_first
test_expect "with the socket, nobody is refused during a restart" \
    nobody_is_refused
test_expect "end-jobs without a daemon: workers end their jobs" \
    workers_end_what_is_left
test_expect "at shutdown jobs end before the network does" \
    shutdown_is_in_order
test_expect "and how they ended is recorded" shutdown_is_recorded
