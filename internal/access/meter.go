package access

import (
	"fmt"
	"time"
)

// Limits are what a key may use. nil is no limit, 0 is a limit that lets nothing
// through.
type Limits struct {
	PerMinute *int64 // requests in a minute, by the minutes of UTC
	// PerMonth is how many scans a calendar month of UTC includes. It is hard unless
	// Spend is given.
	PerMonth *int64
	// Spend is how many scans beyond PerMonth a month may have (overage). Without
	// PerMonth no scan is included, so all are counted here.
	Spend *int64
}

// included gives the scans that are in the plan, and whether that number is a limit.
func (l Limits) included() (int64, bool) {
	switch {
	case l.PerMonth != nil:
		return *l.PerMonth, true
	case l.Spend != nil:
		return 0, true
	}
	return 0, false
}

// cap gives the scans a month may have; false is no limit.
func (l Limits) cap() (int64, bool) {
	n, limited := l.included()
	if l.Spend != nil {
		n += *l.Spend
	}
	return n, limited
}

// MaxLimit is the greatest limit that may be set, so that sums of limits stay exact.
const MaxLimit = 1 << 60

// Validate refuses limits below 0 or above MaxLimit.
func (l Limits) Validate() error {
	for _, limit := range []struct {
		name string
		n    *int64
	}{{"per minute", l.PerMinute}, {"per month", l.PerMonth}, {"spend", l.Spend}} {
		if limit.n != nil && (*limit.n < 0 || *limit.n > MaxLimit) {
			return fmt.Errorf("the %s limit %d is not between 0 and %d", limit.name, *limit.n, int64(MaxLimit))
		}
	}
	return nil
}

// Month is a calendar month of UTC: year*12 + month-1, so that the next is one more.
type Month int64

// MonthOf gives the month of a time.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year())*12 + Month(t.Month()) - 1
}

// End gives the first moment after the month.
func (m Month) End() time.Time {
	return time.Date(int(m/12), time.Month(m%12)+2, 1, 0, 0, 0, 0, time.UTC)
}

// Minute is a minute of UTC: minutes since 1970.
type Minute int64

// MinuteOf gives the minute of a time.
func MinuteOf(t time.Time) Minute { return Minute(floorDiv(t.Unix(), 60)) }

// End gives the first moment after the minute.
func (m Minute) End() time.Time { return time.Unix(int64(m+1)*60, 0).UTC() }

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// Meter is what a key has used, beside what it may. A store keeps one for each key and
// changes it under a lock, so that its methods need not be safe for concurrent use.
//
// Time runs forward in a meter: where the clocks of replicas differ, a replica that is
// behind counts into the month or minute the meter has reached already, rather than
// starting an old one afresh.
type Meter struct {
	Limits  Limits
	Credits *int64 // scans paid ahead that are left; nil: none are needed

	Minute     Minute // the minute MinuteUsed counts
	MinuteUsed int64
	Month      Month // the month MonthUsed counts
	MonthUsed  int64
	// LastUsed is when a scan was last counted; zero is never.
	LastUsed time.Time
}

// Request counts a request against the rate. ok is false, and nothing is counted, when
// the minute is full.
func (m *Meter) Request(now time.Time) (rate Rate, ok bool) {
	if m.Limits.PerMinute == nil {
		return Rate{}, true
	}
	if minute := MinuteOf(now); minute > m.Minute {
		m.Minute, m.MinuteUsed = minute, 0
	}
	limit := *m.Limits.PerMinute
	if m.MinuteUsed < limit {
		m.MinuteUsed++
		ok = true
	}
	return Rate{Limit: limit, Remaining: max(0, limit-m.MinuteUsed), Reset: m.Minute.End()}, ok
}

// Rate says where the rate stands at a time, without counting. A key without limit has
// the zero Rate.
func (m *Meter) Rate(now time.Time) Rate {
	if m.Limits.PerMinute == nil {
		return Rate{}
	}
	minute, used := MinuteOf(now), int64(0)
	if minute <= m.Minute {
		minute, used = m.Minute, m.MinuteUsed
	}
	return Rate{Limit: *m.Limits.PerMinute, Remaining: max(0, *m.Limits.PerMinute-used), Reset: minute.End()}
}

// Take counts a scan against month, spend and credits: all of them or, when one is
// used up, none, and says which by a denial without a plan. month is where it was
// counted, for Return.
func (m *Meter) Take(now time.Time) (month Month, denial *Denial) {
	current := max(m.Month, MonthOf(now))
	used := m.MonthUsed
	if current > m.Month {
		used = 0
	}
	limit, limited := m.Limits.cap()
	switch {
	case limited && used >= limit && m.Limits.Spend != nil:
		return 0, &Denial{
			Code: SpendingExceeded, Message: "This month's spending limit is reached.",
			RetryAfter: current.End().Sub(now), Used: used, Limit: limit,
		}
	case limited && used >= limit:
		return 0, &Denial{
			Code: QuotaExceeded, Message: "This month's requests are used up.",
			RetryAfter: current.End().Sub(now), Used: used, Limit: limit,
		}
	case m.Credits != nil && *m.Credits <= 0:
		// Where no month limits the key, what it could ever use is what it has used.
		if !limited {
			limit = used
		}
		return 0, &Denial{Code: SpendingExceeded, Message: "The credits are used up.", Used: used, Limit: limit}
	}
	m.Month, m.MonthUsed = current, used+1
	if m.Credits != nil {
		left := *m.Credits - 1
		m.Credits = &left
	}
	if now.After(m.LastUsed) {
		m.LastUsed = now
	}
	return current, nil
}

// Return gives back what Take took in the month: the scan did not run. A month that is
// over stays as it was left; credits do not end with it.
func (m *Meter) Return(month Month) {
	if m.Month == month && m.MonthUsed > 0 {
		m.MonthUsed--
	}
	if m.Credits != nil {
		left := *m.Credits + 1
		m.Credits = &left
	}
}

// Usage is what a key has used of its month.
type Usage struct {
	RequestsUsed  int64
	RequestsLimit *int64 // scans the plan includes; nil is no limit
	Overage       int64  // scans beyond them
	ResetAt       time.Time
	Credits       *int64 // credits left; nil: none are needed
}

// Usage says where the meter stands at a time.
func (m *Meter) Usage(now time.Time) Usage {
	month := max(m.Month, MonthOf(now))
	u := Usage{ResetAt: month.End(), Credits: m.Credits}
	if month == m.Month {
		u.RequestsUsed = m.MonthUsed
	}
	if included, limited := m.Limits.included(); limited {
		u.RequestsLimit = &included
		u.Overage = max(0, u.RequestsUsed-included)
	}
	return u
}

// Clone gives a copy that shares nothing with the meter.
func (m *Meter) Clone() Meter {
	c := *m
	c.Limits = Limits{clone(m.Limits.PerMinute), clone(m.Limits.PerMonth), clone(m.Limits.Spend)}
	c.Credits = clone(m.Credits)
	return c
}

// Equal reports whether two meters say the same.
func (m *Meter) Equal(o *Meter) bool {
	return same(m.Limits.PerMinute, o.Limits.PerMinute) && same(m.Limits.PerMonth, o.Limits.PerMonth) &&
		same(m.Limits.Spend, o.Limits.Spend) && same(m.Credits, o.Credits) &&
		m.Minute == o.Minute && m.MinuteUsed == o.MinuteUsed &&
		m.Month == o.Month && m.MonthUsed == o.MonthUsed && m.LastUsed.Equal(o.LastUsed)
}

func clone(n *int64) *int64 {
	if n == nil {
		return nil
	}
	c := *n
	return &c
}

func same(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
