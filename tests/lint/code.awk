# SPDX-License-Identifier: ISC
# Prints C source without its comments and with the insides of strings and
# character constants emptied, line for line, so that a search sees only code.
# Lines of #include stay as they are.  Each line has "FILE:LINE:" before it.
FNR == 1 { comment = 0 }
{
	line = $0
	if (!comment && line ~ /^#[ \t]*include/) {
		print FILENAME ":" FNR ":" line
		next
	}
	out = ""
	quote = ""
	n = length(line)
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (comment) {
			if (two == "*/") {
				comment = 0
				i++
			}
		} else if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote) {
				quote = ""
				out = out c
			}
		} else if (two == "/*") {
			comment = 1
			i++
		} else if (c == "\"" || c == "'") {
			quote = c
			out = out c
		} else
			out = out c
	}
	print FILENAME ":" FNR ":" out
}
