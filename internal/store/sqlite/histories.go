package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

func putRun(ctx context.Context, tx *sql.Tx, server string, r *registry.ProbeRun) error {
	code, message := whyColumns(r.Why)
	// A run that ended at once would have the time of the one before it.
	if _, err := tx.ExecContext(ctx, `INSERT INTO probe_runs (server_id, from_at, to_at, count, state, snapshot_id, why_code, why_message)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		server, micros(r.From), micros(r.To), r.Count, string(r.Status), r.Snapshot, code, message); err != nil {
		return fmt.Errorf("insert a run of probes: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM probe_runs WHERE server_id = ?1 AND from_at <=
		(SELECT from_at FROM probe_runs WHERE server_id = ?1 ORDER BY from_at DESC LIMIT 1 OFFSET ?2)`, server, registry.MaxRuns); err != nil {
		return fmt.Errorf("forget old runs of probes: %w", err)
	}
	return nil
}

func putDeed(ctx context.Context, tx *sql.Tx, d registry.DeedRecord) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO deeds (id, server_id, account_id, at, actor, what, snapshot_id, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		d.ID, d.Server, d.Account, micros(d.At), d.By, d.What, d.Snapshot, string(d.Note)); err != nil {
		return fmt.Errorf("insert a deed: %w", err)
	}
	return nil
}

func putEvents(ctx context.Context, tx *sql.Tx, events []registry.Event) error {
	for i := range events {
		e := &events[i]
		if _, err := tx.ExecContext(ctx, "INSERT INTO events (id, account_id, server_id, kind, at, payload) VALUES (?, ?, ?, ?, ?, ?)",
			e.ID, e.Account, e.Server, string(e.Kind), micros(e.At), e.Payload); err != nil {
			return fmt.Errorf("insert an event: %w", err)
		}
	}
	return nil
}

// ProbeRuns gives ended runs of probes, the newest first.
func (s *Store) ProbeRuns(ctx context.Context, server string, before time.Time, limit int) (runs []registry.ProbeRun, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT from_at, to_at, count, state, snapshot_id, why_code, why_message FROM probe_runs
		WHERE server_id = ? AND from_at < ? ORDER BY from_at DESC LIMIT ?`, server, micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("select runs of probes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r registry.ProbeRun
		var from, to int64
		var state string
		var code *string
		var message []byte
		if err := rows.Scan(&from, &to, &r.Count, &state, &r.Snapshot, &code, &message); err != nil {
			return nil, fmt.Errorf("read a run of probes: %w", err)
		}
		if r.Status, err = registry.ParseState(state); err != nil {
			return nil, err
		}
		r.From, r.To, r.Why = fromMicros(&from), fromMicros(&to), why(code, message)
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select runs of probes: %w", err)
	}
	return runs, nil
}

// Deeds gives deeds on a server, the newest first.
func (s *Store) Deeds(ctx context.Context, server, after string, limit int) (deeds []registry.DeedRecord, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, server_id, account_id, at, actor, what, snapshot_id, note FROM deeds
		WHERE server_id = ?1 AND (?2 = '' OR (at, id) < (SELECT at, id FROM deeds WHERE id = ?2)) ORDER BY at DESC, id DESC LIMIT ?3`,
		server, after, limit)
	if err != nil {
		return nil, fmt.Errorf("select deeds: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d registry.DeedRecord
		var at int64
		var note string
		if err := rows.Scan(&d.ID, &d.Server, &d.Account, &at, &d.By, &d.What, &d.Snapshot, &note); err != nil {
			return nil, fmt.Errorf("read a deed: %w", err)
		}
		d.At, d.Note = fromMicros(&at), toolmark.Text(note)
		deeds = append(deeds, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select deeds: %w", err)
	}
	return deeds, nil
}

// PendingEvents gives events that were not passed on, the oldest first.
func (s *Store) PendingEvents(ctx context.Context, limit int) (events []registry.Event, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, account_id, server_id, kind, at, payload FROM events
		WHERE done_at IS NULL ORDER BY at, id LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("select events: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var e registry.Event
		var at int64
		var kind string
		if err := rows.Scan(&e.ID, &e.Account, &e.Server, &kind, &at, &e.Payload); err != nil {
			return nil, fmt.Errorf("read an event: %w", err)
		}
		e.Kind, e.At = registry.EventKind(kind), fromMicros(&at)
		events = append(events, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select events: %w", err)
	}
	return events, nil
}
