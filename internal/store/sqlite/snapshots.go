package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/content"
)

const (
	baselineColumns = `b.id, b.hash, b.pin, b.fingerprint, b.no_fingerprint, b.says_name, b.says_version, b.says_given, b.tools,
	b.first_seen, b.last_seen, b.approved_at, b.approved_by, b.note`
	currentColumns = `c.id, c.hash, c.pin, c.fingerprint, c.no_fingerprint, c.says_name, c.says_version, c.says_given, c.tools,
	c.first_seen, c.last_seen, c.approved_at, c.approved_by, c.note`

	selectContent = `SELECT d.packed, d.size FROM snapshots c JOIN contents d ON d.hash = c.hash
	WHERE c.id = ? AND c.server_id = ?`
)

// snapshotRow reads the columns of a snapshot.
type snapshotRow struct {
	r                   registry.SnapshotRecord
	hash                []byte
	none, name, version []byte
	first, last         int64
	approvedAt          *int64
	approvedBy, note    string
	fingerprint         string
}

func (s *snapshotRow) dest() []any {
	return []any{
		&s.r.ID, &s.hash, &s.r.Pin, &s.fingerprint, &s.none, &s.name, &s.version, &s.r.Server.Given, &s.r.Tools,
		&s.first, &s.last, &s.approvedAt, &s.approvedBy, &s.note,
	}
}

func (s *snapshotRow) record() registry.SnapshotRecord {
	r := s.r
	r.SHA256, r.Fingerprint, r.NoFingerprint = hex.EncodeToString(s.hash), toolmark.Fingerprint(s.fingerprint), toolmark.Text(s.none)
	r.Server.Name, r.Server.Version = toolmark.Text(s.name), toolmark.Text(s.version)
	r.FirstSeen, r.LastSeen = fromMicros(&s.first), fromMicros(&s.last)
	if s.approvedAt != nil {
		r.Approval = &registry.Approval{
			Act: registry.Act{By: s.approvedBy, At: fromMicros(s.approvedAt)}, Snapshot: r.ID, Note: toolmark.Text(s.note),
		}
	}
	return r
}

// SnapshotContent gives a snapshot's content.
func (s *Store) SnapshotContent(ctx context.Context, server, snapshot string) ([]byte, error) {
	var packed []byte
	var size int64
	err := s.contentOf.QueryRowContext(ctx, snapshot, server).Scan(&packed, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, registry.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read a content: %w", err)
	}
	return content.Unpack(packed, size)
}

