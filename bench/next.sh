#!/bin/bash
# SPDX-License-Identifier: ISC
#
# The cost of the next time of an expression, in UTC and in a zone with
# daylight saving time, beside robfig/cron (Go) and croniter (Python) on the
# same starts:
#
#	bench/next.sh [ZONE...]
#
# The others are those of Debian (golang-go golang-github-robfig-cron-dev
# python3-croniter); one that is not installed is left out.  Prints
# nanoseconds, ratios to ours, and at the end the geometric means of the
# groups; "differs" marks answers that are not ours.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

printf '#define _GNU_SOURCE 1\n' >"$tmp/config.h"
"${CC:-cc}" -std=gnu11 -O2 -DNDEBUG -I"$tmp" -I"$top" -o "$tmp/next" \
    "$top"/bench/next.c "$top"/common/{cronexpr,cronexpr_cursor}.c \
    "$top"/common/{cronexpr_item,cronexpr_next,cronexpr_parse}.c \
    "$top"/common/{zone,zone_load,zone_rule,zone_tzif}.c \
    "$top"/common/{error,hash,nearest,strbuf,timestamp,utf8,xmalloc}.c

peers=()
if command -v go >/dev/null &&
    [ -d /usr/share/gocode/src/github.com/robfig/cron ]; then
	GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$tmp/cache \
	    go build -o "$tmp/next_robfig" "$top/bench/next_robfig.go"
	peers+=(robfig)
else
	echo "robfig/cron is not here: apt install golang-go" \
	    "golang-github-robfig-cron-dev" >&2
fi
if /usr/bin/python3 -c 'import croniter' 2>/dev/null; then
	printf '#!/bin/sh\nexec /usr/bin/python3 %s/bench/next_croniter.py "$@"\n' \
	    "$top" >"$tmp/next_croniter"
	chmod +x "$tmp/next_croniter"
	peers+=(croniter)
else
	echo "croniter is not here: apt install python3-croniter" >&2
fi

[ $# -gt 0 ] || set -- UTC America/New_York
for zone; do
	"$tmp/next" "$zone" | sed 's/^/cronctl\t/' >"$tmp/out"
	for p in ${peers+"${peers[@]}"}; do
		"$tmp/next_$p" "$zone" | sed "s/^/$p\t/" >>"$tmp/out"
	done
	echo "== $zone: ns for one answer, and times ours"
	awk -F '\t' '
	$1 == "cronctl" {
		order[++n] = $3; group[$3] = $2
		ours[$3] = $4; sum[$3] = $5
		next
	}
	!($1 in seen) { peer[++np] = $1; seen[$1] = 1 }
	{
		ns[$1, $3] = $4
		mark[$1, $3] = $5 == sum[$3] ? "" : " differs"
		logs[$1, $2] += log($4 / ours[$3]); count[$1, $2]++
	}
	END {
		for (i = 1; i <= n; i++) {
			e = order[i]
			printf "%-8s %-16s cronctl %7.1f", group[e], e, ours[e]
			for (j = 1; j <= np; j++)
				if ((peer[j], e) in ns)
					printf "   %s %.0f (%.0fx%s)", peer[j],
					    ns[peer[j], e],
					    ns[peer[j], e] / ours[e],
					    mark[peer[j], e]
			printf "\n"
		}
		for (k in count) {
			split(k, a, SUBSEP)
			printf "mean of %s, times ours: %s %.0fx\n", a[2],
			    a[1], exp(logs[k] / count[k])
		}
	}' "$tmp/out"
done
