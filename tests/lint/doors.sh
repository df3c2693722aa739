#!/bin/bash
# SPDX-License-Identifier: ISC
#
# One door per outside thing: each row names what is outside, how it looks in
# code, and the files that may use it; of a module that is split by subject
# (worker/spawn, worker/spawn_child) all parts.  Comments and strings don't
# count.
set -u
cd "$(dirname "$0")/../.." || exit 1

doors='
libevent|#include <event2/|daemon/loop.* daemon/timers.* daemon/helper.* daemon/control.* daemon/client.* daemon/workers.* daemon/orphans.* daemon/jobdir_watch.*
SQLite|#include <sqlite3\.h>|daemon/store*.* daemon/query.*
threads|#include <pthread\.h>|daemon/helper.* worker/output.*
fork, exec, wait|(^|[^A-Za-z0-9_.>])(fork|vfork|execve|execv|execvp|execle|execl|execlp|posix_spawnp?|waitid|waitpid|wait3|wait4|system|popen)\(|worker/spawn.* daemon/workers.*
clocks|(^|[^A-Za-z0-9_.>])(clock_gettime|gettimeofday|time)\(|common/timestamp.c
inih|#include <ini\.h>|common/inifile.* common/jobfile.* daemon/config.*
jansson|#include <jansson\.h>|common/message.*
systemd|#include <systemd/|daemon/sdnotify.* daemon/logger.*
users and groups|(^|[^A-Za-z0-9_.>])(getpw|getgr|initgroups|getgrouplist|setpwent|setgrent)[a-z_]*\(|daemon/names.* worker/identity.* cli/account.*
the end of the process|(^|[^A-Za-z0-9_.>])(exit|_Exit|quick_exit)\(|daemon/main.c worker/main.c cli/main.c
the zone of libc|(^|[^A-Za-z0-9_.>])(setenv|putenv|unsetenv|localtime|localtime_r|mktime|tzset|strftime)\(|
tables for people|#include <libsmartcols|cli/output_table.*
'

bad=0
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT
shopt -s nullglob
awk -f tests/lint/code.awk common/*.[ch] daemon/*.[ch] worker/*.[ch] \
    cli/*.[ch] >"$tmp"
while IFS= read -r row; do
	[ -n "$row" ] || continue
	what=${row%%|*}
	allowed=${row##*|}
	pattern=${row#*|}
	pattern=${pattern%|*}
	while IFS=: read -r file line text; do
		for a in $allowed; do
			# shellcheck disable=SC2254 # names may be patterns
			case $file in $a | ${a%.*}_*.[ch]) continue 2 ;; esac
		done
		echo "$file:$line: $what: not here, only in" \
		    "${allowed:-no file at all}: $text"
		bad=1
	done < <(grep -E "$pattern" "$tmp")
done <<<"$doors"
exit $bad
