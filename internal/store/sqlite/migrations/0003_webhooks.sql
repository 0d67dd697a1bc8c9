-- Where events are sent, and what came of it.

-- +goose Up
CREATE TABLE webhooks (
	id         TEXT    NOT NULL PRIMARY KEY,
	account_id TEXT    NOT NULL REFERENCES accounts (id),
	origin     TEXT    NOT NULL,
	events     TEXT    NOT NULL, -- ,kind,kind,
	sealed     BLOB    NOT NULL,
	created_at INTEGER NOT NULL,
	created_by TEXT    NOT NULL
) STRICT;
CREATE INDEX webhooks_account ON webhooks (account_id, id);

CREATE TABLE deliveries (
	id         TEXT    NOT NULL PRIMARY KEY,
	webhook_id TEXT    NOT NULL REFERENCES webhooks (id),
	event_id   TEXT    NOT NULL REFERENCES events (id),
	state      TEXT    NOT NULL,
	attempts   INTEGER NOT NULL,
	status     INTEGER NOT NULL, -- of HTTP; 0 is none
	fault      TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL,
	queued_at  INTEGER, -- NULL: it has no job yet
	UNIQUE (webhook_id, event_id)
) STRICT;
CREATE INDEX deliveries_event ON deliveries (event_id);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, created_at, id);
CREATE INDEX deliveries_unqueued ON deliveries (created_at, id) WHERE queued_at IS NULL;
