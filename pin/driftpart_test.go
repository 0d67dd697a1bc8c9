package pin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

func TestDriftParts(t *testing.T) {
	const base = `{"protocolVersion":"2025-06-18","serverInfo":{"name":"shelf","version":"1.0.0"},"capabilities":{"tools":{}},"instructions":"Ask first.",
		"tools":[{"name":"put","title":"Put","description":"Puts","icons":[{"src":"a"}],"execution":{"taskSupport":"optional"},"x":1}],
		"prompts":[{"name":"sort","description":"Sorts"},{"name":"find"}],"resources":[{"uri":"a:1","name":"one"}],"resourceTemplates":[{"uriTemplate":"a:{n}","name":"any"}]}`
	for _, test := range []struct{ from, to, want string }{
		{`"1.0.0"`, `"1.1.0"`, "D160 info * server-version /serverInfo/version"},
		{`"name":"shelf"`, `"name":"board"`, "D160 medium * server-name /serverInfo/name"},
		{`"serverInfo":{`, `"serverInfo":{"title":"T",`, "D140 high * title /serverInfo/title"},
		{`"serverInfo":{"name":"shelf","version":"1.0.0"},`, ``, "D160 medium * server-name /serverInfo"},
		{`"2025-06-18"`, `"2025-11-25"`, "D140 info * metadata /protocolVersion"},
		{`"tools":{}}`, `"tools":{"listChanged":true}}`, "D140 medium * metadata /capabilities/tools/listChanged"},
		{`"Ask first."`, `"Ask last."`, "D150 high * instructions /instructions"},
		{`"instructions":"Ask first.",`, ``, "D150 medium * instructions /instructions"},
		{`"Puts"`, `"Puts it"`, "D110 high put description /description"},
		{`"title":"Put",`, ``, "D140 medium put title /title"},
		{`"src":"a"`, `"src":"b"`, "D140 medium put metadata /icons/0/src"},
		{`"optional"`, `"required"`, "D140 medium put metadata /execution/taskSupport"},
		{`"x":1`, `"x":1,"y":{"z":"w"}`, "D140 medium put metadata /y"},
		{`"x":1`, `"x":1,"inputSchema":{"type":"object"}`, "D120 high put schema /inputSchema narrowed"},
		{`"x":1`, `"x":1,"input_schema":{"type":"object"}`, "D120 high put schema /input_schema narrowed"},
		{`"x":1`, `"x":1,"annotations":{"readOnlyHint":true}`, "D130 high put annotation /annotations"},
		{`"x":1`, `"x":1,"annotations":{"readOnlyHint":false}`, "D130 medium put annotation /annotations"},
		{`"Sorts"`, `"Sorts all"`, "D150 high * prompt /prompts/0/description"},
		{`{"name":"find"}`, `{"name":"seek"}`, "D150 high * prompt /prompts/1|D150 medium * prompt /prompts/1"},
		{`"name":"one"`, `"name":"two"`, "D150 high * resource /resources/0/name"},
		{`"name":"any"`, `"name":"all"`, "D150 high * resource /resourceTemplates/0/name"},
		{`"tools":[`, `"tools":[{"name":"take"},`, "D101 high take tool "},
		// Neutral, or not part of what is declared.
		{`"x":1`, `"x":1.0`, ""},
		{`"x":1`, `"x":1,"annotations":null`, ""},
		{`"x":1`, `"x":1,"inputSchema":null`, ""},
		{`[{"name":"sort","description":"Sorts"},{"name":"find"}]`, `[{"name":"find"},{"description":"Sorts","name":"sort"}]`, ""},
		{`{"protocolVersion"`, `{"toolmarkSnapshot":1,"source":"x","readAt":"2026-01-01T00:00:00Z","nextCursor":"c","ttlMs":5,"protocolVersion"`, ""},
	} {
		if !strings.Contains(base, test.from) {
			t.Fatalf("%s does not stand in the manifest", test.from)
		}
		d := diffBodies(t, base, strings.Replace(base, test.from, test.to, 1))
		var want []string
		if test.want != "" {
			want = strings.Split(test.want, "|")
		}
		if got := lines(d); !slices.Equal(got, want) {
			t.Errorf("%s to %s is %q, want %q", test.from, test.to, got, want)
		}
	}
}

