#!/bin/sh
# SPDX-License-Identifier: ISC
# Builds and runs bench/heap.c: bench/heap.sh [JOBS]
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '#define _GNU_SOURCE 1\n' >"$tmp/config.h"
"${CC:-cc}" -std=gnu11 -O2 -DNDEBUG -I"$tmp" -I"$top" -o "$tmp/heap" \
    "$top/bench/heap.c" "$top/daemon/heap.c" "$top/common/xmalloc.c" \
    "$top/common/timestamp.c"
"$tmp/heap" "$@"
