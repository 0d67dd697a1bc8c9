package pin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
	"github.com/toolmark/toolmark/pin"
)

// The pieces of random schemas: few of each, so that two schemas often have some in
// common, and some that mean the same.
var (
	someNames   = []string{"a", "b", "", "a/b", "~", "__proto__"}
	someNumbers = []string{"0", "1", "1.0", "2", "-1", "0.5", "3e0", "1e999", "9007199254740993"}
	someTexts   = []string{"", "a", "ab", "read it", "\xed\xa0\x80", "\u200b", "é"}
)

func number(t *rapid.T, list ...string) toolmark.Value {
	return toolmark.Value{Kind: toolmark.KindNumber, Text: rapid.SampledFrom(list).Draw(t, "number")}
}

func str(text string) toolmark.Value { return toolmark.Value{Kind: toolmark.KindString, Text: text} }

// datum gives a random value.
func datum(t *rapid.T, depth int) toolmark.Value {
	switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case kind < 3:
		return str(rapid.SampledFrom(someTexts).Draw(t, "text"))
	case kind == 3:
		return number(t, someNumbers...)
	case kind == 4 || depth == 0:
		return toolmark.Value{Kind: rapid.SampledFrom([]toolmark.Kind{toolmark.KindNull, toolmark.KindTrue, toolmark.KindFalse}).Draw(t, "constant")}
	case kind == 5:
		v := toolmark.Value{Kind: toolmark.KindArray}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v.Items = append(v.Items, datum(t, depth-1))
		}
		return v
	default:
		v := toolmark.Value{Kind: toolmark.KindObject}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v.Members = append(v.Members, toolmark.Member{Name: rapid.SampledFrom(someNames).Draw(t, "name"), Value: datum(t, depth-1)})
		}
		return v
	}
}

var someTypes = []string{"null", "boolean", "object", "array", "string", "integer", "number"}

// scalar gives a random value that any validator reads alike.
func scalar(t *rapid.T) toolmark.Value {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return str(rapid.SampledFrom([]string{"", "a", "ab", "abc"}).Draw(t, "text"))
	case 1:
		return toolmark.Value{Kind: rapid.SampledFrom([]toolmark.Kind{toolmark.KindNull, toolmark.KindTrue, toolmark.KindFalse}).Draw(t, "constant")}
	}
	return number(t, "0", "1", "1.0", "2", "-1", "0.5", "3e0")
}

