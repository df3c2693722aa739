#!/bin/bash
# SPDX-License-Identifier: ISC
# timeout: 300
# 20,000 random questions to next() and previous(), answered by the slow model
# too; always the same ones.  Many more: make check-model.
set -u
srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
driver=${builddir:?run me through tests/run}/tests/model/driver
if ! command -v python3 >/dev/null; then
	echo "python3 is not installed"
	exit 77
fi
if ! python3 -c 'import zoneinfo; zoneinfo.ZoneInfo("Europe/Berlin")' \
    2>/dev/null; then
	echo "python3 has no zoneinfo (3.9 or later), or no zones"
	exit 77
fi
exec python3 "$srcdir/tests/model/compare.py" \
    "$driver" 20000 1
