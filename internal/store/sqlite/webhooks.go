package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/registry"
)

// CreateWebhook stores a webhook, and its account where it is new.
func (s *Store) CreateWebhook(ctx context.Context, w registry.WebhookRecord, most int) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO accounts (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING", w.Account, micros(w.Created)); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM webhooks WHERE account_id = ?", w.Account).Scan(&n); err != nil {
			return fmt.Errorf("count the webhooks: %w", err)
		} else if n >= most {
			return registry.ErrFull
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO webhooks (id, account_id, origin, events, sealed, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?)",
			w.ID, w.Account, w.Origin, joinKinds(w.Events), w.Sealed, micros(w.Created), w.CreatedBy); err != nil {
			return fmt.Errorf("insert the webhook: %w", err)
		}
		return nil
	})
}

// joinKinds writes kinds so that each stands between commas.
func joinKinds(kinds []registry.EventKind) string {
	text := ","
	for _, kind := range kinds {
		text += string(kind) + ","
	}
	return text
}

func splitKinds(text string) (kinds []registry.EventKind) {
	for kind := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		kinds = append(kinds, registry.EventKind(kind))
	}
	return kinds
}

// ListWebhooks gives webhooks of an account by id.
func (s *Store) ListWebhooks(ctx context.Context, account, after string, limit int) (list []registry.WebhookRecord, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, account_id, origin, events, sealed, created_at, created_by FROM webhooks
		WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`, account, after, limit)
	if err != nil {
		return nil, fmt.Errorf("select webhooks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w registry.WebhookRecord
		var kinds string
		var created int64
		if err := rows.Scan(&w.ID, &w.Account, &w.Origin, &kinds, &w.Sealed, &created, &w.CreatedBy); err != nil {
			return nil, fmt.Errorf("read a webhook: %w", err)
		}
		w.Events, w.Created = splitKinds(kinds), fromMicros(&created)
		list = append(list, w)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select webhooks: %w", err)
	}
	return list, nil
}

// DeleteWebhook removes a webhook with its deliveries.
func (s *Store) DeleteWebhook(ctx context.Context, account, id string) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM deliveries WHERE webhook_id = (SELECT id FROM webhooks WHERE id = ? AND account_id = ?)", id, account); err != nil {
			return fmt.Errorf("delete the deliveries: %w", err)
		}
		return changed(tx.ExecContext(ctx, "DELETE FROM webhooks WHERE id = ? AND account_id = ?", id, account))
	})
}

const selectDelivery = `SELECT d.id, d.webhook_id, d.event_id, e.kind, d.state, d.attempts, d.status, d.fault, d.created_at, d.changed_at`

func scanDelivery(row scanner, d *registry.DeliveryRecord, more ...any) error {
	var kind, state string
	var created, changed int64
	if err := row.Scan(append([]any{&d.ID, &d.Webhook, &d.Event, &kind, &state, &d.Attempts, &d.Status, &d.Fault, &created, &changed}, more...)...); err != nil {
		return err
	}
	d.Kind, d.State, d.Created, d.Changed = registry.EventKind(kind), registry.DeliveryState(state), fromMicros(&created), fromMicros(&changed)
	return nil
}

// ListDeliveries gives deliveries of one webhook, the newest first.
func (s *Store) ListDeliveries(ctx context.Context, q registry.DeliveryQuery) (list []registry.DeliveryRecord, err error) {
	rows, err := s.read.QueryContext(ctx, selectDelivery+` FROM deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id
		WHERE d.webhook_id = ?1 AND w.account_id = ?2 AND (?3 = '' OR d.state = ?3)
		AND (?4 = '' OR (d.created_at, d.id) < (SELECT created_at, id FROM deliveries WHERE id = ?4))
		ORDER BY d.created_at DESC, d.id DESC LIMIT ?5`, q.Webhook, q.Account, string(q.State), q.After, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("select deliveries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d registry.DeliveryRecord
		if err := scanDelivery(rows, &d); err != nil {
			return nil, fmt.Errorf("read a delivery: %w", err)
		}
		list = append(list, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select deliveries: %w", err)
	}
	return list, nil
}

// Sending gives a delivery with what is to be sent.
func (s *Store) Sending(ctx context.Context, delivery string) (out registry.Sending, err error) {
	row := s.read.QueryRowContext(ctx, selectDelivery+`, e.payload, w.sealed FROM deliveries d
		JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = ?`, delivery)
	err = scanDelivery(row, &out.DeliveryRecord, &out.Payload, &out.Sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return out, registry.ErrNotFound
	} else if err != nil {
		return out, fmt.Errorf("select the delivery: %w", err)
	}
	return out, nil
}

// SetDelivery stores what came of an attempt. A delivery that is gone is no fault: its
// webhook was removed meanwhile.
func (s *Store) SetDelivery(ctx context.Context, d registry.DeliveryRecord) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE deliveries SET state = ?, attempts = ?, status = ?, fault = ?, changed_at = ? WHERE id = ?",
			string(d.State), d.Attempts, d.Status, d.Fault, micros(d.Changed), d.ID); err != nil {
			return fmt.Errorf("update the delivery: %w", err)
		}
		return nil
	})
}

// Replay makes a delivery one that is sent anew.
func (s *Store) Replay(ctx context.Context, webhook, delivery string, at time.Time) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, `UPDATE deliveries SET state = 'pending', queued_at = NULL, changed_at = ?
			WHERE id = ? AND webhook_id = ? AND state <> 'pending'`, micros(at), delivery, webhook))
	})
}

// ForgetEvents removes events that were passed on before a time.
func (s *Store) ForgetEvents(ctx context.Context, before time.Time) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE state <> 'pending'
			AND event_id IN (SELECT id FROM events WHERE done_at < ?)`, micros(before)); err != nil {
			return fmt.Errorf("delete old deliveries: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM events WHERE done_at < ?
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id)`, micros(before)); err != nil {
			return fmt.Errorf("delete old events: %w", err)
		}
		return nil
	})
}

// ClaimDeliveries makes deliveries of events that were not passed on, one for each webhook
// that wants them, and hands the deliveries that have no job to enqueue in the same
// transaction. It gives how many it handed over, at most limit.
func (s *Store) ClaimDeliveries(ctx context.Context, now time.Time, limit int, enqueue func(context.Context, *sql.Tx, []string) error) (n int, err error) {
	var any int
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE done_at IS NULL)
		OR EXISTS (SELECT 1 FROM deliveries WHERE queued_at IS NULL)`).Scan(&any); err != nil || any == 0 {
		return 0, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO deliveries (id, webhook_id, event_id, state, attempts, status, fault, created_at, changed_at)
			SELECT 'dlv_' || substr(e.id, 5) || '_' || substr(w.id, 6), w.id, e.id, 'pending', 0, 0, '', ?1, ?1
			FROM (SELECT id, account_id, kind, at FROM events WHERE done_at IS NULL ORDER BY at, id LIMIT ?2) e
			JOIN webhooks w ON w.account_id = e.account_id AND w.created_at <= e.at AND instr(w.events, ',' || e.kind || ',') > 0
			WHERE true ON CONFLICT DO NOTHING`, micros(now), limit); err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE events SET done_at = ?1 WHERE id IN (SELECT id FROM events WHERE done_at IS NULL ORDER BY at, id LIMIT ?2)", micros(now), limit); err != nil {
			return fmt.Errorf("mark events: %w", err)
		}
		ids, err := idsOf(tx.QueryContext(ctx, `UPDATE deliveries SET queued_at = ?1 WHERE id IN
			(SELECT id FROM deliveries WHERE queued_at IS NULL ORDER BY created_at, id LIMIT ?2) RETURNING id`, micros(now), limit))
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		return enqueue(ctx, tx, ids)
	})
	return n, err
}

func idsOf(rows *sql.Rows, err error) (ids []string, _ error) {
	if err != nil {
		return nil, fmt.Errorf("take deliveries: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("take deliveries: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("take deliveries: %w", err)
	}
	return ids, nil
}
