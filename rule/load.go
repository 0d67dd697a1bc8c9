package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/toolmark/toolmark"
)

// Limits of a rule set.
const (
	maxFile  = 1 << 20 // bytes of one file
	maxFiles = 2000
	maxNear  = 4 // families of one near condition
	// MaxWithin is the most words a near condition may reach over.
	MaxWithin     = 60
	defaultWithin = 8
	maxAround     = 200 // code points
)

// Options changes how a rule set is loaded. The zero Options checks all that can be
// checked without running the examples.
type Options struct {
	// Deferred leaves for later what only Verify and Examples need: examples are not
	// decoded, and a regular expression is compiled when it is first needed. It is for
	// a set whose Verify runs in the tests of the program that carries it.
	Deferred bool
	// Compiled is what Compile gave for the same files; "" means nothing. It stands for
	// them: they are read for the examples alone, and only when these are asked for. If
	// the files have changed since, it is passed over.
	Compiled string
	// Base is a set whose word families the new set may use. Its rule ids and its
	// retired ids may not be used again.
	Base *Set
}

// Load reads a rule set: every .yaml file below the root of fsys is a rule, apart
// from words/*.yaml, which are word families, and retired.yaml, the list of ids that
// must never be used again; <language>/<id>.yaml may extend a rule. Files and folders whose names begin with a dot or an
// underscore are passed over. The error joins all faults, each with file, line and
// rule.
func Load(fsys fs.FS) (*Set, error) { return Options{}.Load(fsys) }

// loader is the state of one Load.
type loader struct {
	options  Options
	fsys     fs.FS
	set      *Set
	numbered []*family
	needSets map[string]int32
	faults   []error
}

// Load is the function Load with options.
func (o Options) Load(fsys fs.FS) (*Set, error) {
	if o.Compiled != "" && o.Base == nil {
		if s, err := loadCompiled(o.Compiled, fsys); !errors.Is(err, errStale) {
			return s, err
		}
	}
	l := &loader{options: o, fsys: fsys, set: &Set{
		byID: map[string]*Rule{}, families: map[string]*family{}, retired: map[string]bool{},
	}, needSets: map[string]int32{}}
	if o.Base != nil {
		for _, name := range slices.Sorted(maps.Keys(o.Base.families)) {
			l.family(name).entries = slices.Clone(o.Base.families[name].entries)
		}
	}
	files, err := ruleFiles(fsys)
	if err != nil {
		return nil, fmt.Errorf("load rules: %w", err)
	}
	read := func(file string) ([]byte, error) {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("load rules: %w", err)
		}
		return data, nil
	}
	// Words first: rules name them.
	words, rest := splitFiles(files)
	lists := make([]wordList, len(words))
	if err := parallel(len(words), func(i int) error {
		data, err := read(words[i])
		lists[i] = readWords(words[i], data)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range lists {
		l.addWords(&lists[i])
	}
	l.resolveFamilies()
	if len(l.numbered) > maxFamilies {
		return nil, fmt.Errorf("load rules: more than %d word families", maxFamilies)
	}
	readers := make([]*ruleReader, len(rest))
	if err := parallel(len(rest), func(i int) error {
		data, err := read(rest[i])
		readers[i] = l.readFile(rest[i], data)
		return err
	}); err != nil {
		return nil, err
	}
	var extensions []*extension
	for _, r := range readers {
		l.faults = append(l.faults, r.faults...)
		switch {
		case len(r.faults) > 0:
		case r.extension != nil:
			extensions = append(extensions, r.extension)
		case r.rule != nil:
			l.set.rules = append(l.set.rules, r.rule)
		}
		for _, id := range r.retired {
			l.set.retired[id] = true
		}
	}
	l.extend(extensions)
	l.finish()
	if len(l.faults) > 0 {
		return nil, fmt.Errorf("load rules: %w", errors.Join(l.faults...))
	}
	return l.set, nil
}

// parallel calls do for 0 to n-1, on as many processors as there are, and gives the
// first error in order. It returns when all calls have.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = do(i)
			}
		})
	}
	workers.Wait()
	return cmp.Or(errs...)
}

// splitFiles parts the word files from the others.
func splitFiles(files []string) (words, rest []string) {
	for _, file := range files {
		if path.Base(path.Dir(file)) == "words" {
			words = append(words, file)
		} else {
			rest = append(rest, file)
		}
	}
	return words, rest
}

func ruleFiles(fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); p != "." && (name[0] == '.' || name[0] == '_') {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || path.Ext(p) != ".yaml" && path.Ext(p) != ".yml" {
			return nil
		}
		if path.Ext(p) == ".yml" {
			return fmt.Errorf("%s: the name must end in .yaml", p)
		}
		if files = append(files, p); len(files) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		return nil
	})
	return files, err // WalkDir goes in lexical order
}

