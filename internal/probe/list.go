package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/toolmark/toolmark"
)

// lists are the lists of a manifest: the method, the member that holds the entries,
// and the capability that offers it. tools/list is asked for in any case.
var lists = [...]struct{ method, member, capability string }{
	{"tools/list", "tools", "tools"},
	{"prompts/list", "prompts", "prompts"},
	{"resources/list", "resources", "resources"},
	{"resources/templates/list", "resourceTemplates", "resources"},
}

// readLists reads the tools, which must succeed, and whatever else is offered, which
// need not: a tool list is worth having without the prompts.
func (p *prober) readLists(ctx context.Context, got *parts) error {
	for _, name := range got.undeclared() {
		p.notes.warn("the server announced that its %s changed, and does not declare %s.listChanged", name, name)
	}
	capabilities := got.hello.result.Get("capabilities")
	for i, l := range lists {
		offered := !capabilities.Get(l.capability).Absent()
		if i == 0 {
			if err := p.readTools(ctx, got, offered); err != nil {
				return err
			}
			continue
		}
		if !offered && !slices.Contains(got.announced, l.capability) {
			continue
		}
		// An optional list that never answers must not use up the time.
		left := p.opts.Timeout
		if deadline, ok := ctx.Deadline(); ok {
			left = time.Until(deadline)
		}
		short, cancel := context.WithTimeout(ctx, left/2)
		items, err := p.readList(short, i, got.version)
		late := short.Err() != nil
		cancel()
		switch {
		case err == nil:
			got.lists[i] = items
		case ctx.Err() != nil:
			return err
		case notOffered(err):
		case late:
			got.leftOut = append(got.leftOut, l.method)
			p.notes.warn("%s was declared but not answered in time; it is left out", l.method)
		default:
			got.leftOut = append(got.leftOut, l.method)
			p.notes.warn("%s was declared but cannot be read; it is left out: %v", l.method, err)
		}
	}
	return nil
}

func (p *prober) readTools(ctx context.Context, got *parts, offered bool) error {
	items, err := p.readList(ctx, 0, got.version)
	var refused *rpcError
	if !offered && errors.As(err, &refused) && refused.code == codeMethodNotFound {
		p.notes.warn("the server declares no tools and does not know tools/list; its tool list is taken as empty")
		items, err = []byte("[]"), nil
	}
	got.lists[0] = items
	return err
}

// notOffered reports whether a server said in one of the usual ways that it does not
// have a list: method not found, or HTTP 404.
func notOffered(err error) bool {
	var refused *rpcError
	if errors.As(err, &refused) {
		return refused.code == codeMethodNotFound
	}
	var lost *lostError
	return errors.As(err, &lost) && lost.status == http.StatusNotFound
}

// readList reads every page of list i and gives one JSON array of the entries'
// bytes. The cursor goes back exactly as it came; "" is a cursor like any other
// (MCP, pagination).
func (p *prober) readList(ctx context.Context, i int, version string) ([]byte, error) {
	l := lists[i]
	out, entries, cursor := []byte{'['}, 0, ""
	seen := map[string]bool{}
	for page := 1; ; page++ {
		stage := l.method
		if page > 1 {
			stage = fmt.Sprintf("%s page %d", l.method, page)
		}
		p.step(stage)
		a, err := p.tr.call(ctx, p.request(l.method, cursor, version))
		if err != nil {
			return nil, inStage(stage, err)
		}
		if a.err != nil {
			return nil, failure(toolmark.ErrUnreadableList, a.err, "the server answered %s with", stage)
		}
		list := a.result.Get(l.member)
		if list.Kind != toolmark.KindArray {
			return nil, failure(toolmark.ErrUnreadableList, nil, "the answer to %s has no array %q", stage, l.member)
		}
		if inner := bytes.TrimSpace(a.raw[list.Start+1 : list.End-1]); len(inner) > 0 {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, inner...)
		}
		if entries += len(list.Items); i == 0 && entries > toolmark.MaxTools {
			return nil, failure(toolmark.ErrTooLarge, nil, "the server lists more than %d tools; at most %d can be read", toolmark.MaxTools, toolmark.MaxTools)
		}
		next := a.result.Get("nextCursor")
		switch {
		case next.Absent():
			return append(out, ']'), nil
		case next.Kind != toolmark.KindString:
			return nil, failure(toolmark.ErrUnreadableList, nil, "the answer to %s has a nextCursor that is a %s, not a string", stage, next.Kind)
		case seen[next.Text]:
			return nil, failure(toolmark.ErrUnreadableList, nil, "the answer to %s repeats the cursor %s: the list has no end", stage, quoteShort(next.Text))
		case page == p.opts.MaxPages:
			return nil, failure(toolmark.ErrUnreadableList, nil, "%s has more than %d pages: the list may have no end", l.method, p.opts.MaxPages)
		}
		seen[next.Text] = true
		cursor = `"cursor":` + string(a.slice(next))
	}
}

// inStage adds the step to a failure that does not name it.
func inStage(stage string, err error) error {
	var lost *lostError
	if errors.As(err, &lost) {
		copied := *lost
		copied.cause = failure(lost.cause.Code, lost.cause.Err, "%s: %s", stage, lost.cause.Message)
		return &copied
	}
	if e, ok := asFailure(err); ok {
		return failure(e.Code, e.Err, "%s: %s", stage, e.Message)
	}
	return fmt.Errorf("%s: %w", stage, err)
}
