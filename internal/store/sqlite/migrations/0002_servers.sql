-- Servers that are watched, what they served, and who approved what. Text that servers
-- sent is BLOB: it may hold what is not UTF-8.

-- +goose Up
CREATE TABLE servers (
	id           TEXT    NOT NULL PRIMARY KEY,
	account_id   TEXT    NOT NULL REFERENCES accounts (id),
	name         TEXT    NOT NULL,
	url          TEXT    NOT NULL,
	host         TEXT    NOT NULL,
	command      TEXT    NOT NULL, -- JSON array
	header_names TEXT    NOT NULL, -- JSON array
	query_names  TEXT    NOT NULL, -- JSON array
	sealed       BLOB,
	interval     INTEGER NOT NULL, -- microseconds; 0 is the service's own
	created_at   INTEGER NOT NULL,
	created_by   TEXT    NOT NULL,
	state        TEXT    NOT NULL,
	since        INTEGER NOT NULL,
	last_known   TEXT    NOT NULL,
	why_code     TEXT,
	why_message  BLOB,
	suspicious   TEXT    NOT NULL,
	approved     INTEGER NOT NULL,
	baseline_id  TEXT    NOT NULL,
	current_id   TEXT    NOT NULL,
	probed_at    INTEGER NOT NULL,
	read_at      INTEGER NOT NULL,
	failures     INTEGER NOT NULL,
	run_from     INTEGER NOT NULL,
	run_count    INTEGER NOT NULL,
	due_at       INTEGER NOT NULL,
	busy_until   INTEGER,
	revision     INTEGER NOT NULL,
	UNIQUE (account_id, name)
) STRICT;
CREATE INDEX servers_account ON servers (account_id, id);
CREATE INDEX servers_url ON servers (account_id, url);
CREATE INDEX servers_due ON servers (due_at);

-- Each content once, compressed (RFC 1951), whoever served it.
CREATE TABLE contents (
	hash   BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
	packed BLOB    NOT NULL,
	size   INTEGER NOT NULL
) STRICT;
CREATE TABLE snapshots (
	id             TEXT    NOT NULL PRIMARY KEY,
	server_id      TEXT    NOT NULL REFERENCES servers (id),
	hash           BLOB    NOT NULL REFERENCES contents (hash),
	pin            TEXT    NOT NULL,
	fingerprint    TEXT    NOT NULL,
	no_fingerprint BLOB    NOT NULL,
	says_name      BLOB    NOT NULL,
	says_version   BLOB    NOT NULL,
	says_given     INTEGER NOT NULL,
	tools          INTEGER NOT NULL,
	first_seen     INTEGER NOT NULL,
	last_seen      INTEGER NOT NULL,
	approved_at    INTEGER,
	approved_by    TEXT    NOT NULL DEFAULT '',
	note           TEXT    NOT NULL DEFAULT '',
	UNIQUE (server_id, hash)
) STRICT;
CREATE INDEX snapshots_hash ON snapshots (hash);
CREATE INDEX snapshots_seen ON snapshots (server_id, first_seen, id);

-- The tools of current snapshots, by what names like theirs have in common.
CREATE TABLE tool_names (
	name_key  BLOB    NOT NULL,
	server_id TEXT    NOT NULL REFERENCES servers (id),
	place     INTEGER NOT NULL,
	name      BLOB    NOT NULL,
	PRIMARY KEY (name_key, server_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_names_server ON tool_names (server_id);

-- Runs of probes with one outcome that have ended; the last run is in servers.
CREATE TABLE probe_runs (
	server_id   TEXT    NOT NULL REFERENCES servers (id),
	from_at     INTEGER NOT NULL,
	to_at       INTEGER NOT NULL,
	count       INTEGER NOT NULL,
	state       TEXT    NOT NULL,
	snapshot_id TEXT    NOT NULL,
	why_code    TEXT,
	why_message BLOB,
	PRIMARY KEY (server_id, from_at)
) STRICT, WITHOUT ROWID;

-- Who did what. It stays when a server goes.
CREATE TABLE deeds (
	id          TEXT    NOT NULL PRIMARY KEY,
	server_id   TEXT    NOT NULL,
	account_id  TEXT    NOT NULL,
	at          INTEGER NOT NULL,
	actor       TEXT    NOT NULL,
	what        TEXT    NOT NULL,
	snapshot_id TEXT    NOT NULL,
	note        TEXT    NOT NULL
) STRICT;
CREATE INDEX deeds_server ON deeds (server_id, at, id);

-- What is to be told to others, once.
CREATE TABLE events (
	id         TEXT    NOT NULL PRIMARY KEY,
	account_id TEXT    NOT NULL,
	server_id  TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	at         INTEGER NOT NULL,
	payload    BLOB    NOT NULL,
	done_at    INTEGER
) STRICT;
CREATE INDEX events_pending ON events (at, id) WHERE done_at IS NULL;