// schema gives a random valid schema of 2020-12 that refers to the definitions D and E.
func schema(t *rapid.T, depth int) toolmark.Value {
	if rapid.IntRange(0, 9).Draw(t, "boolean") == 0 {
		return toolmark.Value{Kind: rapid.SampledFrom([]toolmark.Kind{toolmark.KindTrue, toolmark.KindFalse}).Draw(t, "constant")}
	}
	v := toolmark.Value{Kind: toolmark.KindObject}
	put := func(name string, value toolmark.Value) {
		if v.Get(name).Kind == toolmark.KindAbsent {
			v.Members = append(v.Members, toolmark.Member{Name: name, Value: value})
		}
	}
	list := func(n int) toolmark.Value {
		a := toolmark.Value{Kind: toolmark.KindArray}
		for range n {
			a.Items = append(a.Items, schema(t, depth-1))
		}
		return a
	}
	choices := 12
	if depth > 0 {
		choices = 24
	}
	for range rapid.IntRange(0, 3).Draw(t, "keywords") {
		switch rapid.IntRange(0, choices).Draw(t, "keyword") {
		case 0, 1:
			put("type", str(rapid.SampledFrom(someTypes).Draw(t, "type")))
		case 2:
			types := rapid.SliceOfNDistinct(rapid.SampledFrom(someTypes), 1, 3, rapid.ID[string]).Draw(t, "types")
			a := toolmark.Value{Kind: toolmark.KindArray}
			for _, name := range types {
				a.Items = append(a.Items, str(name))
			}
			put("type", a)
		case 3:
			a := toolmark.Value{Kind: toolmark.KindArray}
			for range rapid.IntRange(1, 3).Draw(t, "values") {
				a.Items = append(a.Items, scalar(t))
			}
			put("enum", a)
		case 4:
			put("const", scalar(t))
		case 5:
			put(rapid.SampledFrom([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}).Draw(t, "bound"), number(t, "0", "1", "1.0", "2", "-1", "0.5"))
		case 6:
			put(rapid.SampledFrom([]string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}).Draw(t, "count"), number(t, "0", "1", "2"))
		case 7:
			put("multipleOf", number(t, "1", "2", "0.5"))
		case 8:
			put("pattern", str(rapid.SampledFrom([]string{"a", "^b"}).Draw(t, "pattern")))
		case 9:
			put("$ref", str(rapid.SampledFrom([]string{"#/$defs/D", "#/$defs/E"}).Draw(t, "ref")))
		case 10:
			put("required", toolmark.Value{Kind: toolmark.KindArray, Items: []toolmark.Value{str(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"))}})
		case 11:
			put(rapid.SampledFrom([]string{"title", "description", "default"}).Draw(t, "annotation"), str(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "text")))
		case 12:
			put("uniqueItems", toolmark.Value{Kind: rapid.SampledFrom([]toolmark.Kind{toolmark.KindTrue, toolmark.KindFalse}).Draw(t, "constant")})
		case 13, 14, 15:
			p := toolmark.Value{Kind: toolmark.KindObject}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 1, 2, rapid.ID[string]).Draw(t, "names") {
				p.Members = append(p.Members, toolmark.Member{Name: name, Value: schema(t, depth-1)})
			}
			put(rapid.SampledFrom([]string{"properties", "properties", "patternProperties"}).Draw(t, "map"), p)
		case 16:
			put("additionalProperties", schema(t, depth-1))
		case 17:
			put("items", schema(t, depth-1))
		case 18:
			put("prefixItems", list(rapid.IntRange(1, 2).Draw(t, "length")))
		case 19, 20:
			put("anyOf", list(rapid.IntRange(1, 3).Draw(t, "length")))
		case 21:
			put("oneOf", list(rapid.IntRange(1, 3).Draw(t, "length")))
		case 22:
			put("allOf", list(rapid.IntRange(1, 2).Draw(t, "length")))
		case 23:
			put(rapid.SampledFrom([]string{"not", "contains", "propertyNames", "if", "then", "else"}).Draw(t, "other"), schema(t, depth-1))
		case 24:
			put(rapid.SampledFrom([]string{"minContains", "maxContains"}).Draw(t, "count"), number(t, "0", "1", "2"))
		}
	}
	return v
}

// rooted puts the definitions D and E beside a schema. They may refer to each other only
// below a member, as a validator would not end otherwise.
func rooted(t *rapid.T) toolmark.Value {
	v := schema(t, 2)
	if v.Kind != toolmark.KindObject {
		v = toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{{Name: "allOf", Value: toolmark.Value{Kind: toolmark.KindArray, Items: []toolmark.Value{v}}}}}
	}
	wrap := func(v toolmark.Value) toolmark.Value {
		return toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{
			{Name: rapid.SampledFrom([]string{"items", "additionalProperties"}).Draw(t, "below"), Value: v},
		}}
	}
	v.Members = append(v.Members, toolmark.Member{Name: "$defs", Value: toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{
		{Name: "D", Value: wrap(schema(t, 1))}, {Name: "E", Value: wrap(schema(t, 1))},
	}}})
	return v
}

// mutate changes one random place of a copy of a value in a way that may or may not
// change what it means.
func mutate(t *rapid.T, v *toolmark.Value, fresh func() toolmark.Value) *toolmark.Value {
	c := *v
	c.Items = append([]toolmark.Value(nil), v.Items...)
	c.Members = append([]toolmark.Member(nil), v.Members...)
	size := len(c.Items) + len(c.Members)
	if size == 0 {
		if c.Kind == toolmark.KindNumber {
			c.Text = rapid.SampledFrom([]string{"0", "1", "1.0", "2"}).Draw(t, "number")
			return &c
		}
		n := fresh()
		return &n
	}
	i := rapid.IntRange(0, size-1).Draw(t, "where")
	if rapid.IntRange(0, 3).Draw(t, "here") > 0 { // go deeper
		if i < len(c.Items) {
			c.Items[i] = *mutate(t, &c.Items[i], fresh)
		} else {
			c.Members[i-len(c.Items)].Value = *mutate(t, &c.Members[i-len(c.Items)].Value, fresh)
		}
		return &c
	}
	switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
	case c.Kind == toolmark.KindArray && op == 0:
		c.Items = append(c.Items[:i:i], c.Items[i+1:]...)
	case c.Kind == toolmark.KindArray && op == 1:
		c.Items = append(append(c.Items[:i:i], fresh()), c.Items[i:]...)
	case c.Kind == toolmark.KindArray:
		c.Items[0], c.Items[i] = c.Items[i], c.Items[0]
	case op == 0:
		c.Members = append(c.Members[:i:i], c.Members[i+1:]...)
	case op == 1:
		c.Members[0], c.Members[i] = c.Members[i], c.Members[0]
	default:
		c.Members[i].Value = fresh()
	}
	return &c
}

