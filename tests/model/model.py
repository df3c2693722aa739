# SPDX-License-Identifier: ISC
"""A slow model of cron expressions in time zones.

It shares nothing with the program: another language, another reader of zone
files (zoneinfo), and the rules of tests/data taken word for word.  An item is
a predicate; a day or a time of day matches if a predicate says so; days are
looked at one after another and every second of the day that could match is
tried.  Offsets are found by sampling the zone.

Limits: years 1960 to 2100, offsets that last at least six hours.
"""

import calendar
import datetime
import zoneinfo

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
DAYS = "SUN MON TUE WED THU FRI SAT".split()
WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
RANGES = {
    "second": (0, 59), "minute": (0, 59), "hour": (0, 23), "dom": (1, 31),
    "month": (1, 12), "dow": (0, 7), "year": (1970, 2199),
}
EPOCH = datetime.date(1970, 1, 1).toordinal()
FIRST = -10 * 366 * 86400
LAST = 4102444800  # 2100
SEARCH = 42 * 366 * 86400
STEP = 6 * 3600


def number(field, text):
    """A value as written: (number, whether it was the name SUN)."""
    up = text.upper()
    if field == "month" and up in MONTHS:
        return MONTHS.index(up) + 1, False
    if field == "dow" and up in DAYS:
        return DAYS.index(up), up == "SUN"
    return int(text), False


def plain(field, item):
    """The values of an item that is no Quartz item."""
    low, high = RANGES[field]
    body, slash, step = item.partition("/")
    if body in ("*", "?"):
        first, last = low, high
    elif "-" in body:
        a, b = body.split("-")
        first = number(field, a)[0]
        last, sunday = number(field, b)
        if sunday:
            last = 7
    else:
        first = number(field, body)[0]
        last = high if slash else first
    return set(range(first, last + 1, int(step) if slash else 1))


def last_day(date):
    return calendar.monthrange(date.year, date.month)[1]


def weekday(date):
    return date.isoweekday() % 7


def near_weekday(year, month, day):
    """The Monday to Friday nearest to a day, within its month."""
    days = calendar.monthrange(year, month)[1]
    wd = weekday(datetime.date(year, month, day))
    if wd == 6:
        return day - 1 if day > 1 else day + 2
    if wd == 0:
        return day + 1 if day < days else day - 2
    return day


def dom_item(item):
    up = item.upper()
    if up == "LW":
        def last_workday(date):
            day = last_day(date)
            while weekday(date.replace(day=day)) in (0, 6):
                day -= 1
            return date.day == day
        return last_workday
    if up.startswith("L"):
        back = int(up[2:]) if len(up) > 1 else 0
        return lambda date: date.day == last_day(date) - back
    if up.endswith("W"):
        want = int(up[:-1])
        return lambda date: want <= last_day(date) and \
            date.day == near_weekday(date.year, date.month, want)
    values = plain("dom", item)
    return lambda date: date.day in values


def dow_item(item):
    up = item.upper()
    if "#" in up:
        day, nth = up.split("#")
        want, nth = number("dow", day)[0] % 7, int(nth)
        return lambda date: weekday(date) == want and \
            (date.day - 1) // 7 + 1 == nth
    if up.endswith("L"):
        want = number("dow", up[:-1])[0] % 7
        return lambda date: weekday(date) == want and \
            date.day + 7 > last_day(date)
    values = {v % 7 for v in plain("dow", item)}
    return lambda date: weekday(date) in values


class Expression:
    def __init__(self, text):
        fields = WORDS.get(text.strip(), text).split()
        if len(fields) == 5:
            fields = ["0"] + fields
        if len(fields) == 6:
            fields = fields + ["*"]
        names = ["second", "minute", "hour", "dom", "month", "dow", "year"]
        f = dict(zip(names, fields))

        def values(name):
            return set().union(*(plain(name, i) for i in f[name].split(",")))

        self.month, self.year = values("month"), values("year")
        self.every_year = f["year"][0] in "*?" and "/" not in f["year"]
        self.dom = [dom_item(i) for i in f["dom"].split(",")]
        self.dow = [dow_item(i) for i in f["dow"].split(",")]
        self.either = f["dom"][0] not in "*?" and f["dow"][0] not in "*?"
        self.fixed = f["minute"][0] not in "*?" and f["hour"][0] not in "*?"
        second, minute, hour = values("second"), values("minute"), \
            values("hour")
        self.times = [h * 3600 + m * 60 + s for h in range(24) if h in hour
                      for m in range(60) if m in minute
                      for s in range(60) if s in second]
        self.days = {}

    def has_day(self, day):
        """Whether a day, counted from 1970, matches."""
        if day not in self.days:
            date = datetime.date.fromordinal(day + EPOCH)
            self.days[day] = self.matches(date)
        return self.days[day]

    def matches(self, date):
        if date.month not in self.month:
            return False
        if not self.every_year and date.year not in self.year:
            return False
        dom = any(p(date) for p in self.dom)
        dow = any(p(date) for p in self.dow)
        return dom or dow if self.either else dom and dow

    def walls(self, low, high):
        """Matching wall-clock seconds in [low, high), rising."""
        for day in range(low // 86400, (high - 1) // 86400 + 1):
            if self.has_day(day):
                for t in self.times:
                    if low <= day * 86400 + t < high:
                        yield day * 86400 + t


class Zone:
    """The stretches of one offset: a list of (start, end, offset)."""

    def __init__(self, name):
        self.info = zoneinfo.ZoneInfo(name)
        self.spans = []
        start, offset = FIRST, self.offset(FIRST)
        for t in range(FIRST + STEP, LAST, STEP):
            now = self.offset(t)
            if now == offset:
                continue
            change = self.change(t - STEP, t)
            self.spans.append((start, change, offset))
            start, offset = change, now
        self.spans.append((start, LAST, offset))

    def offset(self, t):
        local = datetime.datetime.fromtimestamp(t, self.info)
        return int(local.utcoffset().total_seconds())

    def change(self, low, high):
        """The first second in (low, high] with the offset of high."""
        old = self.offset(low)
        while high - low > 1:
            mid = (low + high) // 2
            if self.offset(mid) == old:
                low = mid
            else:
                high = mid
        return high

    def index(self, t):
        return next(i for i, s in enumerate(self.spans) if s[0] <= t < s[1])

    def showings(self, wall):
        """Which spans show a wall-clock second, in order."""
        return [i for i, (start, end, offset) in enumerate(self.spans)
                if start <= wall - offset < end]


def counts(zone, fold, index, wall):
    """Whether the showing of a fixed time by a span is an occurrence."""
    if fold == "both":
        return True
    shown = zone.showings(wall)
    return index == (shown[0] if fold == "first" else shown[-1])


def next_fire(expr, zone, gap, fold, start):
    """The first fire later than start, or None; the rules word for word."""
    limit = start + SEARCH if expr.every_year else LAST
    for i in range(zone.index(start), len(zone.spans)):
        begin, end, offset = zone.spans[i]
        low, high = max(begin, start + 1), min(end, limit)
        if low >= limit:
            return None
        for wall in expr.walls(low + offset, high + offset):
            if not expr.fixed or counts(zone, fold, i, wall):
                return wall - offset
        if expr.fixed and gap == "run" and i + 1 < len(zone.spans):
            after = zone.spans[i + 1][2]
            if any(True for _ in expr.walls(end + offset, end + after)):
                return end
    return None
