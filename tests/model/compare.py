#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares the program with the model on random questions.

usage: compare.py DRIVER [COUNT [SEED]]

A question is an expression, a zone and an instant, with dst_gap and dst_fold.
The driver's next() must be the model's.  Its previous() p must be a fire by
the model, with no other up to the instant.  Prints the questions that were
answered differently (the first few), and how many there were; the same seed
asks the same.
"""

import random
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree
import model  # noqa: E402

# Zones with changes of every sort.
ODD_ZONES = """
Africa/Cairo Africa/Casablanca Africa/Juba Africa/Monrovia America/Caracas
America/Havana America/New_York America/Nuuk America/Santiago
America/Sao_Paulo America/Scoresbysund America/St_Johns Antarctica/Casey
Antarctica/Troll Asia/Amman Asia/Gaza Asia/Kathmandu Asia/Manila
Asia/Pyongyang Asia/Tehran Australia/Lord_Howe Australia/Sydney
Europe/Berlin Europe/Dublin Europe/Lisbon Europe/London Europe/Moscow
Pacific/Apia Pacific/Chatham Pacific/Fakaofo Pacific/Kiritimati
Pacific/Kwajalein Pacific/Norfolk UTC
""".split()
ZONES_AT_ONCE = 12
STARTS_PER_PAIR = 5
BLOCK = 5000
SHOWN = 20


def pick_value(r, field):
    low, high = model.RANGES[field]
    if field == "year":
        low, high = 1970, 2060
    v = r.randint(low, high)
    if r.random() < 0.3:
        if field == "month":
            return v, r.choice([str.upper, str.lower])(model.MONTHS[v - 1])
        if field == "dow" and v < 7:
            return v, model.DAYS[v]
    return v, str(v) if r.random() < 0.9 else "%03d" % v


def pick_quartz(r, field):
    if field == "dom":
        return r.choice(["L", "l", "LW", "L-%d" % r.randint(1, 30),
                         "%dW" % r.randint(1, 31)])
    return "%s%s" % (pick_value(r, "dow")[1],
                     r.choice(["L", "#%d" % r.randint(1, 5)]))


def pick_item(r, field):
    low, high = model.RANGES[field]
    step = r.choice([1, 2, 3, 5, 7, 10, 15, 20, r.randint(1, 70)])
    kind = r.random()
    if kind < 0.12:
        return r.choice("**?")
    if kind < 0.25:
        return "*/%d" % step
    if field in ("dom", "dow") and kind < 0.40:
        return pick_quartz(r, field)
    a, text = pick_value(r, field)
    if kind < 0.75:
        return text
    if kind < 0.82:
        return "%s/%d" % (text, step)
    b, other = pick_value(r, field)
    if a > b:
        return text
    if field == "dow" and text.isalpha() and r.random() < 0.3:
        other = "SUN"
    item = "%s-%s" % (text, other)
    return item if kind < 0.93 else "%s/%d" % (item, step)


def pick_field(r, field):
    if r.random() < {"second": 0.2, "minute": 0.2, "hour": 0.25, "dom": 0.5,
                     "month": 0.6, "dow": 0.5, "year": 0.3}[field]:
        return "*"
    n = 1 if r.random() < 0.75 else r.randint(2, 4)
    return ",".join(pick_item(r, field) for _ in range(n))


def pick_expr(r):
    if r.random() < 0.03:
        return r.choice(sorted(model.WORDS))
    names = ["minute", "hour", "dom", "month", "dow"]
    kind = r.random()
    if kind < 0.3:
        names = ["second"] + names
    if kind < 0.12:
        names = names + ["year"]
    fields = [pick_field(r, n) for n in names]
    # Around changes of offset the night hours are the interesting ones.
    if r.random() < 0.5:
        fields[names.index("hour")] = r.choice(
            ["0", "1", "2", "3", "23", "1-3", "0-4", "0,2", "2-3", "*/2"])
    return " ".join(fields)


def pick_start(r, zone):
    """Half of them around a change of offset."""
    if len(zone.spans) > 1 and r.random() < 0.6:
        changes = [s[0] for s in zone.spans[1:]
                   if -86400 <= s[0] < 2145916800]
        if changes:
            return r.choice(changes) + r.randint(-200000, 200000)
    return r.randint(0, 2145916800)


def pick(r, zones):
    questions = []
    while len(questions) < BLOCK:
        expr = pick_expr(r)
        name = r.choice(sorted(zones))
        gap = r.choice(["run", "run", "skip"])
        fold = r.choice(["first", "first", "second", "both"])
        for _ in range(STARTS_PER_PAIR):
            questions.append((expr, name, gap, fold,
                              pick_start(r, zones[name])))
    return questions


def ask(driver, questions):
    text = "".join("%s\t%s\t%s\t%s\t%d\n" % q for q in questions)
    out = subprocess.run([driver], input=text, text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    return [line.split("\t") for line in out.splitlines()]


def wrong(expr, zone, question, answer):
    """What is wrong with an answer, or None."""
    gap, fold, start = question[2:]
    want = model.next_fire(expr, zone, gap, fold, start)
    text = "never" if want is None else str(want)
    if want is None and answer[0] != text and int(answer[0]) >= model.LAST:
        return None
    if answer[0] != text:
        return "next is %s, the model says %s" % (answer[0], text)
    if answer[1] == "never":
        return None
    previous = int(answer[1])
    if previous < model.FIRST + 10 * 86400:
        return None
    fire = model.next_fire(expr, zone, gap, fold, previous - 1)
    if previous >= start or fire != previous:
        return "previous is %d, which is no fire" % previous
    later = model.next_fire(expr, zone, gap, fold, previous)
    if later is not None and later < start:
        return "previous is %d, the model says %d" % (previous, later)
    return None


def main():
    driver = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    names = sorted(n for n in model.zoneinfo.available_timezones()
                   if "/" in n)
    cache, done, bad = {}, 0, 0
    while done < count:
        r = random.Random(seed * 1000003 + done)
        chosen = r.sample(ODD_ZONES, ZONES_AT_ONCE - 3) + r.sample(names, 3)
        for name in chosen:
            if name not in cache:
                cache[name] = model.Zone(name)
        questions = pick(r, {n: cache[n] for n in chosen})
        questions = questions[:count - done]
        exprs = {}
        for q, a in zip(questions, ask(driver, questions), strict=True):
            if q[0] not in exprs:
                exprs[q[0]] = model.Expression(q[0])
            why = wrong(exprs[q[0]], cache[q[1]], q, a)
            if why is not None:
                bad += 1
                if bad <= SHOWN:
                    print("%s: %s" % ("\t".join(map(str, q)), why))
        done += len(questions)
    print("%d questions, %d answered differently" % (done, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
