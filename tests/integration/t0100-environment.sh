#!/bin/bash
# SPDX-License-Identifier: ISC
# What a job finds: exactly the environment that is promised, whatever the
# daemon's is, three descriptors, no blocked or ignored signal, its umask,
# directory, user and groups.
. "$(dirname "$0")/lib.sh"

# Shells that tell what they were started with; they must be readable by all.
cat >"$T/show-env" <<SH
#!/bin/sh
/usr/bin/tr '\\0' '\\n' </proc/\$\$/environ
SH
chmod 755 "$T/show-env"

uid=$(id -u)
login=$(id -un)
home=$(awk -F: -v u="$uid" '$3 == u { print $6; exit }' /etc/passwd)
path=/usr/local/bin:/usr/bin:/bin
[ "$uid" != 0 ] ||
    path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

job env.ini <<INI
[bare]
schedule = @every 2s
shell = $T/show-env
command = x
[more]
schedule = @manual
shell = $T/show-env
command = x
env.PLAIN = a b  c
env.SIGNS = \\;#%:="'
env.EMPTY =
env.PATH = /opt/bin
env.TZ = Asia/Tokyo
[place]
schedule = @manual
umask = 027
workdir = $T
command = umask; pwd; cat; ulimit -n
[lines]
schedule = @manual
stdin = first ; line
stdin = second
command = cat
[inside]
schedule = @manual
command = ls /proc/\$\$/fd | tr '\\n' ' '; grep -E '^Sig(Blk|Ign)' \\
    /proc/self/status; cat /proc/\$\$/oom_score_adj; \\
    set -- \$(cat /proc/\$\$/stat); [ "\$1" = "\$5" ] && echo leader
[other]
schedule = @manual
user = nobody
workdir = /
shell = $T/show-env
command = x
[other-id]
schedule = @manual
user = nobody
workdir = /
command = id -u; id -G; grep -E '^(Uid|Gid|Groups|CapEff|NoNewPrivs)' \\
    /proc/self/status | tr -s '\\t ' ' '; umask
INI

# Everything that could do harm, and 190 more.
hostile_start() {
	local i hostile=(BASH_ENV=/nonexistent ENV=/nonexistent IFS=/
	    NOTIFY_SOCKET=/nonexistent/notify LISTEN_FDS=1 LISTEN_PID=1
	    CRONCTL_JOB=evil CRONCTL_EVIL=1 PS4=x MAIL=/x LANG=C.UTF-8
	    OLDPWD=/x PERL5LIB=/x CDPATH=/tmp)
	for i in {1..190}; do
		hostile+=("HOSTILE_$i=value $i")
	done
	printf '#!/bin/sh\nexec env \\\n' >"$T/hostile"
	printf "'%s' \\\\\n" "${hostile[@]}" >>"$T/hostile"
	printf '%s "$@"\n' "$CRONCTLD" >>"$T/hostile"
	chmod 755 "$T/hostile"
	CRONCTLD=$T/hostile start_daemon
	# It is so.
	tr '\0' '\n' <"/proc/$(daemon_pid)/environ" >"$T/daemon-env"
	expect_equal "$(grep -c HOSTILE "$T/daemon-env")" 190
}