func TestDriftShapes(t *testing.T) {
	plain := manifest(t, `{"tools":[{"name":"a"}]}`)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a"}]}}`,
		`{"tools":[{"name":"a"}],"pin":"` + strings.Repeat("0", 64) + `","other_servers":[]}`,
	} {
		if d := pin.Diff(plain, manifest(t, body), pin.Options{}); !d.Empty() {
			t.Errorf("%s:%s", body, show(d))
		}
	}
	server := manifest(t, `{"serverInfo":{"name":"s","version":"1"},"tools":[]}`)
	for _, body := range []string{
		`{"server":{"name":"s","version":"1"},"tools":[]}`,
		`{"server":{"name":"s","version":"1"},"serverInfo":null,"tools":[]}`,
	} {
		if d := pin.Diff(server, manifest(t, body), pin.Options{}); !d.Empty() {
			t.Errorf("%s:%s", body, show(d))
		}
	}
	if d := pin.Diff(plain, manifest(t, `{"instructions":"x","tools":[{"name":"a"}]}`), pin.Options{ToolsOnly: true}); !d.Empty() {
		t.Errorf("tools only:%s", show(d))
	}
	wantLines(t, pin.Diff(nil, plain, pin.Options{}), "D101 high a tool ")
}

func TestUnreadIsNotUnchanged(t *testing.T) {
	for _, d := range []*pin.Drift{pin.Diff(manifest(t, `{"tools":[]}`), nil, pin.Options{}), pin.Unread("no answer")} {
		if d.Empty() || !d.Changed() || d.Unread == "" || d.Fails(toolmark.High) {
			t.Errorf("%+v", d)
		}
		wantLines(t, d, "D190 medium * unread ")
		if _, err := pin.Apply(pin.Comparable(nil, pin.Options{}), d); err == nil {
			t.Error("applied")
		}
	}
}

// TestTwinsArePaired: of tools with one name those with equal contents belong together.
func TestTwinsArePaired(t *testing.T) {
	d := diffBodies(t,
		`{"tools":[{"name":"a","description":"1"},{"name":"a","description":"2"},{"name":"b"}]}`,
		`{"tools":[{"name":"a","description":"2"},{"name":"b"},{"name":"a","description":"3"},{"name":"a","description":"4"}]}`)
	wantLines(t, d, "D101 high a tool ", "D110 high a description /description")
	if c := at(t, d, "/description"); c.OldIndex != 0 || c.NewIndex != 2 {
		t.Errorf("from %d to %d", c.OldIndex, c.NewIndex)
	}
	if got := d.Of(&d.Tools[0]); len(got) != 1 || got[0].Pointer != "/description" {
		t.Errorf("changes of the first: %d", len(got))
	}
}

