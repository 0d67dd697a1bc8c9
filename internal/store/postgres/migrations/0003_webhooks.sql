-- Where events are sent, and what came of it.

-- +goose Up
CREATE TABLE webhooks (
	id         text COLLATE "C" NOT NULL PRIMARY KEY,
	account_id text             NOT NULL REFERENCES accounts (id),
	origin     text             NOT NULL,
	events     text[]           NOT NULL,
	sealed     bytea            NOT NULL,
	created_at timestamptz      NOT NULL,
	created_by text             NOT NULL
);
CREATE INDEX webhooks_account ON webhooks (account_id, id);

CREATE TABLE deliveries (
	id         text COLLATE "C" NOT NULL PRIMARY KEY,
	webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id),
	event_id   text COLLATE "C" NOT NULL REFERENCES events (id),
	state      text             NOT NULL,
	attempts   integer          NOT NULL,
	status     integer          NOT NULL, -- of HTTP; 0 is none
	fault      text             NOT NULL,
	created_at timestamptz      NOT NULL,
	changed_at timestamptz      NOT NULL,
	queued_at  timestamptz, -- NULL: it has no job yet
	UNIQUE (webhook_id, event_id)
);
CREATE INDEX deliveries_event ON deliveries (event_id);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, created_at, id);
CREATE INDEX deliveries_unqueued ON deliveries (created_at, id) WHERE queued_at IS NULL;
