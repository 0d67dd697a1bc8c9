package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// AddRule stores an entry of an access list. An account that does not exist is
// ErrNotFound: a list for a mistyped one would never hold for anybody.
func (s *Store) AddRule(ctx context.Context, r registry.Rule) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if r.Account != "" {
			var n int
			if err := tx.QueryRow(ctx, "SELECT count(*) FROM accounts WHERE id = $1", text(r.Account)).Scan(&n); err != nil {
				return fmt.Errorf("find the account: %w", err)
			} else if n == 0 {
				return fmt.Errorf("account %q: %w", r.Account, registry.ErrNotFound)
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO access_lists AS l (account_id, version) VALUES ($1, 1)
			ON CONFLICT (account_id) DO UPDATE SET version = l.version + 1`, r.Account); err != nil {
			return fmt.Errorf("change the list: %w", err)
		}
		_, err := tx.Exec(ctx, "INSERT INTO access_rules (id, account_id, action, kind, value, note, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			r.ID, r.Account, string(r.Action), string(r.Kind), r.Value, r.Note, r.Created)
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
	rows, err := s.pool.Query(ctx, `SELECT l.version, r.id, r.action, r.kind, r.value, r.note, r.created_at
		FROM access_lists l LEFT JOIN access_rules r ON r.account_id = l.account_id
		WHERE l.account_id = $1 ORDER BY r.created_at, r.id`, text(account))
	if err != nil {
		return nil, 0, fmt.Errorf("select entries: %w", err)
	}
	var id, action, kind, value, note *string
	var created *time.Time
	if _, err := pgx.ForEachRow(rows, []any{&version, &id, &action, &kind, &value, &note, &created}, func() error {
		if id != nil { // else a list whose entries are all removed
			rules = append(rules, registry.Rule{
				ID: *id, Account: account, Note: *note, Created: orZero(created),
				Rule: access.Rule{Action: access.Action(*action), Kind: access.Kind(*kind), Value: *value},
			})
		}
		return nil
	}); err != nil {
		return nil, 0, fmt.Errorf("select entries: %w", err)
	}
	return rules, version, nil
}

// RemoveRule removes an entry. The list's row is locked before the entry's, as AddRule
// does.
func (s *Store) RemoveRule(ctx context.Context, id string) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if err := changed(tx.Exec(ctx, `UPDATE access_lists SET version = version + 1
			WHERE account_id = (SELECT account_id FROM access_rules WHERE id = $1)`, text(id))); err != nil {
			return err
		}
		return changed(tx.Exec(ctx, "DELETE FROM access_rules WHERE id = $1", text(id)))
	})
}

// text gives a text as PostgreSQL can hold it. What it cannot hold, U+0000 and invalid
// UTF-8, is not in the database: replaced, it finds nothing instead of failing.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
