#!/bin/bash
# SPDX-License-Identifier: ISC
#
# The layers: a module includes only modules of its own layer or a lower one,
# of its own program or of common, and there are no cycles.  The table below
# is the one that HACKING.md explains; a module that is not in it is an error.
set -u
cd "$(dirname "$0")/../.." || exit 1

layers='
common  1   xmalloc error strbuf utf8 nearest base64 outputfile
common  2   log duration timestamp hash process
common  3   zone zone_* cronexpr cronexpr_* message message_* frame inifile timearg host_id
common  4   schedule schedule_* protocol protocol_*
common  5   jobdef jobdef_*
common  6   jobfile jobfile_*
worker  7   dispatch family poller output output_* results identity
worker  8   spawn spawn_* leftover capture connection
worker  9   run run_*
worker  10  worker worker_*
worker  11  main
daemon  7   config config_* clock heap latency policy timers access instance helper
daemon  8   store store_* query query_* files files_* names logger workers workers_* orphans orphans_*
daemon  9   job
daemon  10  jobtable run_state
daemon  11  ledger events
daemon  12  scheduler scheduler_* recover recover_* orphan_link
daemon  13  reload reload_* jobdir_watch
daemon  14  client
daemon  15  control_*
daemon  16  control loop sdnotify
daemon  17  daemon daemon_*
daemon  18  main
cli     7   account arguments daemon_config exit_status output_* shell_quote
cli     8   command connection facts
cli     9   command_* commands event_text expression waiting job_pages
cli     10  selection
cli     11  cmd_*
cli     12  main
'

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
say() {
	echo "$*"
	bad=1
}

# layer_of DIR NAME: its number, or nothing, in REPLY.
layer_of() {
	local dir number names n
	REPLY=
	while read -r dir number names; do
		[ "$dir" = "$1" ] || continue
		for n in $names; do
			# shellcheck disable=SC2254 # names may be patterns
			case $2 in $n) REPLY=$number; return ;; esac
		done
	done <<<"$layers"
}

# whole MODULE: the module that it is a part of, else itself, in REPLY.
declare -A wholes
whole() {
	local m=$1
	REPLY=${wholes[$1]-}
	[ -z "$REPLY" ] || return
	REPLY=$1
	while [ "${m%_*}" != "$m" ]; do
		m=${m%_*}
		if [ -e "$m.h" ]; then
			REPLY=$m
			break
		fi
	done
	wholes[$1]=$REPLY
}

declare -A layer
for file in common/*.[ch] daemon/*.[ch] worker/*.[ch] cli/*.[ch]; do
	[ -e "$file" ] || continue
	module=${file%.[ch]}
	[ -n "${layer[$module]-}" ] && continue
	layer_of "${module%%/*}" "${module#*/}"
	if [ -n "$REPLY" ]; then
		layer[$module]=$REPLY
	else
		say "$file: in no layer; give it one in tests/lint/layers.sh"
		layer[$module]=0
	fi
done

# Both ends of each include, as modules.
for file in common/*.[ch] daemon/*.[ch] worker/*.[ch] cli/*.[ch]; do
	[ -e "$file" ] || continue
	from=${file%.[ch]}
	while IFS=: read -r line text; do
		to=${text#*\"}
		to=${to%%\"*}
		[ "$to" = config.h ] && continue
		[ -e "$to" ] || {
			say "$file:$line: \"$to\" is not a file of the tree"
			continue
		}
		to=${to%.h}
		case ${to%%/*} in
		common | "${from%%/*}") ;;
		*) say "$file:$line: ${from%%/*} must not include $to.h" ;;
		esac
		[ "$from" = "$to" ] && continue
		if [ "${layer[$to]-0}" -gt "${layer[$from]}" ]; then
			say "$file:$line: layer ${layer[$from]} includes" \
			    "$to.h of layer ${layer[$to]}"
		fi
		# A module split by subject (zone, zone_rule) is one.
		whole "$from"
		a=$REPLY
		whole "$to"
		b=$REPLY
		[ "$a" = "$b" ] || echo "$a $b" >>"$tmp/edges"
	done < <(grep -n '^#[[:space:]]*include[[:space:]]*"' "$file")
done

if [ -s "$tmp/edges" ] && ! tsort "$tmp/edges" >"$tmp/order" 2>"$tmp/loop"
then
	say "modules that include each other in a circle:"
	sed 's/^tsort: /  /' "$tmp/loop"
fi
exit $bad
