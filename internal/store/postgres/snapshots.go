package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/content"
)

const (
	baselineColumns = `b.id, b.hash, b.pin, b.fingerprint, b.no_fingerprint, b.says_name, b.says_version, b.says_given, b.tools,
	b.first_seen, b.last_seen, b.approved_at, b.approved_by, b.note`
	currentColumns = `c.id, c.hash, c.pin, c.fingerprint, c.no_fingerprint, c.says_name, c.says_version, c.says_given, c.tools,
	c.first_seen, c.last_seen, c.approved_at, c.approved_by, c.note`
)

// snapshotRow reads the columns of a snapshot.
type snapshotRow struct {
	r                   registry.SnapshotRecord
	hash                []byte
	none, name, version []byte
	approvedAt          *time.Time
	approvedBy, note    string
	fingerprint         string
}

func (s *snapshotRow) dest() []any {
	return []any{
		&s.r.ID, &s.hash, &s.r.Pin, &s.fingerprint, &s.none, &s.name, &s.version, &s.r.Server.Given, &s.r.Tools,
		&s.r.FirstSeen, &s.r.LastSeen, &s.approvedAt, &s.approvedBy, &s.note,
	}
}

func (s *snapshotRow) record() registry.SnapshotRecord {
	r := s.r
	r.SHA256, r.Fingerprint, r.NoFingerprint = hex.EncodeToString(s.hash), toolmark.Fingerprint(s.fingerprint), toolmark.Text(s.none)
	r.Server.Name, r.Server.Version = toolmark.Text(s.name), toolmark.Text(s.version)
	r.FirstSeen, r.LastSeen = r.FirstSeen.UTC(), r.LastSeen.UTC()
	if s.approvedAt != nil {
		r.Approval = &registry.Approval{
			Act: registry.Act{By: s.approvedBy, At: orZero(s.approvedAt)}, Snapshot: r.ID, Note: toolmark.Text(s.note),
		}
	}
	return r
}

// SnapshotContent gives a snapshot's content.
func (s *Store) SnapshotContent(ctx context.Context, server, snapshot string) ([]byte, error) {
	var packed []byte
	var size int64
	err := s.pool.QueryRow(ctx, `SELECT d.packed, d.size FROM snapshots c JOIN contents d ON d.hash = c.hash
		WHERE c.id = $1 AND c.server_id = $2`, text(snapshot), text(server)).Scan(&packed, &size)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, registry.ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read a content: %w", err)
	}
	return content.Unpack(packed, size)
}

// ListSnapshots gives snapshots, the newest first.
func (s *Store) ListSnapshots(ctx context.Context, q registry.SnapshotQuery) ([]registry.SnapshotRecord, error) {
	rows, err := s.pool.Query(ctx, "SELECT "+currentColumns+` FROM snapshots c WHERE c.server_id = $1
		AND ($2 = '' OR c.id = $2) AND ($3 = '' OR c.fingerprint = $3)
		AND ($4 = '' OR (c.first_seen, c.id) < (SELECT first_seen, id FROM snapshots WHERE id = $4))
		ORDER BY c.first_seen DESC, c.id DESC LIMIT $5`, text(q.Server), text(q.ID), text(q.Fingerprint), text(q.After), q.Limit)
	if err != nil {
		return nil, fmt.Errorf("select snapshots: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (registry.SnapshotRecord, error) {
		var r snapshotRow
		err := row.Scan(r.dest()...)
		return r.record(), err
	})
	if err != nil {
		return nil, fmt.Errorf("select snapshots: %w", err)
	}
	return found, nil
}

