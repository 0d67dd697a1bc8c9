package shadow

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Text is one text of a tool, with its readings.
type Text struct {
	Pointer  string
	Readings []textcheck.Reading
}

// Marks stand in a sentence for the names of tools, so that a pattern speaks of any
// tool. Text of a manifest that has them already is taken as it is: the mark then
// names no tool and is dropped with it.
const (
	markForeign = "\ue000" // a tool of another server, known or by its looks
	markOwn     = "\ue001" // a tool of this server
)

// sway is one way in which a text interferes with another server's tool.
type sway struct {
	pattern func() *regexp.Regexp
	// needs are groups of lower-case words; every text that the pattern matches has one
	// of each group.
	needs [][]string
	// known asks that the name is that of a tool of a known other server; without it
	// a name that looks like a tool's will do.
	known bool
	// called asks that an unknown tool is called one in so many words: what is "used"
	// or "present" may be a field as well.
	called bool
	alters bool // changes how the tool is used, or takes its place
}

const (
	foreign = markForeign
	gap     = `[^` + markForeign + markOwn + `]`
	// what is ordered may well name the server's own tools
	wide = `[^` + markForeign + `]`
	// a foreign tool with what may cling to its name
	named = foreign + "[`'’\"*)]*(?:s\\b)?" + `(?:\)|\s+(?:tool|function|method|command|server)s?)*`
	// "(mcp_mail) send" is one tool with its server before it
	before = `(?:` + foreign + `[)\]\s:]{1,3})?`
	when   = `\b(?:when|whenever|if|once|each\s+time|every\s+time|any\s+time)\s+`
	// one of these stands in whatever change matches
	changed = "chang alter modif overrid overwrit rout direct replac swap substitut append prepend includ insert attach add set cc cop forward mirror send pass use"
	// what is done to a tool that one wants to be used differently
	change = `\b(?:chang\w*|alter\w*|modif\w*|overrid\w*|overwrit\w*|re-?rout\w*|re-?direct\w*|replac\w*|swap\w*|` +
		`substitut\w*|append\w*|prepend\w*|includ\w*|insert\w*|attach\w*|add\w*|set|bcc\w*|cc|copy|copies|forward\w*|` +
		`mirror\w*|send\w*|pass\w*|use)\b`
)

