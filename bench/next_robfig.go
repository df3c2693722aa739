// SPDX-License-Identifier: ISC

// What Schedule.Next of robfig/cron costs; see next.c, whose starts and
// output these are.  It gives up after five years, so the rarest dates are
// left out.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/robfig/cron"
)

const (
	starts   = 1000
	rounds   = 5
	budgetMs = 100
)

var exprs = [][2]string{
	{"typical", "* * * * *"},
	{"typical", "*/5 * * * *"},
	{"typical", "0 * * * *"},
	{"typical", "30 4 * * *"},
	{"typical", "0 9-17 * * 1-5"},
	{"typical", "30 4 * * 1"},
	{"typical", "15 4 1,15 * *"},
	{"sparse", "0 0 1 1 *"},
	{"sparse", "0 0 29 2 *"},
	{"second", "* * * * * *"},
	{"second", "*/10 * * * * *"},
	{"second", "5 30 4 * * *"},
}

func main() {
	loc, err := time.LoadLocation(os.Args[1])
	if err != nil {
		panic(err)
	}
	var st []time.Time
	for x := uint64(42); len(st) < starts; {
		x = x*6364136223846793005 + 1442695040888963407
		t := time.Unix(1767225600+int64((x>>33)%126230400), 0)
		m := t.UTC().Month()
		if m != time.March && m != time.November {
			st = append(st, t.In(loc))
		}
	}
	parser := cron.NewParser(cron.SecondOptional | cron.Minute |
		cron.Hour | cron.Dom | cron.Month | cron.Dow)
	for _, e := range exprs {
		s, err := parser.Parse(e[1])
		if err != nil {
			panic(err)
		}
		best, sum := 1e18, int64(0)
		for r := 0; r < rounds; r++ {
			n := 0
			began := time.Now()
			for time.Since(began) < budgetMs*time.Millisecond {
				sum = 0
				for _, t := range st {
					sum += s.Next(t).Unix() - t.Unix()
				}
				n += starts
			}
			ns := float64(time.Since(began).Nanoseconds()) /
				float64(n)
			if ns < best {
				best = ns
			}
		}
		fmt.Printf("%s\t%s\t%.1f\t%d\n", e[0], e[1], best, sum)
	}
}
