package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

const selectServer = `SELECT s.id, s.account_id, s.name, s.url, s.host, s.command, s.header_names, s.query_names, s.sealed, s.interval,
	s.created_at, s.created_by, s.state, s.since, s.last_known, s.why_code, s.why_message, s.suspicious, s.approved,
	s.baseline_id, s.current_id, s.probed_at, s.read_at, s.failures, s.run_from, s.run_count, s.due_at, s.busy_until, s.revision,
	` + baselineColumns + `, ` + currentColumns + `
	FROM servers s JOIN snapshots b ON b.id = s.baseline_id JOIN snapshots c ON c.id = s.current_id `

// CreateServer stores a server with its first snapshot.
func (s *Store) CreateServer(ctx context.Context, r registry.ServerRecord, first registry.NewSnapshot, deed registry.DeedRecord, most int) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO accounts (id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", r.Account, r.Created); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		// The account's row is held, so that two cannot both be the last one.
		if _, err := tx.Exec(ctx, "SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", r.Account); err != nil {
			return fmt.Errorf("lock the account: %w", err)
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM servers WHERE account_id = $1", r.Account).Scan(&n); err != nil {
			return fmt.Errorf("count the servers: %w", err)
		} else if n >= most {
			return registry.ErrFull
		}
		st := &r.ServerStatus
		code, message := whyColumns(st.Why)
		_, err := tx.Exec(ctx, `INSERT INTO servers (id, account_id, name, url, host, command, header_names, query_names, sealed, interval,
			created_at, created_by, state, since, last_known, why_code, why_message, suspicious, approved, baseline_id, current_id,
			probed_at, read_at, failures, run_from, run_count, due_at, busy_until, revision)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20, $21, $22, $23, $24, $25, $26, NULL, 1)`,
			r.ID, r.Account, r.Name, r.URL, r.Host, some(r.Command), some(r.HeaderNames), some(r.QueryNames), r.Sealed, r.Interval.Microseconds(),
			r.Created, r.CreatedBy, string(st.State), st.Since, string(st.LastKnown), code, message, st.Suspicious, st.Approved, first.ID,
			st.ProbedAt, st.ReadAt, st.Failures, st.RunFrom, st.RunCount, r.Due)
		if taken(err) {
			return registry.ErrExists
		} else if err != nil {
			return fmt.Errorf("insert the server: %w", err)
		}
		if _, err := putSnapshot(ctx, tx, r.ID, &first); err != nil {
			return err
		}
		return putDeed(ctx, tx, deed)
	})
}

// FindServers gives servers by id.
func (s *Store) FindServers(ctx context.Context, q registry.ServerQuery) ([]registry.ServerRecord, error) {
	// Only what is asked for stands in the statement, so that an index can be used.
	where, args := "WHERE s.id > $1", []any{text(q.After)}
	for _, c := range []struct{ column, value string }{
		{"s.id", q.ID}, {"s.account_id", q.Account}, {"s.name", q.Name}, {"s.url", q.URL},
	} {
		if c.value != "" {
			args = append(args, text(c.value))
			where += " AND " + c.column + " = $" + strconv.Itoa(len(args))
		}
	}
	args = append(args, q.Limit)
	rows, err := s.pool.Query(ctx, selectServer+where+" ORDER BY s.id LIMIT $"+strconv.Itoa(len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("select servers: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (registry.ServerRecord, error) { return scanServer(row) })
	if err != nil {
		return nil, fmt.Errorf("select servers: %w", err)
	}
	return found, nil
}

// ClaimServer reserves a server for one probe.
func (s *Store) ClaimServer(ctx context.Context, id string, revision int64, now, until time.Time) error {
	err := changed(s.pool.Exec(ctx, `UPDATE servers SET busy_until = $1
		WHERE id = $2 AND revision = $3 AND (busy_until IS NULL OR busy_until <= $4)`, until, text(id), revision, now))
	if !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	var is int64
	err = s.pool.QueryRow(ctx, "SELECT revision FROM servers WHERE id = $1", text(id)).Scan(&is)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return registry.ErrNotFound
	case err != nil:
		return fmt.Errorf("find the server: %w", err)
	case is != revision:
		return registry.ErrConflict
	}
	return registry.ErrClaimed
}

// ChangeServer stores what a probe or an approval makes of a server. The server's row is
// locked first.
func (s *Store) ChangeServer(ctx context.Context, c registry.ServerChange) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		st := c.Status
		var revision int64
		err := tx.QueryRow(ctx, "SELECT revision FROM servers WHERE id = $1 FOR UPDATE", c.ID).Scan(&revision)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return registry.ErrNotFound
		case err != nil:
			return fmt.Errorf("read the server: %w", err)
		case revision != c.Revision:
			return registry.ErrConflict
		}
		if c.Snapshot != nil {
			if err := lastSeen(ctx, tx, c.ID); err != nil {
				return err
			}
			if st.CurrentID, err = putSnapshot(ctx, tx, c.ID, c.Snapshot); err != nil {
				return err
			}
		}
		code, message := whyColumns(st.Why)
		if _, err := tx.Exec(ctx, `UPDATE servers SET state = $1, since = $2, last_known = $3, why_code = $4, why_message = $5,
			suspicious = $6, approved = $7, baseline_id = $8, current_id = $9, probed_at = $10, read_at = $11, failures = $12,
			run_from = $13, run_count = $14, due_at = coalesce($15, due_at),
			busy_until = CASE WHEN $16 THEN NULL ELSE busy_until END, revision = revision + 1 WHERE id = $17`,
			string(st.State), st.Since, string(st.LastKnown), code, message, st.Suspicious, st.Approved, st.BaselineID, st.CurrentID,
			st.ProbedAt, st.ReadAt, st.Failures, st.RunFrom, st.RunCount, orNull(c.Due), c.Release, c.ID); err != nil {
			return fmt.Errorf("update the server: %w", err)
		}
		if c.Ended != nil {
			if err := putRun(ctx, tx, c.ID, c.Ended); err != nil {
				return err
			}
		}
		if a := c.Approval; a != nil {
			if err := changed(tx.Exec(ctx, "UPDATE snapshots SET approved_at = $1, approved_by = $2, note = $3 WHERE id = $4 AND server_id = $5",
				a.At, a.By, string(a.Note), a.Snapshot, c.ID)); err != nil {
				return fmt.Errorf("approve the snapshot: %w", err)
			}
		}
		if c.Deed != nil {
			if err := putDeed(ctx, tx, *c.Deed); err != nil {
				return err
			}
		}
		if c.Snapshot != nil {
			if err := pruneSnapshots(ctx, tx, c.ID); err != nil {
				return err
			}
		}
		return putEvents(ctx, tx, c.Events)
	})
}

