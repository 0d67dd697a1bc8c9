package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/toolmark/toolmark/internal/access"
)

const (
	selectMeter = `SELECT per_minute, per_month, spend, credits, minute, minute_used, month, month_used, last_used
	FROM meters WHERE key_id = ?`
	updateMeter = `UPDATE meters SET per_minute = ?, per_month = ?, spend = ?, credits = ?,
	minute = ?, minute_used = ?, month = ?, month_used = ?, last_used = ? WHERE key_id = ?`
)

// ChangeMeters changes meters in one transaction, which holds the file's only write
// lock from its first read on.
func (s *Store) ChangeMeters(ctx context.Context, keys []string, change func(map[string]*access.Meter)) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		read := tx.StmtContext(ctx, s.readMeter)
		before := make(map[string]access.Meter, len(keys))
		meters := make(map[string]*access.Meter, len(keys))
		for _, key := range keys {
			m, err := scanMeter(read.QueryRowContext(ctx, key))
			if errors.Is(err, sql.ErrNoRows) {
				continue
			} else if err != nil {
				return fmt.Errorf("read a meter: %w", err)
			}
			before[key], meters[key] = m.Clone(), &m
		}
		change(meters)
		for key, m := range meters {
			if old := before[key]; m.Equal(&old) {
				continue
			}
			if _, err := tx.StmtContext(ctx, s.writeMeter).ExecContext(ctx,
				m.Limits.PerMinute, m.Limits.PerMonth, m.Limits.Spend, m.Credits,
				int64(m.Minute), m.MinuteUsed, int64(m.Month), m.MonthUsed, micros(m.LastUsed), key); err != nil {
				return fmt.Errorf("write a meter: %w", err)
			}
		}
		return nil
	})
}

func scanMeter(row *sql.Row) (m access.Meter, err error) {
	var lastUsed *int64
	err = row.Scan(&m.Limits.PerMinute, &m.Limits.PerMonth, &m.Limits.Spend, &m.Credits,
		&m.Minute, &m.MinuteUsed, &m.Month, &m.MonthUsed, &lastUsed)
	m.LastUsed = fromMicros(lastUsed)
	return m, err
}
