#!/bin/bash
# SPDX-License-Identifier: ISC
# HACKING.md is true: it names every source file, and every function that it
# names with (), every file with a path, is there.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
say() {
	echo "HACKING.md: $*"
	bad=1
}
shopt -s nullglob
for file in common/*.[ch] daemon/*.[ch] worker/*.[ch] cli/*.[ch]; do
	name=${file##*/}
	# `X` stands for X.c and X.h.
	grep -qF -e "\`$name\`" -e "\`${name%.[ch]}\`" HACKING.md ||
	    say "$file is not named"
done
defined=$(mktemp) || exit 1
trap 'rm -f "$defined"' EXIT
sed -nE 's/^([a-z_][a-z0-9_]*)\(.*/\1/p' {common,daemon,worker,cli}/*.c |
    sort -u >"$defined"
while IFS= read -r name; do
	grep -qxF "$name" "$defined" || say "there is no function $name()"
done < <(grep -oE '`[a-z_][a-z0-9_]*\(\)`' HACKING.md | tr -d '`()' |
    sort -u)
while IFS= read -r path; do
	# shellcheck disable=SC2086 # may be a pattern
	set -- $path
	[ -e "$1" ] || say "there is no $path"
done < <(grep -oE '`(common|daemon|worker|cli|tests|doc|conf|bench)/[^` ]*`' \
    HACKING.md | tr -d '`' | grep -v -e MODULE -e NNNN -e NAME | sort -u)
exit $bad
