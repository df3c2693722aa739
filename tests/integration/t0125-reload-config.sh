#!/bin/bash
# SPDX-License-Identifier: ISC
# reload and SIGHUP read cronctld.conf too.
. "$(dirname "$0")/lib.sh"

conf() {
	cat >"$T/conf"
}
zone_of() {
	cc --json show "$1" | json zone
}
show_ini() {
	cc --json show "$1"
}

starts() {
	conf <<-'INI'
	[daemon]
	timezone = UTC
	watch = no
	workers = 2
	[defaults]
	description = from the configuration
	INI
	job a.ini <<-'INI'
	[a]
	schedule = 0 12 * * *
	command = true
	INI
	start_daemon --config "$T/conf"
	cc add mine '0 12 * * *' -- true
	expect_equal "$(zone_of a)" UTC
}

noon() {
	cc --json next "$1" -n 1 | json at
}
takes_effect() {
	local text before
	before=$(noon mine)
	conf <<-'INI'
	[daemon]
	timezone = Asia/Tokyo
	watch = no
	workers = 3
	log_level = debug
	[defaults]
	description = from the new one
	INI
	text=$(cc reload --plan)
	expect_match "$text" 'workers: takes effect at the next start'
	expect_equal "$(zone_of a)" UTC
	text=$(cc reload)
	expect_match "$text" 'workers: takes effect at the next start'
	expect_match "$text" 'log_level: takes effect now'
	expect_match "$text" '^~ a '
	expect_equal "$(zone_of a)" Asia/Tokyo
	expect_match "$(show_ini a)" 'from the new one'
	expect_equal "$(zone_of mine)" Asia/Tokyo
	[ "$(noon mine)" != "$before" ]
	grep -q 'workers: takes effect at the next start' "$LOG"
	expect_equal "$(cc --json status | json zone)" Asia/Tokyo
}

told_until_restart() {
	expect_match "$(cc reload)" 'workers: takes effect at the next start'
	must_fail eval 'cc reload | grep log_level'
}

error_changes_nothing() {
	printf '[daemon]\ntimezone = Mars/Olympus\nworkres = 3\n' >"$T/conf"
	echo '[b]
schedule = @manual
command = true' | job b.ini
	must_fail cc reload >"$T/out2" 2>&1
	expect_match "$(cat "$T/out2")" 'conf:2: \[daemon\] timezone: '
	expect_match "$(cat "$T/out2")" 'conf:3: \[daemon\] workres: '
	grep -q 'conf:2: \[daemon\] timezone' "$LOG"
	grep -q 'conf:3: \[daemon\] workres' "$LOG"
	expect_status 5 cc show b
	expect_equal "$(zone_of a)" Asia/Tokyo
}

hangup() {
	printf '[daemon]\nwatch = no\ntimezone = UTC\nworkers = 2\n' >"$T/conf"
	kill -HUP "$(daemon_pid)"
	wait_for 10 cc show b
	expect_equal "$(zone_of a)" UTC
	expect_equal "$(zone_of mine)" UTC
}

test_expect "the daemon starts" starts
test_expect "a new configuration takes effect" takes_effect
test_expect "what needs a restart is told until then" told_until_restart
test_expect "one in error changes nothing" error_changes_nothing
test_expect "SIGHUP reads it too" hangup
test_expect "the daemon stops" stop_daemon
