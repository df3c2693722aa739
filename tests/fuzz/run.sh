#!/bin/bash
# SPDX-License-Identifier: ISC
#
# Runs the fuzzers of a build made with --enable-fuzz (make fuzz, make
# fuzz-quick), one after another, and speaks TAP.  What was found interesting
# is kept in BUILD/tests/fuzz/corpus and taken up the next time; an input that
# failed is left in BUILD/tests/fuzz/found.
#
# usage: run.sh --build DIR [--seconds N] [--seed N] [NAME...]
set -u
srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
builddir=
seconds=60
seed=0
names=()
while [ $# -gt 0 ]; do
	case $1 in
	--build) builddir=${2:?}; shift ;;
	--seconds) seconds=${2:?}; shift ;;
	--seed) seed=${2:?}; shift ;;
	*) names+=("$1") ;;
	esac
	shift
done
builddir=$(cd "$builddir" && pwd) || exit 1
if [ ${#names[@]} -eq 0 ]; then
	for f in "$srcdir"/tests/fuzz/fuzz_*.c; do
		names+=("$(basename "$f" .c)")
	done
fi
found=$builddir/tests/fuzz/found
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1:halt_on_error=1}

# Job files of the tree and zones of this machine are good beginnings.
seeds() {
	case $1 in
	fuzz_jobfile) find "$srcdir/conf" -name '*.ini' ;;
	fuzz_zone)
		for zone in UTC Europe/Berlin Africa/Casablanca Asia/Tehran \
		    Australia/Lord_Howe; do
			echo "/usr/share/zoneinfo/$zone"
		done ;;
	esac
}

mkdir -p "$found"
n=0
failed=0
for name in "${names[@]}"; do
	n=$((n + 1))
	corpus=$builddir/tests/fuzz/corpus/$name
	mkdir -p "$corpus"
	for f in $(seeds "$name"); do
		[ -e "$f" ] && cp "$f" "$corpus/$(basename "$f")"
	done
	options=(-max_total_time="$seconds" -seed="$seed" -timeout=20
	    -rss_limit_mb=2560 -print_final_stats=1
	    -artifact_prefix="$found/$name-")
	dict=$srcdir/tests/fuzz/${name#fuzz_}.dict
	[ -e "$dict" ] && options+=(-dict="$dict")
	log=$builddir/tests/fuzz/$name.log
	if "$builddir/tests/fuzz/$name" "${options[@]}" "$corpus" \
	    >"$log" 2>&1; then
		echo "ok $n - $name," "$(sed -n \
		    's/^stat::number_of_executed_units: */inputs: /p' "$log")"
	else
		failed=$((failed + 1))
		echo "not ok $n - $name"
		tail -n 60 "$log" | sed 's/^/# /'
	fi
done
echo "1..$n"
[ $failed -eq 0 ]