// TestAdditionalPropertiesIsSmall: what generators add and drop is shown and does not
// fail a check by default.
func TestAdditionalPropertiesIsSmall(t *testing.T) {
	const open, closed = `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
	wantLines(t, diffSchemas(t, open, closed), "D120 info a schema /inputSchema/additionalProperties narrowed")
	wantLines(t, diffSchemas(t, closed, open), "D120 info a schema /inputSchema/additionalProperties widened")
	wantLines(t, diffSchemas(t, open, strings.Replace(closed, "false", `{"description":"read it"}`, 1)), "D120 high a schema /inputSchema/additionalProperties annotation")
	wantLines(t, diffSchemas(t, `{"type":"object","properties":{}}`, `{"type":"object","properties":{"additionalProperties":{"type":"string"}}}`),
		"D120 high a schema /inputSchema/properties/additionalProperties narrowed")
}

// TestAttach: a change that brings a finding comes first, and findings that were there
// before are not news.
func TestAttach(t *testing.T) {
	d := diffBodies(t,
		`{"tools":[{"name":"a","description":"One."},{"name":"b","description":"Two."}],"instructions":"I"}`,
		`{"tools":[{"name":"new"},{"name":"a","description":"One!"},{"name":"b","description":"Two.","_meta":{"x":"copy the keys"}}],"instructions":"J"}`)
	finding := func(tool string, index int, pointer, excerpt string) toolmark.Finding {
		return toolmark.Finding{
			Code: toolmark.CodeHiddenText, Tool: toolmark.Text(tool), Index: index, Severity: toolmark.High, Reason: "r",
			Details: toolmark.HiddenTextDetails{Locations: []toolmark.Location{{Pointer: toolmark.Text(pointer), Excerpt: toolmark.Text(excerpt)}}},
		}
	}
	before := []toolmark.Finding{finding("a", 0, "/description", "same")}
	after := []toolmark.Finding{
		finding("a", 1, "/description", "same"), finding("b", 2, "/_meta/x", "copy"),
		finding(toolmark.WholeList, -1, "/instructions", "J"), finding(toolmark.WholeList, -1, "/elsewhere", "?"),
	}
	rest := d.Attach(before, after)
	if len(rest) != 1 || rest[0].Places()[0].Pointer != "/elsewhere" {
		t.Errorf("rest %+v", rest)
	}
	var first []string
	for _, c := range d.Changes[:2] {
		first = append(first, string(c.Pointer))
		if len(c.Findings) != 1 || c.Severity != toolmark.High || c.Neutral() {
			t.Errorf("%s has %d findings, %v", c.Pointer, len(c.Findings), c.Severity)
		}
	}
	if !slices.Equal(first, []string{"/instructions", "/_meta"}) {
		t.Errorf("first are %q:%s", first, show(d))
	}
	if c := at(t, d, "/description"); len(c.Findings) != 0 {
		t.Error("an old finding is news")
	}
}

func TestDriftJSON(t *testing.T) {
	d := diffBodies(t,
		`{"tools":[{"name":"a","description":"Old <b>","inputSchema":{"maximum":1e2}}]}`,
		`{"tools":[{"name":"a","description":"New \ud800\u202e<b>","inputSchema":{"maximum":9007199254740993}}]}`)
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"changed":true,"severity":"high","tools":[{"status":"changed","name":"a","old_index":0,"new_index":0,"schema":"widened","severity":"high"}]`,
		`"new":"New \ud800\u202e`, `{"op":"delete","text":"Old"}`, `{"op":"insert","text":"New"}`, `"old":1e2,"new":9007199254740993`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	data, err = json.Marshal(pin.Drift{})
	if want := `{"changed":false,"tools":[],"changes":[]}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
}

func TestTextDiff(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{"a", "a", "a"},
		{"", "new text", "{+new text+}"},
		{"old text", "", "[-old text-]"},
		{"the red fox runs", "the blue cat runs", "the [-red fox-]{+blue cat+} runs"},
		{"reads a file", "reads a hidden file", "reads a {+hidden +}file"},
		{"read_file now", "read_files now", "[-read_file-]{+read_files+} now"},
		{"the token", "the to\u200bken", "the to{+\u200b+}ken"},
		{"the token is", "the to\u200bken was", "the [-token is-]{+to\u200bken was+}"},
		{"a to\u200bken", "a token", "a to[-\u200b-]ken"},
		{" bb", " b\u200bb", " b{+\u200b+}b"},                // what is equal in the word continues what is equal before it
		{"a. bb", "c. b\u200bb", "[-a-]{+c+}. b{+\u200b+}b"}, // and after a change
		{"a bb.", "a b\u200bb\u200b. ", "a b{+\u200b+}b{+\u200b+}.{+ +}"},
		{"send it", "send it\U000e0041\U000e0042", "send it{+\U000e0041\U000e0042+}"},
		{"東京都", "東京市", "東京[-都-]{+市+}"},
		{"a\nb", "a\n\nb", "a\n{+\n+}b"},
		{"x\xed\xa0\x80", "x\xed\xa0\x81", "x[-\xed\xa0\x80-]{+\xed\xa0\x81+}"},
	} {
		var got strings.Builder
		for _, s := range pin.TextDiff(test.old, test.new) {
			switch s.Op {
			case pin.SegmentDelete:
				fmt.Fprintf(&got, "[-%s-]", string(s.Text))
			case pin.SegmentInsert:
				fmt.Fprintf(&got, "{+%s+}", string(s.Text))
			default:
				got.WriteString(string(s.Text))
			}
		}
		if got.String() != test.want {
			t.Errorf("%q to %q is %q, want %q", test.old, test.new, got.String(), test.want)
		}
	}
}

// TestTextDiffIsExact: the segments are both texts, whatever they are.
func TestTextDiffIsExact(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "word", " ", "  ", "\n", ".", "é", "e\u0301", "\u200b", "都", "\xed\xa0\x80", "\xff", "_", "👍🏽"})
	rapid.Check(t, func(t *rapid.T) {
		old := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "old"), "")
		new := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "new"), "")
		checkSegments(t, old, new, pin.TextDiff(old, new))
	})
	long := strings.Repeat("one two three ", 5000)
	checkSegments(t, long, strings.ReplaceAll(long, "two", "2"), pin.TextDiff(long, strings.ReplaceAll(long, "two", "2")))
}

// Words that differ in what is hidden in them are looked at letter by letter, so these
// draw texts in which that is common.
func TestTextDiffOfHiddenLettersIsExact(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab c\n\u200b")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		old, new := text.Draw(t, "old"), text.Draw(t, "new")
		checkSegments(t, old, new, pin.TextDiff(old, new))
	})
}

// FuzzTextDiff holds the same; its seeds are texts for which it did not.
func FuzzTextDiff(f *testing.F) {
	f.Add("send it", "send them")
	f.Fuzz(func(t *testing.T, old, new string) {
		checkSegments(t, old, new, pin.TextDiff(old, new))
	})
}

func checkSegments(t interface{ Fatalf(string, ...any) }, old, new string, list []pin.Segment) {
	var a, b strings.Builder
	for i, s := range list {
		if s.Text == "" || i > 0 && s.Op == list[i-1].Op {
			t.Fatalf("segment %d of %q", i, list)
		}
		if s.Op != pin.SegmentInsert {
			a.WriteString(string(s.Text))
		}
		if s.Op != pin.SegmentDelete {
			b.WriteString(string(s.Text))
		}
	}
	if a.String() != old || b.String() != new {
		t.Fatalf("%.200q to %.200q: %.500q", old, new, list)
	}
}

// TestHostileSchemas: what unfolds without end, or would take for ever to compare, is
// answered within its budget, and never as equivalent.
func TestHostileSchemas(t *testing.T) {
	laughs := func(leaf string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range 40 {
			fmt.Fprintf(&b, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
		}
		return b.String() + `"d40":` + leaf + `}}`
	}
	choices := func(n int, leaf string) string {
		return `{"allOf":[` + strings.Repeat(`{"anyOf":[{"minimum":1},{"maximum":3},{"type":"string"}]},`, n) + leaf + `]}`
	}
	values := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"v%d",`, i)
		}
		return `{"enum":[` + b.String() + last + `]}`
	}
	deep := func(leaf string) string {
		return strings.Repeat(`{"items":`, 500) + leaf + strings.Repeat(`}`, 500)
	}
	wide := func(last string) string {
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, `"w%d":0,`, i)
		}
		return `{"$ref":"#/w1",` + b.String() + last + `}`
	}
	names := func(n int, kind string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%s%d":{"type":"%s"},`, kind, i, kind)
		}
		return `{"properties":{` + b.String() + `"z":{}}}`
	}
	paths := func(leaf string) string {
		return strings.Repeat(`{"default":{"`+strings.Repeat("n", 10_000)+`":`, 20) + `[` + strings.Repeat(leaf+`,`, 100_000) + leaf + `]` + strings.Repeat(`}}`, 20)
	}
	for name, pair := range map[string][2]string{
		"laughs":  {laughs(`{"type":"string"}`), laughs(`{"type":"integer"}`)},
		"choices": {choices(200, `{"minLength":1}`), choices(200, `{"minLength":2}`)},
		"values":  {values(5000, `"x"`), values(5000, `"y"`)},
		"deep":    {deep(`{"type":"string"}`), deep(`{"type":"integer"}`)},
		"wide":    {wide(`"x":1`), wide(`"x":2`)},
		"names":   {names(8000, "integer"), names(8000, "string")},
		"paths":   {paths(`1`), paths(`2`)},
		"numbers": {`{"multipleOf":1e-999999999}`, `{"multipleOf":1e-999999998}`},
	} {
		const body = `{"tools":[{"name":"a","inputSchema":%s}]}`
		old, new := manifest(t, fmt.Sprintf(body, pair[0])), manifest(t, fmt.Sprintf(body, pair[1]))
		start := time.Now()
		d := pin.Diff(old, new, pin.Options{})
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s: %v, %s, %d changes", name, took, whole(d), len(d.Changes))
		}
		if !d.Changed() || whole(d) == pin.EffectEquivalent {
			t.Errorf("%s is %q:%.1000s", name, whole(d), show(d))
		}
		if made, err := pin.Apply(pin.Comparable(old, pin.Options{}), d); err != nil || string(canonjson.AppendPython(nil, made)) != string(canonjson.AppendPython(nil, pin.Comparable(new, pin.Options{}))) {
			t.Errorf("%s: the drift does not give the new manifest, %v", name, err)
		}
	}
}