// isID tells permanent names: lower-case letters, digits and single hyphens.
func isID(s string) bool {
	if s == "" || len(s) > 80 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			continue
		}
		if c != '-' || i == 0 || i == len(s)-1 || s[i-1] == '-' {
			return false
		}
	}
	return true
}

// ruleReader reads one rule.
type ruleReader struct {
	reader
	l    *loader
	rule *Rule

	toolExcuses []int      // lines of excuses with span tool
	examples    *yaml.Node // nil where they were cut off
	extension   *extension // the file extends a rule
	retired     []string   // in place of a rule
}

// withoutExamples cuts the examples off, where they are the last member.
func withoutExamples(data []byte) ([]byte, bool) {
	i := bytes.Index(data, []byte("\nexamples:"))
	if i < 0 {
		return data, false
	}
	for _, line := range bytes.Split(data[i+1:], []byte("\n"))[1:] {
		if len(line) > 0 && line[0] != ' ' && line[0] != '#' && line[0] != '\r' && !bytes.HasPrefix(line, []byte("- ")) {
			return data, false
		}
	}
	return data[:i+1], true
}

// readFile reads a rule, or the list of retired ids. It only reads l: files are read
// side by side.
func (l *loader) readFile(file string, data []byte) *ruleReader {
	r := &ruleReader{reader: reader{file: file}, l: l}
	if path.Base(file) == "retired.yaml" {
		if n := r.document(data, yaml.SequenceNode); n != nil {
			r.retired = r.texts(n)
		}
		return r
	}
	r.rule = &Rule{File: file, index: -1}
	head := data
	required := []string{"id", "title", "act", "severity", "explain", "fix", "any", "examples"}
	if l.options.Deferred {
		var cut bool
		if head, cut = withoutExamples(data); cut {
			required = required[:len(required)-1]
		}
	}
	if n := r.document(head, yaml.MappingNode); n != nil {
		r.read(n, required)
		source := exampleSource{file: file}
		if r.examples != nil {
			source.examples = r.readExamples(r.examples)
		} else {
			source.waits = l.fsys
		}
		r.rule.sources = []exampleSource{source}
	}
	return r
}

func (r *ruleReader) read(n *yaml.Node, required []string) {
	rule := r.rule
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key, value := n.Content[i], n.Content[i+1]; key.Value {
		case "id":
			r.reader.rule = value.Value
			rule.ID = r.reader.rule
		case "extends":
			r.reader.rule = value.Value
			r.extends(key, value, n, required)
			return
		}
	}
	str := func(into *string) func(_, v *yaml.Node) {
		return func(_, v *yaml.Node) { *into = strings.TrimSpace(r.text(v)) }
	}
	signal := false
	decoders := r.sharedDecoders()
	maps.Copy(decoders, map[string]func(key, value *yaml.Node){
		"id": func(_, v *yaml.Node) { r.id(v) }, "title": str(&rule.Title), "explain": str(&rule.Explain), "fix": str(&rule.Fix),
		"act": func(_, v *yaml.Node) {
			act, err := ParseAct(r.text(v))
			if err != nil {
				r.fault(v.Line, "%v", err)
			}
			rule.Act = act
		},
		"severity": func(_, v *yaml.Node) {
			if v.Value == signalSeverity {
				rule.Severity, signal = toolmark.Info, true
				return
			}
			severity, err := toolmark.ParseSeverity(r.text(v))
			if err != nil {
				r.fault(v.Line, "%v", err)
			}
			rule.Severity = severity
		},
		"weight":     func(_, v *yaml.Node) { rule.Weight = r.number(v, -MaxWeight, MaxWeight) },
		"references": func(_, v *yaml.Node) { rule.References = r.texts(v) },
		"surfaces": func(_, v *yaml.Node) {
			for _, name := range r.texts(v) {
				surface, err := toolmark.ParseSurface(name)
				if err != nil {
					r.fault(v.Line, "%v", err)
				}
				rule.Surfaces = append(rule.Surfaces, surface)
			}
			rule.surfaces = maskOf(rule.Surfaces)
		},
		"readings": func(_, v *yaml.Node) { rule.Readings = r.texts(v) },
	})
	r.members(n, decoders, required...)
	if signal != (rule.Weight != 0) {
		r.fault(n.Line, "a rule of severity signal has a weight that is not 0, and no other rule has one")
	}
	if signal {
		r.signalOnly(rule)
	}
	if rule.Severity == toolmark.High {
		r.refuseToolExcuses(r.toolExcuses)
	}
}

