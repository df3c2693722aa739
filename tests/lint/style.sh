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

shopt -s nullglob
c_files=(common/*.[ch] daemon/*.[ch] worker/*.[ch] cli/*.[ch] tests/*.[ch]
    tests/support/*.[ch] tests/fuzz/*.[ch] bench/*.[ch])

# As written: beginnings, guards, widths, lengths, names.
awk '
function width(s,    i, n, w) {
	if (s !~ /\t/)
		return length(s)
	n = length(s)
	for (i = 1; i <= n; i++)
		if (substr(s, i, 1) == "\t")
			w += 8 - w % 8
		else
			w++
	return w
}
function say(what) { print FILENAME ":" FNR ": " what; bad = 1 }
function file_done() {
	if (name == "")
		return
	if (name ~ /\.h$/ && !guarded) {
		print name ": its guard must be CRONCTL_" stem "_H"
		bad = 1
	}
	if (name ~ /^tests\//)
		return
	if (lines > 700) {
		print name ": " lines " lines; split it by subject (700)"
		bad = 1
	} else if (lines > 600)
		print "warning: " name ": " lines " lines, past 600"
}
FNR == 1 {
	file_done()
	name = FILENAME
	stem = name
	gsub(/^.*\/|\.[ch]$/, "", stem)
	stem = toupper(stem)
	gsub(/-/, "_", stem)
	guarded = included = begin = 0
	first = ""
	if ($0 != "/* SPDX-License-Identifier: ISC */")
		say("wants /* SPDX-License-Identifier: ISC */")
}
{ lines = FNR }
/^#ifndef/ && $2 ~ "^CRONCTL_([A-Z]+_)?" stem "_H$" { guarded = 1 }
/^#[ \t]*include/ {
	if (!included && name ~ /\.c$/ && $2 != "\"config.h\"")
		say("config.h must be the first include")
	included = 1
}
width($0) > 100 { say("wider than 100 columns") }
/[ \t]$/ { say("blanks at the end of the line") }
/^        / { say("indent with tabs") }
# A function: its name begins a line, and its body is not too long.
/^[A-Za-z_].*\(/ { first = $0 }
/^(struct|enum|union|static const|static struct)[^(]*$/ { first = "" }
/^{/ {
	begin = FNR
	if (first != "" && first !~ /^[A-Za-z_][A-Za-z0-9_]*\(/)
		say("the name of a function begins its line")
}
/^}/ {
	if (begin && FNR - begin - 1 > 70)
		say("function of " FNR - begin - 1 " lines (70)")
	begin = 0
	first = ""
}
END { file_done(); exit bad }' "${c_files[@]}" || bad=1

# In the code alone: comments, calls that are not for us, types.
awk -f tests/lint/code.awk "${c_files[@]}" |
awk '
function say(what) { sub(/:.*/, "", $0); print where ": " what; bad = 1 }
{
	match($0, /^[^:]*:[0-9]*:/)
	where = substr($0, 1, RLENGTH - 1)
	code = substr($0, RLENGTH + 1)
	test = where ~ /^(tests|bench)\//
}
code ~ /\/\// && code !~ /^#/ { say("write comments as /* */") }
!test && code ~ /(^|[^a-z_])(strcpy|strcat|sprintf|gets|alloca|atoi|atol|strtok)\(/ {
	say("unbounded or unchecked call")
}
!test && code ~ /(^|[^a-z_.>])(malloc|calloc|realloc|strdup|strndup|asprintf)\(/ &&
    where !~ /^common\/xmalloc/ {
	say("allocate through common/xmalloc.h")
}
code ~ /^typedef struct/ { say("no typedef for a struct") }
END { exit bad }' || bad=1

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
