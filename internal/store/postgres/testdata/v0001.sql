-- The records of a database at version 1.
INSERT INTO accounts (id, created_at) VALUES ('acct_old', '2026-03-31 23:59:58.123456+00');
INSERT INTO api_keys (id, account_id, hash, hint, name, plan, scopes, credits, created_at, expires_at, revoked_at)
VALUES ('key_old', 'acct_old', '\x2ea3ad27b55b2933137c33ffb3cadbe7961cd65a15efbe4e843b7a26e8837203', 'tm_0z0z', 'old', 'free', 'proxy,read', 100, '2026-03-31 23:59:58.123456+00', '2036-03-31 23:59:58.123456+00', NULL);
INSERT INTO meters (key_id, per_minute, per_month, spend, credits, minute, minute_used, month, month_used, last_used)
VALUES ('key_old', 60, 1000, NULL, 93, 29583359, 2, 24314, 7, '2026-03-31 23:59:58.123456+00');
INSERT INTO access_lists (account_id, version) VALUES ('acct_old', 1);
INSERT INTO access_rules (id, account_id, action, kind, value, note, created_at)
VALUES ('rule_old', 'acct_old', 'block', 'ip', '192.0.2.1', 'old', '2026-03-31 23:59:58.123456+00');
INSERT INTO signups (bucket, hour, used) VALUES ('192.0.2.9', 500000, 3);
