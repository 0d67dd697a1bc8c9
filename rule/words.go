package rule

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wordList is what one file of words holds.
type wordList struct {
	families []family
	faults   []error
}

// readWords reads a file of word families, words/<language>.yaml: a mapping of
// family names to lists of words and phrases.
func readWords(file string, data []byte) wordList {
	r := &reader{file: file}
	language := strings.TrimSuffix(path.Base(file), path.Ext(file))
	var list wordList
	n := r.document(data, yaml.MappingNode)
	if n == nil {
		return wordList{faults: r.faults}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, words := n.Content[i], n.Content[i+1]
		name := key.Value
		switch {
		case !isID(name):
			r.fault(key.Line, "%q: the name of a family is lower-case letters, digits and hyphens", name)
			continue
		case seen[name]:
			r.fault(key.Line, "family %q stands twice in this file", name)
			continue
		case words.Kind != yaml.SequenceNode || len(words.Content) == 0:
			r.fault(words.Line, "family %q must be a list of words", name)
			continue
		}
		seen[name] = true
		f := family{name: name}
		for _, item := range words.Content {
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
		list.families = append(list.families, f)
	}
	list.faults = r.faults
	return list
}

// family gives the family of that name, a new one where there was none.
func (l *loader) family(name string) *family {
	f := l.set.families[name]
	if f == nil {
		f = &family{name: name, set: -1, number: len(l.numbered)}
		l.set.families[name] = f
		l.numbered = append(l.numbered, f)
	}
	return f
}

// addWords adds the words of one file: a family is the union of those of its name.
func (l *loader) addWords(list *wordList) {
	l.faults = append(l.faults, list.faults...)
	for i := range list.families {
		f := l.family(list.families[i].name)
		f.entries = append(f.entries, list.families[i].entries...)
		f.refers = append(f.refers, list.families[i].refers...)
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
