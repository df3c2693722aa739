#!/bin/bash
# SPDX-License-Identifier: ISC
#
# What can be checked of the style without a parser: the first line, comments,
# blanks, widths, lengths of functions and files, where names of functions
# stand, forbidden calls and words.
set -u
cd "$(dirname "$0")/../.." || exit 1

bad=0
say() {
	echo "$*"
	bad=1
}

c_files=(common/*.[ch] daemon/*.[ch] worker/*.[ch] cli/*.[ch] tests/*.[ch]
    tests/support/*.[ch] tests/fuzz/*.[ch] bench/*.[ch])

for file in "${c_files[@]}"; do
	[ -e "$file" ] || continue
	[ "$(head -n 1 "$file")" = '/* SPDX-License-Identifier: ISC */' ] ||
		say "$file:1: wants /* SPDX-License-Identifier: ISC */"
	case $file in
	*.c)
		grep -m 1 '^#include' "$file" | grep -q '"config\.h"' ||
			say "$file: config.h must be the first include"
		;;
	*.h)
		name=$(basename "$file" .h | tr 'a-z-' 'A-Z_')
		grep -qE "^#ifndef CRONCTL_([A-Z]+_)?${name}_H\$" "$file" ||
			say "$file: its guard must be CRONCTL_${name}_H"
		;;
	esac
	lines=$(wc -l <"$file")
	case $file in
	tests/*) ;;
	*)
		if [ "$lines" -gt 700 ]; then
			say "$file: $lines lines; split it by subject (700)"
		elif [ "$lines" -gt 600 ]; then
			echo "warning: $file: $lines lines, past 600"
		fi
		;;
	esac
	awk -v file="$file" '
	function width(s,    i, n, w) {
		n = length(s)
		for (i = 1; i <= n; i++)
			if (substr(s, i, 1) == "\t")
				w += 8 - w % 8
			else
				w++
		return w
	}
	function say(what) { print file ":" FNR ": " what; bad = 1 }
	width($0) > 100 { say("wider than 100 columns") }
	/[ \t]$/ { say("blanks at the end of the line") }
	/^        / && !/^ \*/ { say("indent with tabs") }
	/\t +\t/ && /^\t* +\t/ { say("blanks before a tab") }
	/^{/ { start = FNR; name = first; argument = prev }
	/^{/ && name !~ /^(struct|enum|union|static|const|#|})/ {
		if (name !~ /^[A-Za-z_][A-Za-z0-9_]*\(/)
			say("the name of a function begins its line")
	}
	/^}/ {
		if (start && FNR - start - 1 > 70)
			say("function of " FNR - start - 1 " lines (70)")
		start = 0
	}
	# The line that begins a definition: the first at column 0 that is
	# not the return type alone.
	/^[A-Za-z_].*\(/ { first = $0 }
	/^[^ \t{]/ && !/\(/ && !/^[})]/ { if ($0 ~ /=|struct [a-z_]+ *$/) first = "struct" }
	{ prev = $0 }
	END { exit bad }' "$file" || bad=1
	awk -f tests/lint/code.awk "$file" |
	awk -v file="$file" '
	function say(what) { print file ":" FNR ": " what; bad = 1 }
	/\/\// { say("write comments as /* */") }
	/(^|[^a-z_])(strcpy|strcat|sprintf|gets|alloca|atoi|atol|strtok)\(/ &&
	    file !~ /^tests\// {
		say("unbounded or unchecked call")
	}
	/(^|[^a-z_.>])(malloc|calloc|realloc|strdup|strndup|asprintf)\(/ &&
	    file !~ /^common\/xmalloc/ && file !~ /^tests\// {
		say("allocate through common/xmalloc.h")
	}
	/^typedef struct/ { say("no typedef for a struct") }
	END { exit bad }' || bad=1
done

# Words that tell of something left undone, anywhere in the tree.
words='TODO|FIXME|XXX|HACK|not implemented'
while IFS= read -r hit; do
	say "$hit"
done < <(grep -nwE "$words" -r . --include='*.[ch]' --include='*.sh' \
    --include='*.am' --include='*.ac' --include='*.ini' --include='*.in' \
    --include='*.conf' --include='*.awk' --exclude-dir=.git \
    --exclude-dir='build*' --exclude=style.sh)
for file in tests/integration/t*.sh; do
	[ -e "$file" ] || continue
	while IFS= read -r hit; do
		say "$file:$hit: wait for a condition with wait_for"
	done < <(grep -nE '^[[:space:]]*sleep [0-9]' "$file")
done
exit $bad
