-- Servers that are watched, what they served, and who approved what. Text that servers
-- sent is bytea: it may hold what is not UTF-8.

-- +goose Up
CREATE TABLE servers (
	id           text COLLATE "C" NOT NULL PRIMARY KEY,
	account_id   text             NOT NULL REFERENCES accounts (id),
	name         text             NOT NULL,
	url          text             NOT NULL,
	host         text             NOT NULL,
	command      text[]           NOT NULL,
	header_names text[]           NOT NULL,
	query_names  text[]           NOT NULL,
	sealed       bytea,
	interval     bigint           NOT NULL, -- microseconds; 0 is the service's own
	created_at   timestamptz      NOT NULL,
	created_by   text             NOT NULL,
	state        text             NOT NULL,
	since        timestamptz      NOT NULL,
	last_known   text             NOT NULL,
	why_code     text,
	why_message  bytea,
	suspicious   text             NOT NULL,
	approved     boolean          NOT NULL,
	baseline_id  text             NOT NULL,
	current_id   text             NOT NULL,
	probed_at    timestamptz      NOT NULL,
	read_at      timestamptz      NOT NULL,
	failures     integer          NOT NULL,
	run_from     timestamptz      NOT NULL,
	run_count    bigint           NOT NULL,
	due_at       timestamptz      NOT NULL,
	busy_until   timestamptz,
	revision     bigint           NOT NULL,
	UNIQUE (account_id, name)
) WITH (fillfactor = 70);
CREATE INDEX servers_account ON servers (account_id, id);
CREATE INDEX servers_url ON servers (account_id, url);
CREATE INDEX servers_due ON servers (due_at);

-- Each content once, compressed (RFC 1951), whoever served it.
CREATE TABLE contents (
	hash   bytea  NOT NULL PRIMARY KEY CHECK (octet_length(hash) = 32),
	packed bytea  NOT NULL,
	size   bigint NOT NULL
);
ALTER TABLE contents ALTER COLUMN packed SET STORAGE EXTERNAL;
CREATE TABLE snapshots (
	id             text COLLATE "C" NOT NULL PRIMARY KEY,
	server_id      text COLLATE "C" NOT NULL REFERENCES servers (id),
	hash           bytea            NOT NULL REFERENCES contents (hash),
	pin            text             NOT NULL,
	fingerprint    text             NOT NULL,
	no_fingerprint bytea            NOT NULL,
	says_name      bytea            NOT NULL,
	says_version   bytea            NOT NULL,
	says_given     boolean          NOT NULL,
	tools          integer          NOT NULL,
	first_seen     timestamptz      NOT NULL,
	last_seen      timestamptz      NOT NULL,
	approved_at    timestamptz,
	approved_by    text             NOT NULL DEFAULT '',
	note           text             NOT NULL DEFAULT '',
	UNIQUE (server_id, hash)
);
CREATE INDEX snapshots_hash ON snapshots (hash);
CREATE INDEX snapshots_seen ON snapshots (server_id, first_seen, id);

-- The tools of current snapshots, by what names like theirs have in common.
CREATE TABLE tool_names (
	name_key  bytea            NOT NULL,
	server_id text COLLATE "C" NOT NULL REFERENCES servers (id),
	place     integer          NOT NULL,
	name      bytea            NOT NULL,
	PRIMARY KEY (name_key, server_id, place)
);
CREATE INDEX tool_names_server ON tool_names (server_id);

-- Runs of probes with one outcome that have ended; the last run is in servers.
CREATE TABLE probe_runs (
	server_id   text COLLATE "C" NOT NULL REFERENCES servers (id),
	from_at     timestamptz      NOT NULL,
	to_at       timestamptz      NOT NULL,
	count       bigint           NOT NULL,
	state       text             NOT NULL,
	snapshot_id text             NOT NULL,
	why_code    text,
	why_message bytea,
	PRIMARY KEY (server_id, from_at)
);

-- Who did what. It stays when a server goes.
CREATE TABLE deeds (
	id          text COLLATE "C" NOT NULL PRIMARY KEY,
	server_id   text COLLATE "C" NOT NULL,
	account_id  text             NOT NULL,
	at          timestamptz      NOT NULL,
	actor       text             NOT NULL,
	what        text             NOT NULL,
	snapshot_id text             NOT NULL,
	note        text             NOT NULL
);
CREATE INDEX deeds_server ON deeds (server_id, at, id);

-- What is to be told to others, once.
CREATE TABLE events (
	id         text COLLATE "C" NOT NULL PRIMARY KEY,
	account_id text             NOT NULL,
	server_id  text COLLATE "C" NOT NULL,
	kind       text             NOT NULL,
	at         timestamptz      NOT NULL,
	payload    bytea            NOT NULL,
	done_at    timestamptz
);
CREATE INDEX events_pending ON events (at, id) WHERE done_at IS NULL;
