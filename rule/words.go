package rule

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

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
	lists, ok := plainLists(data)
	if !ok {
		lists = r.lists(data)
	}
	var list wordList
	seen := map[string]bool{}
	for _, words := range lists {
		switch {
		case !isID(words.name):
			r.fault(words.line, "%q: the name of a family is lower-case letters, digits and hyphens", words.name)
			continue
		case seen[words.name]:
			r.fault(words.line, "family %q stands twice in this file", words.name)
			continue
		case len(words.items) == 0:
			r.fault(words.line, "family %q must be a list of words", words.name)
			continue
		}
		seen[words.name] = true
		f := family{name: words.name, entries: make([]*entry, 0, len(words.items))}
		for _, item := range words.items {
			if other, ok := strings.CutPrefix(item.text, "@"); ok && isID(other) {
				f.refers = append(f.refers, reference{other, file, item.line})
				continue
			}
			e, err := parseEntry(item.text, language)
			if err != nil {
				r.fault(item.line, "family %q: %v", words.name, err)
				continue
			}
			f.entries = append(f.entries, &e)
		}
		list.families = append(list.families, f)
	}
	list.faults = r.faults
	return list
}

// nameList is a name with a list of texts, and the lines they stand in.
type nameList struct {
	name  string
	line  int
	items []listItem
}

type listItem struct {
	text string
	line int
}

// lists reads a mapping of names to lists of texts. Words such as no and on are
// booleans to YAML 1.1; here a word is a word.
func (r *reader) lists(data []byte) []nameList {
	n := r.document(data, yaml.MappingNode)
	if n == nil {
		return nil
	}
	var lists []nameList
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		list := nameList{name: key.Value, line: key.Line}
		if value.Kind == yaml.SequenceNode {
			for _, item := range value.Content {
				if item.Kind != yaml.ScalarNode {
					r.fault(item.Line, "family %q: a word must be text", list.name)
					continue
				}
				list.items = append(list.items, listItem{item.Value, item.Line})
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// plainLists reads what lists reads, some twenty times as fast, where the text is of
// the plainest kind: comments, empty lines, and lines of the form
//
//	name: [word, "a phrase", 'another']
//
// with quoted texts that hold neither their quote nor a backslash, and plain ones of
// letters, digits, and a few marks inside that mean nothing to YAML. Of anything else
// it reads nothing and says so, and the YAML reader has its turn. The words of
// thirteen languages are read at every start of the program; hence the trouble.
func plainLists(data []byte) ([]nameList, bool) {
	if len(data) > maxFile || !utf8.Valid(data) {
		return nil, false
	}
	var lists []nameList
	rest := string(data)
	for line := 1; rest != ""; line++ {
		var text string
		text, rest, _ = strings.Cut(rest, "\n")
		if text == "" || text[0] == '#' {
			if !plainText(text) {
				return nil, false
			}
			continue
		}
		name, items, ok := strings.Cut(text, ": [")
		if !ok || !isID(name) || name[0] <= '9' || !plainText(items) {
			return nil, false
		}
		list := nameList{name: name, line: line, items: make([]listItem, 0, 1+strings.Count(items, ","))}
		for {
			var item string
			if item, items, ok = plainItem(items); !ok {
				return nil, false
			}
			list.items = append(list.items, listItem{item, line})
			if items == "]" {
				break
			}
			if !strings.HasPrefix(items, ", ") {
				return nil, false
			}
			items = items[2:]
		}
		lists = append(lists, list)
	}
	return lists, len(lists) > 0
}

// plainText tells text without control characters and without what YAML takes for a
// line break or refuses.
func plainText(s string) bool {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa1 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfffe {
			return false
		}
	}
	return true
}

// plainItem takes one text off the front of a list.
func plainItem(s string) (item, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if quote := s[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(s[1:], quote)
		if end < 0 || strings.IndexByte(s[1:1+end], '\\') >= 0 {
			return "", "", false
		}
		return s[1 : 1+end], s[2+end:], true
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r) || r >= '0' && r <= '9':
			continue
		case r == '.' || r == '/' || r == '~':
			continue
		case i > 0 && (r == '_' || r == '-' || r == '*' || r == '\'' || r == '’'):
			continue
		case i > 0 && (r == ',' || r == ']'):
			return s[:i], s[i:], true
		}
		return "", "", false
	}
	return "", "", false
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
	own := make([][]*entry, len(l.numbered))
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
