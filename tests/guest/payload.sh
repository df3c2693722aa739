#!/bin/bash
# SPDX-License-Identifier: ISC
#
# Process 1 of the emulated machine of tests/guest/run.sh, whose clock it
# sets: +1 h and -2 h under a daemon that has nothing to do and under one with
# jobs each second and each minute.  Speaks TAP on the console, with the
# figures as comments, and ends the machine.  Nowhere else is it run.
[ $$ -eq 1 ] || { echo "payload.sh: only as process 1 of the guest" >&2; exit 1; }
export PATH=/opt/cronctl:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TZ=UTC
export LD_LIBRARY_PATH=/opt/cronctl/lib
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
ln -s /proc/self/fd /dev/fd 2>/dev/null
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
exec </dev/null >/dev/console 2>&1

n=0
failed=0

# ok 'name' COMMAND...
ok() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		failed=$((failed + 1))
		echo "not ok $n - $name"
	fi
}
# within SECONDS COMMAND...: it holds before that long has passed, by the
# clock that no step changes.
uptime_s() {
	local up
	read -r up _ </proc/uptime
	echo "${up%.*}"
}
within() {
	local end=$(($(uptime_s) + $1))
	shift
	until "$@"; do
		[ "$(uptime_s)" -lt "$end" ] || return 1
		sleep 0.1
	done
}
runs() {	# runs JOB: how many there were
	if [ -e "/tmp/runs/$1" ]; then wc -l <"/tmp/runs/$1"; else echo 0; fi
}
ran_more() {	# ran_more JOB THAN
	[ "$(runs "$1")" -gt "$2" ]
}
wall_is() {	# wall_is HH:MM:SS: it is that late or later
	[[ ! $(date +%T) < $1 ]]
}

# Each line of the daemon's log, with the wall time it was read at in front.
log_lines() {
	local line
	while IFS= read -r line; do
		echo "$EPOCHREALTIME $line" >>/tmp/log
	done
}
notices() {
	grep -c 'the clock was set' /tmp/log
}
noticed() {
	[ "$(notices)" -gt "$1" ]
}
# step 'name' SECONDS: sets the clock by that much; the wall time of the log
# line is how long it took since the clock stood at the new time.
step() {
	local before to took
	before=$(notices)
	to=$(($(date +%s) + $2))
	date -s "@$to" >/dev/null
	ok "$1 is noticed" within 10 noticed "$before"
	took=$(awk -v to="$to" '/the clock was set/ { t = $1 }
	    END { printf "%.1f", (t - to) * 1000 }' /tmp/log)
	echo "# $1: noticed after $took ms: $(sed -n \
	    's/.*\(the clock was set.*\)/\1/p' /tmp/log | tail -n 1)"
	ok "$1 is noticed in less than 200 ms" \
	    awk -v t="$took" 'BEGIN { exit !(t >= 0 && t < 200) }'
}

# A daemon with nothing behind it, on a day when it is 10:04:50.
start() {
	date -s '2026-03-10 10:04:50' >/dev/null
	dir=$(mktemp -d /tmp/XXXXXX)
	mkdir -p "$dir/jobs" "$dir/runtime" /tmp/runs
	rm -f /tmp/runs/*
	: >/tmp/log
	cp "$@" "$dir/jobs/"
	export CRONCTL_SOCKET=$dir/runtime/control.sock
	cronctld --state "$dir/state" --runtime "$dir/runtime" \
	    --jobs "$dir/jobs" --worker /opt/cronctl/cronctl-worker \
	    > >(log_lines) 2>&1 &
	daemon=$!
	ok "the daemon starts" within 60 answers
}
answers() {
	cronctl status >/dev/null 2>&1
}
gone() {
	! kill -0 "$daemon" 2>/dev/null
}
stop() {
	kill -TERM "$daemon"
	within 30 gone
	wait "$daemon"
	ok "the daemon leaves in order" [ $? -eq 0 ]
	sed 's/^/# log: /' /tmp/log
}

cat >/tmp/fixed.ini <<'INI'
[fixed]
schedule = 5 10 * * *
command = date +%T >>/tmp/runs/fixed
[jumped]
schedule = 35 10 * * *
command = date +%T >>/tmp/runs/jumped
INI
cat >/tmp/grains.ini <<'INI'
[second]
schedule = * * * * * *
overlap = allow
command = echo $CRONCTL_SCHEDULED >>/tmp/runs/second
[minute]
schedule = * * * * *
command = date +%T >>/tmp/runs/minute
INI
echo "# Linux $(uname -r), $(cronctl --version 2>&1 | head -n 1)"

echo "# idle: one job a day, so that only the step can wake the daemon"
start /tmp/fixed.ini
ok "the job of 10:05 runs" within 60 ran_more fixed 0
step "+1 h" 3600
ok "the job of 10:35, jumped over, runs late" within 10 ran_more jumped 0
step "-2 h" -7200
stop

echo "# busy: jobs of each second and each minute"
start /tmp/fixed.ini /tmp/grains.ini
ok "the job of 10:05 runs" within 60 ran_more fixed 0
ok "a job of each second runs" within 10 ran_more second 3
step "+1 h" 3600
before=$(runs second)
ok "each second goes on after the step" within 5 ran_more second $((before + 2))
ok "the job of 10:35, jumped over, runs late" within 10 ran_more jumped 0
step "-2 h" -7200
began=$(uptime_s)
before=$(runs second)
minutes=$(runs minute)
ok "each second goes on after the step" within 5 ran_more second $((before + 2))
ok "a job of each minute runs again within a minute" \
    within 61 ran_more minute "$minutes"
echo "# a minute's job ran $(($(uptime_s) - began)) s after the step back," \
    "at $(tail -n 1 /tmp/runs/minute)"
ok "no second ran twice" [ -z "$(sort /tmp/runs/second | uniq -d)" ]

# The fixed times come once more: neither may run a second time.
date -s '2026-03-10 10:04:55' >/dev/null
within 30 wall_is 10:05:05
date -s '2026-03-10 10:34:55' >/dev/null
within 30 wall_is 10:35:05
ok "the job of 10:05 ran once" [ "$(runs fixed)" -eq 1 ]
ok "the job of 10:35 ran once" [ "$(runs jumped)" -eq 1 ]
cronctl history fixed 2>&1 | sed 's/^/# /'
cronctl history jumped 2>&1 | sed 's/^/# /'
echo "# $(runs second) runs of the job of each second," \
    "$(runs minute) of the job of each minute"
stop
echo "1..$n"
sync
echo o >/proc/sysrq-trigger
sleep 60
