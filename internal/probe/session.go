package probe

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// versions are the MCP revisions we speak, newest first. Up to 2025-11-25 a session
// begins with initialize; since 2026-07-28 there is none, server/discover tells what
// the server is, and each request carries version, client and capabilities in _meta.
var versions = []string{discoverVersion, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const discoverVersion = "2026-07-28"

// discoverWait bounds the wait for server/discover, which servers of older revisions
// may leave without an answer.
const discoverWait = 5 * time.Second

// A lostError is an HTTP answer that is not a success and not a JSON-RPC error.
type lostError struct {
	cause    *toolmark.Error
	ends     bool // it may end the session or refuse the revision in the header
	status   int
	versions []string // the known revisions the answer names
	version  bool     // the answer speaks of the protocol version
}

func (e *lostError) Error() string { return e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// parts are what a snapshot is put together from: raw JSON, nil where absent.
type parts struct {
	hello   *answer // of initialize or server/discover
	version string
	lists   [len(lists)][]byte
	leftOut []string // declared lists that could not be read

	announced []string // lists that the server said have changed
}

// declared gives the lists whose changes the server said it would announce.
func (got *parts) declared() []string {
	var names []string
	for _, l := range changeable {
		if got.hello.result.Get("capabilities").Get(l.name).Get("listChanged").Kind == toolmark.KindTrue {
			names = append(names, l.name)
		}
	}
	return names
}

// again gives the parts of another reading on the same connection.
func (got *parts) again(announced []string) *parts {
	return &parts{hello: got.hello, version: got.version, announced: announced}
}

// undeclared gives those of the announced lists whose changes the server did not say it
// would announce.
func (got *parts) undeclared() []string {
	declared := got.declared()
	return slices.DeleteFunc(slices.Clone(got.announced), func(name string) bool { return slices.Contains(declared, name) })
}

// read gets all parts, with one fresh start where a session was lost on the way.
func (p *prober) read(ctx context.Context) (*parts, error) {
	offer, discover := p.opts.ProtocolVersion, true
	if !slices.Contains(versions, offer) {
		return nil, failure(toolmark.ErrUsage, nil, "protocol version %s is not one of %s", quoteShort(offer), strings.Join(versions, ", "))
	}
	for again := false; ; again = true {
		if err := p.tr.connect(ctx); err != nil {
			return nil, err
		}
		got, err := p.shakeHands(ctx, offer, discover)
		if err == nil && p.hello != nil {
			err = p.hello(ctx, got)
		}
		if err == nil {
			err = p.readLists(ctx, got)
		}
		if err == nil && p.hello == nil && p.news.any() {
			// Some servers have all their tools only after the handshake, and say so.
			p.opts.Progress("lists changed, reading again")
			got = got.again(p.news.take())
			err = p.readLists(ctx, got)
		}
		var lost *lostError
		if err == nil || again || got == nil || !errors.As(err, &lost) || !lost.ends {
			return got, err
		}
		// The second start offers what the server said it takes, or else the next
		// older revision where it complained of the version without naming any.
		discover = got.version == discoverVersion
		if next := olderVersion(lost, got.version); next != "" {
			offer, discover = next, false
		}
		p.opts.Progress("session lost, starting again")
	}
}

func olderVersion(lost *lostError, current string) string {
	if !lost.version {
		return ""
	}
	for _, v := range versions {
		if v < current && (len(lost.versions) == 0 || slices.Contains(lost.versions, v)) {
			return v
		}
	}
	return ""
}

// shakeHands finds the revision to speak: server/discover first, then initialize.
func (p *prober) shakeHands(ctx context.Context, offer string, discover bool) (*parts, error) {
	discoverID, asked := 0, discover && offer == discoverVersion
	if offer == discoverVersion {
		offer = versions[1]
		if discover {
			got, id, supported, err := p.discover(ctx, p.discoverWait())
			if got != nil || err != nil {
				return got, err
			}
			discoverID = id
			for _, v := range versions[1:] {
				if slices.Contains(supported, v) {
					offer = v
					break
				}
			}
		}
	}
	got, err := p.initialize(ctx, offer, discoverID)
	if err != nil || !asked || got.version == discoverVersion || !p.knowsDiscover(discoverID) {
		return got, err
	}
	// It took long to start (npx fetched a package, say), and speaks the newer revision. A
	// fast start and a slow one must not read two different things, so it begins again:
	// what is started has been fetched now, and there is no hurry.
	p.opts.Progress("server/discover was answered late, starting again")
	p.tr.close()
	if err := p.tr.connect(ctx); err != nil {
		return nil, err
	}
	left := p.opts.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	got, discoverID, _, err = p.discover(ctx, left/2)
	if got != nil || err != nil {
		return got, err
	}
	return p.initialize(ctx, offer, discoverID)
}

func (p *prober) discoverWait() time.Duration { return min(discoverWait, p.opts.Timeout/4) }

// knowsDiscover reports whether the server has answered server/discover after all.
func (p *prober) knowsDiscover(id int) bool {
	late := p.tr.late(id)
	if late == nil || late.err != nil {
		return false
	}
	got, _ := discovered(late)
	return got != nil
}

// discover asks a server of revision 2026-07-28 what it is. Where the server does not
// know the method, in whichever way it says so, everything returned is zero but the
// id of the request and the revisions the server named. It is given at most wait.
func (p *prober) discover(ctx context.Context, wait time.Duration) (got *parts, id int, supported []string, err error) {
	p.step("server/discover")
	short, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r := p.request("server/discover", "", discoverVersion)
	a, err := p.tr.call(short, r)
	switch {
	case ctx.Err() != nil:
		return nil, r.id, nil, err
	case err != nil && short.Err() != nil:
		return nil, r.id, nil, nil
	case err != nil:
		e, ok := asFailure(err)
		var lost *lostError
		answered := errors.As(err, &lost)
		if !ok || !answered && !tryInitialize[e.Code] {
			return nil, r.id, nil, unnamed("server/discover", err)
		}
		if e.Code == toolmark.ErrCannotStart {
			// Some older servers end at the first request that is not initialize.
			p.tr.close()
			err = p.tr.connect(ctx)
			return nil, 0, nil, err
		}
		if answered {
			supported = lost.versions
		}
		return nil, r.id, supported, nil
	case a.err != nil:
		return nil, r.id, a.err.supported(), nil
	}
	got, supported = discovered(a)
	return got, r.id, supported, nil
}

// tryInitialize are the failures of server/discover after which a server may still
// understand initialize.
var tryInitialize = map[toolmark.ErrorCode]bool{
	toolmark.ErrCannotStart: true,
	toolmark.ErrNotMCP:      true,
	toolmark.ErrProtocol:    true,
	toolmark.ErrInvalidJSON: true,
}

func discovered(a *answer) (*parts, []string) {
	supported := strs(a.result.Get("supportedVersions"))
	if !slices.Contains(supported, discoverVersion) {
		return nil, supported
	}
	return &parts{hello: a, version: discoverVersion}, supported
}

func (p *prober) initialize(ctx context.Context, offer string, discoverID int) (*parts, error) {
	p.step("initialize")
	for tried := []string{}; ; {
		tried = append(tried, offer)
		r := p.request("initialize", "", "")
		r.params = `{"protocolVersion":"` + offer + `","capabilities":{},"clientInfo":` + p.clientInfo() + `}`
		a, err := p.tr.call(ctx, r)
		if err != nil {
			var again bool
			if again, err = p.fallBack(ctx, err); again {
				continue
			}
			return nil, unnamed("initialize", err)
		}
		if a.err != nil {
			if late := p.tr.late(discoverID); late != nil && late.err == nil {
				if got, _ := discovered(late); got != nil {
					return got, nil
				}
			}
			if next := newestOf(a.err.supported(), tried); next != "" {
				offer = next
				continue
			}
			return nil, failure(toolmark.ErrProtocol, nil, "the server refused initialize with protocol version %s: %v; Toolmark speaks %s", offer, a.err, strings.Join(versions, ", "))
		}
		v := a.result.Get("protocolVersion")
		switch {
		case v.Kind != toolmark.KindString:
			return nil, failure(toolmark.ErrProtocol, nil, "the answer to initialize names no protocolVersion (offered: %s)", offer)
		case !slices.Contains(versions, v.Text):
			return nil, failure(toolmark.ErrProtocol, nil, "the server wants protocol version %s, offered was %s; Toolmark speaks %s: update the server or Toolmark", quoteShort(v.Text), offer, strings.Join(versions, ", "))
		}
		done := p.request("notifications/initialized", "", v.Text)
		done.id = 0
		if err := p.tr.notify(ctx, done); err != nil && ctx.Err() == nil {
			p.notes.warn("the server did not take notifications/initialized: %v", err)
		}
		return &parts{hello: a, version: v.Text}, nil
	}
}

// fallBack turns to the older HTTP+SSE transport where initialize was refused in a way
// that servers of that transport have (MCP 2025-03-26, transports, backwards
// compatibility; some answer a success without a body). Where there is no such transport
// the error is the one given, unless its stream asks for credentials.
func (p *prober) fallBack(ctx context.Context, err error) (again bool, _ error) {
	t, ok := p.tr.(*httpTransport)
	e, known := asFailure(err)
	if !ok || !known || t.legacy != nil || e.Code != toolmark.ErrNotMCP {
		return false, err
	}
	p.step("the event stream of the older HTTP+SSE transport")
	if fault := t.fallBack(ctx); fault != nil {
		p.stage = "initialize"
		if e, ok := asFailure(fault); ok && e.Code == toolmark.ErrAuthRequired {
			err = fault
		}
		return false, err
	}
	p.step("initialize")
	return true, nil
}

// unnamed adds the step to a failure whose text does not tell it.
func unnamed(stage string, err error) error {
	if e, ok := asFailure(err); ok {
		switch e.Code {
		case toolmark.ErrInvalidJSON, toolmark.ErrProtocol, toolmark.ErrTooLarge:
			return inStage(stage, err)
		}
	}
	return err
}

// newestOf gives the newest revision with initialize among supported that was not tried.
func newestOf(supported, tried []string) string {
	for _, v := range versions[1:] {
		if slices.Contains(supported, v) && !slices.Contains(tried, v) {
			return v
		}
	}
	return ""
}

var dates = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)

// supported gives the revisions that an error names: in data.supported where it is
// as the revisions define it, else in the message.
func (e *rpcError) supported() []string {
	if all := strs(e.data.Get("supported")); len(all) > 0 {
		return all
	}
	if e.code != codeUnsupportedVersion && !strings.Contains(strings.ToLower(e.message), "version") {
		return nil
	}
	return knownVersions(e.message)
}

func knownVersions(text string) []string {
	var known []string
	for _, d := range dates.FindAllString(cut(text, 4096), -1) {
		if slices.Contains(versions, d) && !slices.Contains(known, d) {
			known = append(known, d)
		}
	}
	return known
}

func strs(v *toolmark.Value) []string {
	var all []string
	for i := range v.Items {
		if v.Items[i].Kind == toolmark.KindString {
			all = append(all, v.Items[i].Text)
		}
	}
	return all
}

// request makes the next request. Since 2026-07-28 it carries what initialize used
// to say (MCP 2026-07-28, basic protocol, request metadata).
func (p *prober) request(method, members, version string) request {
	p.nextID++
	params := "{" + members
	if version == discoverVersion {
		if members != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
			`","io.modelcontextprotocol/clientInfo":` + p.clientInfo() +
			`,"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return request{id: p.nextID, method: method, params: params + "}", version: version}
}

func (p *prober) clientInfo() string {
	b := toolmark.AppendQuoted([]byte(`{"name":`), p.opts.ClientName)
	b = toolmark.AppendQuoted(append(b, `,"version":`...), p.opts.ClientVersion)
	return string(b) + "}"
}