func tools(list ...toolmark.Value) *toolmark.Value {
	return &toolmark.Value{Kind: toolmark.KindObject, Members: []toolmark.Member{{Name: "tools", Value: toolmark.Value{Kind: toolmark.KindArray, Items: list}}}}
}

func toolOf(name string, members ...toolmark.Member) toolmark.Value {
	return toolmark.Value{Kind: toolmark.KindObject, Members: append([]toolmark.Member{{Name: "name", Value: str(name)}}, members...)}
}

// reread gives the manifest that a tree is when it is sent.
func reread(t *rapid.T, tree *toolmark.Value) (*toolmark.Manifest, bool) {
	parsed, err := canonjson.Parse(canonjson.Append(nil, tree), canonjson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolmark.ReadManifest(parsed)
	return m, err == nil
}

// TestEffectIsSound holds what Diff says a schema change does against a validator: no
// value may be accepted or refused against the claim. It also holds that Apply gives the
// new schema.
func TestEffectIsSound(t *testing.T) {
	claims := map[pin.Effect]int{}
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		o := rooted(t)
		n := &o
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			n = mutate(t, n, func() toolmark.Value { return schema(t, 1) })
		}
		member := func(v *toolmark.Value) toolmark.Member { return toolmark.Member{Name: "inputSchema", Value: *v} }
		a, ok := reread(t, tools(toolOf("x", member(&o))))
		b, fine := reread(t, tools(toolOf("x", member(n))))
		if !ok || !fine {
			t.Skip("no schema any more")
		}
		d := pin.Diff(a, b, pin.Options{})
		mustApply(t, a, b, d)
		claim := whole(d)
		before, err := compile(a)
		if err != nil {
			refused++
			return
		}
		after, err := compile(b)
		if err != nil {
			refused++
			return
		}
		claims[claim]++
		for range 12 {
			v := instance(t, 2)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text(&v)))
			if err != nil {
				t.Fatal(err)
			}
			was, is := before.Validate(value) == nil, after.Validate(value) == nil
			var wrong bool
			switch claim {
			case "", pin.EffectEquivalent, pin.EffectAnnotation:
				wrong = was != is
			case pin.EffectWidened:
				wrong = was && !is
			case pin.EffectNarrowed:
				wrong = is && !was
			}
			if wrong {
				t.Fatalf("%s\n%s\nis %q, but %s: %v, then %v%s", text(&o), text(n), claim, text(&v), was, is, show(d))
			}
		}
	})
	t.Logf("claims %v, %d schemas the validator does not take", claims, refused)
	if sure := claims[pin.EffectWidened] + claims[pin.EffectNarrowed] + claims[pin.EffectEquivalent]; sure < 5 {
		t.Errorf("%d claims were held against the validator: the test holds less than it says", sure)
	}
}

func instance(t *rapid.T, depth int) toolmark.Value {
	switch kind := rapid.IntRange(0, 4).Draw(t, "instance"); {
	case depth == 0 || kind < 2:
		return scalar(t)
	case kind == 2:
		v := toolmark.Value{Kind: toolmark.KindArray}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v.Items = append(v.Items, instance(t, depth-1))
		}
		return v
	default:
		v := toolmark.Value{Kind: toolmark.KindObject}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "bc"}), 0, 3, rapid.ID[string]).Draw(t, "names") {
			v.Members = append(v.Members, toolmark.Member{Name: name, Value: instance(t, depth-1)})
		}
		return v
	}
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("nothing is fetched") }

func compile(m *toolmark.Manifest) (*jsonschema.Schema, error) {
	tree, _ := m.Tools[0].InputSchema()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text(tree)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}

// randomManifest gives a manifest of few tools with few names, so that names and
// contents repeat.
func randomManifest(t *rapid.T) *toolmark.Value {
	var list []toolmark.Value
	for range rapid.IntRange(0, 4).Draw(t, "tools") {
		var members []toolmark.Member
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			switch rapid.IntRange(0, 4).Draw(t, "member") {
			case 0:
				members = append(members, toolmark.Member{Name: "description", Value: str(rapid.SampledFrom(someTexts).Draw(t, "text"))})
			case 1:
				members = append(members, toolmark.Member{Name: "inputSchema", Value: rooted(t)})
			case 2:
				members = append(members, toolmark.Member{Name: "annotations", Value: datum(t, 2)})
			case 3:
				members = append(members, toolmark.Member{Name: "outputSchema", Value: datum(t, 3)})
			default:
				members = append(members, toolmark.Member{Name: rapid.SampledFrom(someNames).Draw(t, "name"), Value: datum(t, 2)})
			}
		}
		list = append(list, toolOf(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "tool"), members...))
	}
	v := tools(list...)
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		name := rapid.SampledFrom([]string{"serverInfo", "prompts", "resources", "instructions", "capabilities", "x", "nextCursor"}).Draw(t, "part")
		if name == "prompts" || name == "resources" {
			a := toolmark.Value{Kind: toolmark.KindArray}
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				a.Items = append(a.Items, toolOf(rapid.SampledFrom([]string{"p", "q"}).Draw(t, "entry"), toolmark.Member{Name: "description", Value: datum(t, 1)}))
			}
			v.Members = append(v.Members, toolmark.Member{Name: name, Value: a})
			continue
		}
		v.Members = append(v.Members, toolmark.Member{Name: name, Value: datum(t, 2)})
	}
	return v
}

