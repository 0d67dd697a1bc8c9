package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark/internal/registry"
)

// CreateWebhook stores a webhook, and its account where it is new.
func (s *Store) CreateWebhook(ctx context.Context, w registry.WebhookRecord, most int) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO accounts (id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", w.Account, w.Created); err != nil {
			return fmt.Errorf("insert the account: %w", err)
		}
		// The account's row is held, so that two cannot both be the last one.
		if _, err := tx.Exec(ctx, "SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", w.Account); err != nil {
			return fmt.Errorf("lock the account: %w", err)
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM webhooks WHERE account_id = $1", w.Account).Scan(&n); err != nil {
			return fmt.Errorf("count the webhooks: %w", err)
		} else if n >= most {
			return registry.ErrFull
		}
		if _, err := tx.Exec(ctx, "INSERT INTO webhooks (id, account_id, origin, events, sealed, created_at, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			w.ID, w.Account, w.Origin, kindTexts(w.Events), w.Sealed, w.Created, w.CreatedBy); err != nil {
			return fmt.Errorf("insert the webhook: %w", err)
		}
		return nil
	})
}

func kindTexts(kinds []registry.EventKind) []string {
	texts := make([]string, len(kinds))
	for i, kind := range kinds {
		texts[i] = string(kind)
	}
	return texts
}

