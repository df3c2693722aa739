#!/bin/bash
# SPDX-License-Identifier: ISC
# No module has a variable that others can write: what a module needs is
# passed to it.  Looks at the symbols of what was built.  strbuf_empty is the
# one exception: the NUL that every empty strbuf points to, never written.
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
	done < <(nm -A -g --defined-only "$lib" 2>/dev/null |
	    grep -E ' [BCDGS] ' | grep -vE '__(odr_asan|asan|gcov|sanitizer)' |
	    grep -v ' strbuf_empty$' |
	    sed 's/^[^:]*:\([^:]*\):.* /\1 /')
done
exit $bad