# env_of JOB: its variables, one a line, in order of name.
env_of() {
	cc logs "$1" | LC_ALL=C sort
}
run_of() {
	cc --json history "$1" -n 1 | json run
}
environment_is_exact() {
	local row
	wait_for 30 has_rows 1 bare state succeeded
	row=$(rows bare | grep '"succeeded"' | tail -n 1)
	run=$(json run <<<"$row")
	expect_equal "$(cc logs "$run" | LC_ALL=C sort)" "$(cat <<-TXT
		CRONCTL_ATTEMPT=1
		CRONCTL_CAUSE=schedule
		CRONCTL_JOB=bare
		CRONCTL_RUN_ID=$run
		CRONCTL_SCHEDULED=$(date -u -d "@$(json nominal <<<"$row")" \
		    +%Y-%m-%dT%H:%M:%S)+00:00
		CRONCTL_SOCKET=$SOCK
		HOME=$home
		LANG=C.UTF-8
		LOGNAME=$login
		PATH=$path
		SHELL=$T/show-env
		USER=$login
	TXT
	)"
}
environment_of_definition() {
	expect_status 0 cc run more --wait
	expect_equal "$(env_of more)" "$(cat <<-TXT
		CRONCTL_ATTEMPT=1
		CRONCTL_CAUSE=manual
		CRONCTL_JOB=more
		CRONCTL_RUN_ID=$(run_of more)
		CRONCTL_SOCKET=$SOCK
		EMPTY=
		HOME=$home
		LANG=C.UTF-8
		LOGNAME=$login
		PATH=/opt/bin
		PLAIN=a b  c
		SHELL=$T/show-env
		SIGNS=\\;#%:="'
		TZ=Asia/Tokyo
		USER=$login
	TXT
	)"
}
environment_of_run() {
	expect_status 0 cc run more --wait --env EXTRA='x = y' \
	    --env PLAIN=other
	expect_match "$(env_of more)" '^EXTRA=x = y$'
	expect_match "$(env_of more)" '^PLAIN=other$'
	for bad in LD_PRELOAD=/x PATH=/x IFS=x ENV=/x BASH_ENV=/x \
	    CRONCTL_JOB=x 1X=y; do
		must_fail cc run more --env "$bad"
	done
}

place() {
	expect_status 0 cc run place --wait
	expect_equal "$(cc logs place)" "0027
$T
$(ulimit -n)"
}
standard_input() {
	expect_status 0 cc run lines --wait
	expect_equal "$(cc logs lines)" $'first ; line\nsecond'
}
# Signals 32 and 33 are the C library's own.
inside() {
	local out ignored
	expect_status 0 cc run inside --wait
	out=$(cc logs inside)
	ignored=$(sed -n 's/^SigIgn:[^0-9]*//p' <<<"$out")
	expect_equal "$((0x$ignored & ~(3 << 31)))" 0
	expect_equal "$(grep -v SigIgn <<<"$out")" \
	    "0 1 2 SigBlk:	0000000000000000
0
leader"
}

as_user() {
	expect_status 0 cc run other --wait
	expect_equal "$(env_of other | grep -v ^CRONCTL_)" "$(cat <<-TXT
		HOME=$(awk -F: '$1 == "nobody" { print $6 }' /etc/passwd)
		LANG=C.UTF-8
		LOGNAME=nobody
		PATH=/usr/local/bin:/usr/bin:/bin
		SHELL=$T/show-env
		USER=nobody
	TXT
	)"
}
as_user_ids() {
	local u g
	u=$(id -u nobody)
	g=$(id -g nobody)
	expect_status 0 cc run other-id --wait
	expect_equal "$(cc logs other-id)" "$u
$(id -G nobody)
Uid: $u $u $u $u
Gid: $g $g $g $g
Groups: $(id -G nobody) 
CapEff: 0000000000000000
NoNewPrivs: 0
0022"
}

test_expect "the daemon starts in a hostile environment" hostile_start
test_expect "a job's environment is exactly what is promised" \
    environment_is_exact
test_expect "and what its definition says" environment_of_definition
test_expect "and what a single run is given" environment_of_run
test_expect "umask, directory, empty input, descriptor limit" place
test_expect "lines of standard input" standard_input
test_expect "three descriptors, no signal blocked or ignored" inside
if [ "$uid" = 0 ] && id nobody >/dev/null 2>&1; then
	test_expect "the environment of another user" as_user
	test_expect "ids and groups of another user" as_user_ids
else
	test_skip "the environment of another user" "not root"
	test_skip "ids and groups of another user" "not root"
fi
test_expect "the daemon stops" stop_daemon
