#!/bin/bash
# SPDX-License-Identifier: ISC
# A command is run byte for byte as it was written, in a job file and on the
# command line.
. "$(dirname "$0")/lib.sh"

# A shell that shows what it was given with -c.
cat >"$T/shell" <<'SH'
#!/bin/sh
[ "$1" = -c ] && printf %s "$2" >"$CAPTURE"
SH
chmod 755 "$T/shell"

# Everything that some reader somewhere takes for its own, 2,000 characters
# and more, and a real command for a real shell.
special=$'; # % %% : = == "two" \'one\' \\ \\n \\\\ $HOME ${X} $(y) `z` ~ ! & |'
special+=$' < > ( ) { } [a] * ? @ ^ , .. \t tab  two  blanks ünï ☃ 𝄞 é ;; ## '
long=
while [ ${#long} -lt 2000 ]; do
	long+=$special
done
long=${long}end
quoted=\'${long//\'/\'\\\'\'}\'
program="printf %s $quoted; printf ' %s' \"\$((6 * 7))\" # done; # % ="

from_file() {
	job long.ini <<INI
[long]
schedule = @manual
shell = $T/shell
env.CAPTURE = $T/got-file
command = $long
[program]
schedule = @manual
command = $program
INI
	start_daemon
	expect_status 0 cc run long --wait
	[ ${#long} -ge 2000 ]
	expect_equal "$(cat "$T/got-file")" "$long"
}

# The same through the key table and back.
shown_as_written() {
	cc show long --ini >"$T/ini"
	grep -qF -- "$long" "$T/ini"
}

real_shell() {
	expect_status 0 cc run program --wait
	expect_equal "$(cc logs program)" "$long 42"
}

from_command_line() {
	cc add added @manual -o "shell=$T/shell" \
	    -o "env.CAPTURE=$T/got-added" -- "$long"
	expect_status 0 cc run added --wait
	expect_equal "$(cat "$T/got-added")" "$long"
	cc add added-program @manual -- "$program"
	expect_status 0 cc run added-program --wait
	expect_equal "$(cc logs added-program)" "$long 42"
}

# Several words are each one word for the command.
words() {
	cc add words @manual -- printf '<%s>\n' "$long" "a  b" "" "it's" \
	    '$HOME' '*' -n
	expect_status 0 cc run words --wait
	printf '<%s>\n' "$long" "a  b" "" "it's" '$HOME' '*' -n \
	    >"$T/want"
	cc logs words >"$T/got"
	cmp "$T/want" "$T/got"
	# A definition's values are lines.
	must_fail cc add two-lines @manual -- $'echo 1\necho 2'
}

continued_line() {
	job lines.ini <<'INI'
[lines]
schedule = @manual
command = echo one; \
    echo two;\
    printf %s 'a\\'
INI
	cc reload
	expect_status 0 cc run lines --wait
	expect_equal "$(cc logs lines)" $'one\ntwo\na\\\\'
}

survives_restart() {
	stop_daemon
	start_daemon
	rm "$T/got-added" "$T/got-file"
	expect_status 0 cc run added --wait
	expect_status 0 cc run long --wait
	expect_equal "$(cat "$T/got-added")" "$long"
	expect_equal "$(cat "$T/got-file")" "$long"
}

too_long() {
	local over
	over=$(printf '%040000d' 7)
	must_fail cc add over @manual -- "echo $over" >"$T/over" 2>&1
	expect_match "$(cat "$T/over")" 'command'
	expect_status 5 cc show over
}

test_expect "2,000 characters from a job file" from_file
test_expect "show --ini has them as they are" shown_as_written
test_expect "2,000 characters through a real shell" real_shell
test_expect "2,000 characters from the command line" from_command_line
test_expect "several words are each quoted" words
test_expect "a line goes on after a backslash" continued_line
test_expect "the store keeps them" survives_restart
test_expect "a command beyond 32 KiB is refused" too_long
test_expect "the daemon stops" stop_daemon
