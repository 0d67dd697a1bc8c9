package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// contrast gives what differs in two manifests, with what a scan of the new one finds that
// one of the old had not.
func (s *Service) contrast(ctx context.Context, old, new *toolmark.Manifest) (*comparison, error) {
	found := &comparison{drift: pin.Diff(old, new, pin.Options{})}
	if !found.drift.Written() {
		return found, nil
	}
	return found, s.weigh(ctx, old, new, found)
}

// changed reports whether the difference is one that somebody has to look at. Another way
// to write the same is none, unless a scan finds something in it.
func (c *comparison) changed() bool { return c.drift.Changed() || len(c.rest) > 0 }

// Check reads a registered server and records what it serves, unless that was done since
// the time it was asked for. It is what the watch does for each server; ErrClaimed says
// that another probe of it is under way, or that its process died a moment ago.
func (s *Service) Check(ctx context.Context, id string, asked time.Time) error {
	for tries := 1; ; tries++ {
		r, err := s.server(ctx, id)
		if err != nil {
			return err
		}
		if !r.ProbedAt.Before(stored(asked)) {
			return nil
		}
		if err = s.check(ctx, r, s.readNow); !errors.Is(err, ErrConflict) || tries == maxTries {
			return err
		}
	}
}

// check probes a server that nobody else probes. ErrConflict says that its record has
// changed since it was read.
func (s *Service) check(ctx context.Context, r *ServerRecord, read func(context.Context, Target) (*reading, error)) error {
	target, err := s.target(r)
	if err != nil {
		return err
	}
	if len(target.Command) > 0 && !s.cfg.AllowCommands {
		return fmt.Errorf("%w: this service runs no commands; the operator can allow them with --allow-commands", ErrInvalid)
	}
	now := s.cfg.Now()
	if err := s.cfg.Store.ClaimServer(ctx, r.ID, r.Revision, now, stored(now.Add(s.cfg.ProbeTime+claimSpare))); err != nil {
		return fmt.Errorf("reserve the server: %w", err)
	}
	got, err := read(ctx, target)
	if err != nil {
		s.release(ctx, r)
		return err
	}
	return s.record(context.WithoutCancel(ctx), r, got)
}

// claimSpare is how much longer a server stays reserved than a probe may take.
const claimSpare = 5 * time.Second

// release ends a reservation that came to nothing, so that the next probe need not wait
// for its end.
func (s *Service) release(ctx context.Context, r *ServerRecord) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for range maxTries {
		now, err := s.server(ctx, r.ID)
		if err != nil {
			return
		}
		err = s.cfg.Store.ChangeServer(ctx, ServerChange{ID: now.ID, Revision: now.Revision, Status: now.ServerStatus, Release: true})
		if !errors.Is(err, ErrConflict) {
			return
		}
	}
}

// fresh probes a server, unless that was done a moment ago: then the record answers, so
// that no crowd of askers becomes a crowd at the server. A probe that is under way
// already is waited for.
func (s *Service) fresh(ctx context.Context, r *ServerRecord) (*ServerRecord, error) {
	asked := s.cfg.Now()
	for {
		if asked.Sub(r.ProbedAt) < s.cfg.Fresh {
			return r, nil
		}
		err := s.check(ctx, r, s.probe)
		if err == nil {
			return s.server(ctx, r.ID)
		}
		if !errors.Is(err, ErrClaimed) && !errors.Is(err, ErrConflict) {
			return nil, err
		}
		if errors.Is(err, ErrClaimed) {
			if err := pause(ctx, claimPoll); err != nil {
				return nil, err
			}
		}
		if r, err = s.server(ctx, r.ID); err != nil {
			return nil, err
		}
		if s.cfg.Now().Sub(asked) > s.cfg.ProbeTime+4*claimSpare {
			return nil, fmt.Errorf("%w: the server stays reserved", ErrBusy)
		}
	}
}

// claimPoll is how often the end of somebody else's probe is looked for.
const claimPoll = 100 * time.Millisecond

// Integrity reads a registered server, named by its id, name or URL, and says whether it
// still serves what was recorded. Servers of PublicAccount answer to everybody.
func (s *Service) Integrity(ctx context.Context, caller Caller, server string) (*Integrity, error) {
	r, err := s.visible(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	if r, err = s.fresh(ctx, r); err != nil {
		return nil, err
	}
	return s.integrity(ctx, r)
}

// CheckServer reads a server of the caller's account now, however lately that was done.
func (s *Service) CheckServer(ctx context.Context, caller Caller, server string) (*Integrity, error) {
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	if r, err = s.checkNow(ctx, r); err != nil {
		return nil, err
	}
	return s.integrity(ctx, r)
}

// checkNow probes a server although that was done a moment ago. A probe that is under way
// may have read it before this was asked for: it is waited for and not taken for an
// answer, but one that began after it is, whoever made it. So a crowd makes two.
func (s *Service) checkNow(ctx context.Context, r *ServerRecord) (*ServerRecord, error) {
	asked, ended := s.cfg.Now(), false
	for {
		err := s.check(ctx, r, s.probe)
		if err == nil {
			return s.server(ctx, r.ID)
		}
		if !errors.Is(err, ErrClaimed) && !errors.Is(err, ErrConflict) {
			return nil, err
		}
		if errors.Is(err, ErrClaimed) {
			if err := pause(ctx, claimPoll); err != nil {
				return nil, err
			}
		}
		before := r.ProbedAt
		if r, err = s.server(ctx, r.ID); err != nil {
			return nil, err
		}
		if r.ProbedAt.After(before) {
			if ended {
				return r, nil
			}
			ended = true
		}
		if s.cfg.Now().Sub(asked) > s.longestClaim() {
			return nil, fmt.Errorf("%w: the server stays reserved", ErrBusy)
		}
	}
}

// longestClaim is how long two probes of one server take with all that belongs to them.
func (s *Service) longestClaim() time.Duration { return 2 * (s.cfg.ProbeTime + claimSpare) }

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// integrity gives what is recorded of a server.
func (s *Service) integrity(ctx context.Context, r *ServerRecord) (*Integrity, error) {
	v := s.view(r)
	out := &Integrity{
		Server: ref(r), Status: v.Status, Since: v.Since, Why: v.Why, ProbedAt: v.ProbedAt, LastKnown: v.LastKnown, ReadAt: v.ReadAt,
		Suspicious: v.Suspicious, Approved: v.Approved, Approval: v.Approval, Baseline: v.Baseline, Current: v.Current, NewFindings: []toolmark.Finding{},
	}
	if r.State == Unreachable {
		return out, nil
	}
	out.NameChanged = r.Baseline.Server.Name != r.Current.Server.Name || r.Baseline.Server.Given != r.Current.Server.Given
	out.VersionChanged = r.Baseline.Server.Version != r.Current.Server.Version
	found, err := s.difference(ctx, r, r.BaselineID, r.CurrentID)
	if err != nil {
		return nil, err
	}
	out.Drift = found.drift
	if len(found.rest) > 0 {
		out.NewFindings = found.rest
	}
	return out, nil
}

// difference compares two stored snapshots of a server.
func (s *Service) difference(ctx context.Context, r *ServerRecord, from, to string) (*comparison, error) {
	if from == to {
		return &comparison{drift: &pin.Drift{}}, nil
	}
	old, err := s.loadSnapshot(ctx, r.ID, from)
	if err != nil {
		return nil, err
	}
	new, err := s.loadSnapshot(ctx, r.ID, to)
	if err != nil {
		return nil, err
	}
	return s.contrast(ctx, old, new)
}