// sharedDecoders are those of the members that a rule and its extensions have.
func (r *ruleReader) sharedDecoders() map[string]func(key, value *yaml.Node) {
	rule := r.rule
	return map[string]func(key, value *yaml.Node){
		"any":       func(_, v *yaml.Node) { r.alternatives(v) },
		"unless":    func(_, v *yaml.Node) { rule.unless = r.excuses(v) },
		"downgrade": func(_, v *yaml.Node) { rule.downgrade = r.excuses(v) },
		"examples":  func(_, v *yaml.Node) { r.examples = v },
	}
}

func (r *reader) refuseToolExcuses(lines []int) {
	for _, line := range lines {
		r.fault(line, "a rule of severity high has no excuse with span tool: one honest word anywhere would launder an order")
	}
}

func (r *ruleReader) id(v *yaml.Node) {
	id := r.text(v)
	base := r.l.options.Base
	switch {
	case !isID(id):
		r.fault(v.Line, "%q: an id is lower-case letters, digits and hyphens", id)
	case strings.TrimSuffix(path.Base(r.file), path.Ext(r.file)) != id:
		r.fault(v.Line, "the file of rule %q must be named %s.yaml", id, id)
	case base != nil && (base.byID[id] != nil || base.retired[id]):
		r.fault(v.Line, "the id is that of a built-in rule, or was")
	}
}

func (r *ruleReader) alternatives(v *yaml.Node) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fault(v.Line, "\"any\" must be a list of alternatives")
		return
	}
	seen := map[string]bool{}
	for _, item := range v.Content {
		alt := &alternative{rule: r.rule, span: SpanSentence, file: r.file, line: item.Line}
		c := r.newCondition()
		decoders := c.decoders()
		decoders["id"] = func(_, v *yaml.Node) {
			alt.id = r.text(v)
			switch {
			case !isID(alt.id):
				r.fault(v.Line, "%q: an id is lower-case letters, digits and hyphens", alt.id)
			case seen[alt.id]:
				r.fault(v.Line, "alternative %q stands twice", alt.id)
			}
			seen[alt.id] = true
		}
		decoders["span"] = func(_, v *yaml.Node) { alt.span = r.span(v) }
		decoders["unless"] = func(_, v *yaml.Node) { alt.unless = r.excuses(v) }
		decoders["downgrade"] = func(_, v *yaml.Node) { alt.downgrade = r.excuses(v) }
		decoders["all"] = func(key, v *yaml.Node) {
			if v.Kind != yaml.SequenceNode || len(v.Content) < 2 || len(v.Content) > maxNear {
				r.fault(key.Line, "\"all\" must be a list of two to %d conditions", maxNear)
				return
			}
			for _, part := range v.Content {
				c := r.newCondition()
				if r.members(part, c.decoders()) {
					alt.conditions = append(alt.conditions, c.finish(part.Line))
				}
			}
		}
		if !r.members(item, decoders, "id") {
			continue
		}
		switch {
		case alt.conditions == nil:
			alt.conditions = []*condition{c.finish(item.Line)}
		case c.given():
			r.fault(item.Line, "\"all\" stands in place of \"regex\" and \"near\"")
		}
		r.rule.alternatives = append(r.rule.alternatives, alt)
	}
}

func (r *ruleReader) span(v *yaml.Node) Span {
	return Span(r.oneOf(v, string(SpanSentence), string(SpanPair), string(SpanField), string(SpanTool)))
}

const (
	scopeSentence = "sentence"
	scopeClause   = "clause"
	scopeTool     = "tool"
)

func (r *ruleReader) excuses(v *yaml.Node) []*excuse {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fault(v.Line, "must be a list of conditions")
		return nil
	}
	var list []*excuse
	for _, item := range v.Content {
		e := &excuse{scope: scopeSentence}
		c := r.newCondition()
		decoders := c.decoders()
		spanned := false
		decoders["span"] = func(_, v *yaml.Node) {
			e.scope, spanned = r.oneOf(v, scopeSentence, scopeClause, scopeTool), true
			if e.scope == scopeTool {
				r.toolExcuses = append(r.toolExcuses, v.Line)
			}
		}
		decoders["around"] = func(_, v *yaml.Node) { e.around = r.number(v, 1, maxAround) }
		decoders["quoted"] = func(_, v *yaml.Node) {
			if e.quoted = v.Value == "true"; !e.quoted {
				r.fault(v.Line, "\"quoted\" must be true or not stand here")
			}
		}
		if !r.members(item, decoders) {
			continue
		}
		if spanned && e.around > 0 {
			r.fault(item.Line, "\"around\" stands in place of \"span\"")
		}
		if c.given() || !e.quoted {
			e.condition = *c.finish(item.Line)
		}
		list = append(list, e)
	}
	return list
}
