#!/bin/bash
# SPDX-License-Identifier: ISC
# What cronctl refuses, with which exit status, and that it says what to do.
. "$(dirname "$0")/lib.sh"

commands="add remove list show next explain run wait pause resume history logs
status reload check stop keys version help completion"

# says STATUS PATTERN ARGS...: cronctl ends so, and with one such sentence on
# standard error and nothing on standard output.
says() {
	local status=$1 pattern=$2
	shift 2
	LEAKS=1 expect_status "$status" cc "$@" >"$T/stdout" 2>"$T/stderr" || {
		echo "cronctl $*:"
		cat "$T/stdout" "$T/stderr"
		return 1
	}
	expect_equal "$(cat "$T/stdout")" ""
	expect_match "$(cat "$T/stderr")" "$pattern"
	expect_match "$(cat "$T/stderr")" '^cronctl: '
}

help_everywhere() {
	local c
	expect_match "$(cc --help)" 'usage: cronctl'
	cc help >/dev/null
	cc -h >/dev/null
	for c in $commands; do
		expect_match "$(cc "$c" --help)" "usage: cronctl $c"
		# The daemon is not asked, and nothing else is done.
		cc "$c" -h >/dev/null
		cc --help "$c" >/dev/null
	done
	for c in $commands; do
		expect_match "$(cc help)" "^ +$c "
	done
}
no_daemon() {
	local c
	for c in list status history reload stop "show x" "run x" \
	    "logs x" "remove x" "next x"; do
		# shellcheck disable=SC2086 # words
		says 3 "no daemon at $SOCK" $c
	done
	says 3 'no daemon at' add x @manual -- true
	# These exit as the job would, but for this.
	says 125 'no daemon at' wait x
	says 125 'no daemon at' run x --wait
	touch "$SOCK"
	says 3 "$SOCK" list
	rm "$SOCK"
}
without_daemon() {
	expect_match "$(cc version)" '^cronctl [0-9]'
	expect_match "$("$CRONCTL" --version)" '^cronctl [0-9]'
	expect_match "$(cc keys)" '^schedule '
	cc next '0 4 * * *' >/dev/null
	cc completion bash >"$T/completion"
	bash -n "$T/completion"
	"$CRONCTLD" --help >/dev/null
	"$CRONCTLD" --version | grep -q '^cronctld [0-9]'
}
daemon_refusals() {
	expect_status 2 "$CRONCTLD" --sttae /x >"$T/out" 2>&1
	expect_match "$(cat "$T/out")" 'did you mean --state'
	expect_status 2 "$CRONCTLD" word >"$T/out" 2>&1
	printf '[daemon]\nworkesr = 3\n' >"$T/conf"
	chmod 644 "$T/conf"
	expect_status 1 "$CRONCTLD" --config "$T/conf" --check \
	    --jobs "$JOBS" >"$T/out" 2>&1
	expect_match "$(cat "$T/out")" 'conf:2: .*did you mean workers'
	must_fail "$CRONCTLD" --config "$T/missing" --jobs "$JOBS" \
	    --state "$STATE" --runtime "$RUNTIME" >"$T/out" 2>&1
	expect_match "$(cat "$T/out")" missing
}
usage() {
	says 2 'which command'
	says 2 'did you mean list' lsit
	says 2 'help' frobnicate
	says 2 '--nonsense' list --nonsense
	says 2 'too many' version now
	says 2 'too few' run
	says 2 '' add onlyname
	says 2 '' add name @manual
	says 2 '' history -n many
	says 2 '' history -n
	says 2 '' --socket
	says 2 'exclude' --user --system list
	says 2 '' next -n 0
	says 2 '' list --state flying
}
starts() {
	start_daemon
	cc add backup '30 2 * * *' -- 'exit 3' >/dev/null
	cc add backup-db '30 3 * * *' -- true >/dev/null
}
no_such() {
	says 5 'no job "bakcup"; did you mean backup' run bakcup
	says 5 'no job "nowhere"' show nowhere
	says 5 'no job' remove nowhere
	says 5 'no job' logs nowhere
	says 5 'no job' history nowhere
	says 5 'no job' next nowhere
	says 125 "no job" wait nowhere
	says 5 'run' logs 999999
	says 125 run wait 999999
}
bad_definitions() {
	says 1 '5 \(minute' add x '30 2 * *' -- true
	says 1 '61 is not within 0-59' add x '61 * * * *' -- true
	says 1 'did you mean timeout' add x @manual -o tiemout=5m -- true
	says 1 '"5 min"' add x @manual -o 'timeout=5 min' -- true
	says 1 'Europe/Berlim' add x '0 4 * * *' -o timezone=Europe/Berlim \
	    -- true
	says 1 'name' add 'a b' @manual -- true
	says 1 'defaults' add defaults @manual -- true
	says 1 'backup' add backup @manual -- true
	# Several mistakes, all told.
	expect_status 1 cc add x '61 * * * *' -o tiemout=1 -o umask=9 -- \
	    true >"$T/out" 2>&1
	expect_equal "$(grep -c '^cronctl: ' "$T/out")" 3
	# A later version's key is told from a mistake.
	says 1 'not support' add x @manual -o mail_to=root -- true
	says 5 'no job "x"' show x
}
bad_expressions() {
	says 1 '' next '61 * * * *'
	says 1 '' next '@every 0s'
	says 1 '' next '* * *'
	says 1 'Mars' next '0 4 * * *' --zone Mars/Olympus
	# None left is no error.
	expect_equal "$(cc next '0 0 30 2 *' -n 3 --json)" ""
	expect_equal "$(cc next '@at 2020-01-01T00:00:00Z' --json)" ""
}
exit_status_of_full_disk() {
	[ -w /dev/full ] || return 0
	must_fail cc list >/dev/full
}
not_permitted() {
	chmod 755 "$RUNTIME"
	expect_status 4 as_nobody "$CRONCTL" --socket "$SOCK" list \
	    >"$T/stdout" 2>"$T/stderr"
	expect_match "$(cat "$T/stderr")" '^cronctl: '
	expect_status 4 as_nobody "$CRONCTL" --socket "$SOCK" run backup
	expect_status 4 as_nobody "$CRONCTL" --socket "$SOCK" stop
	expect_status 4 as_nobody "$CRONCTL" --socket "$SOCK" add x \
	    @manual -- true
	# A little is for everybody.
	as_nobody "$CRONCTL" --socket "$SOCK" status
	daemon_answers
}
# No terminal, no colour; and nothing is wider than 80 columns.
plain_output() {
	local c
	cc add wide "$(seq -s, 0 59) * * * *" -o "description=$(seq 200 |
	    tr '\n' ' ')" -- "$(seq 300 | tr '\n' ' ')" >/dev/null
	cc run backup --wait >/dev/null || :
	for c in list history status "next backup" help keys "add --help"; do
		# shellcheck disable=SC2086 # words
		cc $c >"$T/out"
		! grep -q $'\033' "$T/out"
		[ "$(wc -L <"$T/out")" -le 80 ] || {
			cat "$T/out"
			return 1
		}
	done
}

test_expect "--help everywhere, without a daemon" help_everywhere
test_expect "no daemon is status 3, and says where" no_daemon
test_expect "what needs no daemon works without one" without_daemon
test_expect "wrong options and configuration of cronctld" daemon_refusals
test_expect "wrong usage is status 2" usage
test_expect "the daemon starts" starts
test_expect "no such job or run is status 5, with near names" no_such
test_expect "wrong definitions are refused, all mistakes told" bad_definitions
test_expect "wrong expressions" bad_expressions
test_expect "a full disk is an error" exit_status_of_full_disk
if [ "$(id -u)" = 0 ]; then
	test_expect "somebody else is not permitted, status 4" not_permitted
else
	test_skip "somebody else is not permitted, status 4" "not root"
fi
test_expect "output is plain, and 80 columns wide" plain_output
test_expect "the daemon stops" stop_daemon
