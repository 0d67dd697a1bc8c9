package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/access"
)

// UnreadError says that a server could not be read, and why, where nothing goes on
// without it.
type UnreadError struct{ Why Why }

// Error gives the reason.
func (e *UnreadError) Error() string { return string(e.Why.Code) + ": " + string(e.Why.Message) }

// RegisterServer reads a server and records what it serves. A server that cannot be read
// is an *UnreadError and not recorded: there would be nothing to hold it against, and a
// mistyped address would be watched for ever.
func (s *Service) RegisterServer(ctx context.Context, caller Caller, n NewServer) (*Server, error) {
	r, secrets, err := s.newRecord(caller, n)
	if err != nil {
		return nil, err
	}
	taken, err := s.cfg.Store.FindServers(ctx, ServerQuery{Account: r.Account, Name: r.Name, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("look for the name: %w", err)
	}
	if len(taken) > 0 { // before anything is read; the store makes sure of it
		return nil, fmt.Errorf("%w: a server of this name", ErrExists)
	}
	got, err := s.probe(ctx, Target{URL: endpoint{url: r.URL, query: secrets.Query}.fullOr(), Command: r.Command, Headers: secrets.Headers})
	if err != nil {
		return nil, err
	}
	if got.why != nil {
		if got.why.Code == toolmark.ErrAddressRefused || got.why.Code == toolmark.ErrUsage {
			return nil, fmt.Errorf("%w: %s", ErrInvalid, got.why.Message)
		}
		return nil, &UnreadError{Why: *got.why}
	}
	first, err := s.snapshotOf(got)
	if err != nil {
		return nil, err
	}
	r.ServerStatus = ServerStatus{
		State: Unchanged, LastKnown: Unchanged, Since: got.at, BaselineID: first.ID, CurrentID: first.ID,
		ProbedAt: got.at, ReadAt: got.at, RunFrom: got.at, RunCount: 1,
	}
	r.Due = s.due(r, got.at, s.interval(r))
	deed, err := s.deed(caller, r, "registered")
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Store.CreateServer(ctx, *r, *first, *deed, s.cfg.MaxServers); err != nil {
		if errors.Is(err, ErrFull) {
			return nil, fmt.Errorf("%w: %w: %d", ErrInvalid, ErrFull, s.cfg.MaxServers)
		}
		return nil, fmt.Errorf("store the server: %w", err)
	}
	if r, err = s.server(ctx, r.ID); err != nil {
		return nil, err
	}
	return s.view(r), nil
}

// newRecord checks what is said of a new server.
func (s *Service) newRecord(caller Caller, n NewServer) (*ServerRecord, sealed, error) {
	var secrets sealed
	if err := validAccount(caller.Account); err != nil {
		return nil, secrets, err
	}
	id, err := access.NewID(s.cfg.Random, "srv")
	if err != nil {
		return nil, secrets, err
	}
	r := &ServerRecord{
		ID: id, Account: caller.Account, Name: n.Name, Command: n.Command, Interval: n.Interval.Truncate(time.Microsecond),
		Created: stored(s.cfg.Now()), CreatedBy: caller.Actor,
	}
	switch {
	case n.URL != "" && len(n.Command) > 0:
		return nil, secrets, fmt.Errorf("%w: a server has a url or a command, not both", ErrInvalid)
	case n.URL != "":
		e, err := parseURL(n.URL)
		if err != nil {
			return nil, secrets, err
		}
		r.URL, r.Host, r.QueryNames, secrets.Query = e.url, e.host, e.names, e.query
		if r.Name == "" {
			r.Name = cutBytes(e.url, MaxName)
		}
	case len(n.Command) > 0:
		if !s.cfg.AllowCommands {
			return nil, secrets, fmt.Errorf("%w: this service runs no commands; the operator can allow them with --allow-commands", ErrInvalid)
		}
		if len(n.Headers) > 0 {
			return nil, secrets, fmt.Errorf("%w: a command has no headers", ErrInvalid)
		}
		if err := validCommand(n.Command); err != nil {
			return nil, secrets, err
		}
		if r.Name == "" {
			r.Name = cutBytes(strings.Map(printing, strings.Join(n.Command, " ")), MaxName)
		}
	default:
		return nil, secrets, fmt.Errorf("%w: a server needs a url, or a command", ErrInvalid)
	}
	if err := validText("name", r.Name, MaxName); err != nil {
		return nil, secrets, err
	}
	if strings.HasPrefix(r.Name, "srv_") || n.Name != "" && strings.Contains(n.Name, "://") {
		return nil, secrets, fmt.Errorf("%w: a name must not look like an id (srv_…) or a URL", ErrInvalid)
	}
	if n.Interval != 0 && (n.Interval < s.cfg.MinInterval || n.Interval > MaxInterval) {
		return nil, secrets, fmt.Errorf("%w: an interval is %s to %s", ErrInvalid, s.cfg.MinInterval, MaxInterval)
	}
	if err := validHeaders(n.Headers); err != nil {
		return nil, secrets, err
	}
	secrets.Headers = n.Headers
	for _, h := range n.Headers {
		r.HeaderNames = append(r.HeaderNames, h.Name)
	}
	r.Sealed, err = s.seal(id, secrets)
	return r, secrets, err
}

// MaxInterval is the longest time between two probes of a server.
const MaxInterval = 7 * 24 * time.Hour

// printing replaces what a name must not have.
func printing(c rune) rune {
	if c < 0x20 || c == 0x7f || c == 0xfffd {
		return ' '
	}
	return c
}

// cutBytes gives the whole characters of a text that fit.
func cutBytes(text string, most int) string {
	for len(text) > most {
		_, size := lastRune(text)
		text = text[:len(text)-size]
	}
	return text
}

func lastRune(text string) (string, int) {
	i := len(text) - 1
	for i > 0 && text[i]&0xc0 == 0x80 {
		i--
	}
	return text[i:], len(text) - i
}

func (s *Service) deed(caller Caller, r *ServerRecord, what string) (*DeedRecord, error) {
	id, err := access.NewID(s.cfg.Random, "deed")
	if err != nil {
		return nil, err
	}
	return &DeedRecord{
		ID: id, Server: r.ID, Account: r.Account, Deed: Deed{Act: Act{By: caller.Actor, At: stored(s.cfg.Now())}, What: what},
	}, nil
}

// DeleteServer forgets a server and all that was recorded of it, but for who did what.
func (s *Service) DeleteServer(ctx context.Context, caller Caller, server string) error {
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return err
	}
	deed, err := s.deed(caller, r, "removed")
	if err != nil {
		return err
	}
	deed.Note = toolmark.Text(r.Name)
	if err := s.cfg.Store.DeleteServer(ctx, r.ID, *deed); err != nil {
		return fmt.Errorf("remove the server: %w", err)
	}
	return nil
}