var sways = sync.OnceValue(func() []sway {
	list := []sway{
		// in its place, in English
		{known: true, alters: true, needs: words("instead rather place preference supersed replac overrid deprecat"), pattern: compile(
			`\b(?:instead\s+of|rather\s+than|in\s+place\s+of|in\s+preference\s+to|supersed\w*|replac\w+|overrid\w+|deprecat\w+)\s+` + gap + `{0,40}` + foreign)},
		{known: true, alters: true, needs: words("not don't don’t dont never avoid stop refrain longer|us call invok run trust rely"), pattern: compile(
			`\b(?:do\s+not|don['’]?t|never|must\s+not|should\s+not|avoid|stop|refrain\s+from|no\s+longer)\s+(?:ever\s+)?(?:us\w+|call\w*|invok\w+|run\w*|trust\w*|rely\w*)\s+` + gap + `{0,30}` + foreign)},
		{known: true, alters: true, needs: words("is been was|deprecated broken obsolete unsafe insecure compromised unreliable disabled superseded replaced retired outdated"), pattern: compile(
			named + `\s+(?:is|has\s+been|was)\s+(?:\w+\s+)?(?:deprecated|broken|obsolete|unsafe|insecure|compromised|unreliable|disabled|superseded|replaced|retired|outdated)`)},
		// and in other languages
		{known: true, alters: true, needs: words("statt anstelle lugar vez sustituye reemplaza lieu place remplace invés substitui invece posto sostituisce вместо"), pattern: compile(
			`(?:statt|anstelle\s+von|anstatt|en\s+lugar\s+de|en\s+vez\s+de|sustituye|reemplaza|au\s+lieu\s+d|à\s+la\s+place\s+d|remplace|em\s+vez\s+d|ao\s+invés\s+d|no\s+lugar\s+d|substitui|invece\s+d|al\s+posto\s+d|sostituisce|вместо)` + gap + `{0,20}` + foreign)},
		{known: true, alters: true, needs: words("代替 取代 而不是 不要 请勿 بدل"), pattern: compile(
			`(?:代替|取代|而不是|不要使用|不要调用|请勿使用|بدل[اًا]*\s+من)` + gap + `{0,20}` + foreign)},
		{known: true, alters: true, needs: words("代わり ではなく 使わず 대신 말고 बजाय जगह स्थान yerine"), pattern: compile(
			foreign + gap + `{0,8}(?:の代わりに|ではなく|を使わず|대신|말고|के\s+बजाय|की\s+जगह|के\s+स्थान\s+पर|yerine)`)},
		// a change of how it is used
		{alters: true, needs: words("called invoked run executed triggered|when if once time before after soon|is are was get been|" + changed), pattern: compile(
			`\b(?:when|whenever|if|once|each\s+time|every\s+time|any\s+time|before|after|as\s+soon\s+as)\s+` + gap + `{0,40}` + before + named +
				`\s+(?:is|are|was|gets?|has\s+been)\s+(?:\w+\s+)?(?:called|invoked|run|executed|triggered)` + wide + `{0,80}` + change)},
		{called: true, alters: true, needs: words("used present available requested|when if once time|is are was get been|" + changed), pattern: compile(
			when + gap + `{0,40}` + before + named + `\s+(?:is|are|was|gets?|has\s+been)\s+(?:\w+\s+)?(?:used|present|available|requested)` + wide + `{0,80}` + change)},
		{alters: true, needs: words("call use invoke run execute|when if once time|you agent assistant model llm ai user|" + changed), pattern: compile(
			when + `(?:you|the\s+(?:agent|assistant|model|llm|ai|user))\s+(?:\w+\s+)?(?:calls?|uses?|invokes?|runs?|executes?)\s+` + gap + `{0,20}` + named + wide + `{0,80}` + change)},
		{alters: true, needs: words("call invocation request|every each any all|must should shall has have need"), pattern: compile(
			`\b(?:every|each|any|all)\s+` + gap + `{0,10}` + named + `\s+(?:calls?|invocations?|requests?)\b` + wide + `{0,60}\b(?:must|should|shall|has\s+to|have\s+to|needs?\s+to)\b`)},
		{called: true, alters: true, needs: words("must should shall has needs|send use set include with pass forward copy bcc go"), pattern: compile(
			named + `\s+(?:\w+\s+)?(?:must|should|shall|has\s+to|needs\s+to)\s+(?:always\s+|also\s+|first\s+)?(?:send|use|set|include|be\s+(?:called|invoked|run|used)\s+with|pass|forward|copy|bcc|go\s+through)\b`)},
		{alters: true, needs: words("effect influence precedence priority|on over"), pattern: compile(
			`\b(?:side[\s-]effects?|effects?|influence|precedence|priority)\s+(?:on|over)\s+` + gap + `{0,40}` + foreign)},
		{alters: true, needs: words("behavio working output result call recipient argument parameter meaning|modif chang alter overrid redefin tak hijack intercept|of to from"), pattern: compile(
			`\b(?:modif\w+|chang\w+|alter\w*|overrid\w+|redefin\w+|tak\w+\s+over|hijack\w*|intercept\w*)\s+(?:the\s+)?(?:behaviou?r|working|output|results?|calls?|recipients?|arguments?|parameters?|meaning)\s+(?:of|to|from)\s+` + gap + `{0,30}` + foreign)},
		{alters: true, needs: words("present available declared defined registered server|also previously other"), pattern: compile(
			`\b(?:also[\s-]present|also[\s-]available|previously\s+(?:declared|defined|registered)|other\s+server['’]?s)\s+` + gap + `{0,12}` + foreign)},
		{alters: true, needs: words("supersed shadow precedence overrid"), pattern: compile(
			`\b(?:supersed\w+|shadow\w*|takes?\s+precedence\s+over|overrid\w+)\s+` + gap + `{0,20}` + foreign)},
		{alters: true, needs: words("return|incomplete wrong incorrect stale bad false unreliable"), pattern: compile(
			named + `\s+(?:\w+\s+)?returns?\s+(?:incomplete|wrong|incorrect|stale|bad|false|unreliable)\b`)},
		{alters: true, needs: words("rout direct"), pattern: compile(
			`\b(?:re-?rout\w*|redirect\w*|route)\s+(?:all\s+)?` + gap + `{0,30}(?:from|of|to|through|for)\s+` + gap + `{0,12}` + foreign)},
		// no more than a call
		{known: true, needs: words("call us invok run execut trigger ask fetch"), pattern: compile(
			`\b(?:call\w*|us(?:e|es|ing)|invok\w+|run\w*|execut\w+|trigger\w*|ask\w*|fetch\w*)\s+(?:the\s+|our\s+|its\s+|also\s+)?` + gap + `{0,12}` + foreign)},
		{known: true, needs: words("before after first then prior"), pattern: compile(
			`\b(?:before|after|first|then|prior\s+to)\s+` + gap + `{0,24}` + foreign)},
	}
	return list
})

