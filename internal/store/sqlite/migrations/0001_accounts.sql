-- Times are microseconds since 1970 UTC. NULL is no limit, or never.

-- +goose Up
CREATE TABLE accounts (
	id         TEXT    NOT NULL PRIMARY KEY,
	created_at INTEGER NOT NULL
) STRICT;
INSERT INTO accounts (id, created_at) VALUES ('default', 0);

-- hash is the SHA-256 of the key; the key itself is nowhere.
CREATE TABLE api_keys (
	id         TEXT    NOT NULL PRIMARY KEY,
	account_id TEXT    NOT NULL REFERENCES accounts (id),
	hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
	hint       TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	plan       TEXT    NOT NULL,
	scopes     TEXT    NOT NULL,
	credits    INTEGER,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_account ON api_keys (account_id, id);

-- What changes with every scan, apart from what does not. minute counts from 1970;
-- month is year * 12 + month - 1.
CREATE TABLE meters (
	key_id      TEXT    NOT NULL PRIMARY KEY REFERENCES api_keys (id),
	per_minute  INTEGER,
	per_month   INTEGER,
	spend       INTEGER,
	credits     INTEGER,
	minute      INTEGER NOT NULL DEFAULT 0,
	minute_used INTEGER NOT NULL DEFAULT 0,
	month       INTEGER NOT NULL DEFAULT 0,
	month_used  INTEGER NOT NULL DEFAULT 0,
	last_used   INTEGER
) STRICT;

-- The version of a list rises with every change. account_id '' is the whole service.
CREATE TABLE access_lists (
	account_id TEXT    NOT NULL PRIMARY KEY,
	version    INTEGER NOT NULL
) STRICT;
CREATE TABLE access_rules (
	id         TEXT    NOT NULL PRIMARY KEY,
	account_id TEXT    NOT NULL REFERENCES access_lists (account_id),
	action     TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	value      TEXT    NOT NULL,
	note       TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	UNIQUE (account_id, action, kind, value)
) STRICT;

-- How many accounts an address made in an hour since 1970.
CREATE TABLE signups (
	bucket TEXT    NOT NULL,
	hour   INTEGER NOT NULL,
	used   INTEGER NOT NULL,
	PRIMARY KEY (bucket, hour)
) STRICT;
CREATE INDEX signups_hour ON signups (hour);
