package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/access"
)

// ChangeMeters changes meters in one transaction that holds their rows' locks.
func (s *Store) ChangeMeters(ctx context.Context, keys []string, change func(map[string]*access.Meter)) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT key_id, per_minute, per_month, spend, credits, minute, minute_used, month, month_used, last_used
			FROM meters WHERE key_id = ANY ($1) ORDER BY key_id FOR NO KEY UPDATE`, keys)
		if err != nil {
			return fmt.Errorf("lock the meters: %w", err)
		}
		before := make(map[string]access.Meter, len(keys))
		meters := make(map[string]*access.Meter, len(keys))
		var key string
		var m access.Meter
		var lastUsed *time.Time
		_, err = pgx.ForEachRow(rows, []any{
			&key, &m.Limits.PerMinute, &m.Limits.PerMonth, &m.Limits.Spend, &m.Credits,
			&m.Minute, &m.MinuteUsed, &m.Month, &m.MonthUsed, &lastUsed,
		}, func() error {
			m.LastUsed = orZero(lastUsed)
			given := m.Clone()
			before[key], meters[key] = m.Clone(), &given
			return nil
		})
		if err != nil {
			return fmt.Errorf("lock the meters: %w", err)
		}
		change(meters)
		updates := &pgx.Batch{}
		for key, m := range meters {
			if old := before[key]; m.Equal(&old) {
				continue
			}
			updates.Queue(`UPDATE meters SET per_minute = $2, per_month = $3, spend = $4, credits = $5,
				minute = $6, minute_used = $7, month = $8, month_used = $9, last_used = $10 WHERE key_id = $1`,
				key, m.Limits.PerMinute, m.Limits.PerMonth, m.Limits.Spend, m.Credits,
				int64(m.Minute), m.MinuteUsed, int64(m.Month), m.MonthUsed, orNull(m.LastUsed))
		}
		if updates.Len() == 0 {
			return nil
		}
		if err := tx.SendBatch(ctx, updates).Close(); err != nil {
			return fmt.Errorf("write the meters: %w", err)
		}
		return nil
	})
}
