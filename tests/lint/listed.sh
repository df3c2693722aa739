#!/bin/bash
# SPDX-License-Identifier: ISC
# Every source, test and data file is named in Makefile.am, else a release
# would leave it out; and a job file of conf/ is one.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
while IFS= read -r file; do
	grep -qF "$file" Makefile.am || {
		# Unit tests are listed by program.
		case $file in
		tests/check_*.c) grep -qw "${file%.c}" Makefile.am && continue ;;
		tests/fuzz/*.c) grep -qw "${file%.c}" Makefile.am && continue ;;
		esac
		echo "$file: not named in Makefile.am"
		bad=1
	}
done < <(find common daemon worker cli doc conf systemd tests \
    -name corpus -prune -o -type f ! -name '.*' ! -name '*~' -print |
    LC_ALL=C sort)
exit $bad
