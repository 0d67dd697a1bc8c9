package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

const selectKey = `SELECT k.id, k.account_id, k.hash, k.hint, k.name, k.plan, k.scopes, k.credits,
	k.created_at, k.expires_at, k.revoked_at,
	m.per_minute, m.per_month, m.spend, m.credits, m.minute, m.minute_used, m.month, m.month_used, m.last_used,
	coalesce((SELECT version FROM access_lists WHERE account_id = ''), 0),
	coalesce((SELECT version FROM access_lists WHERE account_id = k.account_id), 0)
	FROM api_keys k JOIN meters m ON m.key_id = k.id `

// CreateKey stores a key, its meter and, where it is new, its account.
func (s *Store) CreateKey(ctx context.Context, k registry.Key, signup *registry.SignupLimit) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if signup != nil {
			if err := countSignup(ctx, tx, *signup); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
			k.Account, micros(k.Created)); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO api_keys
			(id, account_id, hash, hint, name, plan, scopes, credits, created_at, expires_at, revoked_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			k.ID, k.Account, k.Hash[:], k.Hint, k.Name, k.Plan, k.Scopes.String(), k.Credits,
			micros(k.Created), micros(k.Expires), micros(k.Revoked))
		if taken(err) {
			return registry.ErrExists
		} else if err != nil {
			return fmt.Errorf("insert the key: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO meters (key_id, per_minute, per_month, spend, credits) VALUES (?, ?, ?, ?, ?)",
			k.ID, k.Limits.PerMinute, k.Limits.PerMonth, k.Limits.Spend, k.Credits); err != nil {
			return fmt.Errorf("insert the meter: %w", err)
		}
		return nil
	})
}

func countSignup(ctx context.Context, tx *sql.Tx, limit registry.SignupLimit) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM signups WHERE hour < ?", limit.Hour-1); err != nil {
		return fmt.Errorf("forget earlier signups: %w", err)
	}
	var used int64
	err := tx.QueryRowContext(ctx, `INSERT INTO signups (bucket, hour, used) SELECT ?1, ?2, 1 WHERE ?3 > 0
		ON CONFLICT (bucket, hour) DO UPDATE SET used = used + 1 WHERE used < ?3 RETURNING used`,
		limit.Bucket, limit.Hour, limit.Limit).Scan(&used)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.ErrSignupLimit
	} else if err != nil {
		return fmt.Errorf("count the signup: %w", err)
	}
	return nil
}

// KeyByHash finds a key by its hash.
func (s *Store) KeyByHash(ctx context.Context, hash access.Hash) (registry.KeyState, error) {
	return oneKey(s.byHash.QueryRowContext(ctx, hash[:]))
}

// KeyByID finds a key by its id.
func (s *Store) KeyByID(ctx context.Context, id string) (registry.KeyState, error) {
	return oneKey(s.byID.QueryRowContext(ctx, id))
}

func oneKey(row *sql.Row) (registry.KeyState, error) {
	k, err := scanKey(row)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.KeyState{}, registry.ErrNotFound
	}
	return k, err
}

// ListKeys gives keys by id.
func (s *Store) ListKeys(ctx context.Context, account, after string, limit int) (keys []registry.KeyState, err error) {
	rows, err := s.read.QueryContext(ctx,
		selectKey+"WHERE (?1 = '' OR k.account_id = ?1) AND k.id > ?2 ORDER BY k.id LIMIT ?3", account, after, limit)
	if err != nil {
		return nil, fmt.Errorf("select keys: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select keys: %w", err)
	}
	return keys, nil
}

// RevokeKey marks a key as revoked.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", micros(at), id))
	})
}

// changed gives ErrNotFound for a statement that touched nothing.
func changed(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return registry.ErrNotFound
	}
	return nil
}

type scanner interface{ Scan(dest ...any) error }

func scanKey(row scanner) (registry.KeyState, error) {
	var k registry.KeyState
	var hash []byte
	var scopes string
	var created, expires, revoked, lastUsed *int64
	m := &k.Meter
	if err := row.Scan(&k.ID, &k.Account, &hash, &k.Hint, &k.Name, &k.Plan, &scopes, &k.Credits,
		&created, &expires, &revoked,
		&m.Limits.PerMinute, &m.Limits.PerMonth, &m.Limits.Spend, &m.Credits, &m.Minute, &m.MinuteUsed, &m.Month, &m.MonthUsed, &lastUsed,
		&k.ServiceList, &k.AccountList); err != nil {
		return registry.KeyState{}, fmt.Errorf("read a key: %w", err)
	}
	if copy(k.Hash[:], hash) != len(k.Hash) || len(hash) != len(k.Hash) {
		return registry.KeyState{}, fmt.Errorf("key %s: a hash of %d bytes", k.ID, len(hash))
	}
	var err error
	if k.Scopes, err = access.ParseScopes(scopes); err != nil {
		return registry.KeyState{}, fmt.Errorf("key %s: %w", k.ID, err)
	}
	k.Limits = m.Limits
	k.Created, k.Expires, k.Revoked, m.LastUsed = fromMicros(created), fromMicros(expires), fromMicros(revoked), fromMicros(lastUsed)
	return k, nil
}

// micros gives a time as it is stored; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func fromMicros(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}
