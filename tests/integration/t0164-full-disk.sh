#!/bin/bash
# SPDX-License-Identifier: ISC
# A state directory on a disk that is full: due jobs go on starting, a change
# that is acknowledged is durable and any other is refused, status says what
# is wrong, and all is well again once there is room.
#
# The disk is a tmpfs of 8 MB in a mount namespace of this test's own.
if [ "$(id -u)" = 0 ] && [ -z "${CRONCTL_TEST_MOUNTS-}" ] &&
    unshare --mount true 2>/dev/null; then
	CRONCTL_TEST_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

[ -n "${CRONCTL_TEST_MOUNTS-}" ] || skip_all "no mount namespace: not root"
mount -t tmpfs -o size=8m,mode=700 tmpfs "$STATE" 2>/dev/null ||
    skip_all "no tmpfs can be mounted"

# The runs leave their mark outside of the store.
job beat.ini <<INI
[beat]
schedule = * * * * * *
workdir = /
command = echo \$CRONCTL_SCHEDULED >>$T/beats
INI

beats() {
	wc -l <"$T/beats"
}
has_more_beats() {
	[ "$(beats)" -ge "$1" ]
}
begins() {
	# shellcheck disable=SC2119 # no options
	start_daemon
	wait_for 15 test -s "$T/beats"
	cc add before @manual -- true
}
fill() {
	dd if=/dev/zero of="$STATE/filler" bs=4096 2>"$T/dd" || :
	grep -q 'No space left' "$T/dd"
}
goes_on() {
	wait_for 15 has_more_beats $(($(beats) + 4))
}
says_so() {
	cc --json status | grep -q '"store":{"state":"broken"'
}
# Each that was acknowledged is noted; refusals are statuses 1 to 5.
adds() {
	local i status
	: >"$T/acknowledged"
	for i in 1 2 3; do
		status=0
		CC_TIMEOUT=20 cc add "full-$i" @manual -- true || status=$?
		[ $status -le 5 ]
		[ $status -ne 0 ] || echo "full-$i" >>"$T/acknowledged"
	done
	CC_TIMEOUT=5 cc list >/dev/null
}
recovers() {
	rm "$STATE/filler"
	wait_for 20 is_well
	cc add after @manual -- true
}
is_well() {
	cc --json status | grep -q '"store":{"state":"ok"'
}
nothing_lost() {
	local name
	kill_daemon
	# shellcheck disable=SC2119 # no options
	start_daemon
	for name in before after $(cat "$T/acknowledged"); do
		cc show "$name" >/dev/null
	done
	# No second had two runs.
	expect_equal "$(sort "$T/beats" | uniq -d)" ""
}

test_expect "the daemon starts, and a job runs" begins
test_expect "the disk is filled" fill
test_expect "due jobs go on starting" goes_on
test_expect "status says what is wrong" wait_for 15 says_so
test_expect "a change is refused, or acknowledged in truth" adds
test_expect "due jobs still start" goes_on
test_expect "with room again the store recovers" recovers
test_expect "what was acknowledged is there after a crash" nothing_lost
test_expect "the daemon stops" stop_daemon
umount -l "$STATE"