// largeManifest gives n tools; round changes something small in each.
func largeManifest(tb testing.TB, n, round int) *toolmark.Manifest {
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Does thing number %d for the account and gives what came of it, in round %d.","inputSchema":{"type":"object","required":["account","limit"],"properties":{`+
			`"account":{"type":"string","description":"The account, by its name or number."},"limit":{"type":"integer","minimum":%d,"maximum":100,"description":"At most so many."},`+
			`"filter":{"type":"object","properties":{"state":{"type":"string","enum":["open","closed","all"]},"tags":{"type":"array","items":{"type":"string"}},"since":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}}}}},`+
			`"annotations":{"readOnlyHint":true,"title":"Thing %d"}}`, i, i, round, round, i)
	}
	return manifest(tb, b.String()+`]}`)
}

func BenchmarkDiff400(b *testing.B) {
	old := largeManifest(b, 400, 0)
	for name, new := range map[string]*toolmark.Manifest{
		"every tool changed": largeManifest(b, 400, 1),
		"nothing changed":    largeManifest(b, 400, 0),
		"all new":            manifest(b, strings.ReplaceAll(text(largeManifest(b, 400, 1).Tree), `"tool_`, `"work_`)),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pin.Diff(old, new, pin.Options{})
			}
		})
	}
}

// What a session agrees on depends on both sides, so it weighs little; what a server
// declares of itself in the same place does not.
func TestAgreedOnIsInfo(t *testing.T) {
	old := manifest(t, `{"protocolVersion":"2025-11-25","tools":[]}`)
	d := pin.Diff(old, manifest(t, `{"protocolVersion":"2026-07-28","supportedVersions":["2026-07-28"],"tools":[]}`), pin.Options{})
	if len(d.Changes) != 2 || d.Worst() != toolmark.Info {
		t.Errorf("%s", show(d))
	}
	if d = pin.Diff(old, manifest(t, `{"protocolVersion":"2025-11-25","offers":["2026-07-28"],"tools":[]}`), pin.Options{}); d.Worst() != toolmark.Medium {
		t.Errorf("%s", show(d))
	}
}
