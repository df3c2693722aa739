#!/bin/bash
# SPDX-License-Identifier: ISC
# The manuals and the sample configuration name what the tables have: keys of
# jobs, keys of cronctld.conf, commands with their options, options of
# cronctld, methods of the control socket.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0

# A word in a manual, whose "-" may be written "\-".
has() {	# has FILE WORD
	sed 's/\\-/-/g' "$1" | grep -qwF -e "$2"
}
want() {	# want FILE WHAT, words on stdin
	local word n=0
	while IFS= read -r word; do
		n=$((n + 1))
		has "$1" "$word" || {
			echo "$1: does not have $2 $word"
			bad=1
		}
	done
	[ $n -gt 0 ] || {
		echo "$1: no $2 found in the sources; is this lint right?"
		bad=1
	}
}
words() {	# words PATTERN FILE...: the first group of each match
	local pattern=$1
	shift
	sed -nE "s/$pattern/\\1/p" "$@"
}

job_keys=$(words '.*\.name = "([a-z._]+)", \.type = .*' \
    common/jobdef_keys.c)
conf_keys=$(words '^	\{ "([a-z_]+)", take_.*' daemon/config.c)
commands=$(words '^	\.name = "([a-z]+)",$' cli/cmd_*.c)
options=$(words '^	\{ "([a-z-]+)", .*' cli/cmd_*.c cli/command.c)
daemon_options=$(words '^	\{ "([a-z-]+)", (required|no)_argument.*' \
    daemon/config_options.c)
methods=$(words '^	\{ "([a-z]+\.[a-z]+)", ACCESS_.*' \
    daemon/control_methods.c)

want doc/cronctl-jobs.5 "the key" <<<"$job_keys"
want doc/cronctld.conf.5 "the key" <<<"$conf_keys"
want conf/cronctld.conf "the key" <<<"$conf_keys"
want doc/cronctl.1 "the command" <<<"$commands"
want doc/cronctl.1 "the option" <<<"$options"
want doc/cronctld.8 "the option" <<<"$daemon_options"
want doc/protocol.md "the method" <<<"$methods"

# Each page says in its first lines what it is, and can be found.
for page in doc/*.[1-8]; do
	name=${page##*/}
	grep -q "^\.T[Hh] " "$page" || grep -q '^\.Dt ' "$page" || {
		echo "$page: has no title"
		bad=1
	}
	has "$page" "${name%.*}" || {
		echo "$page: does not say its name"
		bad=1
	}
done
exit $bad
