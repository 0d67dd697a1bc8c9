package rule

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readWords reads a file of word families, words/<language>.yaml: a mapping of
// family names to lists of words and phrases.
func (l *loader) readWords(file string, data []byte) {
	r := &reader{file: file}
	defer func() { l.faults = append(l.faults, r.faults...) }()
	language := strings.TrimSuffix(path.Base(file), path.Ext(file))
	n := r.document(data, yaml.MappingNode)
	if n == nil {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, list := n.Content[i], n.Content[i+1]
		name := key.Value
		switch {
		case !isID(name):
			r.fault(key.Line, "%q: the name of a family is lower-case letters, digits and hyphens", name)
			continue
		case seen[name]:
			r.fault(key.Line, "family %q stands twice in this file", name)
			continue
		case list.Kind != yaml.SequenceNode || len(list.Content) == 0:
			r.fault(list.Line, "family %q must be a list of words", name)
			continue
		}
		seen[name] = true
		f := l.set.families[name]
		if f == nil {
			f = &family{name: name, set: -1, number: len(l.numbered)}
			l.set.families[name] = f
			l.numbered = append(l.numbered, f)
		}
		for _, item := range list.Content {
			if item.Kind != yaml.ScalarNode {
				r.fault(item.Line, "family %q: a word must be text", name)
				continue
			}
			if other, ok := strings.CutPrefix(item.Value, "@"); ok && isID(other) {
				f.refers = append(f.refers, reference{other, file, item.Line})
				continue
			}
			// Words such as no and on are booleans to YAML 1.1; here a word is a word.
			e, err := parseEntry(item.Value, language)
			if err != nil {
				r.fault(item.Line, "family %q: %v", name, err)
				continue
			}
			f.entries = append(f.entries, e)
		}
	}
}

// reference is the name of another family in a family: its words belong to both.
type reference struct {
	name string
	file string
	line int
}

// resolveFamilies gives each family the words of those that it names. A family that
// names itself, over others or not, has nothing to add to itself.
func (l *loader) resolveFamilies() {
	own := make([][]entry, len(l.numbered))
	for i, f := range l.numbered {
		own[i] = f.entries
	}
	for _, f := range l.numbered {
		seen := map[*family]bool{f: true}
		queue := []*family{f}
		for len(queue) > 0 {
			next := queue[0]
			queue = queue[1:]
			for _, ref := range next.refers {
				other := l.set.families[ref.name]
				if other == nil {
					if next == f {
						r := reader{file: ref.file}
						r.fault(ref.line, "unknown family %q", ref.name)
						l.faults = append(l.faults, r.faults...)
					}
					continue
				}
				if !seen[other] {
					seen[other] = true
					queue = append(queue, other)
					f.entries = append(f.entries[:len(f.entries):len(f.entries)], own[other.number]...)
				}
			}
		}
	}
}