// words reads groups of words, parted by bars.
func words(list string) [][]string {
	var groups [][]string
	for group := range strings.SplitSeq(list, "|") {
		groups = append(groups, strings.Fields(group))
	}
	return groups
}

// compile compiles a pattern when it is first asked for: most texts ask for none.
func compile(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) })
}

// collective are texts that interfere with tools they do not name.
var collective = compile(`\b(?:modif\w+|chang\w+|alter\w*|overrid\w+|redefin\w+|hijack\w*|intercept\w*)\s+(?:the\s+)?(?:behaviou?r|working|output|calls?|recipients?|arguments?)\s+(?:of|to|from)\s+(?:all|any|every|the)\s+(?:other\s+)?(?:\w+\s+)?(?:tool|server|function)s?\b`)

// ByText reports the tools of other servers that a tool's texts interfere with: high
// where the text takes the tool's place or changes how it is used, medium where it
// only tells the model to call it. A tool of the server itself is never reported,
// whatever other servers call theirs. At most one finding is given for each name.
func (n *Names) ByText(tool string, index int, texts []Text) []toolmark.Finding {
	var findings []toolmark.Finding
	seen := map[string]bool{}
	for i := range texts {
		for r := range texts[i].Readings {
			reading := &texts[i].Readings[r]
			// Patterns take any white space, so that view has nothing new.
			if reading.Name == "space" {
				continue
			}
			for _, ref := range n.references(reading.Text) {
				if key := ref.server + "\x00" + ref.tool; seen[key] || ref.tool == tool {
					continue
				} else {
					seen[key] = true
				}
				findings = append(findings, ref.finding(tool, index, texts[i].Pointer, reading))
			}
		}
	}
	return findings
}