// TestDriftIsExact: nothing differs from itself, a drift is empty only where the trees
// are the same to the last character, the drift makes the new from the old, and its JSON
// is ASCII.
func TestDriftIsExact(t *testing.T) {
	empty := 0
	rapid.Check(t, func(t *rapid.T) {
		tree := randomManifest(t)
		other := randomManifest(t)
		if rapid.Bool().Draw(t, "near") {
			other = tree
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				other = mutate(t, other, func() toolmark.Value { return datum(t, 2) })
			}
		}
		o, ok := reread(t, tree)
		n, fine := reread(t, other)
		if !ok || !fine {
			t.Skip("not a manifest")
		}
		if d := pin.Diff(o, o, pin.Options{}); !d.Empty() || d.Changed() || len(d.Tools) != 0 {
			t.Fatalf("%s differs from itself: %s", text(tree), show(d))
		}
		d := pin.Diff(o, n, pin.Options{})
		a, b := pin.Comparable(o, pin.Options{}), pin.Comparable(n, pin.Options{})
		if same := text(a) == text(b); same != d.Empty() {
			t.Fatalf("%s\n%s\nsame %v, drift%s", text(a), text(b), same, show(d))
		}
		mustApply(t, o, n, d)
		if equal(a, b) {
			empty++
			for i := range d.Changes {
				if c := &d.Changes[i]; c.Kind != pin.KindOrder && len(canonjson.Faults(c.New)) == 0 {
					t.Fatalf("only the order differs:%s", show(d))
				}
			}
		}
		for i := range d.Changes {
			c := &d.Changes[i]
			if c.Code.Title() == "" || c.Severity == 0 || c.Reason == "" || c.Kind == "" || c.Op == "" {
				t.Fatalf("not filled in: %+v", c)
			}
		}
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range data {
			if c < 0x20 || c > 0x7e {
				t.Fatalf("not ASCII: %q", data)
			}
		}
	})
	if empty == 0 {
		t.Error("no two manifests were equal: the test holds less than it says")
	}
}

// spots gives the pointers of all strings, numbers and constants below a value.
func spots(v *toolmark.Value, at string, list []string) []string {
	for i := range v.Items {
		list = spots(&v.Items[i], toolmark.Pointer(at, i), list)
	}
	for i := range v.Members {
		list = spots(&v.Members[i].Value, toolmark.Pointer(at, v.Members[i].Name), list)
	}
	if v.Kind != toolmark.KindArray && v.Kind != toolmark.KindObject {
		list = append(list, at)
	}
	return list
}

// with gives a copy of a value in which one place is another value.
func with(v *toolmark.Value, tokens []string, change func(*toolmark.Value) toolmark.Value) toolmark.Value {
	if len(tokens) == 0 {
		return change(v)
	}
	c := *v
	c.Items = append([]toolmark.Value(nil), v.Items...)
	c.Members = append([]toolmark.Member(nil), v.Members...)
	token := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[0])
	for i := range c.Items {
		if token == strconv.Itoa(i) {
			c.Items[i] = with(&v.Items[i], tokens[1:], change)
		}
	}
	for i := range c.Members {
		if c.Members[i].Name == token {
			c.Members[i].Value = with(&v.Members[i].Value, tokens[1:], change)
		}
	}
	return c
}