// SimilarTools gives tools of other servers by the keys of their names.
func (s *Store) SimilarTools(ctx context.Context, accounts []string, except string, keys []registry.NameKey, limit int) (found []registry.ServedTool, err error) {
	all := make([][]byte, len(keys))
	for i := range keys {
		all[i] = keys[i][:]
	}
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT s.id, s.name, t.place, t.name FROM tool_names t JOIN servers s ON s.id = t.server_id
		WHERE t.name_key = ANY ($1) AND s.account_id = ANY ($2) AND s.id <> $3 ORDER BY s.id, t.place LIMIT $4`, all, some(accounts), text(except), limit)
	if err != nil {
		return nil, fmt.Errorf("select tools: %w", err)
	}
	var id, server string
	var place int
	var name []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &server, &place, &name}, func() error {
		found = append(found, registry.ServedTool{
			Server: registry.ServerRef{ID: id, Name: toolmark.Text(server)}, Tool: toolmark.Text(name),
		})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("select tools: %w", err)
	}
	return found, nil
}

// putSnapshot stores a snapshot as the one that is served now, and gives its id: that of
// the one with the same content, where there is one.
func putSnapshot(ctx context.Context, tx pgx.Tx, server string, n *registry.NewSnapshot) (id string, err error) {
	hash, err := hex.DecodeString(n.SHA256)
	if err != nil {
		return "", fmt.Errorf("the hash of a snapshot: %w", err)
	}
	packed, err := content.Pack(n.Content)
	if err != nil {
		return "", err
	}
	// The update changes nothing but holds the row, which another replica may be removing.
	if _, err := tx.Exec(ctx, `INSERT INTO contents AS d (hash, packed, size) VALUES ($1, $2, $3)
		ON CONFLICT (hash) DO UPDATE SET size = d.size`, hash, packed, len(n.Content)); err != nil {
		return "", fmt.Errorf("insert a content: %w", err)
	}
	err = tx.QueryRow(ctx, `INSERT INTO snapshots AS s (id, server_id, hash, pin, fingerprint, no_fingerprint, says_name, says_version,
		says_given, tools, first_seen, last_seen) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (server_id, hash) DO UPDATE SET last_seen = greatest(s.last_seen, excluded.last_seen) RETURNING id`,
		n.ID, server, hash, n.Pin, string(n.Fingerprint), []byte(n.NoFingerprint), []byte(n.Server.Name), []byte(n.Server.Version),
		n.Server.Given, len(n.Tools), n.FirstSeen, n.LastSeen).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("insert a snapshot: %w", err)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM tool_names WHERE server_id = $1", server); err != nil {
		return "", fmt.Errorf("forget the tools' names: %w", err)
	}
	var keys, names [][]byte
	var places []int
	for i := range n.Tools {
		for k := range n.Tools[i].Keys {
			keys, places, names = append(keys, n.Tools[i].Keys[k][:]), append(places, i), append(names, []byte(n.Tools[i].Name))
		}
	}
	if _, err := tx.Exec(ctx, "INSERT INTO tool_names (server_id, name_key, place, name) SELECT $1, * FROM unnest($2::bytea[], $3::int[], $4::bytea[])",
		server, keys, places, names); err != nil {
		return "", fmt.Errorf("insert the tools' names: %w", err)
	}
	return id, nil
}

// pruneSnapshots removes the oldest snapshots that nobody approved and that are not in
// use, and what of their contents no other server has.
func pruneSnapshots(ctx context.Context, tx pgx.Tx, server string) error {
	return dropSnapshots(ctx, tx, `SELECT id, hash FROM snapshots c WHERE c.server_id = $1 AND c.approved_at IS NULL
		AND c.id NOT IN (SELECT baseline_id FROM servers WHERE id = $1 UNION ALL SELECT current_id FROM servers WHERE id = $1)
		ORDER BY c.last_seen DESC, c.id DESC OFFSET $2`, server, registry.MaxSnapshots)
}

func dropSnapshots(ctx context.Context, tx pgx.Tx, query string, args ...any) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("select snapshots to remove: %w", err)
	}
	var ids []string
	var hashes [][]byte
	var id string
	var hash []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &hash}, func() error {
		ids, hashes = append(ids, strings.Clone(id)), append(hashes, append([]byte(nil), hash...))
		return nil
	}); err != nil {
		return fmt.Errorf("select snapshots to remove: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, "DELETE FROM snapshots WHERE id = ANY ($1)", ids); err != nil {
		return fmt.Errorf("remove snapshots: %w", err)
	}
	// Locked first, in one order: whoever holds one is giving it a new snapshot, which only
	// the next statement sees.
	if _, err := tx.Exec(ctx, "SELECT 1 FROM contents WHERE hash = ANY ($1) ORDER BY hash FOR UPDATE", hashes); err != nil {
		return fmt.Errorf("lock contents: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM contents d WHERE d.hash = ANY ($1) AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.hash = d.hash)`,
		hashes); err != nil {
		return fmt.Errorf("remove contents: %w", err)
	}
	return nil
}
