#!/bin/bash
# SPDX-License-Identifier: ISC
# A name service that never answers: only runs of users that it is asked for
# are delayed; they end start_failed at start_timeout.
#
# The service is the tests' own module, put into a mount namespace by an
# nsswitch.conf and an ld.so.cache there.
if [ "$(id -u)" = 0 ] && [ -z "${CRONCTL_TEST_MOUNTS-}" ] &&
    unshare --mount true 2>/dev/null; then
	CRONCTL_TEST_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

MODULE=$builddir/tests/faults/libnss_hang.so.2
PATH=$PATH:/sbin:/usr/sbin
[ -n "${CRONCTL_TEST_MOUNTS-}" ] || skip_all "no mount namespace: not root"
[ -e "$MODULE" ] || skip_all "tests/faults/libnss_hang.so.2 is not built"
for f in /etc/nsswitch.conf /etc/ld.so.cache; do
	[ -e $f ] || skip_all "no $f to put ours over"
done

# The whole of the namespace, and proof that it hangs.
prepare() {
	set -e
	mkdir -m 755 "$T/nss"
	cp "$MODULE" "$T/nss/"
	{ echo "$T/nss"; cat /etc/ld.so.conf; } >"$T/ld.so.conf"
	(cd /etc && ldconfig -X -C "$T/ld.so.cache" -f "$T/ld.so.conf")
	printf '%s: files hang\n' passwd group >"$T/nsswitch.conf"
	mount --bind "$T/ld.so.cache" /etc/ld.so.cache
	mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf
	expect_status 124 timeout 1 getent passwd no-such-user
	timeout 5 getent passwd root
}
(prepare) >"$T/prepared" 2>&1
# shellcheck disable=SC2181 # "||" would switch off set -e in there
[ $? -eq 0 ] ||
    skip_all "the module can't be put in: $(tail -n 1 "$T/prepared")"

job names.ini <<'INI'
[defaults]
workdir = /
start_timeout = 1s
schedule = @manual
overlap = allow
command = echo "I am $USER"
[nowhere]
user = nobody-knows
[nowhere-uid]
user = 71234
[no-group]
group = nobody-knows
[known]
user = nobody
[beat]
schedule = * * * * * *
INI

answers() {
	CC_TIMEOUT=5 cc list >"$T/list"
	expect_match "$(cat "$T/list")" '^5 jobs'
	CC_TIMEOUT=5 cc status >/dev/null
	wait_for 15 has_rows 1 beat state succeeded
}
# ends_at STAGE JOB
ends_at() {
	local row
	expect_status 126 cc run "$2" --wait
	row=$(rows "$2" | head -n 1)
	expect_equal "$(json stage <<<"$row")" "$1"
	expect_match "$row" 'start_timeout, 1000 ms'
	awk -v a="$(json due <<<"$row")" -v b="$(json ended <<<"$row")" \
	    'BEGIN { print b - a; exit !(b - a >= 1 && b - a < 4) }'
}
many_hang() {
	local n
	for n in 1 2 3; do
		cc run nowhere
		cc run no-group
		: "$n"
	done
	CC_TIMEOUT=2 cc status >/dev/null
	expect_status 0 cc run known --wait
	expect_equal "$(cc logs known)" "I am nobody"
	wait_for 15 has_rows 4 nowhere state start_failed
	wait_for 15 has_rows 4 no-group state start_failed
}
# A client whose uid nobody knows is answered, the others meanwhile.  (chroot
# because it takes "+N" without asking anybody.)
client_unknown() {
	local pid status=0
	timeout -k 1 15 chroot --userspec=+71234:+71234 --groups= / \
	    "$CRONCTL" --socket "$SOCK" add mine @manual -- true \
	    >"$T/client" 2>&1 &
	pid=$!
	CC_TIMEOUT=2 cc list >/dev/null
	CC_TIMEOUT=2 cc status >/dev/null
	wait $pid || status=$?
	cat "$T/client"
	# Refused or done, but answered: 124 would be the time limit.
	[ $status -le 5 ]
}
# A hang has no end, so that whatever waits for one is seen; the bound is far
# above what a loaded machine does.
others_in_time() {
	local worst
	wait_for 15 has_rows 5 beat state succeeded
	worst=$(rows beat | worst_start)
	echo "$worst" >"$T/worst"
	awk -v worst="$worst" 'BEGIN { exit !(worst < 5) }'
}

test_expect "the daemon starts" start_daemon
test_expect "it answers, and jobs run" answers
test_expect "a user whom nobody knows" ends_at user nowhere
test_expect "a uid without a name" ends_at user nowhere-uid
test_expect "a group that nobody knows" ends_at group no-group
test_expect "many that hang hold up nobody" many_hang
test_expect "a client whose uid has no name is answered" client_unknown
test_expect "the other job was started in time" others_in_time
echo "# the latest start: $(cat "$T/worst" 2>/dev/null) s"
test_expect "the daemon stops" stop_daemon