// Approve makes a snapshot the baseline, because somebody looked at it. A fingerprint
// that several snapshots have is refused: they differ in what it does not cover.
func (s *Service) Approve(ctx context.Context, caller Caller, server string, n NewApproval) (*Server, error) {
	if (n.Fingerprint == "") == (n.Snapshot == "") {
		return nil, fmt.Errorf("%w: an approval names a snapshot or a fingerprint, one of the two", ErrInvalid)
	}
	if err := validText("note", strings.ReplaceAll(n.Note, "\n", " "), MaxNote); err != nil {
		return nil, err
	}
	for range maxTries {
		r, err := s.own(ctx, caller, server)
		if err != nil {
			return nil, err
		}
		c, err := s.approval(ctx, caller, r, n)
		if err != nil {
			return nil, err
		}
		if err = s.cfg.Store.ChangeServer(ctx, *c); err == nil {
			if r, err = s.server(ctx, r.ID); err != nil {
				return nil, err
			}
			return s.view(r), nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, fmt.Errorf("store the approval: %w", err)
		}
	}
	return nil, fmt.Errorf("%w: the record of the server keeps changing", ErrBusy)
}

// MaxNote is the longest note of an approval in bytes.
const MaxNote = 2000

func (s *Service) approval(ctx context.Context, caller Caller, r *ServerRecord, n NewApproval) (*ServerChange, error) {
	found, err := s.cfg.Store.ListSnapshots(ctx, SnapshotQuery{Server: r.ID, ID: n.Snapshot, Fingerprint: n.Fingerprint, Limit: 2})
	if err != nil {
		return nil, fmt.Errorf("find the snapshot: %w", err)
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: this server has no such snapshot; list them, and approve one that you looked at", ErrInvalid)
	case 1:
	default:
		return nil, fmt.Errorf("%w: several snapshots have this fingerprint and differ in what it does not cover; approve one by its id, such as %s", ErrInvalid, found[0].ID)
	}
	chosen := &found[0]
	deed, err := s.deed(caller, r, "approved")
	if err != nil {
		return nil, err
	}
	deed.Snapshot, deed.Note = chosen.ID, toolmark.Text(n.Note)
	c := &ServerChange{
		ID: r.ID, Revision: r.Revision, Status: r.ServerStatus, Deed: deed,
		Approval: &Approval{Act: deed.Act, Snapshot: chosen.ID, Note: deed.Note},
	}
	st := &c.Status
	st.Approved, st.BaselineID = true, chosen.ID
	st.LastKnown, st.Suspicious = Unchanged, ""
	if chosen.ID != r.CurrentID {
		baseline, err := s.loadSnapshot(ctx, r.ID, chosen.ID)
		if err != nil {
			return nil, err
		}
		current, err := s.loadSnapshot(ctx, r.ID, r.CurrentID)
		if err != nil {
			return nil, err
		}
		found, err := s.contrast(ctx, baseline, current)
		if err != nil {
			return nil, err
		}
		if found.changed() {
			st.LastKnown, st.Suspicious = Changed, suspicious(baseline, current)
		}
	}
	if st.State != Unreachable && st.State != st.LastKnown {
		st.State, st.Since = st.LastKnown, deed.At
		if r.RunCount > 0 {
			c.Ended = lastRun(r)
		}
		st.RunFrom, st.RunCount = deed.At, 0 // no probe has had this outcome yet
	}
	return c, nil
}
