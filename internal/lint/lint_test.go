package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/internal/shared"
)

func manifest(t *testing.T, text string) *toolmark.Manifest {
	t.Helper()
	v, err := canonjson.Parse([]byte(text), canonjson.Options{})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	m, err := toolmark.ReadManifest(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// server is a list of one version with the given tools.
func server(t *testing.T, version string, tools ...string) *toolmark.Manifest {
	t.Helper()
	return manifest(t, fmt.Sprintf(`{"serverInfo":{"name":"notes","version":%q},"capabilities":{"tools":{}},"tools":[%s]}`, version, strings.Join(tools, ",")))
}

func tool(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"id":{"type":"string"},"limit":{"type":"integer"}}}}`, name, description)
}

// said writes findings as "code tool kind".
func said(findings []toolmark.Finding) []string {
	list := []string{}
	for i := range findings {
		f := &findings[i]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Code, f.Tool, f.Details.(toolmark.AdviceDetails).Kind)))
	}
	return list
}

func expect(t *testing.T, name string, got []toolmark.Finding, want ...string) {
	t.Helper()
	if list := said(got); !slices.Equal(list, want) && len(list)+len(want) > 0 {
		t.Errorf("%s: %q, want %q", name, list, want)
	}
}

func TestRelease(t *testing.T) {
	const text = "Lists the notes of the notebook, newest first."
	base := server(t, "1.0.0", tool("list_notes", text), tool("drop_note", "Removes one note for good."))
	for _, c := range []struct {
		name string
		now  *toolmark.Manifest
		want []string
	}{
		{"nothing", server(t, "1.0.0", tool("list_notes", text), tool("drop_note", "Removes one note for good.")), nil},
		{"another order", server(t, "1.0.0", tool("drop_note", "Removes one note for good."), tool("list_notes", text)), nil},
		{"a new version alone", server(t, "1.0.1", tool("list_notes", text), tool("drop_note", "Removes one note for good.")), nil},
		{"a word, same version", server(t, "1.0.0", tool("list_notes", text+" Twenty at most."), tool("drop_note", "Removes one note for good.")), []string{"L101 *"}},
		{"a word, new version", server(t, "1.1.0", tool("list_notes", text+" Twenty at most."), tool("drop_note", "Removes one note for good.")), nil},
		{"another spelling, same version", server(t, "1.0.0",
			`{"name":"list_notes","description":"`+text+`","inputSchema":{"properties":{"limit":{"type":["integer"]},"id":{"type":"string"}},"type":"object"}}`,
			tool("drop_note", "Removes one note for good.")), nil},
		{
			"another tool under the name", server(t, "2.0.0", tool("list_notes", "Sends an invoice by e-mail to every customer with an open balance."), tool("drop_note", "Removes one note for good.")),
			[]string{"L104 list_notes description"},
		},
		{"other parameters under the name", server(t, "2.0.0",
			`{"name":"list_notes","description":"`+text+`","inputSchema":{"type":"object","properties":{"amount":{"type":"number"},"to":{"type":"string"}}}}`,
			tool("drop_note", "Removes one note for good.")), []string{"L104 list_notes schema"}},
		{"reworded, same meaning", server(t, "2.0.0", tool("list_notes", "Gives the notes of the notebook, the newest ones first."), tool("drop_note", "Removes one note for good.")), nil},
		{"removed", server(t, "2.0.0", tool("list_notes", text)), []string{"L105 *"}},
		{"renamed", server(t, "2.0.0", tool("list_notes", text), tool("delete_note", "Removes one note for good.")), []string{"L105 delete_note"}},
	} {
		expect(t, c.name, Check(Input{Manifest: c.now, Previous: base}), c.want...)
	}
}

// TestRemovedAfterDeprecation: a release that said so makes the removal one that people
// could see coming.
func TestRemovedAfterDeprecation(t *testing.T) {
	for _, c := range []struct {
		old  string
		want []string
	}{
		{tool("drop_note", "Deprecated: use delete_note. Removes one note."), nil},
		{tool("drop_note", "Removes one note. Use `delete_note` instead."), nil},
		{tool("drop_note", "Removes one note. This tool will be removed in 3.0."), nil},
		{`{"name":"drop_note","description":"Removes one note.","deprecated":true,"inputSchema":{}}`, nil},
		{`{"name":"drop_note","description":"Removes one note.","_meta":{"example.com/deprecated":"use delete_note"},"inputSchema":{}}`, nil},
		{`{"name":"drop_note","description":"Removes one note.","deprecated":false,"inputSchema":{}}`, []string{"L105 *"}},
		{tool("drop_note", "Removes one note instead of archiving it."), []string{"L105 *"}},
	} {
		expect(t, c.old, Check(Input{Manifest: server(t, "2.0.0", tool("other", "Does something else.")), Previous: server(t, "1.0.0", c.old, tool("other", "Does something else."))}), c.want...)
	}
}

func TestVersions(t *testing.T) {
	m := server(t, "1.4.0", tool("a", "Adds."))
	expect(t, "equal", Check(Input{Manifest: m, Packages: []Package{{"server.json", "1.4.0"}, {"package.json", "v1.4.0"}, {"other.json", ""}}}))
	got := Check(Input{Manifest: m, Packages: []Package{{"server.json", "1.5.0"}, {"package.json", "1.4.0"}}})
	expect(t, "behind", got, "L102 *")
	if d := got[0].Details.(toolmark.AdviceDetails); d.File != "server.json" || d.Old != "1.5.0" || d.New != "1.4.0" {
		t.Errorf("%+v", d)
	}
	expect(t, "no version", Check(Input{Manifest: manifest(t, `{"tools":[]}`), Packages: []Package{{"server.json", "1.5.0"}}}), "L102 *")
}

func TestListChanged(t *testing.T) {
	silent := server(t, "1", tool("a", "Adds."))
	declares := manifest(t, `{"serverInfo":{"name":"n","version":"1"},"capabilities":{"tools":{"listChanged":true}},"tools":[`+tool("a", "Adds.")+`]}`)
	more := server(t, "1", tool("a", "Adds."), tool("b", "Subtracts."))
	moreDeclared := manifest(t, `{"serverInfo":{"name":"n","version":"1"},"capabilities":{"tools":{"listChanged":true}},"tools":[`+tool("a", "Adds.")+`,`+tool("b", "Subtracts.")+`]}`)
	for _, c := range []struct {
		name     string
		m        *toolmark.Manifest
		live     *Live
		severity toolmark.Severity
	}{
		{"nothing was held open", declares, nil, 0},
		{"not declared, not changed", silent, &Live{Later: silent}, 0},
		{"declared and changed", declares, &Live{Notified: true, Later: moreDeclared}, 0},
		{"declared, never seen", declares, &Live{Later: declares}, toolmark.Info},
		{"changed, not declared", silent, &Live{Later: more}, toolmark.Medium},
		{"changed and declared, not said", declares, &Live{Later: moreDeclared}, toolmark.Medium},
		{"said, not declared", silent, &Live{Notified: true}, toolmark.Medium},
		{"another session had another list", silent, &Live{First: more, Later: more}, 0},
		{"no way to say so, and nothing to say", declares, &Live{Deaf: true, Later: declares}, 0},
		{"no way to say so", declares, &Live{Deaf: true, Later: moreDeclared}, toolmark.Medium},
		{"another order", more, &Live{Later: server(t, "1", tool("b", "Subtracts."), tool("a", "Adds."))}, 0},
	} {
		got := Check(Input{Manifest: c.m, Live: c.live})
		switch {
		case c.severity == 0 && len(got) > 0:
			t.Errorf("%s: %q", c.name, said(got))
		case c.severity != 0 && (len(got) != 1 || got[0].Code != toolmark.CodeListChanged || got[0].Severity != c.severity):
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestCaseC20_C21_SessionsDiffer: definitions that follow the caller or the language are
// told as such.
func TestCaseC20_C21_SessionsDiffer(t *testing.T) {
	first := server(t, "1", tool("a", "Adds two numbers."), tool("b", "Subtracts."))
	german := server(t, "1", tool("a", "Addiert zwei Zahlen."), tool("b", "Subtracts."))
	tenant := server(t, "1", tool("b", "Subtracts."), tool("a", "Adds two numbers."), tool("billing", "Shows what the tenant owes."))
	expect(t, "same", Check(Input{Manifest: first, Sessions: []Session{{"session 2", server(t, "1", tool("b", "Subtracts."), tool("a", "Adds two numbers."))}}}))
	got := Check(Input{Manifest: first, Sessions: []Session{{"session 2", first}, {"locale de_DE", german}, {"header", tenant}}})
	expect(t, "differ", got, "L106 a", "L106 *")
	d := got[0].Details.(toolmark.AdviceDetails)
	if got[0].Severity != toolmark.High || d.Old != "Adds two numbers." || d.New != "Addiert zwei Zahlen." || !slices.Equal(d.Sessions, []string{"locale de_DE"}) || d.Locations[0].Pointer != "/description" {
		t.Errorf("%+v", got[0])
	}
	if d := got[1].Details.(toolmark.AdviceDetails); !slices.Equal(d.Names, []toolmark.Text{"billing"}) || !slices.Equal(d.Sessions, []string{"header"}) {
		t.Errorf("%+v", d)
	}
}

func TestChangelog(t *testing.T) {
	old := server(t, "1.0.0", tool("list_notes", "Lists the notes, newest first."), tool("drop_note", "Deprecated. Removes a note."))
	now := server(t, "1.1.0", tool("list_notes", "Lists the notes, oldest first."),
		`{"name":"add_note","description":"Adds a note.","inputSchema":{"type":"object"}}`)
	in := Input{Manifest: now, Previous: old, ChangelogFile: "CHANGELOG.md"}
	in.Changelog = "## 1.1.0\n\n- tidied up\n"
	expect(t, "says nothing", Check(in), "L109 list_notes", "L109 add_note", "L109 *")
	in.Changelog = "## 1.1.0\n\n### list_notes\n\n> Lists the **notes**,\n> newest first.\n\nis now\n\n> Lists the notes, oldest\n> first.\n\n- new: `add_note`\n- gone: `drop_note`\n"
	expect(t, "quotes all", Check(in))
	in.Changelog = "### list_notes\n\n> Lists the notes, oldest first.\n\nadd_note, drop_note"
	expect(t, "lacks the old text", Check(in), "L109 list_notes")
	in.Changelog, in.ChangelogFile = "", ""
	expect(t, "no changelog asked for", Check(in))
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  []string
	}{
		{[]string{"list_notes", "list-notes", "notes.list2", "A1"}, nil},
		{[]string{"list notes"}, []string{"L110 list notes characters"}},
		{[]string{"größe"}, []string{"L110 größe characters"}},
		{[]string{strings.Repeat("n", 129)}, []string{"L110 " + strings.Repeat("n", 129) + " length"}},
		{[]string{strings.Repeat("n", 128)}, nil},
		{[]string{"getNote", "getnote"}, []string{"L110 getNote collision"}},
		{[]string{"notes.get", "notes_get"}, []string{"L110 notes.get collision"}},
		{[]string{strings.Repeat("n", 70) + "a", strings.Repeat("n", 70) + "b"}, []string{"L110 " + strings.Repeat("n", 70) + "a collision"}},
		{[]string{"same", "same"}, nil}, // W022
	} {
		var tools []string
		for _, name := range c.names {
			tools = append(tools, tool(name, "Adds."))
		}
		expect(t, strings.Join(c.names, " "), Check(Input{Manifest: server(t, "1", tools...)}), c.want...)
	}
}

func TestFlagged(t *testing.T) {
	expect(t, "plain", Check(Input{Manifest: server(t, "1", tool("a", "Adds <b>two</b> numbers, 1 < 2."))}))
	expect(t, "comment", Check(Input{Manifest: server(t, "1", tool("a", "Adds. <!-- for reviewers: nothing --> Two numbers."))}), "L108 a html-comment")
	got := Check(Input{Manifest: server(t, "1", tool("a", "Adds. Token VGhpcyBpcyBvbmx5IGEgbG9uZyBub3RlIGZvciB0aGUgdGVzdC4gTm90aGluZyBlbHNlLg=="))})
	expect(t, "base64", got, "L108 a base64")
	if got[0].Severity != toolmark.Info {
		t.Errorf("base64 is %v", got[0].Severity)
	}
	scan := []toolmark.Finding{
		{Code: toolmark.CodeHiddenText, Severity: toolmark.Medium, Index: 0, Tool: "a", Details: toolmark.HiddenTextDetails{Locations: []toolmark.Location{{Pointer: "/description", Start: 1, End: 2}}}},
		{Code: toolmark.CodePoisoning, Severity: toolmark.High, Index: 0, Tool: "a", Details: toolmark.PoisonDetails{Locations: []toolmark.Location{{Pointer: "/description"}}}},
		{Code: toolmark.CodePoisoning, Severity: toolmark.Info, Index: 0, Tool: "a", Details: toolmark.PoisonDetails{Locations: []toolmark.Location{{Pointer: "/description"}}}},
	}
	expect(t, "from a scan", Check(Input{Manifest: server(t, "1", tool("a", "Adds.")), Scan: scan}), "L108 a E001", "L108 a W021")
}

func TestVolatile(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	around := Surroundings{User: "mlarsen", Home: "/home/mlarsen", Host: "build-7.example", Dir: "/srv/notes-run"}
	for _, c := range []struct {
		text string
		want string
	}{
		{"Lists notes. Today is 2026-11-30.", "date"},
		{"Lists notes. Today is 2024-03-01.", "date"},
		{"Lists notes until 2026-12-01 in the server's zone.", "date"},
		{"Lists notes (server started 2026-11-30T08:15:00Z).", "time"},
		{"Lists notes. The current date is 30 November 2026.", "date"},
		{"Lists notes. Current time: 2025-01-01T10:00:00Z", "time"},
		{"今日は2026年11月30日です。", "date"},
		{"Lists notes. The current time is 23:29.", "time"},
		{"Server time: 01:30:12", "time"},
		{"The current time, e.g. 23:29", ""},
		{"Wakes you at 06:30, server time or local time 12h later.", ""},
		{"Lists notes (served at 1796080999).", "time"},
		{"Cache key 1796080999123.", "time"},
		{"Seconds since 1970, such as 1700000000", ""},
		{"Order 17960809991, or 996080999.", ""},
		{"Takes /Users/john/a.txt as /home/projects/a.txt.", ""},
		{"Day to list, YYYY-MM-DD, e.g. 2024-01-01.", ""},
		{"Start of the range, such as 2024-01-01T00:00:00Z", ""},
		{"The date from which to list; default 2020-01-01", ""},
		{"Uses API version 2026-07.", ""},
		{"Deployed as build 20261130.", "build date"},
		{"Lists notes of mlarsen.", "user"},
		{"Lists notes of mlarsenson.", ""},
		{"Reads below /home/mlarsen/notes.", "path user"},
		{"Reads below /srv/notes-run only.", "path"},
		{"Runs on build-7.example.", "host"},
		{"Reads below /home/ktanaka/notes.", "path"},
		{"Absolute path, e.g. /home/ktanaka/notes.", ""},
		{"Absolute path such as C:\\Users\\you\\notes.", ""},
		{"Opens C:\\Users\\ktanaka\\notes.db", "path"},
		{"Put files in /home/user/notes.", ""},
		{"Session: 7d1f8a52-9b0e-4c6d-a3f1-5e2b7c9d4a60", "uuid"},
		{"Takes an id like 7d1f8a52-9b0e-4c6d-a3f1-5e2b7c9d4a60", ""},
		{"The collection (7d1f8a52-9b0e-4c6d-a3f1-5e2b7c9d4a60) is public.", ""},
		{"Lists notes (build 4f9c2e1).", "build"},
		{"Shows the commit named by a hash, for example commit 4f9c2e1a.", ""},
		{"Shows a commit; build tools are found.", ""},
	} {
		got := Check(Input{Manifest: server(t, "1", tool("a", c.text)), Now: now, Surroundings: around})
		var kinds []string
		for _, f := range got {
			if f.Code != toolmark.CodeVolatile {
				t.Errorf("%q: %s", c.text, f.Code)
			}
			kinds = append(kinds, f.Details.(toolmark.AdviceDetails).Kind)
		}
		slices.Sort(kinds)
		if strings.Join(kinds, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.text, kinds, c.want)
		}
	}
}

// A default that was the time when the server started.
func TestVolatileNumbers(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	number := func(text string) toolmark.Finding {
		m := server(t, "1", `{"name":"a","description":"Lists.","inputSchema":{"type":"object","properties":{"since":{"type":"number","default":`+text+`}}}}`)
		got := Check(Input{Manifest: m, Now: now})
		if len(got) == 0 {
			return toolmark.Finding{}
		}
		return got[0]
	}
	for _, text := range []string{"1796080999", "1796080999.25", "1796080999000"} {
		f := number(text)
		d, _ := f.Details.(toolmark.AdviceDetails)
		if f.Code != toolmark.CodeVolatile || d.Kind != "time" || len(d.Locations) != 1 || d.Locations[0].Pointer != "/inputSchema/properties/since/default" {
			t.Errorf("%s: %+v", text, f)
		}
	}
	for _, text := range []string{"0", "1700000000", "2147483647", "4294967295", "17960809990", "1e9"} {
		if f := number(text); f.Code != "" {
			t.Errorf("%s: %+v", text, f)
		}
	}
}

func TestOwnObjects(t *testing.T) {
	enum := func(values string) string {
		return `{"name":"a","description":"Picks.","inputSchema":{"type":"object","properties":{"p":{"type":"string","enum":[` + values + `]}}}}`
	}
	for values, want := range map[string]bool{
		`"7d1f8a52-9b0e-4c6d-a3f1-5e2b7c9d4a60","0b8e6f4c-1d2a-4f3b-8c5d-9e7a6b5c4d3e"`: true,
		`"kim@firm.example","ola@firm.example"`:                                         true,
		`"proj_9f8a7b6c5d4e","proj_1a2b3c4d5e6f"`:                                       true,
		`"asc","desc"`:                  false,
		`"user_created","user_deleted"`: false,
		`"2024-11-05","2025-03-26"`:     false,
		``:                              false,
	} {
		got := Check(Input{Manifest: server(t, "1", enum(values))})
		if (len(got) == 1) != want {
			t.Errorf("[%s]: %q", values, said(got))
		}
	}
}

// TestCapturesAreQuiet holds the advice to real servers: of 47, captured at another time on
// another machine, no definition holds a value of the moment, and few names or texts are
// worth a word.
func TestCapturesAreQuiet(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "benign"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	tools := 0
	counts := map[toolmark.Code]int{}
	for _, file := range files {
		m := readManifest(t, file)
		tools += len(m.Tools)
		for _, f := range Check(Input{Manifest: m, Now: time.Now(), Surroundings: Surroundings{User: "root", Home: "/root", Host: "localhost"}}) {
			counts[f.Code]++
			if f.Code == toolmark.CodeVolatile {
				t.Errorf("%s: %s %+v", filepath.Base(file), f.Tool, f.Details)
			}
		}
	}
	if len(files) != 47 || tools < 1600 {
		t.Fatalf("%d files, %d tools", len(files), tools)
	}
	if n := counts[toolmark.CodeFlagged] + counts[toolmark.CodeAwkwardName]; n > tools/100 {
		t.Errorf("%v on %d honest tools", counts, tools)
	}
	// The same captures with values of the moment put into them, as servers do: all found.
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, file := range files {
		m := readManifest(t, file)
		if len(m.Tools) == 0 {
			continue
		}
		d := m.Tools[0].Tree.Get("description")
		if d.Kind != toolmark.KindString {
			continue
		}
		d.Text += " Served on 2026-11-30 for mlarsen."
		got := Check(Input{Manifest: m, Now: now, Surroundings: Surroundings{User: "mlarsen"}})
		if list := strings.Join(said(got), "\n"); !strings.Contains(list, "L107 "+m.Tools[0].Name+" date") || !strings.Contains(list, "L107 "+m.Tools[0].Name+" user") {
			t.Errorf("%s: %q", filepath.Base(file), list)
		}
	}
}

// TestHistoryHasNoReplacedTool: of the releases of real servers none made a tool another
// one, and every one that was removed is told.
func TestHistoryHasNoReplacedTool(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(shared.Path(t, "corpus", "history"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, counts := 0, map[toolmark.Code]int{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(files); i++ {
			pairs++
			for _, f := range Check(Input{Manifest: readManifest(t, files[i]), Previous: readManifest(t, files[i-1])}) {
				counts[f.Code]++
				if f.Code == toolmark.CodeRepurposed {
					t.Errorf("%s: %s %+v", files[i], f.Tool, f.Details)
				}
			}
		}
	}
	if pairs != 23 || counts[toolmark.CodeRemovedUnannounced] == 0 || counts[toolmark.CodeVersionNotBumped] == 0 {
		t.Errorf("%d pairs: %v", pairs, counts)
	}
}

func readManifest(t *testing.T, file string) *toolmark.Manifest {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return manifest(t, string(data))
}
