package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/scan"
)

// scanManifest answers scan_manifest. It is counted as the HTTP API counts it: once, and
// only if it ran.
func (s *Server) scanManifest(ctx context.Context, c *caller, args *toolmark.Value) (*answer, error) {
	req, err := scanRequest(args)
	if err != nil {
		return nil, err
	}
	ran := false
	if !c.local {
		reservation, err := s.cfg.Accounts.Reserve(ctx, c.grant)
		if err != nil {
			return nil, err
		}
		defer func() {
			if ran {
				return
			}
			if err := reservation.Release(ctx); err != nil {
				s.cfg.Log.Error("a scan that did not run stays counted", "cause", err.Error())
			}
		}()
	}
	var r *toolmark.Report
	if err := s.turn(ctx, func() (err error) {
		r, err = s.cfg.Scanner.Scan(ctx, *req)
		return err
	}); err != nil {
		return nil, err
	}
	ran = true
	return &answer{r, manifestText(r)}, nil
}

// scanRequest reads the arguments as the HTTP API reads a body. What is a member of
// other shapes that toolmark.ReadManifest knows is ignored, as the API ignores it.
func scanRequest(args *toolmark.Value) (*scan.Request, error) {
	if args.Get("tools").Kind != toolmark.KindArray {
		return nil, &failure{"invalid_manifest", "The argument tools must be an array: that of a tools/list result."}
	}
	known := &toolmark.Value{Kind: toolmark.KindObject, Start: args.Start, End: args.End}
	for i := range args.Members {
		switch m := args.Members[i]; m.Name {
		case "tools", "pin", "other_servers", "server":
			known.Members = append(known.Members, m)
		case "instructions":
			if m.Value.Kind == toolmark.KindString {
				known.Members = append(known.Members, m)
			}
		case "prompts", "resources", "resourceTemplates":
			if m.Value.Kind == toolmark.KindArray {
				known.Members = append(known.Members, m)
			}
		}
	}
	if s := known.Get("server"); !s.Absent() && s.Kind != toolmark.KindObject {
		return nil, &failure{"invalid_manifest", "The argument server must be an object with name and version."}
	}
	m, err := toolmark.ReadManifest(known)
	if err != nil {
		return nil, err
	}
	if err := scan.CheckSize(m); err != nil {
		return nil, err
	}
	req := &scan.Request{Manifest: m, Scope: toolmark.ScopeStandard}
	if v := args.Get("surfaces"); !v.Absent() {
		if req.Scope, err = toolmark.ParseScope(v.Text); err != nil || v.Kind != toolmark.KindString {
			return nil, &failure{"invalid_argument", `surfaces is "standard" or "all".`}
		}
	}
	return req, nil
}

func manifestText(r *toolmark.Report) string {
	verdict := "ok: false."
	if r.OK {
		verdict = "ok: true, which is no rating."
	}
	text := fmt.Sprintf("%s %s\nPin: %s", verdict, findings(r.Findings), r.SHA256)
	if r.Incomplete {
		text += fmt.Sprintf("\nThe scan ran out of time. Not scanned: %s.", names(r.UnscannedTools))
	}
	return text + "\n" + dataNote
}