// ListSnapshots gives snapshots, the newest first.
func (s *Store) ListSnapshots(ctx context.Context, q registry.SnapshotQuery) (found []registry.SnapshotRecord, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT "+currentColumns+` FROM snapshots c WHERE c.server_id = ?1
		AND (?2 = '' OR c.id = ?2) AND (?3 = '' OR c.fingerprint = ?3)
		AND (?4 = '' OR (c.first_seen, c.id) < (SELECT first_seen, id FROM snapshots WHERE id = ?4))
		ORDER BY c.first_seen DESC, c.id DESC LIMIT ?5`, q.Server, q.ID, q.Fingerprint, q.After, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("select snapshots: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var row snapshotRow
		if err := rows.Scan(row.dest()...); err != nil {
			return nil, fmt.Errorf("read a snapshot: %w", err)
		}
		found = append(found, row.record())
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select snapshots: %w", err)
	}
	return found, nil
}

// SimilarTools gives tools of other servers by the keys of their names.
func (s *Store) SimilarTools(ctx context.Context, accounts []string, except string, keys []registry.NameKey, limit int) (found []registry.ServedTool, err error) {
	if len(accounts) == 0 || len(keys) == 0 {
		return nil, nil
	}
	args := make([]any, 0, len(accounts)+len(keys)+2)
	for _, k := range keys {
		args = append(args, k[:])
	}
	for _, a := range accounts {
		args = append(args, a)
	}
	args = append(args, except, limit)
	rows, err := s.read.QueryContext(ctx, `SELECT DISTINCT s.id, s.name, t.place, t.name FROM tool_names t JOIN servers s ON s.id = t.server_id
		WHERE t.name_key IN (`+marks(len(keys))+`) AND s.account_id IN (`+marks(len(accounts))+`) AND s.id <> ?
		ORDER BY s.id, t.place LIMIT ?`, args...)
	if err != nil {
		return nil, fmt.Errorf("select tools: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, server string
		var place int
		var name []byte
		if err := rows.Scan(&id, &server, &place, &name); err != nil {
			return nil, fmt.Errorf("read a tool: %w", err)
		}
		found = append(found, registry.ServedTool{
			Server: registry.ServerRef{ID: id, Name: toolmark.Text(server)}, Tool: toolmark.Text(name),
		})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("select tools: %w", err)
	}
	return found, nil
}

// marks gives n parameters with commas between.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// putSnapshot stores a snapshot as the one that is served now, and gives its id: that of
// the one with the same content, where there is one.
func putSnapshot(ctx context.Context, tx *sql.Tx, server string, n *registry.NewSnapshot) (id string, err error) {
	hash, err := hex.DecodeString(n.SHA256)
	if err != nil {
		return "", fmt.Errorf("the hash of a snapshot: %w", err)
	}
	packed, err := content.Pack(n.Content)
	if err != nil {
		return "", err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO contents (hash, packed, size) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		hash, packed, len(n.Content)); err != nil {
		return "", fmt.Errorf("insert a content: %w", err)
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO snapshots (id, server_id, hash, pin, fingerprint, no_fingerprint, says_name, says_version,
		says_given, tools, first_seen, last_seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (server_id, hash) DO UPDATE SET last_seen = max(last_seen, excluded.last_seen) RETURNING id`,
		n.ID, server, hash, n.Pin, string(n.Fingerprint), []byte(n.NoFingerprint), []byte(n.Server.Name), []byte(n.Server.Version),
		n.Server.Given, len(n.Tools), micros(n.FirstSeen), micros(n.LastSeen)).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("insert a snapshot: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM tool_names WHERE server_id = ?", server); err != nil {
		return "", fmt.Errorf("forget the tools' names: %w", err)
	}
	put, err := tx.PrepareContext(ctx, "INSERT INTO tool_names (name_key, server_id, place, name) VALUES (?, ?, ?, ?)")
	if err != nil {
		return "", fmt.Errorf("insert the tools' names: %w", err)
	}
	defer put.Close()
	for i := range n.Tools {
		for _, k := range n.Tools[i].Keys {
			if _, err := put.ExecContext(ctx, k[:], server, i, []byte(n.Tools[i].Name)); err != nil {
				return "", fmt.Errorf("insert the tools' names: %w", err)
			}
		}
	}
	return id, nil
}

// pruneSnapshots removes the oldest snapshots that nobody approved and that are not in
// use, and what of their contents no other server has.
func pruneSnapshots(ctx context.Context, tx *sql.Tx, server string) error {
	return dropSnapshots(ctx, tx, `SELECT id, hash FROM snapshots c WHERE c.server_id = ?1 AND c.approved_at IS NULL
		AND c.id NOT IN (SELECT baseline_id FROM servers WHERE id = ?1 UNION ALL SELECT current_id FROM servers WHERE id = ?1)
		ORDER BY c.last_seen DESC, c.id DESC LIMIT -1 OFFSET ?2`, server, registry.MaxSnapshots)
}

func dropSnapshots(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("select snapshots to remove: %w", err)
	}
	var ids []string
	var hashes [][]byte
	for rows.Next() {
		var id string
		var hash []byte
		if err := rows.Scan(&id, &hash); err != nil {
			return errors.Join(err, rows.Close())
		}
		ids, hashes = append(ids, id), append(hashes, hash)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("select snapshots to remove: %w", err)
	}
	for i, id := range ids {
		if _, err := tx.ExecContext(ctx, "DELETE FROM snapshots WHERE id = ?", id); err != nil {
			return fmt.Errorf("remove a snapshot: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM contents WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM snapshots WHERE hash = ?1)",
			hashes[i]); err != nil {
			return fmt.Errorf("remove a content: %w", err)
		}
	}
	return nil
}
