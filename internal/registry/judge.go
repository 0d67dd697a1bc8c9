package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// maxTries is how often a change is made again for a record that changed meanwhile.
const maxTries = 5

// maxBackoff is how many intervals apart the probes of a server are that cannot be read.
const maxBackoff = 8

// record stores what a probe of a server gave. A record that was changed meanwhile, by an
// approval for example, is judged anew.
func (s *Service) record(ctx context.Context, r *ServerRecord, got *reading) error {
	for range maxTries {
		change, err := s.judge(ctx, r, got)
		if err != nil {
			return err
		}
		if err = s.cfg.Store.ChangeServer(ctx, *change); err == nil {
			if s.cfg.Announces != nil && got.manifest != nil && r.URL != "" {
				s.cfg.Announces(r.ID, announces(got.manifest))
			}
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return fmt.Errorf("store a probe: %w", err)
		}
		if r, err = s.server(ctx, r.ID); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the record of the server keeps changing", ErrBusy)
}

// announces reports whether a server says that it tells of changes of its tools (MCP,
// tools.listChanged).
func announces(m *toolmark.Manifest) bool {
	return m.Capabilities != nil && m.Capabilities.Get("tools").Get("listChanged").Kind == toolmark.KindTrue
}

// Observe records what a server sent on a connection that is held open. Other than a
// probe it does not reserve the server: a probe that runs beside it is judged after it,
// or before.
func (s *Service) Observe(ctx context.Context, id string, snap *toolmark.Snapshot) error {
	got := s.readingOf(snap)
	got.held = true
	r, err := s.server(ctx, id)
	if err != nil {
		return err
	}
	return s.record(ctx, r, got)
}

// Target gives a registered server as a Prober needs it, with what is sent to it.
func (s *Service) Target(ctx context.Context, id string) (Target, error) {
	r, err := s.server(ctx, id)
	if err != nil {
		return Target{}, err
	}
	return s.target(r)
}

// server reads a server's record.
func (s *Service) server(ctx context.Context, id string) (*ServerRecord, error) {
	all, err := s.cfg.Store.FindServers(ctx, ServerQuery{ID: id, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("find the server: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("find the server: %w", ErrNotFound)
	}
	return &all[0], nil
}

// judge says what a probe makes of a server. Nothing here changes a baseline: only a
// person does that.
func (s *Service) judge(ctx context.Context, r *ServerRecord, got *reading) (*ServerChange, error) {
	c := &ServerChange{ID: r.ID, Revision: r.Revision, Status: r.ServerStatus, Release: !got.held}
	if got.at.Before(r.ProbedAt) { // a later probe was stored first
		return c, nil
	}
	st := &c.Status
	st.ProbedAt = got.at
	if got.why != nil {
		s.unread(r, got, c)
		if r.State != Unreachable {
			if err := s.tell(c, r, ServerUnreachable, nil); err != nil {
				return nil, err
			}
		}
		return c, nil
	}
	st.ReadAt, st.Why, st.Failures = got.at, nil, 0
	found, err := s.compare(ctx, r, got, c)
	if err != nil {
		return nil, err
	}
	st.State = st.LastKnown
	if st.State != r.State {
		st.Since = got.at
	}
	run(r, c)
	if r.State == Unreachable {
		if err := s.tell(c, r, ServerRecovered, found); err != nil {
			return nil, err
		}
	}
	if c.Snapshot == nil || st.State != Changed {
		return c, nil
	}
	if err := s.tell(c, r, DriftDetected, found); err != nil {
		return nil, err
	}
	if found.worst >= toolmark.High {
		return c, s.tell(c, r, FindingHigh, found)
	}
	return c, nil
}

// unread is what a probe makes of a server that it could not read.
func (s *Service) unread(r *ServerRecord, got *reading, c *ServerChange) {
	st := &c.Status
	st.State, st.Why = Unreachable, got.why
	st.Failures++
	if r.State != Unreachable {
		st.Since = got.at
	}
	wait := min(s.interval(r)<<min(st.Failures-1, 3), maxBackoff*s.interval(r))
	c.Due = s.due(r, got.at, wait)
	run(r, c)
}

// run counts a probe into the run of those before it that had the same outcome, or ends
// that run. A different message alone is the same outcome.
func run(r *ServerRecord, c *ServerChange) {
	st := &c.Status
	same := r.RunCount > 0 && r.State == st.State && c.Snapshot == nil && (st.Why == nil || r.Why != nil && r.Why.Code == st.Why.Code)
	if same {
		st.RunCount++
		return
	}
	if r.RunCount > 0 {
		c.Ended = lastRun(r)
	}
	st.RunFrom, st.RunCount = st.ProbedAt, 1
}

// lastRun is the run that the last probe of a server belongs to.
func lastRun(r *ServerRecord) *ProbeRun {
	last := &ProbeRun{From: r.RunFrom, To: r.ProbedAt, Count: r.RunCount, Status: r.State, Why: r.Why}
	if r.State != Unreachable {
		last.Snapshot = r.CurrentID
	}
	return last
}

// comparison is what a reading is against the baseline.
type comparison struct {
	drift *pin.Drift
	rest  []toolmark.Finding // new findings at no changed place
	worst toolmark.Severity  // of the findings that are new
}

// compare holds a reading against the record. Bytes that are equal are the same trees;
// for all others trees are compared, never hashes.
func (s *Service) compare(ctx context.Context, r *ServerRecord, got *reading, c *ServerChange) (*comparison, error) {
	st := &c.Status
	content, err := s.cfg.Store.SnapshotContent(ctx, r.ID, r.CurrentID)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", r.CurrentID, err)
	}
	if bytes.Equal(content, got.content) {
		return nil, nil // as last time: nothing to store, nothing to tell
	}
	current, err := readContent(content)
	if err != nil {
		return nil, err
	}
	// A list that is only written otherwise is a snapshot of its own: it is scanned once,
	// and not at every probe.
	if !pin.Diff(current, got.manifest, pin.Options{}).Written() {
		return nil, nil
	}
	baseline := current
	if r.BaselineID != r.CurrentID {
		if baseline, err = s.loadSnapshot(ctx, r.ID, r.BaselineID); err != nil {
			return nil, err
		}
	}
	found, err := s.contrast(ctx, baseline, got.manifest)
	if err != nil {
		return nil, err
	}
	if c.Snapshot, err = s.snapshotOf(got); err != nil {
		return nil, err
	}
	st.LastKnown, st.Suspicious = Unchanged, ""
	if found.changed() {
		st.LastKnown, st.Suspicious = Changed, suspicious(baseline, got.manifest)
	}
	return found, nil
}

// weigh scans two manifests and puts what is new into their drift.
func (s *Service) weigh(ctx context.Context, old, new *toolmark.Manifest, found *comparison) error {
	before, err := s.scan(ctx, old)
	if err != nil {
		return err
	}
	after, err := s.scan(ctx, new)
	if err != nil {
		return err
	}
	found.rest = found.drift.Attach(before.Findings, after.Findings)
	for i := range found.rest {
		found.worst = max(found.worst, found.rest[i].Severity)
	}
	for i := range found.drift.Changes {
		for j := range found.drift.Changes[i].Findings {
			found.worst = max(found.worst, found.drift.Changes[i].Findings[j].Severity)
		}
	}
	return nil
}

// suspicious says what about a new list is likely a fault of the server, or of what
// stands before it, rather than a release.
func suspicious(old, new *toolmark.Manifest) string {
	was, is := len(old.Tools), len(new.Tools)
	switch {
	case is == 0 && was > 0:
		return fmt.Sprintf("the server lists no tools at all, where there were %d: a lost session or a failed backend looks the same; look before you approve", was)
	case was >= 4 && is*4 <= was:
		return fmt.Sprintf("the server lists %d of %d tools: a part of a list looks the same; look before you approve", is, was)
	}
	return ""
}

// NextProbe gives when a server that is probed at now is due again.
func (s *Service) NextProbe(now time.Time, d DueServer) time.Time {
	r := &ServerRecord{ID: d.ID, Interval: d.Interval}
	return s.due(r, now, s.interval(r))
}

// interval gives the time between two probes of a server.
func (s *Service) interval(r *ServerRecord) time.Duration {
	if r.Interval > 0 {
		return r.Interval
	}
	return s.cfg.Interval
}

// due gives a server's last place in time that is not more than wait after now. Places are
// nine tenths of its interval apart, so that a probe which waits for its turn is still in
// time, and where they lie follows from its id. So servers spread out evenly, and do again
// after they all were due at once: a restart or an outage is over within an interval.
func (s *Service) due(r *ServerRecord, now time.Time, wait time.Duration) time.Time {
	step := s.interval(r) / 10 * 9
	if step < time.Microsecond {
		return stored(now.Add(wait))
	}
	sum := sha256.Sum256([]byte(r.ID))
	place := time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(step))
	latest := now.Add(wait)
	since := time.Duration(latest.UnixNano()) - place
	return stored(latest.Add(-(since % step)))
}