func ownManifest(tb testing.TB) *toolmark.Manifest {
	return manifest(tb, `{"serverInfo":{"name":"shelf","version":"1.2.0","title":"Shelf"},"instructions":"Ask for a shelf first.",
	"tools":[{"name":"put","title":"Put","description":"Puts a book on a shelf.","inputSchema":{"type":"object","required":["book","shelf"],
	"properties":{"book":{"$ref":"#/$defs/Book"},"shelf":{"type":["string","null"],"enum":["top","low",null],"default":"top"},"tags":{"type":"array","items":{"anyOf":[{"type":"string","maxLength":9},{"type":"integer"}]}}},
	"additionalProperties":false,"$defs":{"Book":{"type":"object","properties":{"title":{"type":"string","description":"As printed."}}}}},
	"annotations":{"readOnlyHint":false,"title":"Put a book"},"outputSchema":{"type":"object","properties":{"place":{"type":"integer","minimum":0}}},"_meta":{"a.example/x":[1,{"deep":[true]}]}},
	{"name":"take","description":"Takes a book from a shelf.","inputSchema":{"type":"object","properties":{"book":{"type":"string"}}}}],
	"prompts":[{"name":"sort","description":"Sorts the shelf.","arguments":[{"name":"by","required":true}]}],
	"resources":[{"uri":"shelf://top","name":"top"}],"resourceTemplates":[{"uriTemplate":"shelf://{id}","name":"any"}]}`)
}

// TestChangeIsReportedAtItsPlace changes one random place of a manifest, real ones where
// there are some, and wants the change there and nowhere else.
func TestChangeIsReportedAtItsPlace(t *testing.T) {
	manifests := []*toolmark.Manifest{ownManifest(t)}
	t.Run("real", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "benign"), "*.json"))
		if err != nil || len(files) < 40 {
			t.Fatalf("%d real manifests: %v", len(files), err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.Size() < 200_000 {
				manifests = append(manifests, read(t, f))
			}
		}
	})
	for _, m := range manifests[:1] {
		for _, at := range spots(pin.Comparable(m, pin.Options{}), "", nil) {
			changeAt(t, m, at, "another text")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(manifests).Draw(t, "manifest")
		list := spots(pin.Comparable(m, capture), "", nil)
		changeAt(t, m, rapid.SampledFrom(list).Draw(t, "place"), rapid.StringMatching(`new [a-z]{8} text`).Draw(t, "text"))
	})
}

func changeAt(t interface {
	Helper()
	Fatalf(string, ...any)
}, m *toolmark.Manifest, at, words string,
) {
	t.Helper()
	tree := pin.Comparable(m, capture)
	made := with(tree, strings.Split(at, "/")[1:], func(v *toolmark.Value) toolmark.Value {
		c := *v
		switch v.Kind {
		case toolmark.KindNumber:
			if c.Text = "77"; v.Text == c.Text {
				c.Text = "78"
			}
		case toolmark.KindTrue:
			c.Kind = toolmark.KindFalse
		case toolmark.KindFalse, toolmark.KindNull:
			c.Kind = toolmark.KindTrue
		default:
			c.Text = v.Text + " " + words
		}
		return c
	})
	old, err := toolmark.ReadManifest(tree)
	if err != nil {
		t.Fatalf("%v", err)
	}
	new, err := toolmark.ReadManifest(&made)
	if err != nil {
		return // a place that a manifest does not leave free, such as a null list
	}
	d := pin.Diff(old, new, pin.Options{})
	mustApply(t, old, new, d)
	if strings.HasPrefix(at, "/tools/") {
		index, rest, _ := strings.Cut(strings.TrimPrefix(at, "/tools/"), "/")
		if rest == "name" {
			if len(d.Tools) != 1 || d.Tools[0].Status != pin.StatusRenamed || d.Tools[0].OldIndex != mustAtoi(t, index) {
				t.Fatalf("a new name at %s is %+v%s", at, d.Tools, show(d))
			}
			return
		}
		if len(d.Tools) != 1 || len(d.Changes) != 1 || strconv.Itoa(d.Tools[0].NewIndex) != index || string(d.Changes[0].Pointer) != "/"+rest || !d.Changed() && !beside(&d.Changes[0]) {
			t.Fatalf("a change at %s is%s", at, show(d))
		}
		return
	}
	// An entry that is known by this very member is another entry.
	for _, key := range []string{"name", "uri", "uriTemplate"} {
		if strings.Count(at, "/") == 3 && strings.HasSuffix(at, "/"+key) && len(d.Changes) == 2 && d.Changed() {
			return
		}
	}
	if len(d.Changes) != 1 || string(d.Changes[0].Pointer) != at || !d.Changed() {
		t.Fatalf("a change at %s is%s", at, show(d))
	}
}

// beside reports whether a change is of a bound, which may be without effect beside a
// tighter one.
func beside(c *pin.Change) bool {
	return c.Effect == pin.EffectEquivalent && c.New.Kind == toolmark.KindNumber && strings.Contains(string(c.Pointer), "imum")
}

func mustAtoi(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string,
) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return n
}
