package rule

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
)

// TestCompiledIsTheSame: a set from its compiled form matches, explains and verifies
// as the one from its files.
func TestCompiledIsTheSame(t *testing.T) {
	files := rules(t, append(diverseRules(), good)...)
	files["rules/de/good.yaml"] = file(germanGood)
	files["retired.yaml"] = file("[old-one]")
	files["words/de.yaml"] = file("not: [nicht, \"@omit\"]\ntell: [sag]\n")
	want, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Compile(files)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Compile(files); err != nil || !bytes.Equal(data, again) {
		t.Fatalf("compiled twice, it is not the same: %v", err)
	}
	got, err := Options{Compiled: string(data)}.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	if got.index.known != nil || got.alternatives[0].conditions[0].regex != nil && got.alternatives[0].conditions[0].regex.compiled != nil {
		t.Error("read from the files")
	}
	c := &codec{writing: true, numbers: map[string]uint64{}}
	c.set(got)
	if !bytes.HasSuffix(data, c.out) {
		t.Error("read and written again, it is not the same")
	}
	if !reflect.DeepEqual(got.retired, want.retired) || len(got.Rules()) != len(want.Rules()) {
		t.Fatalf("%d rules, retired %v", len(got.Rules()), got.retired)
	}
	for i, w := range want.Rules() {
		g := got.Rules()[i]
		if !reflect.DeepEqual([]any{g.ID, g.Title, g.Act, g.Severity, g.Explain, g.Fix, g.References, g.Surfaces, g.Readings, g.File, g.Alternatives()},
			[]any{w.ID, w.Title, w.Act, w.Severity, w.Explain, w.Fix, w.References, w.Surfaces, w.Readings, w.File, w.Alternatives()}) {
			t.Errorf("rule %s differs", w.ID)
		}
		ge, err := g.Examples()
		if err != nil {
			t.Fatal(err)
		}
		if we, _ := w.Examples(); !reflect.DeepEqual(ge, we) {
			t.Errorf("examples of %s differ", w.ID)
		}
	}
	// The placeholder examples of these rules do not hold; they must fail alike.
	if g, w := show2(got.Verify()), show2(want.Verify()); g != w {
		t.Errorf("verify says\n%s\nand of the files\n%s", g, w)
	}
	random := rand.New(rand.NewPCG(4, 4))
	found := 0
	for range 500 {
		fields := []Field{raw(toolmark.SurfaceDescription, compose(random.IntN, 40)), raw(toolmark.SurfaceParameter, compose(random.IntN, 12))}
		g, _ := got.Match(fields, nil)
		w, _ := want.Match(fields, nil)
		if show(g) != show(w) {
			t.Fatalf("on %q\ncompiled %s\nfiles %s", fields, show(g), show(w))
		}
		found += len(g)
	}
	if found < 50 {
		t.Errorf("only %d matches: the comparison says little", found)
	}
}

func show2(errs []error) string {
	var b strings.Builder
	for _, err := range errs {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

// TestCompiledOfOtherFiles: a compiled form that is not of these files is passed over,
// a damaged one is an error.
func TestCompiledOfOtherFiles(t *testing.T) {
	files := rules(t, good)
	data, err := Compile(files)
	if err != nil {
		t.Fatal(err)
	}
	changed := rules(t, strings.Replace(good, "keep {{secret}} hidden", "bury {{secret}} deep", 1))
	s, err := Options{Compiled: string(data)}.Load(changed)
	if err != nil {
		t.Fatal(err)
	}
	if m := matchText(t, s, "Bury id_rsa deep."); matched(m) != "good/pattern" {
		t.Error("the compiled form won over the changed files")
	}
	renamed := rules(t, good)
	renamed["more/good.yaml"] = renamed["rules/good.yaml"]
	delete(renamed, "rules/good.yaml")
	if s, err = (Options{Compiled: string(data)}).Load(renamed); err != nil || s.Find("good").File != "more/good.yaml" {
		t.Errorf("the compiled form won over a renamed file: %v", err)
	}
	for i := len(compiledMagic) + 4; i < len(data); i += 7 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x41
		if _, err := (Options{Compiled: string(bad)}).Load(files); err == nil {
			t.Fatalf("byte %d damaged, and no error", i)
		}
		if _, err := (Options{Compiled: string(data[:i])}).Load(files); err == nil {
			t.Fatalf("cut at %d, and no error", i)
		}
	}
	if _, err := Compile(rules(t, strings.Replace(good, "id: good", "id: better", 1), good+"x: y\n")); err == nil {
		t.Error("a faulty set is compiled")
	}
}

// FuzzReadCompiled: what is read in place of a compiled form, even with the right sum,
// ends in a set or in none, and does not panic.
func FuzzReadCompiled(f *testing.F) {
	data, err := Compile(rules(f, append(diverseRules(), good)...))
	if err != nil {
		f.Fatal(err)
	}
	body := data[len(compiledMagic)+8:]
	f.Add(0, byte(0))
	f.Add(len(body)-1, byte(0xff))
	f.Fuzz(func(t *testing.T, at int, with byte) {
		if at < 0 || at >= len(body) {
			return
		}
		bad := bytes.Clone(body)
		bad[at] = with
		s, err := readCompiled(string(bad), rules(t))
		if err == nil && len(s.alternatives) == 0 {
			t.Error("a set without alternatives")
		}
	})
}
