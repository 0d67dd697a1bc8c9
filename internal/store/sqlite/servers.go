package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
)

const selectServer = `SELECT s.id, s.account_id, s.name, s.url, s.host, s.command, s.header_names, s.query_names, s.sealed, s.interval,
	s.created_at, s.created_by, s.state, s.since, s.last_known, s.why_code, s.why_message, s.suspicious, s.approved,
	s.baseline_id, s.current_id, s.probed_at, s.read_at, s.failures, s.run_from, s.run_count, s.due_at, s.busy_until, s.revision,
	` + baselineColumns + `, ` + currentColumns + `
	FROM servers s JOIN snapshots b ON b.id = s.baseline_id JOIN snapshots c ON c.id = s.current_id `

const (
	claimServer  = "UPDATE servers SET busy_until = ?1 WHERE id = ?2 AND revision = ?3 AND (busy_until IS NULL OR busy_until <= ?4)"
	updateStatus = `UPDATE servers SET state = ?1, since = ?2, last_known = ?3, why_code = ?4, why_message = ?5,
	suspicious = ?6, approved = ?7, baseline_id = ?8, current_id = ?9, probed_at = ?10, read_at = ?11, failures = ?12,
	run_from = ?13, run_count = ?14, due_at = coalesce(?15, due_at), busy_until = iif(?16, NULL, busy_until), revision = revision + 1
	WHERE id = ?17`
)

// CreateServer stores a server with its first snapshot.
func (s *Store) CreateServer(ctx context.Context, r registry.ServerRecord, first registry.NewSnapshot, deed registry.DeedRecord, most int) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
			r.Account, micros(r.Created)); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM servers WHERE account_id = ?", r.Account).Scan(&n); err != nil {
			return fmt.Errorf("count the servers: %w", err)
		} else if n >= most {
			return registry.ErrFull
		}
		st := &r.ServerStatus
		code, message := whyColumns(st.Why)
		_, err := tx.ExecContext(ctx, `INSERT INTO servers (id, account_id, name, url, host, command, header_names, query_names, sealed, interval,
			created_at, created_by, state, since, last_known, why_code, why_message, suspicious, approved, baseline_id, current_id,
			probed_at, read_at, failures, run_from, run_count, due_at, busy_until, revision)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 1)`,
			r.ID, r.Account, r.Name, r.URL, r.Host, list(r.Command), list(r.HeaderNames), list(r.QueryNames), r.Sealed, r.Interval.Microseconds(),
			micros(r.Created), r.CreatedBy, string(st.State), micros(st.Since), string(st.LastKnown), code, message, st.Suspicious, st.Approved,
			first.ID, first.ID, micros(st.ProbedAt), micros(st.ReadAt), st.Failures, micros(st.RunFrom), st.RunCount, micros(r.Due))
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
func (s *Store) FindServers(ctx context.Context, q registry.ServerQuery) (found []registry.ServerRecord, err error) {
	if q == (registry.ServerQuery{ID: q.ID, Limit: q.Limit}) && q.ID != "" {
		r, err := scanServer(s.serverByID.QueryRowContext(ctx, q.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return []registry.ServerRecord{r}, nil
	}
	// Only what is asked for stands in the statement, so that an index can be used.
	where, args := "WHERE s.id > ?", []any{q.After}
	for _, c := range []struct{ column, value string }{
		{"s.id", q.ID}, {"s.account_id", q.Account}, {"s.name", q.Name}, {"s.url", q.URL},
	} {
		if c.value != "" {
			where, args = where+" AND "+c.column+" = ?", append(args, c.value)
		}
	}
	rows, err := s.read.QueryContext(ctx, selectServer+where+" ORDER BY s.id LIMIT ?", append(args, q.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("select servers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanServer(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select servers: %w", err)
	}
	return found, nil
}

// ClaimServer reserves a server for one probe.
func (s *Store) ClaimServer(ctx context.Context, id string, revision int64, now, until time.Time) error {
	return s.soon(ctx, func(tx *sql.Tx) error {
		err := changed(tx.StmtContext(ctx, s.claim).ExecContext(ctx, micros(until), id, revision, micros(now)))
		if !errors.Is(err, registry.ErrNotFound) {
			return err
		}
		if err := s.lockRevision(ctx, tx, id, revision); err != nil {
			return err
		}
		return registry.ErrClaimed
	})
}

// ChangeServer stores what a probe or an approval makes of a server.
func (s *Store) ChangeServer(ctx context.Context, c registry.ServerChange) error {
	transact := s.transact
	if c.Snapshot == nil && c.Ended == nil && c.Approval == nil && c.Deed == nil && len(c.Events) == 0 {
		transact = s.soon // once more the same
	}
	return transact(ctx, func(tx *sql.Tx) error {
		st := c.Status
		if err := s.lockRevision(ctx, tx, c.ID, c.Revision); err != nil {
			return err
		}
		if c.Snapshot != nil {
			if err := lastSeen(ctx, tx, c.ID); err != nil {
				return err
			}
			id, err := putSnapshot(ctx, tx, c.ID, c.Snapshot)
			if err != nil {
				return err
			}
			st.CurrentID = id
		}
		code, message := whyColumns(st.Why)
		if _, err := tx.StmtContext(ctx, s.status).ExecContext(ctx,
			string(st.State), micros(st.Since), string(st.LastKnown), code, message, st.Suspicious, st.Approved, st.BaselineID, st.CurrentID,
			micros(st.ProbedAt), micros(st.ReadAt), st.Failures, micros(st.RunFrom), st.RunCount, micros(c.Due), c.Release, c.ID); err != nil {
			return fmt.Errorf("update the server: %w", err)
		}
		if c.Ended != nil {
			if err := putRun(ctx, tx, c.ID, c.Ended); err != nil {
				return err
			}
		}
		if a := c.Approval; a != nil {
			if err := changed(tx.ExecContext(ctx, "UPDATE snapshots SET approved_at = ?, approved_by = ?, note = ? WHERE id = ? AND server_id = ?",
				micros(a.At), a.By, string(a.Note), a.Snapshot, c.ID)); err != nil {
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

func (s *Store) lockRevision(ctx context.Context, tx *sql.Tx, id string, want int64) error {
	var revision int64
	err := tx.StmtContext(ctx, s.revision).QueryRowContext(ctx, id).Scan(&revision)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return registry.ErrNotFound
	case err != nil:
		return fmt.Errorf("read the server: %w", err)
	case revision != want:
		return registry.ErrConflict
	}
	return nil
}

// lastSeen notes when the snapshot that is no longer served was read for the last time.
func lastSeen(ctx context.Context, tx *sql.Tx, server string) error {
	if _, err := tx.ExecContext(ctx, `UPDATE snapshots SET last_seen = max(last_seen, (SELECT read_at FROM servers WHERE id = ?1))
		WHERE id = (SELECT current_id FROM servers WHERE id = ?1)`, server); err != nil {
		return fmt.Errorf("note when a snapshot was read: %w", err)
	}
	return nil
}

// DeleteServer removes a server and what belongs to it.
func (s *Store) DeleteServer(ctx context.Context, id string, deed registry.DeedRecord) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			"DELETE FROM tool_names WHERE server_id = ?", "DELETE FROM probe_runs WHERE server_id = ?",
		} {
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				return fmt.Errorf("delete what belongs to the server: %w", err)
			}
		}
		if err := dropSnapshots(ctx, tx, "SELECT id, hash FROM snapshots WHERE server_id = ?", id); err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, "DELETE FROM servers WHERE id = ?", id)); err != nil {
			return err
		}
		return putDeed(ctx, tx, deed)
	})
}

