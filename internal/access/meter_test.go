package access

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func p(v int64) *int64 { return &v }

func TestMonthAndMinute(t *testing.T) {
	auckland := time.FixedZone("NZDT", 13*3600)
	for text, want := range map[string]string{
		"2026-01-31T23:59:59.999999Z": "2026-02-01T00:00:00Z",
		"2026-02-01T00:00:00Z":        "2026-03-01T00:00:00Z",
		"2026-12-31T23:59:59Z":        "2027-01-01T00:00:00Z",
		"2027-01-01T12:59:59+13:00":   "2027-01-01T00:00:00Z", // still December in UTC
		"2028-02-29T00:00:00Z":        "2028-03-01T00:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := MonthOf(at.In(auckland)).End().Format(time.RFC3339); got != want {
			t.Errorf("the month of %s ends %s, want %s", text, got, want)
		}
	}
	for unix, want := range map[int64]int64{0: 60, 59: 60, 60: 120, -1: 0, -60: 0, -61: -60} {
		if got := MinuteOf(time.Unix(unix, 0)).End().Unix(); got != want {
			t.Errorf("the minute of %d ends %d, want %d", unix, got, want)
		}
	}
}

// TestMeterNeverOverLimits: whatever is taken and given back, in whatever order of
// clocks, a month never holds more than it may, credits are what is left of them, and
// what was given back can be taken again.
func TestMeterNeverOverLimits(t *testing.T) {
	start := time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC)
	limit := rapid.OneOf(rapid.Just((*int64)(nil)), rapid.Map(rapid.Int64Range(0, 6), p))
	rapid.Check(t, func(t *rapid.T) {
		m := Meter{Limits: Limits{PerMonth: limit.Draw(t, "month"), Spend: limit.Draw(t, "spend")}, Credits: limit.Draw(t, "credits")}
		given := m.Clone()
		held := map[Month]int64{} // taken and not given back
		var all int64
		month := func() Month {
			// A replica's clock may be behind: never by a month's length.
			now := start.Add(time.Duration(rapid.IntRange(0, 80).Draw(t, "day")) * 24 * time.Hour)
			got, denial := m.Take(now)
			if denial != nil {
				return -1
			}
			if got < MonthOf(now) || got != m.Month {
				t.Fatalf("counted in month %d at %v", got, now)
			}
			return got
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "take") {
				before := m.Clone()
				if got := month(); got >= 0 {
					held[got]++
					all++
				} else if !m.Equal(&before) {
					t.Fatal("a refusal was counted")
				}
			} else if held[m.Month] > 0 {
				m.Return(m.Month)
				held[m.Month]--
				all--
			}
			if m.MonthUsed != held[m.Month] {
				t.Fatalf("the meter says %d, it is %d", m.MonthUsed, held[m.Month])
			}
			if most, limited := given.Limits.cap(); limited && m.MonthUsed > most {
				t.Fatalf("%d of %d used", m.MonthUsed, most)
			}
			if given.Credits != nil && (*m.Credits != *given.Credits-all || *m.Credits < 0) {
				t.Fatalf("%d credits left after %d of %d", *m.Credits, all, *given.Credits)
			}
			u := m.Usage(start)
			if included, limited := given.Limits.included(); limited && u.Overage != max(0, m.MonthUsed-included) {
				t.Fatalf("overage %d", u.Overage)
			}
		}
		if !same(m.Limits.PerMonth, given.Limits.PerMonth) || !same(m.Limits.Spend, given.Limits.Spend) {
			t.Fatal("limits were changed")
		}
	})
}

// TestMeterClockBehind: a replica whose clock is behind neither opens the old minute or
// month again nor gets a new one.
func TestMeterClockBehind(t *testing.T) {
	next := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	m := Meter{Limits: Limits{PerMinute: p(2), PerMonth: p(2)}}
	for i, now := range []time.Time{next, next.Add(-time.Second), next} {
		_, ok := m.Request(now)
		_, denial := m.Take(now)
		if want := i < 2; ok != want || (denial == nil) != want {
			t.Errorf("step %d: request %v, scan %v", i, ok, denial)
		}
	}
	if u := m.Usage(next.Add(-time.Second)); u.RequestsUsed != 2 || !u.ResetAt.Equal(MonthOf(next).End()) {
		t.Errorf("usage %+v", u)
	}
}

func TestMeterCloneAndEqual(t *testing.T) {
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	full := Meter{
		Limits: Limits{PerMinute: p(1), PerMonth: p(2), Spend: p(3)}, Credits: p(4),
		Minute: 5, MinuteUsed: 6, Month: 7, MonthUsed: 8, LastUsed: now,
	}
	for i, change := range []func(*Meter){
		func(m *Meter) { *m.Limits.PerMinute = 9 }, func(m *Meter) { *m.Limits.PerMonth = 9 }, func(m *Meter) { *m.Limits.Spend = 9 },
		func(m *Meter) { *m.Credits = 9 }, func(m *Meter) { m.Credits = nil }, func(m *Meter) { m.Limits.Spend = nil },
		func(m *Meter) { m.Minute = 9 }, func(m *Meter) { m.MinuteUsed = 9 }, func(m *Meter) { m.Month = 9 },
		func(m *Meter) { m.MonthUsed = 9 }, func(m *Meter) { m.LastUsed = now.Add(1) },
	} {
		other := full.Clone()
		if !other.Equal(&full) {
			t.Fatal("a clone differs")
		}
		if change(&other); other.Equal(&full) || full.Equal(&other) {
			t.Errorf("change %d is not seen, or changed both", i)
		}
	}
	var empty Meter
	if c := empty.Clone(); !c.Equal(&empty) || empty.Equal(&full) {
		t.Error("the zero meter")
	}
}

func TestRate(t *testing.T) {
	now := time.Date(2026, 2, 1, 10, 20, 30, 0, time.UTC)
	m := Meter{Limits: Limits{PerMinute: p(2)}}
	reset := time.Date(2026, 2, 1, 10, 21, 0, 0, time.UTC)
	for i, want := range []int64{1, 0, 0} {
		rate, ok := m.Request(now)
		if rate != (Rate{Limit: 2, Remaining: want, Reset: reset}) || ok != (i < 2) || m.Rate(now) != rate {
			t.Errorf("request %d: %+v, %v; standing %+v", i, rate, ok, m.Rate(now))
		}
	}
	if got := m.Rate(reset); got != (Rate{Limit: 2, Remaining: 2, Reset: reset.Add(time.Minute)}) {
		t.Errorf("standing in the next minute %+v", got)
	}
	if rate, ok := m.Request(reset); rate.Remaining != 1 || !ok {
		t.Errorf("the next minute: %+v", rate)
	}
}
