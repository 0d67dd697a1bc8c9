-- The records of a database at version 3.
INSERT INTO accounts (id, created_at) VALUES ('acct_old', '2026-03-31 23:59:58.123456+00');
INSERT INTO api_keys (id, account_id, hash, hint, name, plan, scopes, credits, created_at, expires_at, revoked_at)
VALUES ('key_old', 'acct_old', '\x2ea3ad27b55b2933137c33ffb3cadbe7961cd65a15efbe4e843b7a26e8837203', 'tm_0z0z', 'old', 'free', 'proxy,read', 100, '2026-03-31 23:59:58.123456+00', '2036-03-31 23:59:58.123456+00', NULL);
INSERT INTO meters (key_id, per_minute, per_month, spend, credits, minute, minute_used, month, month_used, last_used)
VALUES ('key_old', 60, 1000, NULL, 93, 29583359, 2, 24314, 7, '2026-03-31 23:59:58.123456+00');
INSERT INTO access_lists (account_id, version) VALUES ('acct_old', 1);
INSERT INTO access_rules (id, account_id, action, kind, value, note, created_at)
VALUES ('rule_old', 'acct_old', 'block', 'ip', '192.0.2.1', 'old', '2026-03-31 23:59:58.123456+00');
INSERT INTO signups (bucket, hour, used) VALUES ('192.0.2.9', 500000, 3);
INSERT INTO contents (hash, packed, size) VALUES ('\xa0133c4e1aae3b5b4682bac313fa7cee646cfa8e9fcf6f21e2026cd6d9d3ebe8', '\xab562ac9cfcfc94d2cca0ece4b2c28cec82f51b232d4512a28ca2fc94fcecf094b2d2acecccf53b25232323032d53534d4353255d201eb2956b28aae56ca4bcc4d05cae6e7a428d5c6d60200', 78);
INSERT INTO servers (id, account_id, name, url, host, command, header_names, query_names, sealed, interval, created_at, created_by, state, since,
	last_known, why_code, why_message, suspicious, approved, baseline_id, current_id, probed_at, read_at, failures, run_from, run_count, due_at, busy_until, revision)
VALUES ('srv_old', 'acct_old', 'old', 'https://old.example/mcp', 'old.example', '{}', '{Authorization}', '{}', '\x01ff', 60000000, '2026-03-31 23:59:58.123456+00', 'key_old',
	'unreachable', '2026-03-31 23:59:58.123456+00', 'changed', 'timeout', '\x6c617465', 'odd', true, 'snap_old', 'snap_old', '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00', 2, '2026-03-31 23:59:58.123456+00', 2, '2026-03-31 23:59:58.123456+00', NULL, 5);
INSERT INTO snapshots (id, server_id, hash, pin, fingerprint, no_fingerprint, says_name, says_version, says_given, tools, first_seen, last_seen, approved_at, approved_by, note)
VALUES ('snap_old', 'srv_old', '\xa0133c4e1aae3b5b4682bac313fa7cee646cfa8e9fcf6f21e2026cd6d9d3ebe8', '0000000000000000000000000000000000000000000000000000000000000000', 'tmfp1:0000000000000000000000000000000000000000000000000000000000000000', '\x', '\xeda080', '\x31', true, 1, '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00', 'key_old', 'old');
INSERT INTO tool_names (name_key, server_id, place, name) VALUES ('\xcba06b5736faf67e54b07b561eae9439', 'srv_old', 0, '\x6f6c64');
INSERT INTO probe_runs (server_id, from_at, to_at, count, state, snapshot_id, why_code, why_message) VALUES ('srv_old', '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00', 3, 'changed', 'snap_old', NULL, NULL);
INSERT INTO deeds (id, server_id, account_id, at, actor, what, snapshot_id, note) VALUES ('deed_old', 'srv_old', 'acct_old', '2026-03-31 23:59:58.123456+00', 'key_old', 'approved', 'snap_old', 'old');
INSERT INTO events (id, account_id, server_id, kind, at, payload, done_at) VALUES ('evt_old', 'acct_old', 'srv_old', 'server.unreachable', '2026-03-31 23:59:58.123456+00', '\x7b7d', NULL);
INSERT INTO webhooks (id, account_id, origin, events, sealed, created_at, created_by) VALUES ('hook_old', 'acct_old', 'https://old.example', '{drift.detected,server.unreachable}', '\x0001ff', '2026-03-31 23:59:58.123456+00', 'key_old');
INSERT INTO deliveries (id, webhook_id, event_id, state, attempts, status, fault, created_at, changed_at, queued_at) VALUES ('dlv_old_old', 'hook_old', 'evt_old', 'dead', 8, 503, 'busy', '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00', '2026-03-31 23:59:58.123456+00');
