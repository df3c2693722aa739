#!/bin/bash
# SPDX-License-Identifier: ISC
# tests/data/bugs.tsv: each report of other crons has a test that is there, or
# a reason why it can't apply.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
say() {
	echo "tests/data/bugs.tsv: $*"
	bad=1
}
last=
while IFS=$'\t' read -r number where more; do
	case $number in
	'' | '#'*) continue ;;
	B[0-9][0-9][0-9]) ;;
	*) say "\"$number\" is no number of a report"; continue ;;
	esac
	[[ $number > $last ]] || say "$number: out of order"
	last=$number
	[ -z "$more" ] || say "$number: more than two columns"
	case $where in
	'cannot apply: '?*) continue ;;
	*:?*) ;;
	*) say "$number: neither FILE:TEST nor \"cannot apply: REASON\""
	    continue ;;
	esac
	file=${where%%:*}
	test=${where#*:}
	if [ ! -e "$file" ]; then
		say "$number: there is no $file"
	elif [[ $file = *.c ]]; then
		grep -qF "START_TEST($test)" "$file" ||
			say "$number: $file has no test $test"
	else
		grep -qF "test_expect '$test'" "$file" ||
			say "$number: $file has no test '$test'"
	fi
done <tests/data/bugs.tsv
[ -n "$last" ] || say "is empty or missing"
exit $bad
