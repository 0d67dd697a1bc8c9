package pin_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
)

// generator writes a schema as another generator of schemas would: what the upgrade of
// an SDK does to all tools at once.
type generator struct {
	rng   *rand.Rand
	defs  []toolmark.Member
	done  map[string]int // how often each way was used
	moves bool           // whether parts may stand elsewhere
}

func (g *generator) may(what string) bool {
	if g.rng.IntN(2) == 0 {
		return false
	}
	g.done[what]++
	return true
}

func object(members ...toolmark.Member) toolmark.Value {
	return toolmark.Value{Kind: toolmark.KindObject, Members: members}
}

func (g *generator) number(v toolmark.Value) toolmark.Value {
	if v.Kind == toolmark.KindNumber && strings.Trim(v.Text, "-0123456789") == "" && g.may("number") {
		v.Text += ".0"
	}
	return v
}

func (g *generator) schema(v toolmark.Value) toolmark.Value {
	if v.Kind != toolmark.KindObject {
		return v
	}
	out := toolmark.Value{Kind: toolmark.KindObject}
	anyOf := v.Get("anyOf").Kind != toolmark.KindAbsent
	ref := v.Get("$ref").Kind != toolmark.KindAbsent
	for _, m := range v.Members {
		value := m.Value
		switch {
		case m.Name == "type" && value.Kind == toolmark.KindString && g.may("type list of one"):
			value = toolmark.Value{Kind: toolmark.KindArray, Items: []toolmark.Value{value}}
		case m.Name == "type" && value.Kind == toolmark.KindArray && !anyOf && g.may("anyOf of types"):
			m.Name = "anyOf"
			options := toolmark.Value{Kind: toolmark.KindArray}
			for _, t := range value.Items {
				options.Items = append(options.Items, object(toolmark.Member{Name: "type", Value: t}))
			}
			value = options
		case m.Name == "required" || m.Name == "enum":
			value.Items = slices.Clone(value.Items)
			if g.may(m.Name + " order") {
				slices.Reverse(value.Items)
			}
			if m.Name == "enum" {
				for i := range value.Items {
					value.Items[i] = g.number(value.Items[i])
				}
			}
		case m.Name == "properties" && value.Kind == toolmark.KindObject:
			value.Members = slices.Clone(value.Members)
			for i := range value.Members {
				value.Members[i].Value = g.schema(value.Members[i].Value)
				if g.moves && value.Members[i].Value.Kind == toolmark.KindObject && g.may("definition") {
					name := fmt.Sprintf("Param%d", len(g.defs))
					g.defs = append(g.defs, toolmark.Member{Name: name, Value: value.Members[i].Value})
					value.Members[i].Value = object(toolmark.Member{Name: "$ref", Value: str("#/$defs/" + name)})
				}
			}
		case m.Name == "items" || m.Name == "additionalProperties":
			value = g.schema(value)
		case m.Name == "anyOf" && value.Kind == toolmark.KindArray:
			value.Items = slices.Clone(value.Items)
			for i := range value.Items {
				value.Items[i] = g.schema(value.Items[i])
			}
			if g.moves && g.may("anyOf order") {
				slices.Reverse(value.Items)
			}
		default:
			value = g.number(value)
		}
		out.Members = append(out.Members, toolmark.Member{Name: m.Name, Value: value})
	}
	if v.Get("properties").Kind != toolmark.KindAbsent && v.Get("additionalProperties").Kind == toolmark.KindAbsent && !ref && g.may("additionalProperties") {
		out.Members = append(out.Members, toolmark.Member{Name: "additionalProperties", Value: toolmark.Value{Kind: toolmark.KindTrue}})
	}
	if g.may("member order") {
		slices.Reverse(out.Members)
	}
	return out
}

// tool rewrites a tool's input schema.
func (g *generator) tool(v toolmark.Value) toolmark.Value {
	v.Members = slices.Clone(v.Members)
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == "inputSchema" && m.Value.Kind == toolmark.KindObject {
			// A reference by path would lose its way where something is moved.
			g.defs, g.moves = nil, !strings.Contains(text(&m.Value), `"$ref"`)
			made := g.schema(m.Value)
			if len(g.defs) > 0 {
				made.Members = append(made.Members, toolmark.Member{Name: "$defs", Value: object(g.defs...)})
			}
			for k := range made.Members {
				if made.Members[k].Name == "$schema" && g.may("$schema") {
					made.Members[k].Value = str("https://json-schema.org/draft/2020-12/schema")
				}
			}
			m.Value = made
		}
	}
	return v
}

// TestRespelledSchemasAreNeutral: another way to write a schema is shown and never fails
// a check, in either direction.
func TestRespelledSchemasAreNeutral(t *testing.T) {
	manifests := map[string]*toolmark.Manifest{"own": ownManifest(t)}
	t.Run("real", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "benign"), "*.json"))
		if err != nil || len(files) != 47 {
			t.Fatalf("%d real manifests, want 47: %v", len(files), err)
		}
		for _, f := range files {
			manifests[filepath.Base(f)] = read(t, f)
		}
	})
	g := &generator{rng: rand.New(rand.NewPCG(5, 4)), done: map[string]int{}}
	tools, failed := 0, 0
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		m := manifests[name]
		tree := *pin.Comparable(m, capture)
		tree.Members = slices.Clone(tree.Members)
		for i := range tree.Members {
			if list := &tree.Members[i]; list.Name == "tools" {
				list.Value.Items = slices.Clone(list.Value.Items)
				for k := range list.Value.Items {
					list.Value.Items[k] = g.tool(list.Value.Items[k])
				}
			}
		}
		made, err := toolmark.ReadManifest(&tree)
		if err != nil {
			t.Fatal(err)
		}
		tools += len(m.Tools)
		for _, d := range []*pin.Drift{pin.Diff(m, made, capture), pin.Diff(made, m, capture)} {
			for i := range d.Tools {
				x := &d.Tools[i]
				if x.Status == pin.StatusEquivalent {
					continue
				}
				if failed++; failed < 10 {
					t.Errorf("%s, %s is %s", name, x.Name, x.Status)
					for _, c := range d.Of(x) {
						if !c.Neutral() {
							t.Logf("  %s %s", c.Effect, c.Pointer)
						}
					}
				}
			}
		}
	}
	t.Logf("%d tools, %v", tools, g.done)
	if failed > 0 {
		t.Errorf("%d of %d comparisons are not neutral", failed, 2*tools)
	}
	if len(g.done) < 9 && len(manifests) > 1 {
		t.Errorf("only %v were used", g.done)
	}
}
