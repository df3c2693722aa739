#!/bin/bash
# SPDX-License-Identifier: ISC
# Job files with errors: all of them are told, the last good version stays in
# force, the other files load.
. "$(dirname "$0")/lib.sh"

job web.ini <<'INI'
[web]
schedule = * * * * * *
command = echo good
INI
job other.ini <<'INI'
[other]
schedule = @manual
command = echo one
INI

# Lines 2, 4, 6, 9 and 10 are wrong, each in a way of its own.
broken_web() {
	job web.ini <<'INI'
[web]
schedule = 61 * * * *
command = echo bad
tiemout = 5m
[web-clean]
timeout = 5 min
schedule = @manual
command = true
overlap = sometimes
user root
INI
}

# tells_five TEXT: file, line, section, key and what is wrong, of each.
tells_five() {
	expect_match "$1" 'web\.ini:2: \[web\] schedule: minute.* 61 .*0-59'
	expect_match "$1" 'web\.ini:4: \[web\] tiemout: .*did you mean timeout'
	expect_match "$1" 'web\.ini:6: \[web-clean\] timeout: .*"5 min"'
	expect_match "$1" 'web\.ini:9: \[web-clean\] overlap: .*"sometimes"'
	expect_match "$1" 'web\.ini:10: \[web-clean\] .*user root'
}

# Here files are read only when this test says so; t0120 has the other way.
printf '[daemon]\nwatch = no\n' >"$T/conf"

starts_well() {
	start_daemon --config "$T/conf"
	wait_for 30 has_rows 1 web state succeeded
}

check_tells_five() {
	broken_web
	expect_status 1 cc check "$JOBS" >"$T/check" 2>&1
	tells_five "$(cat "$T/check")"
	expect_match "$(cat "$T/check")" '5 errors in 1 of 2 files'
}

reload_tells_five() {
	job other.ini <<'INI'
[other]
schedule = @manual
command = echo two
[third]
schedule = @manual
command = echo three
INI
	expect_status 1 cc reload >"$T/reload" 2>&1
	tells_five "$(cat "$T/reload")"
	for line in 2 4 6 9 10; do
		grep -q "web\.ini:$line: " "$LOG"
	done
}

# more_runs N: web has succeeded more than N times, with the old command.
more_runs() {
	[ "$(count_rows web state succeeded)" -gt "$1" ] &&
	    [ "$(cc logs web)" = good ]
}
former_version_in_force() {
	local before
	before=$(count_rows web state succeeded)
	expect_equal "$(cc --json show web | json command)" "echo good"
	wait_for 30 more_runs "$before"
	expect_status 5 cc show web-clean
}

others_are_loaded() {
	expect_status 0 cc run other --wait
	expect_equal "$(cc logs other)" two
	expect_status 0 cc run third --wait
}

told_in_status_and_list() {
	expect_match "$(cc status)" 'web\.ini'
	expect_match "$(cc list)" '1 job file in error'
	expect_match "$(cc --json status | json in_error)" '^1$'
}

kept_over_restart() {
	term_daemon
	start_daemon --config "$T/conf"
	former_version_in_force
	told_in_status_and_list
}

# Same sections, one line: an unchanged job keeps its id.
corrected_by_hangup() {
	local id
	id=$(cc --json show web | json id)
	job web.ini <<'INI'
[web]
schedule = @manual
command = echo better
INI
	kill -HUP "$(daemon_pid)"
	wait_for 30 eval '[ "$(cc --json show web | json command)" = \
	    "echo better" ]'
	expect_equal "$(cc --json show web | json id)" "$id"
	expect_equal "$(cc --json status | json in_error)" 0
	expect_status 0 cc run web --wait
	expect_equal "$(cc logs web)" better
}

removed_by_reload() {
	rm "$JOBS/other.ini"
	expect_match "$(cc reload --plan)" '^- other'
	expect_match "$(cc show other)" 'other'
	expect_match "$(cc reload)" '2 removed'
	expect_status 5 cc show other
	# Its history stays.
	expect_equal "$(cc --json history other | json state)" succeeded
}

# A file that others could have written is refused; so is a folder that is
# gone, which changes nothing.
refuses_unsafe() {
	job loose.ini <<'INI'
[loose]
schedule = @manual
command = true
INI
	chmod 666 "$JOBS/loose.ini"
	expect_status 1 cc reload >"$T/loose" 2>&1
	expect_match "$(cat "$T/loose")" 'loose\.ini'
	expect_status 5 cc show loose
	chmod 644 "$JOBS/loose.ini"
	cc reload
	cc show loose
	mv "$JOBS" "$JOBS.away"
	must_fail cc reload
	cc show loose
	mv "$JOBS.away" "$JOBS"
}

# A control-added job's name in a file: the one in force stays.
one_name_once() {
	cc add taken @manual -- echo mine
	job taken.ini <<'INI'
[taken]
schedule = @manual
command = echo theirs
INI
	expect_status 1 cc reload >"$T/taken" 2>&1
	expect_match "$(cat "$T/taken")" 'taken\.ini:1: \[taken\]'
	expect_equal "$(cc --json show taken | json command)" "echo mine"
	must_fail cc remove web >"$T/web" 2>&1
	expect_match "$(cat "$T/web")" 'web\.ini'
	cc remove taken
	cc reload
	expect_equal "$(cc --json show taken | json command)" "echo theirs"
}

test_expect "good files are loaded" starts_well
test_expect "check tells all five errors" check_tells_five
test_expect "reload tells all five errors" reload_tells_five
test_expect "the former version stays in force" former_version_in_force
test_expect "the other files are loaded" others_are_loaded
test_expect "status and list name the file" told_in_status_and_list
test_expect "that holds over a restart" kept_over_restart
test_expect "SIGHUP takes the corrected file" corrected_by_hangup
test_expect "a file that is gone removes its jobs" removed_by_reload
test_expect "files that others can write are refused" refuses_unsafe
test_expect "a name is in force once" one_name_once
test_expect "the daemon stops" stop_daemon