// lastSeen notes when the snapshot that is no longer served was read for the last time.
func lastSeen(ctx context.Context, tx pgx.Tx, server string) error {
	if _, err := tx.Exec(ctx, `UPDATE snapshots c SET last_seen = greatest(c.last_seen, s.read_at) FROM servers s
		WHERE s.id = $1 AND c.id = s.current_id`, server); err != nil {
		return fmt.Errorf("note when a snapshot was read: %w", err)
	}
	return nil
}

// DeleteServer removes a server and what belongs to it.
func (s *Store) DeleteServer(ctx context.Context, id string, deed registry.DeedRecord) error {
	id = text(id)
	return s.transact(ctx, func(tx pgx.Tx) error {
		if err := changed(tx.Exec(ctx, "SELECT 1 FROM servers WHERE id = $1 FOR UPDATE", id)); err != nil {
			return err
		}
		for _, statement := range []string{
			"DELETE FROM tool_names WHERE server_id = $1", "DELETE FROM probe_runs WHERE server_id = $1",
		} {
			if _, err := tx.Exec(ctx, statement, id); err != nil {
				return fmt.Errorf("delete what belongs to the server: %w", err)
			}
		}
		if err := dropSnapshots(ctx, tx, "SELECT id, hash FROM snapshots WHERE server_id = $1", id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM servers WHERE id = $1", id); err != nil {
			return fmt.Errorf("delete the server: %w", err)
		}
		return putDeed(ctx, tx, deed)
	})
}

func scanServer(row pgx.Row) (r registry.ServerRecord, err error) {
	var state, known string
	var interval int64
	var busy *time.Time
	var code *string
	var message []byte
	st := &r.ServerStatus
	baseline, current := snapshotRow{}, snapshotRow{}
	dest := []any{
		&r.ID, &r.Account, &r.Name, &r.URL, &r.Host, &r.Command, &r.HeaderNames, &r.QueryNames, &r.Sealed, &interval,
		&r.Created, &r.CreatedBy, &state, &st.Since, &known, &code, &message, &st.Suspicious, &st.Approved,
		&st.BaselineID, &st.CurrentID, &st.ProbedAt, &st.ReadAt, &st.Failures, &st.RunFrom, &st.RunCount, &r.Due, &busy, &r.Revision,
	}
	dest = append(append(dest, baseline.dest()...), current.dest()...)
	if err := row.Scan(dest...); err != nil {
		return r, fmt.Errorf("read a server: %w", err)
	}
	if st.State, err = registry.ParseState(state); err != nil {
		return r, fmt.Errorf("server %s: %w", r.ID, err)
	}
	if st.LastKnown, err = registry.ParseState(known); err != nil {
		return r, fmt.Errorf("server %s: %w", r.ID, err)
	}
	r.Interval = time.Duration(interval) * time.Microsecond
	for _, t := range []*time.Time{&r.Created, &st.Since, &st.ProbedAt, &st.ReadAt, &st.RunFrom, &r.Due} {
		*t = t.UTC()
	}
	r.Busy, st.Why = orZero(busy), why(code, message)
	r.Baseline, r.Current = baseline.record(), current.record()
	return r, nil
}

func whyColumns(w *registry.Why) (code, message any) {
	if w == nil {
		return nil, nil
	}
	return string(w.Code), []byte(w.Message)
}

func why(code *string, message []byte) *registry.Why {
	if code == nil {
		return nil
	}
	return &registry.Why{Code: toolmark.ErrorCode(*code), Message: toolmark.Text(message)}
}

// some gives an empty array for nil, which would be NULL.
func some(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