// ListWebhooks gives webhooks of an account by id.
func (s *Store) ListWebhooks(ctx context.Context, account, after string, limit int) ([]registry.WebhookRecord, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, account_id, origin, events, sealed, created_at, created_by FROM webhooks
		WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3`, text(account), text(after), limit)
	if err != nil {
		return nil, fmt.Errorf("select webhooks: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w registry.WebhookRecord, err error) {
		var kinds []string
		err = row.Scan(&w.ID, &w.Account, &w.Origin, &kinds, &w.Sealed, &w.Created, &w.CreatedBy)
		for _, kind := range kinds {
			w.Events = append(w.Events, registry.EventKind(kind))
		}
		w.Created = w.Created.UTC()
		return w, err
	})
	if err != nil {
		return nil, fmt.Errorf("select webhooks: %w", err)
	}
	return list, nil
}

// DeleteWebhook removes a webhook with its deliveries.
func (s *Store) DeleteWebhook(ctx context.Context, account, id string) error {
	account, id = text(account), text(id)
	return s.transact(ctx, func(tx pgx.Tx) error {
		// The row is held, so that no delivery is made meanwhile.
		tag, err := tx.Exec(ctx, "SELECT 1 FROM webhooks WHERE id = $1 AND account_id = $2 FOR UPDATE", id, account)
		if err != nil {
			return fmt.Errorf("lock the webhook: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return registry.ErrNotFound
		}
		if _, err := tx.Exec(ctx, "DELETE FROM deliveries WHERE webhook_id = $1", id); err != nil {
			return fmt.Errorf("delete the deliveries: %w", err)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM webhooks WHERE id = $1", id); err != nil {
			return fmt.Errorf("delete the webhook: %w", err)
		}
		return nil
	})
}

const selectDelivery = `SELECT d.id, d.webhook_id, d.event_id, e.kind, d.state, d.attempts, d.status, d.fault, d.created_at, d.changed_at`

func scanDelivery(row pgx.Row, d *registry.DeliveryRecord, more ...any) error {
	var kind, state string
	if err := row.Scan(append([]any{&d.ID, &d.Webhook, &d.Event, &kind, &state, &d.Attempts, &d.Status, &d.Fault, &d.Created, &d.Changed}, more...)...); err != nil {
		return err
	}
	d.Kind, d.State, d.Created, d.Changed = registry.EventKind(kind), registry.DeliveryState(state), d.Created.UTC(), d.Changed.UTC()
	return nil
}

// ListDeliveries gives deliveries of one webhook, the newest first.
func (s *Store) ListDeliveries(ctx context.Context, q registry.DeliveryQuery) ([]registry.DeliveryRecord, error) {
	rows, err := s.pool.Query(ctx, selectDelivery+` FROM deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id
		WHERE d.webhook_id = $1 AND w.account_id = $2 AND ($3 = '' OR d.state = $3)
		AND ($4 = '' OR (d.created_at, d.id) < (SELECT created_at, id FROM deliveries WHERE id = $4))
		ORDER BY d.created_at DESC, d.id DESC LIMIT $5`, text(q.Webhook), text(q.Account), string(q.State), text(q.After), q.Limit)
	if err != nil {
		return nil, fmt.Errorf("select deliveries: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d registry.DeliveryRecord, err error) {
		err = scanDelivery(row, &d)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("select deliveries: %w", err)
	}
	return list, nil
}

// Sending gives a delivery with what is to be sent.
func (s *Store) Sending(ctx context.Context, delivery string) (out registry.Sending, err error) {
	row := s.pool.QueryRow(ctx, selectDelivery+`, e.payload, w.sealed FROM deliveries d
		JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = $1`, text(delivery))
	err = scanDelivery(row, &out.DeliveryRecord, &out.Payload, &out.Sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return out, registry.ErrNotFound
	} else if err != nil {
		return out, fmt.Errorf("select the delivery: %w", err)
	}
	return out, nil
}

// SetDelivery stores what came of an attempt. A delivery that is gone is no fault: its
// webhook was removed meanwhile.
func (s *Store) SetDelivery(ctx context.Context, d registry.DeliveryRecord) error {
	if _, err := s.pool.Exec(ctx, "UPDATE deliveries SET state = $1, attempts = $2, status = $3, fault = $4, changed_at = $5 WHERE id = $6",
		string(d.State), d.Attempts, d.Status, text(d.Fault), d.Changed, d.ID); err != nil {
		return fmt.Errorf("update the delivery: %w", err)
	}
	return nil
}

// Replay makes a delivery one that is sent anew.
func (s *Store) Replay(ctx context.Context, webhook, delivery string, at time.Time) error {
	tag, err := s.pool.Exec(ctx, `UPDATE deliveries SET state = 'pending', queued_at = NULL, changed_at = $1
		WHERE id = $2 AND webhook_id = $3 AND state <> 'pending'`, at, text(delivery), text(webhook))
	if err != nil {
		return fmt.Errorf("update the delivery: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return registry.ErrNotFound
	}
	return nil
}

// ForgetEvents removes events that were passed on before a time.
func (s *Store) ForgetEvents(ctx context.Context, before time.Time) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM deliveries WHERE state <> 'pending'
			AND event_id IN (SELECT id FROM events WHERE done_at < $1)`, before); err != nil {
			return fmt.Errorf("delete old deliveries: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM events WHERE done_at < $1
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id)`, before); err != nil {
			return fmt.Errorf("delete old events: %w", err)
		}
		return nil
	})
}

// ClaimDeliveries makes deliveries of events that were not passed on, one for each webhook
// that wants them, and hands the deliveries that have no job to enqueue in the same
// transaction. It gives how many it handed over, at most limit. What another replica is
// taking is left to it.
func (s *Store) ClaimDeliveries(ctx context.Context, now time.Time, limit int, enqueue func(context.Context, pgx.Tx, []string) error) (n int, err error) {
	err = s.transact(ctx, func(tx pgx.Tx) error {
		events, err := idsOf(tx.Query(ctx, "SELECT id FROM events WHERE done_at IS NULL ORDER BY at, id LIMIT $1 FOR UPDATE SKIP LOCKED", limit))
		if err != nil {
			return err
		}
		if len(events) > 0 {
			if _, err := tx.Exec(ctx, `INSERT INTO deliveries (id, webhook_id, event_id, state, attempts, status, fault, created_at, changed_at)
				SELECT 'dlv_' || substr(e.id, 5) || '_' || substr(w.id, 6), w.id, e.id, 'pending', 0, 0, '', $1, $1
				FROM events e JOIN webhooks w ON w.account_id = e.account_id AND w.created_at <= e.at AND e.kind = ANY (w.events)
				WHERE e.id = ANY ($2) ON CONFLICT DO NOTHING`, now, events); err != nil {
				return fmt.Errorf("insert deliveries: %w", err)
			}
			if _, err := tx.Exec(ctx, "UPDATE events SET done_at = $1 WHERE id = ANY ($2)", now, events); err != nil {
				return fmt.Errorf("mark events: %w", err)
			}
		}
		ids, err := idsOf(tx.Query(ctx, `UPDATE deliveries SET queued_at = $1 WHERE id IN
			(SELECT id FROM deliveries WHERE queued_at IS NULL ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`, now, limit))
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		return enqueue(ctx, tx, ids)
	})
	return n, err
}

func idsOf(rows pgx.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, fmt.Errorf("take what is to be sent: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("take what is to be sent: %w", err)
	}
	return ids, nil
}
