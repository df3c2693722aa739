#!/bin/bash
# SPDX-License-Identifier: ISC
# timeout: 400
# A few seconds of each fuzzer, always with the same seed, in a build of
# their own below this one.
set -u
srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
dir=${builddir:?run me through tests/run}/fuzz
if ! command -v clang >/dev/null; then
	echo "clang is not installed"
	exit 77
fi
mkdir -p "$dir" && cd "$dir" || exit 1
if [ ! -e config.status ]; then
	"$srcdir/configure" -C -q --enable-fuzz --disable-hardening \
	    CC=clang CFLAGS='-g -O1' >configure.log 2>&1 || {
		tail -n 20 configure.log
		rm -f config.status
		exit 1
	}
fi
make -s -j2 fuzz-programs >make.log 2>&1 || {
	tail -n 40 make.log
	exit 1
}
exec "$srcdir/tests/fuzz/run.sh" --build . --seconds 4 --seed 1
