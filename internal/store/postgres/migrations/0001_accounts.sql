-- NULL is no limit, or never.

-- +goose Up
CREATE TABLE accounts (
	id         text        NOT NULL PRIMARY KEY,
	created_at timestamptz NOT NULL
);
INSERT INTO accounts (id, created_at) VALUES ('default', 'epoch');

-- hash is the SHA-256 of the key; the key itself is nowhere. Ids are compared by bytes.
CREATE TABLE api_keys (
	id         text COLLATE "C" NOT NULL PRIMARY KEY,
	account_id text             NOT NULL REFERENCES accounts (id),
	hash       bytea            NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
	hint       text             NOT NULL,
	name       text             NOT NULL,
	plan       text             NOT NULL,
	scopes     text             NOT NULL,
	credits    bigint,
	created_at timestamptz      NOT NULL,
	expires_at timestamptz,
	revoked_at timestamptz
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

-- What changes with every scan, apart from what does not: no column that changes is in
-- an index and pages keep room, so that a change stays on its page. minute counts from
-- 1970; month is year * 12 + month - 1.
CREATE TABLE meters (
	key_id      text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES api_keys (id),
	per_minute  bigint,
	per_month   bigint,
	spend       bigint,
	credits     bigint,
	minute      bigint           NOT NULL DEFAULT 0,
	minute_used bigint           NOT NULL DEFAULT 0,
	month       bigint           NOT NULL DEFAULT 0,
	month_used  bigint           NOT NULL DEFAULT 0,
	last_used   timestamptz
) WITH (fillfactor = 50);

-- The version of a list rises with every change. account_id '' is the whole service.
CREATE TABLE access_lists (
	account_id text   NOT NULL PRIMARY KEY,
	version    bigint NOT NULL
);
CREATE TABLE access_rules (
	id         text COLLATE "C" NOT NULL PRIMARY KEY,
	account_id text             NOT NULL REFERENCES access_lists (account_id),
	action     text             NOT NULL,
	kind       text             NOT NULL,
	value      text             NOT NULL,
	note       text             NOT NULL,
	created_at timestamptz      NOT NULL,
	UNIQUE (account_id, action, kind, value)
);

-- How many accounts an address made in an hour since 1970.
CREATE TABLE signups (
	bucket text   NOT NULL,
	hour   bigint NOT NULL,
	used   bigint NOT NULL,
	PRIMARY KEY (bucket, hour)
);
CREATE INDEX signups_hour ON signups (hour);
