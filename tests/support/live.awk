# SPDX-License-Identifier: ISC
# The view of "./bootstrap run": the daemon's log, a line for each thing that
# happens, as people read it.  What it doesn't know is shown as it came.
# offset: that of the local zone, as "date +%z" prints it.
BEGIN {
	minutes = (substr(offset, 2, 2) * 60 + substr(offset, 4, 2)) * \
	    (offset ~ /^-/ ? -1 : 1)
	why["overlap"] = "its last run is still going"
	why["queue_full"] = "one waits already"
	why["stopping"] = "the daemon is stopping"
	why["removed"] = "the job was removed"
	why["pool_full"] = "no slot was free in time"
	why["overload"] = "the machine was too busy"
}

# "2026-11-30T19:40:05Z" as local time of day.
function clock(stamp,    m) {
	m = substr(stamp, 12, 2) * 60 + substr(stamp, 15, 2)
	m = (m + minutes + 1440) % 1440
	return sprintf("%02d:%02d:%s", int(m / 60), m % 60,
	    substr(stamp, 18, 2))
}

# The value of NAME=VALUE among the words, or "".
function value(name,    i) {
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}

function seconds(text) {
	sub(/s:?$/, "", text)
	if (text < 1)
		return sprintf("%d ms", text * 1000)
	return sprintf("%.1f s", text)
}

function say(what) {
	printf "%s  %-12s  %s\n", clock($1), value("job"), what
	fflush()
}

# "... took=0.003s: the reason": what comes after it.
function detail(    at) {
	at = match($0, /took=[0-9.]*s: /)
	return at ? ": " substr($0, at + RLENGTH) : ""
}

$2 == "info" && $3 == "scheduler:" && value("run") != "" {
	run = "run " value("run")
	state = $6
	took = " after " seconds(value("took"))
	if (state == "started")
		say(run " started, " seconds(value("late")) " after it was " \
		    (value("cause") == "manual" ? "asked for" : "due"))
	else if (state == "succeeded")
		say(run " ok" took)
	else if (state == "failed")
		say(run " FAILED, exit " value("code") took \
		    "; see: cronctl logs " value("run"))
	else if (state == "signaled")
		say(run " FAILED, signal " value("signal") took)
	else if (state == "timed_out")
		say(run " TIMED OUT" took)
	else if (state == "start_failed")
		say(run " COULD NOT START" detail())
	else
		say(run " " state took detail())
	next
}

$2 == "info" && $3 == "scheduler:" && value("reason") != "" {
	reason = value("reason")
	say($5 ", " (reason in why ? why[reason] " (" reason ")" : reason))
	next
}

$2 ~ /^(error|warning|info|debug)$/ && $1 ~ /^[0-9-]+T[0-9:]+Z$/ {
	stamp = $1
	level = $2 == "info" ? "" : $2 ": "
	$1 = $2 = ""
	sub(/^ +/, "")
	printf "%s  -- %s%s\n", clock(stamp), level, $0
	fflush()
	next
}

{ print; fflush() }