func scanServer(row scanner) (r registry.ServerRecord, err error) {
	var command, headers, query, state, known string
	var interval, created, since, probed, read, run, due int64
	var busy *int64
	var code *string
	var message []byte
	st := &r.ServerStatus
	baseline, current := snapshotRow{}, snapshotRow{}
	dest := []any{
		&r.ID, &r.Account, &r.Name, &r.URL, &r.Host, &command, &headers, &query, &r.Sealed, &interval,
		&created, &r.CreatedBy, &state, &since, &known, &code, &message, &st.Suspicious, &st.Approved,
		&st.BaselineID, &st.CurrentID, &probed, &read, &st.Failures, &run, &st.RunCount, &due, &busy, &r.Revision,
	}
	dest = append(append(dest, baseline.dest()...), current.dest()...)
	if err := row.Scan(dest...); err != nil {
		return r, fmt.Errorf("read a server: %w", err)
	}
	for _, l := range []struct {
		text string
		list *[]string
	}{{command, &r.Command}, {headers, &r.HeaderNames}, {query, &r.QueryNames}} {
		if err := json.Unmarshal([]byte(l.text), l.list); err != nil {
			return r, fmt.Errorf("server %s: %w", r.ID, err)
		}
	}
	if st.State, err = registry.ParseState(state); err != nil {
		return r, fmt.Errorf("server %s: %w", r.ID, err)
	}
	if st.LastKnown, err = registry.ParseState(known); err != nil {
		return r, fmt.Errorf("server %s: %w", r.ID, err)
	}
	r.Interval = time.Duration(interval) * time.Microsecond
	r.Created, st.Since, st.ProbedAt, st.ReadAt = fromMicros(&created), fromMicros(&since), fromMicros(&probed), fromMicros(&read)
	st.RunFrom, r.Due, r.Busy = fromMicros(&run), fromMicros(&due), fromMicros(busy)
	st.Why = why(code, message)
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

// list gives texts as a JSON array.
func list(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	out, err := json.Marshal(texts)
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return string(out)
}
