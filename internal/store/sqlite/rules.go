package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// AddRule stores an entry of an access list. An account that does not exist is
// ErrNotFound: a list for a mistyped one would never hold for anybody.
func (s *Store) AddRule(ctx context.Context, r registry.Rule) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if r.Account != "" {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM accounts WHERE id = ?", r.Account).Scan(&n); err != nil {
				return fmt.Errorf("find the account: %w", err)
			} else if n == 0 {
				return fmt.Errorf("account %q: %w", r.Account, registry.ErrNotFound)
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO access_lists (account_id, version) VALUES (?, 1)
			ON CONFLICT (account_id) DO UPDATE SET version = version + 1`, r.Account); err != nil {
			return fmt.Errorf("change the list: %w", err)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO access_rules (id, account_id, action, kind, value, note, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			r.ID, r.Account, string(r.Action), string(r.Kind), r.Value, r.Note, micros(r.Created))
		if taken(err) {
			return registry.ErrExists
		} else if err != nil {
			return fmt.Errorf("insert the entry: %w", err)
		}
		return nil
	})
}

// ListRules gives a list and its version, as they were at one moment.
func (s *Store) ListRules(ctx context.Context, account string) (rules []registry.Rule, version int64, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT l.version, r.id, r.action, r.kind, r.value, r.note, r.created_at
		FROM access_lists l LEFT JOIN access_rules r ON r.account_id = l.account_id
		WHERE l.account_id = ? ORDER BY r.created_at, r.id`, account)
	if err != nil {
		return nil, 0, fmt.Errorf("select entries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, action, kind, value, note *string
		var created *int64
		if err := rows.Scan(&version, &id, &action, &kind, &value, &note, &created); err != nil {
			return nil, 0, fmt.Errorf("read an entry: %w", err)
		}
		if id == nil { // a list whose entries are all removed
			continue
		}
		rules = append(rules, registry.Rule{
			ID: *id, Account: account, Note: *note, Created: fromMicros(created),
			Rule: access.Rule{Action: access.Action(*action), Kind: access.Kind(*kind), Value: *value},
		})
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("select entries: %w", err)
	}
	return rules, version, nil
}

// RemoveRule removes an entry.
func (s *Store) RemoveRule(ctx context.Context, id string) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if err := changed(tx.ExecContext(ctx, `UPDATE access_lists SET version = version + 1
			WHERE account_id = (SELECT account_id FROM access_rules WHERE id = ?)`, id)); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, "DELETE FROM access_rules WHERE id = ?", id))
	})
}
