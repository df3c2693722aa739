#!/bin/bash
# SPDX-License-Identifier: ISC
# No module has a variable that others can write: what a module needs is
# passed to it.  Looks at the symbols of what was built.  strbuf_empty is the
# one exception: the NUL that every empty strbuf points to, never written.
# Constants that hold addresses (.data.rel.ro) are written by the loader only.
set -u
cd "${builddir:?run me through tests/run}" || exit 1
bad=0
for lib in libcommon.a libworker.a libdaemon.a libcli.a; do
	[ -e "$lib" ] || {
		echo "$lib is not built"
		exit 1
	}
	while IFS= read -r hit; do
		echo "$lib: $hit: a variable that others can write"
		bad=1
	done < <(nm -A -g --defined-only -f sysv "$lib" 2>/dev/null |
	    awk -F '[[:blank:]]*[|][[:blank:]]*' '
	    $3 !~ /^[BCDGS]$/ || $7 ~ /^\.data\.rel\.ro/ { next }
	    $1 ~ /__(odr_asan|asan|gcov|sanitizer)/ { next }
	    $1 ~ /:strbuf_empty$/ { next }
	    { sub(/^[^:]*:/, "", $1); print $1 }')
done
exit $bad
