package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

func putRun(ctx context.Context, tx pgx.Tx, server string, r *registry.ProbeRun) error {
	code, message := whyColumns(r.Why)
	// A run that ended at once would have the time of the one before it.
	if _, err := tx.Exec(ctx, `INSERT INTO probe_runs (server_id, from_at, to_at, count, state, snapshot_id, why_code, why_message)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		server, r.From, r.To, r.Count, string(r.Status), r.Snapshot, code, message); err != nil {
		return fmt.Errorf("insert a run of probes: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM probe_runs WHERE server_id = $1 AND from_at <=
		(SELECT from_at FROM probe_runs WHERE server_id = $1 ORDER BY from_at DESC LIMIT 1 OFFSET $2)`, server, registry.MaxRuns); err != nil {
		return fmt.Errorf("forget old runs of probes: %w", err)
	}
	return nil
}

func putDeed(ctx context.Context, tx pgx.Tx, d registry.DeedRecord) error {
	if _, err := tx.Exec(ctx, "INSERT INTO deeds (id, server_id, account_id, at, actor, what, snapshot_id, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		d.ID, d.Server, d.Account, d.At, d.By, d.What, d.Snapshot, string(d.Note)); err != nil {
		return fmt.Errorf("insert a deed: %w", err)
	}
	return nil
}

func putEvents(ctx context.Context, tx pgx.Tx, events []registry.Event) error {
	for i := range events {
		e := &events[i]
		if _, err := tx.Exec(ctx, "INSERT INTO events (id, account_id, server_id, kind, at, payload) VALUES ($1, $2, $3, $4, $5, $6)",
			e.ID, e.Account, e.Server, string(e.Kind), e.At, e.Payload); err != nil {
			return fmt.Errorf("insert an event: %w", err)
		}
	}
	return nil
}

// ProbeRuns gives ended runs of probes, the newest first.
func (s *Store) ProbeRuns(ctx context.Context, server string, before time.Time, limit int) ([]registry.ProbeRun, error) {
	rows, err := s.pool.Query(ctx, `SELECT from_at, to_at, count, state, snapshot_id, why_code, why_message FROM probe_runs
		WHERE server_id = $1 AND from_at < $2 ORDER BY from_at DESC LIMIT $3`, text(server), before, limit)
	if err != nil {
		return nil, fmt.Errorf("select runs of probes: %w", err)
	}
	runs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r registry.ProbeRun, err error) {
		var state string
		var code *string
		var message []byte
		if err := row.Scan(&r.From, &r.To, &r.Count, &state, &r.Snapshot, &code, &message); err != nil {
			return r, err
		}
		r.From, r.To, r.Why = r.From.UTC(), r.To.UTC(), why(code, message)
		r.Status, err = registry.ParseState(state)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("select runs of probes: %w", err)
	}
	return runs, nil
}

// Deeds gives deeds on a server, the newest first.
func (s *Store) Deeds(ctx context.Context, server, after string, limit int) ([]registry.DeedRecord, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, server_id, account_id, at, actor, what, snapshot_id, note FROM deeds
		WHERE server_id = $1 AND ($2 = '' OR (at, id) < (SELECT at, id FROM deeds WHERE id = $2)) ORDER BY at DESC, id DESC LIMIT $3`,
		text(server), text(after), limit)
	if err != nil {
		return nil, fmt.Errorf("select deeds: %w", err)
	}
	deeds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d registry.DeedRecord, err error) {
		var note string
		err = row.Scan(&d.ID, &d.Server, &d.Account, &d.At, &d.By, &d.What, &d.Snapshot, &note)
		d.At, d.Note = d.At.UTC(), toolmark.Text(note)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("select deeds: %w", err)
	}
	return deeds, nil
}

// PendingEvents gives events that were not passed on, the oldest first.
func (s *Store) PendingEvents(ctx context.Context, limit int) ([]registry.Event, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, account_id, server_id, kind, at, payload FROM events
		WHERE done_at IS NULL ORDER BY at, id LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("select events: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e registry.Event, err error) {
		var kind string
		err = row.Scan(&e.ID, &e.Account, &e.Server, &kind, &e.At, &e.Payload)
		e.Kind, e.At = registry.EventKind(kind), e.At.UTC()
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("select events: %w", err)
	}
	return events, nil
}
