#!/bin/bash
# SPDX-License-Identifier: ISC
# Every script of the tree passes shellcheck.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v shellcheck >/dev/null || {
	echo "shellcheck is not installed"
	exit 77
}
scripts=(bootstrap .ci/run tests/run)
while IFS= read -r file; do
	scripts+=("$file")
done < <(find tests bench systemd conf -name '*.sh' -type f | LC_ALL=C sort)
exec shellcheck -S warning -x -P SCRIPTDIR -P tests/integration "${scripts[@]}"
