package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	return s.transact(ctx, func(tx pgx.Tx) error {
		if signup != nil {
			if err := countSignup(ctx, tx, *signup); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "INSERT INTO accounts (id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", k.Account, k.Created); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		_, err := tx.Exec(ctx, `INSERT INTO api_keys
			(id, account_id, hash, hint, name, plan, scopes, credits, created_at, expires_at, revoked_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			k.ID, k.Account, k.Hash[:], k.Hint, k.Name, k.Plan, k.Scopes.String(), k.Credits,
			k.Created, orNull(k.Expires), orNull(k.Revoked))
		if taken(err) {
			return registry.ErrExists
		} else if err != nil {
			return fmt.Errorf("insert the key: %w", err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO meters (key_id, per_minute, per_month, spend, credits) VALUES ($1, $2, $3, $4, $5)",
			k.ID, k.Limits.PerMinute, k.Limits.PerMonth, k.Limits.Spend, k.Credits); err != nil {
			return fmt.Errorf("insert the meter: %w", err)
		}
		return nil
	})
}

func countSignup(ctx context.Context, tx pgx.Tx, limit registry.SignupLimit) error {
	// SKIP LOCKED: replicas that forget the same hours must not wait for each other.
	if _, err := tx.Exec(ctx, `DELETE FROM signups WHERE (bucket, hour) IN
		(SELECT bucket, hour FROM signups WHERE hour < $1 FOR UPDATE SKIP LOCKED)`, limit.Hour-1); err != nil {
		return fmt.Errorf("forget earlier signups: %w", err)
	}
	var used int64
	err := tx.QueryRow(ctx, `INSERT INTO signups AS s (bucket, hour, used) SELECT $1, $2, 1 WHERE $3::bigint > 0
		ON CONFLICT (bucket, hour) DO UPDATE SET used = s.used + 1 WHERE s.used < $3 RETURNING used`,
		limit.Bucket, limit.Hour, limit.Limit).Scan(&used)
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.ErrSignupLimit
	} else if err != nil {
		return fmt.Errorf("count the signup: %w", err)
	}
	return nil
}

// KeyByHash finds a key by its hash.
func (s *Store) KeyByHash(ctx context.Context, hash access.Hash) (registry.KeyState, error) {
	return oneKey(s.pool.QueryRow(ctx, selectKey+"WHERE k.hash = $1", hash[:]))
}

// KeyByID finds a key by its id.
func (s *Store) KeyByID(ctx context.Context, id string) (registry.KeyState, error) {
	return oneKey(s.pool.QueryRow(ctx, selectKey+"WHERE k.id = $1", text(id)))
}

func oneKey(row pgx.Row) (registry.KeyState, error) {
	k, err := scanKey(row)
	if errors.Is(err, pgx.ErrNoRows) {
		return registry.KeyState{}, registry.ErrNotFound
	}
	return k, err
}

// ListKeys gives keys by id.
func (s *Store) ListKeys(ctx context.Context, account, after string, limit int) ([]registry.KeyState, error) {
	rows, err := s.pool.Query(ctx,
		selectKey+"WHERE ($1 = '' OR k.account_id = $1) AND k.id > $2 ORDER BY k.id LIMIT $3", text(account), text(after), limit)
	if err != nil {
		return nil, fmt.Errorf("select keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (registry.KeyState, error) { return scanKey(row) })
	if err != nil {
		return nil, fmt.Errorf("select keys: %w", err)
	}
	return keys, nil
}

// RevokeKey marks a key as revoked.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return changed(s.pool.Exec(ctx, "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2", at, text(id)))
}

// changed gives ErrNotFound for a statement that touched nothing.
func changed(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.RowsAffected() == 0 {
		return registry.ErrNotFound
	}
	return err
}

func scanKey(row pgx.Row) (registry.KeyState, error) {
	var k registry.KeyState
	var hash []byte
	var scopes string
	var expires, revoked, lastUsed *time.Time
	m := &k.Meter
	if err := row.Scan(&k.ID, &k.Account, &hash, &k.Hint, &k.Name, &k.Plan, &scopes, &k.Credits,
		&k.Created, &expires, &revoked,
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
	k.Created, k.Expires, k.Revoked, m.LastUsed = k.Created.UTC(), orZero(expires), orZero(revoked), orZero(lastUsed)
	return k, nil
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
