package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/pin"
	"github.com/toolmark/toolmark/scan"
	"github.com/toolmark/toolmark/textcheck"
)

// longestWhy is the most code points of a failure's message that are kept.
const longestWhy = 500

// reading is what one probe gave: a manifest, or why there is none.
type reading struct {
	at       time.Time
	manifest *toolmark.Manifest
	content  []byte // the document without its source and time
	why      *Why   // nil where something was read
	// held: it was read on an open connection, for which the server is not reserved.
	held bool
}

// probe reads a server. A server that cannot be read is no error; an error is a fault of
// ours, a caller that left, or too many probes at once.
func (s *Service) probe(ctx context.Context, t Target) (*reading, error) {
	if s.cfg.Probe == nil {
		return nil, fmt.Errorf("%w: this process does not connect to servers", ErrInvalid)
	}
	if !s.probing.TryAcquire(1) {
		return nil, fmt.Errorf("%w: %d servers are being read", ErrBusy, s.cfg.MaxProbes)
	}
	defer s.probing.Release(1)
	return s.readNow(ctx, t)
}

func (s *Service) readNow(ctx context.Context, t Target) (*reading, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.ProbeTime)
	defer cancel()
	snap, err := s.cfg.Probe.Probe(limited, t)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read a server: %w", ctx.Err()) // ours, and nothing is known of the server
	}
	if err != nil {
		r := &reading{at: stored(s.cfg.Now())}
		if r.why = whyOf(err, t); r.why == nil {
			return nil, fmt.Errorf("read a server: %w", err)
		}
		return r, nil
	}
	return s.readingOf(snap), nil
}

// readingOf gives a snapshot that was read just now its form.
func (s *Service) readingOf(snap *toolmark.Snapshot) *reading {
	r := &reading{at: stored(s.cfg.Now())}
	if len(snap.Bytes) > MaxContent {
		r.why = &Why{Code: toolmark.ErrTooLarge, Message: toolmark.Text(fmt.Sprintf("what it declares has %d bytes; the registry keeps at most %d", len(snap.Bytes), MaxContent))}
		return r
	}
	r.manifest, r.content = snap.Manifest, strip(snap)
	return r
}

// MaxContent is the most bytes of one snapshot.
const MaxContent = 8 << 20

// whyOf gives a failed probe its form; nil for what is a fault of ours.
func whyOf(err error, t Target) *Why {
	var e *toolmark.Error
	if !errors.As(err, &e) {
		return nil
	}
	message := e.Error()
	if _, query, ok := strings.Cut(t.URL, "?"); ok && query != "" {
		message = strings.ReplaceAll(message, "?"+query, "?…") // it may be a credential
	}
	for _, h := range t.Headers {
		if len(h.Value) >= 8 { // a server may send back what it was sent
			message = strings.ReplaceAll(message, h.Value, "…")
		}
	}
	if cut := toolmark.ByteOffset(message, longestWhy); cut < len(message) {
		message = message[:cut] + "…"
	}
	return &Why{Code: e.Code, Message: toolmark.Text(message)}
}

// strip gives a snapshot's document without the members that differ with every probe,
// source and readAt. All other bytes are kept as they are.
func strip(snap *toolmark.Snapshot) []byte {
	tree := snap.Manifest.Tree
	out := make([]byte, 1, len(snap.Bytes))
	out[0] = '{'
	for i := range tree.Members {
		m := &tree.Members[i]
		if m.Name == "source" || m.Name == "readAt" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, snap.Bytes[m.NameStart:m.Value.End]...)
	}
	return append(out, '}')
}

// readContent reads a stored snapshot.
func readContent(content []byte) (*toolmark.Manifest, error) {
	tree, err := canonjson.Parse(content, canonjson.Options{})
	if err != nil {
		return nil, fmt.Errorf("read a stored snapshot: %w", err)
	}
	m, err := toolmark.ReadManifest(tree)
	if err != nil {
		return nil, fmt.Errorf("read a stored snapshot: %w", err)
	}
	return m, nil
}

// loadSnapshot reads a stored snapshot of a server.
func (s *Service) loadSnapshot(ctx context.Context, server, snapshot string) (*toolmark.Manifest, error) {
	content, err := s.cfg.Store.SnapshotContent(ctx, server, snapshot)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", snapshot, err)
	}
	return readContent(content)
}

// snapshotOf gives what was read as a record to be stored.
func (s *Service) snapshotOf(r *reading) (*NewSnapshot, error) {
	id, err := access.NewID(s.cfg.Random, "snap")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(r.content)
	n := &NewSnapshot{
		SnapshotRecord: SnapshotRecord{
			ID: id, SHA256: hex.EncodeToString(sum[:]), Tools: len(r.manifest.Tools), FirstSeen: r.at, LastSeen: r.at, Server: says(r.manifest),
		},
		Content: r.content, Tools: toolNames(r.manifest),
	}
	n.Pin = pin.Compute(r.manifest.Tools).SHA256
	n.Fingerprint, n.NoFingerprint = fingerprint(r.manifest)
	return n, nil
}

func says(m *toolmark.Manifest) ServerSays {
	return ServerSays{Name: toolmark.Text(m.Server.Name), Version: toolmark.Text(m.Server.Version), Given: m.Server.Given}
}

func fingerprint(m *toolmark.Manifest) (toolmark.Fingerprint, toolmark.Text) {
	f, err := pin.Fingerprint(m.Server, m.Tools)
	if err != nil {
		return "", toolmark.Text(err.Error())
	}
	return f, ""
}

// toolNames gives the tools' names with what names like them have in common.
func toolNames(m *toolmark.Manifest) []ToolName {
	out := make([]ToolName, len(m.Tools))
	for i := range m.Tools {
		out[i] = ToolName{Name: toolmark.Text(m.Tools[i].Name), Keys: nameKeys(m.Tools[i].Name)}
	}
	return out
}

// nameKeys gives the keys of a name: names with a key in common may be taken for each
// other, and are compared then.
func nameKeys(name string) []NameKey {
	normal, skeleton := nameKey(textcheck.NormalName(name)), nameKey(textcheck.NameSkeleton(name))
	if normal == skeleton {
		return []NameKey{normal}
	}
	return []NameKey{normal, skeleton}
}

func nameKey(text string) (k NameKey) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

// scan looks at everything that a manifest declares.
func (s *Service) scan(ctx context.Context, m *toolmark.Manifest) (*toolmark.Report, error) {
	report, err := s.cfg.Scanner.Scan(ctx, scan.Request{Manifest: m, OtherServers: []toolmark.OtherServer{}, Scope: toolmark.ScopeAll, Faults: true})
	if err != nil {
		return nil, fmt.Errorf("scan what the server serves: %w", err)
	}
	return report, nil
}
