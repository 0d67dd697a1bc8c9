package registry

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// accounts are those whose servers a caller's questions are answered from.
func (c Caller) accounts() []string {
	if c.Account == "" || c.Account == PublicAccount {
		return []string{PublicAccount}
	}
	return []string{c.Account, PublicAccount}
}

func ref(r *ServerRecord) ServerRef { return ServerRef{ID: r.ID, Name: toolmark.Text(r.Name)} }

// own finds a server of the caller's account by its id, name or URL.
func (s *Service) own(ctx context.Context, caller Caller, server string) (*ServerRecord, error) {
	if caller.Account == "" {
		return nil, fmt.Errorf("find the server: %w", ErrNotFound)
	}
	return s.find(ctx, []string{caller.Account}, server)
}

// visible finds a server that the caller may ask about.
func (s *Service) visible(ctx context.Context, caller Caller, server string) (*ServerRecord, error) {
	return s.find(ctx, caller.accounts(), server)
}

func (s *Service) find(ctx context.Context, accounts []string, server string) (*ServerRecord, error) {
	q := ServerQuery{Name: server, Limit: 2}
	if strings.HasPrefix(server, "srv_") {
		q = ServerQuery{ID: server, Limit: 2}
	}
	if server == "" || len(server) > MaxURL {
		return nil, fmt.Errorf("%w: a server is named by its id (srv_…), its name or its URL", ErrInvalid)
	}
	for _, account := range accounts {
		q.Account = account
		found, err := s.cfg.Store.FindServers(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("find the server: %w", err)
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	if strings.Contains(server, "://") {
		e, err := parseURL(server)
		if err != nil {
			return nil, err
		}
		found, err := s.inAccounts(ctx, accounts, e)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 && found[0].Account == found[1].Account {
			return nil, fmt.Errorf("%w: several servers have this URL; name one by its id, such as %s", ErrInvalid, found[0].ID)
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	return nil, fmt.Errorf("find the server: %w", ErrNotFound)
}

// at finds the servers at a URL that the caller may ask about: those of the own account
// first.
func (s *Service) at(ctx context.Context, caller Caller, e endpoint) ([]ServerRecord, error) {
	return s.inAccounts(ctx, caller.accounts(), e)
}

// maxSameURL is how many registrations of one URL are looked at.
const maxSameURL = 100

func (s *Service) inAccounts(ctx context.Context, accounts []string, e endpoint) ([]ServerRecord, error) {
	var out []ServerRecord
	for _, account := range accounts {
		found, err := s.cfg.Store.FindServers(ctx, ServerQuery{Account: account, URL: e.url, Limit: maxSameURL})
		if err != nil {
			return nil, fmt.Errorf("find the server: %w", err)
		}
		for i := range found {
			if e.query == "" && len(found[i].QueryNames) == 0 {
				out = append(out, found[i])
				continue
			}
			if e.query == "" || len(found[i].QueryNames) == 0 {
				continue
			}
			secrets, err := s.open(&found[i])
			if err != nil {
				return nil, err
			}
			if secrets.Query == e.query {
				out = append(out, found[i])
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return out, nil
}

// view gives a server as answers show it.
func (s *Service) view(r *ServerRecord) *Server {
	v := &Server{
		ID: r.ID, Account: r.Account, Name: toolmark.Text(r.Name), Headers: append([]string{}, r.HeaderNames...),
		Interval: int64(s.interval(r) / time.Second), Status: r.State, Since: r.Since, Why: r.Why, LastKnown: r.LastKnown, Suspicious: r.Suspicious,
		Approved: r.Approved, Baseline: r.Baseline, Current: r.Current, Registered: Act{By: r.CreatedBy, At: r.Created},
		ProbedAt: r.ProbedAt, ReadAt: r.ReadAt,
	}
	// What is served now was last seen when the server was last read.
	v.Current.LastSeen = r.ReadAt
	if r.BaselineID == r.CurrentID {
		v.Baseline.LastSeen = r.ReadAt
	}
	if r.URL != "" {
		v.URL = shownURL(r.URL, r.QueryNames)
	}
	for _, part := range r.Command {
		v.Command = append(v.Command, toolmark.Text(part))
	}
	if r.Approved {
		v.Approval = r.Baseline.Approval
	}
	if s.cfg.Watched {
		due := r.Due
		v.NextProbe = &due
	}
	return v
}

// page checks the size of a page; 0 is the greatest.
func page(limit int) (int, error) {
	if limit < 0 || limit > MaxPage {
		return 0, fmt.Errorf("%w: a page has 1 to %d entries", ErrInvalid, MaxPage)
	}
	if limit == 0 {
		return MaxPage, nil
	}
	return limit, nil
}

// Servers gives a page of the account's servers by id.
func (s *Service) Servers(ctx context.Context, caller Caller, after string, limit int) (*ServerPage, error) {
	limit, err := page(limit)
	if err != nil {
		return nil, err
	}
	out := &ServerPage{Servers: []Server{}}
	if caller.Account == "" {
		return out, nil
	}
	found, err := s.cfg.Store.FindServers(ctx, ServerQuery{Account: caller.Account, After: after, Limit: limit + 1})
	if err != nil {
		return nil, fmt.Errorf("list the servers: %w", err)
	}
	if len(found) > limit {
		found = found[:limit]
		out.Next = &found[limit-1].ID
	}
	for i := range found {
		out.Servers = append(out.Servers, *s.view(&found[i]))
	}
	return out, nil
}

// Server gives a server of the account by its id, name or URL.
func (s *Service) Server(ctx context.Context, caller Caller, server string) (*Server, error) {
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	return s.view(r), nil
}

// Snapshots gives a page of what a server served, the newest first.
func (s *Service) Snapshots(ctx context.Context, caller Caller, server, after string, limit int) (*SnapshotPage, error) {
	limit, err := page(limit)
	if err != nil {
		return nil, err
	}
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListSnapshots(ctx, SnapshotQuery{Server: r.ID, After: after, Limit: limit + 1})
	if err != nil {
		return nil, fmt.Errorf("list the snapshots: %w", err)
	}
	out := &SnapshotPage{Snapshots: append([]SnapshotRecord{}, found[:min(limit, len(found))]...)}
	if len(found) > limit {
		out.Next = &found[limit-1].ID
	}
	for i := range out.Snapshots {
		if out.Snapshots[i].ID == r.CurrentID {
			out.Snapshots[i].LastSeen = r.ReadAt
		}
	}
	return out, nil
}

// Snapshot gives one snapshot of a server with its content: the document as it was read,
// without its source and time.
func (s *Service) Snapshot(ctx context.Context, caller Caller, server, snapshot string) ([]byte, error) {
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	content, err := s.cfg.Store.SnapshotContent(ctx, r.ID, snapshot)
	if err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	return content, nil
}

// Drift compares two snapshots of a server; "" is the baseline for from and the current
// one for to.
func (s *Service) Drift(ctx context.Context, caller Caller, server, from, to string) (*DriftReport, error) {
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	out := &DriftReport{Server: ref(r)}
	for _, end := range []struct {
		id, standard string
		to           *SnapshotRecord
	}{{from, r.BaselineID, &out.From}, {to, r.CurrentID, &out.To}} {
		id := end.id
		if id == "" {
			id = end.standard
		}
		found, err := s.cfg.Store.ListSnapshots(ctx, SnapshotQuery{Server: r.ID, ID: id, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("find the snapshot: %w", err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("find the snapshot: %w", ErrNotFound)
		}
		*end.to = found[0]
	}
	found, err := s.difference(ctx, r, out.From.ID, out.To.ID)
	if err != nil {
		return nil, err
	}
	out.Drift, out.Same = found.drift, !found.changed()
	return out, nil
}

// History gives a page of a server's probes, in runs with one outcome, the newest first.
func (s *Service) History(ctx context.Context, caller Caller, server, after string, limit int) (*HistoryPage, error) {
	limit, err := page(limit)
	if err != nil {
		return nil, err
	}
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	out := &HistoryPage{Runs: []ProbeRun{}}
	before := r.RunFrom.Add(time.Microsecond)
	if after == "" {
		if r.RunCount > 0 {
			out.Runs, before = append(out.Runs, *lastRun(r)), r.RunFrom
		}
	} else {
		us, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: not where a page begins; send what next was", ErrInvalid)
		}
		before = time.UnixMicro(us).UTC()
	}
	runs, err := s.cfg.Store.ProbeRuns(ctx, r.ID, before, limit-len(out.Runs)+1)
	if err != nil {
		return nil, fmt.Errorf("list the probes: %w", err)
	}
	out.Runs = append(out.Runs, runs...)
	if len(out.Runs) > limit {
		out.Runs = out.Runs[:limit]
		next := strconv.FormatInt(out.Runs[limit-1].From.UnixMicro(), 10)
		out.Next = &next
	}
	return out, nil
}

// Deeds gives a page of what was done to a server, and by whom, the newest first.
func (s *Service) Deeds(ctx context.Context, caller Caller, server, after string, limit int) (*DeedPage, error) {
	limit, err := page(limit)
	if err != nil {
		return nil, err
	}
	r, err := s.own(ctx, caller, server)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.Deeds(ctx, r.ID, after, limit+1)
	if err != nil {
		return nil, fmt.Errorf("list what was done: %w", err)
	}
	out := &DeedPage{Deeds: []Deed{}}
	if len(found) > limit {
		found = found[:limit]
		out.Next = &found[limit-1].ID
	}
	for i := range found {
		out.Deeds = append(out.Deeds, found[i].Deed)
	}
	return out, nil
}