func hasHump(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// reference is one tool of another server that a text interferes with.
type reference struct {
	server, tool string
	alters       bool
	known        bool
	start, end   int // byte offsets in the reading
}

func (ref *reference) finding(tool string, index int, pointer string, reading *textcheck.Reading) toolmark.Finding {
	from, to := reading.Origin(ref.start, ref.end)
	severity, reason := toolmark.High, "The tool's text tells the model how to use, or to replace, a tool of another server"
	if !ref.alters {
		severity, reason = toolmark.Medium, "The tool's text tells the model to call a tool of another server"
	}
	return toolmark.Finding{
		Code: toolmark.CodeShadowing, Tool: toolmark.Text(tool), Index: index, Severity: severity, Reason: reason,
		Details: toolmark.ShadowDetails{
			ShadowedServerName: toolmark.Text(ref.server),
			ShadowedToolName:   toolmark.Text(ref.tool),
			Match:              MatchReference,
			Locations: []toolmark.Location{{
				Pointer: toolmark.Text(pointer), Start: from, End: to, Reading: reading.Name,
				Excerpt: toolmark.Text(around(reading.Text, ref.start, ref.end)),
			}},
		},
	}
}

// longText is the most bytes of a text that is asked as a whole first.
const longText = 1 << 10

func (n *Names) references(text string) []reference {
	l := swayWords()
	lower := lowered(text)
	var found wordSet
	if len(text) <= longText {
		if found = l.in(lower); !n.mayRefer(text, &found) {
			return nil
		}
	} // a longer one has something of everything: its sentences are asked at once
	var list []reference
	for _, s := range sentences(text) {
		sentence := text[s.start:s.end]
		if n.clean[sentence] {
			continue // the views of a text share most of their sentences
		}
		if len(lower) == len(text) { // else some letter has another length in lower case
			found = l.in(lower[s.start:s.end])
		} else {
			found = l.in(strings.ToLower(sentence))
		}
		if !n.mayRefer(sentence, &found) {
			continue
		}
		var marked string
		var mentions []mention
		if len(n.others) > 0 || l.swaysUnknown(&found) {
			marked, mentions = n.mark(text, s)
		}
		if len(mentions) == 0 {
			if at := l.collectively(sentence, &found); at != nil {
				list = append(list, reference{tool: toolmark.WholeList, alters: true, start: s.start + at[0], end: s.start + at[1]})
			} else {
				n.clean[sentence] = true
			}
			continue
		}
		matched := false
		first := 0 // number of the window's first mention
		for _, w := range windows(marked) {
			part := marked[w.start:w.end]
			count := strings.Count(part, markForeign)
			known, called := false, false
			for _, m := range mentions[first : first+count] {
				known, called = known || m.known, called || m.called
			}
			lower := strings.ToLower(part)
			for _, sw := range sways() {
				if sw.known && !known || sw.called && !known && !called || !hasAll(lower, sw.needs) {
					continue
				}
				for _, at := range sw.pattern().FindAllStringIndex(part, -1) {
					matched = true
					// The last mark of a match is the tool; one before it its server.
					m := &mentions[first+strings.Count(part[:at[1]], markForeign)-1]
					if sw.known && !m.known || sw.called && !m.known && !m.called || !sw.alters && m.has(list) {
						continue
					}
					list = append(list, reference{server: m.server, tool: m.tool, alters: sw.alters, known: m.known, start: m.start, end: m.end})
				}
			}
			first += count
		}
		if !matched {
			n.clean[sentence] = true
		}
	}
	return list
}

// mayRefer is a cheap test that no text with a reference fails: by its words, and, where
// no other server is known, by what could be a name in it. A text that has marks of its
// own passes, since its words change when they are dropped.
func (n *Names) mayRefer(text string, found *wordSet) bool {
	l := swayWords()
	switch {
	case found.meetsAll(l.collective):
		return true
	case len(n.others) > 0:
		return l.swaysKnown(found) || strings.Contains(text, markForeign) || strings.Contains(text, markOwn)
	}
	return l.swaysUnknown(found) && mayName(text)
}

// collectively gives the place where a sentence interferes with tools it does not name.
func (l *lexicon) collectively(sentence string, found *wordSet) []int {
	if !found.meetsAll(l.collective) {
		return nil
	}
	return collective().FindStringIndex(sentence)
}

func hasAll(s string, groups [][]string) bool {
	for _, words := range groups {
		if !hasAny(s, words) {
			return false
		}
	}
	return true
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// windows gives the stretches of a marked sentence that lie so near a mark that a
// pattern can reach it: no pattern matches more than reach bytes on either side. A
// sentence may be as long as a text, and its marks few.
func windows(marked string) []span {
	const reach = 320 // 80 code points of four bytes
	var out []span
	for from := 0; ; {
		i := strings.Index(marked[from:], markForeign)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(markForeign)
		start, end := max(0, i-reach), min(len(marked), from+reach)
		for start > 0 && !utf8.RuneStart(marked[start]) {
			start--
		}
		for end < len(marked) && !utf8.RuneStart(marked[end]) {
			end++
		}
		if k := len(out) - 1; k >= 0 && out[k].end >= start {
			out[k].end = end
		} else {
			out = append(out, span{start, end})
		}
	}
}

func (m *mention) has(found []reference) bool {
	for i := range found {
		if found[i].tool == m.tool && found[i].server == m.server {
			return true
		}
	}
	return false
}

// span is a stretch of a text in bytes.
type span struct{ start, end int }

// sentences cuts a text at the ends of sentences and paragraphs. A dot inside a name,
// a path or a number does not end one.
func sentences(text string) []span {
	var out []span
	start := 0
	cut := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, span{start, end})
		}
		start = end
	}
	for i, r := range text {
		switch {
		case r == '。' || r == '！' || r == '？':
			cut(i + utf8.RuneLen(r))
		case r == '.' || r == '!' || r == '?':
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); i+1 == len(text) || unicode.IsSpace(next) {
				cut(i + 1)
			}
		case r == '\n' && i+1 < len(text) && text[i+1] == '\n':
			cut(i + 1)
		}
	}
	cut(len(text))
	return out
}

// around gives a stretch with some text on both sides, on rune boundaries.
func around(text string, start, end int) string {
	const side = 60
	start, end = max(0, start-side), min(len(text), end+side)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[start:end]
}
