package rule

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// kept is a place at which an atom was found.
type kept struct{ atom, start, end int32 }

// keptBy gives all places of a's atoms, each once; those of a group are of all its
// atoms.
func keptBy(a *analysis, members map[int32][]int32) (list []kept, cut []int32) {
	for _, number := range a.touched {
		for k := a.last[number]; k > 0; k = a.spots[k-1].previous {
			atoms := members[number]
			if atoms == nil {
				atoms = []int32{number}
			}
			for _, atom := range atoms {
				list = append(list, kept{atom, a.spots[k-1].start, a.spots[k-1].end})
			}
		}
	}
	slices.SortFunc(list, func(x, y kept) int {
		return cmp.Or(cmp.Compare(x.atom, y.atom), cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end))
	})
	cut = slices.Clone(a.cut)
	slices.Sort(cut)
	return slices.Compact(list), slices.Compact(cut)
}

// oracle asks about every literal at every character of the folded text, and about every
// use of it by itself: nothing is passed over as it stands inside a word.
type oracle struct {
	byFirst map[byte][]place
	texts   map[byte][]string
	members map[int32][]int32
	literal map[int32]string // of each atom
}

func newOracle(x *index) *oracle {
	o := &oracle{map[byte][]place{}, map[byte][]string{}, map[int32][]int32{}, map[int32]string{}}
	for i, p := range x.places {
		first := x.text(int32(i))[0]
		p.left, p.right = false, false
		o.byFirst[first] = append(o.byFirst[first], p)
		o.texts[first] = append(o.texts[first], x.text(int32(i)))
		for _, u := range x.uses[p.from:p.to] {
			o.literal[u.atom] = x.text(int32(i))
		}
		if int(p.group) >= len(x.atoms) {
			for _, u := range x.uses[p.from:p.alone] {
				o.members[p.group] = append(o.members[p.group], u.atom)
			}
		}
	}
	return o
}

func (o *oracle) scan(a *analysis) {
	s := a.folded
	for i := range len(s) - paddings {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		for k, text := range o.texts[s[i]] {
			if hasPrefix(s[i:], text) {
				a.found(&o.byFirst[s[i]][k], i)
			}
		}
	}
}

// TestLookup holds the one pass of the index against asking about every literal at
// every place, over texts of the literals' own words, whole, cut, glued and with what
// folds to ASCII among them.
func TestLookup(t *testing.T) {
	builtin, err := Options{Deferred: true}.Load(os.DirFS("../rulepack"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Set{"diverse": diverse(t), "built-in": builtin} {
		o := newOracle(&s.index)
		random := rand.New(rand.NewPCG(6, 6))
		beside := []string{" ", " ", " ", "", "_", "-", "'", "ß", "ı", "\u212a", "ſ", "\u0640", "é", "不", "x", "7", ".", "\u00a0", "’", "\ufffd"}
		fast, slow := newAnalysis(s), newAnalysis(s)
		total := 0
		for range 700 {
			var b strings.Builder
			for range 1 + random.IntN(12) {
				word := s.index.literals[random.IntN(len(s.index.literals))].text
				if random.IntN(4) == 0 {
					word = pieces[random.IntN(len(pieces))]
				}
				switch random.IntN(12) {
				case 0:
					word = strings.ToUpper(word)
				case 1:
					word = strings.ToValidUTF8(word[:random.IntN(len(word)+1)], "")
				case 2:
					word = strings.ReplaceAll(strings.ReplaceAll(word, "ss", "ß"), "k", "\u212a")
				case 3:
					word = strings.Replace(word, "i", "ı", 1)
				}
				b.WriteString(word)
				b.WriteString(beside[random.IntN(len(beside))])
			}
			text := strings.ToValidUTF8(b.String(), "\ufffd")
			fast.read(text, nil)
			slow.take("", nil, nil)
			slow.text, slow.back = fast.text, fast.back
			slow.fold()
			o.scan(slow)
			got, gotCut := keptBy(fast, o.members)
			want, wantCut := keptBy(slow, o.members)
			want = slices.DeleteFunc(want, func(k kept) bool {
				// No match begins with the second half of ß.
				if r, _ := utf8.DecodeRuneInString(fast.text[k.start:]); (r == 'ß' || r == 'ẞ') && !strings.HasPrefix(o.literal[k.atom], "ss") {
					return !slices.Contains(got, k)
				}
				// Of a phrase in a pattern it is not looked whether what must follow it does.
				text, start, end := fast.text, k.start, k.end
				goesOn := int(end) < len(text) && isAlnum[text[end-1]] && isAlnum[text[end]] || start > 0 && isAlnum[text[start-1]] && isAlnum[text[start]]
				return s.index.atoms[k.atom].loose && goesOn && !slices.Contains(got, k)
			})
			// Place by place more phrases are cut off: those of which the key is not whole.
			more := slices.ContainsFunc(gotCut, func(n int32) bool { return !slices.Contains(wantCut, n) })
			if !slices.Equal(got, want) || more {
				for _, k := range slices.Concat(got, want) {
					if slices.Contains(got, k) != slices.Contains(want, k) {
						t.Errorf("%s: %q: atom %d %+v %+v at %q: in one pass %v, place by place %v", name, text, k.atom, s.index.atoms[k.atom], s.index.atoms[k.atom].entry, fast.text[k.start:k.end], slices.Contains(got, k), slices.Contains(want, k))
					}
				}
				t.Fatalf("%s: %q: %d places, %d wanted; cut %v, of %v", name, text, len(got), len(want), gotCut, wantCut)
			}
			total += len(got)
		}
		if total < 2000 {
			t.Errorf("%s: %d places found: the comparison says nothing", name, total)
		}
	}
}
