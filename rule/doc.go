// Package rule is the rule format: it decodes, checks, compiles and matches rules
// that look for text which gives a model orders.
//
// # Rules
//
// A rule is a YAML file named <id>.yaml, anywhere below the root of a rule set
// apart from folders named words. It is decoded strictly: an unknown key or operator,
// a key that stands twice, a pattern that does not compile, an unknown family, an id
// that is used twice or retired is an error of Load that names file, line and rule.
//
//	id: conceal-from-user      permanent: lower-case letters, digits, hyphens
//	title: …                   what the text does, in one line
//	act: concealment           one of Acts
//	severity: high             high, medium or info
//	explain: …                 why it matters
//	fix: …                     what the author of an honest tool writes instead
//	references: [ … ]          optional
//	surfaces: [ … ]            optional: where it looks; every surface without it
//	readings: [ … ]            optional: in which readings; every reading without it
//	any:                       alternatives; the rule matches where one of them does
//	unless:                    optional: excuses, which take a match back
//	downgrade:                 optional: excuses, which make a match info
//	examples:                  match: and clean:, two or more each; best kept last
//
// # Extensions
//
// A file <language>/<id>.yaml, in a folder named by a language tag (BCP 47), gives the
// rule with that id more alternatives for one language:
//
//	extends: conceal-from-user
//	any:                       alternatives, whose ids begin with <language>-
//	unless:                    optional, as downgrade: is; for these alternatives only
//	examples:                  as in a rule
//
// All else, excuses too, the alternatives have from the rule.
//
// # Alternatives
//
// An alternative has an id, and either one condition or, under all:, two to four that
// must hold together; optionally a span, and unless and downgrade of its own.
//
//	span: sentence             the default: inside one sentence
//	span: pair                 inside a sentence and the next
//	span: field                inside one text
//	span: tool                 as field, and in the texts of a tool joined in order
//
// The join of a tool's texts is read as sent. Where two fields meet, words are three
// words further apart for near, and four spaces stand for patterns. A match names the
// places in all fields that it has a part in, and no excuse reaches from one field to
// the next. The join is only looked at where the rule matched in none of the fields
// alone.
//
// A condition is a regular expression or words near each other:
//
//	regex: '(?i)\bnever\s+{{tell}}\b.{0,40}\b{{user}}\b'
//	unbounded: why             allows a gap without a bound in regex
//
//	near: [not, tell, user]    one to four families of words
//	within: 8                  words from the first to the last; at most 60
//	order: given               given, or any
//	without: [permission]      families with no word inside the stretch
//	opens: [please, then]      the first word opens a clause; only these stand before it
//	clause: same               no clause ends inside the stretch
//	negated: skip              no match where a negation governs the first word
//
// Regular expressions are those of package regexp (RE2: no look-around, linear time);
// the dot matches line breaks too, since a match never leaves its span. {{family}} is
// any word of the family in any case, as a whole word as far as \b can tell. A
// repetition without a bound of what may hold both white space and letters (.*,
// [^<>]+) is an error; \s+, \w*, \S+ are none. Every match must hold some fixed text or
// a word of a family, by which it is found.
//
// A negation governs a word if a word of the family not stands before it in its
// clause, with at most three words between them and none of the family omit
// ("forget", "fail") among those. So does a word of the family not-after right behind
// the last word of the condition; in scripts without spaces, six characters of a verb's
// ending may stand between. Where the negation itself is to be found, its family is
// one of near like any other, with order: any where it may follow.
//
// An excuse is a condition, quoted: true (the match stands inside quotation marks of
// its sentence), or both, and says where the condition is looked for:
//
//	span: sentence             the default: in the sentence of the match
//	span: clause               in its clause: between , ; : ( ) and the like
//	span: tool                 in any text of the tool; not for rules of severity high
//	around: 40                 in so many code points on both sides (at most 200)
//
// # Words
//
// Families stand in words/<language>.yaml: a name and a list of words and phrases.
// Families of the same name are one. In an entry
//
//	inform*  *key  *pass*      * is any letters of the same word
//	"let * know"               * alone is any one word
//	"api key"                  white space is any white space, - or _
//	.env  ~/.ssh  http://      marks stand for themselves; no letter may stand before
//	"@credential"              all words of another family
//
// Words match whole, by Unicode simple case folding; dotted and dotless i are one, ß
// is ss, Arabic vowel marks and tatweel are passed over, texts are compared in NFC. A
// word is letters, marks and digits with apostrophes inside. In scripts written
// without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) entries match anywhere, and
// each character counts as half a word. An entry that ends in Hangul matches with any
// ending, if it has two syllables or more; of one, write 읽*. In names (of tools and parameters, and values of one word) words end at _ - .
// and at capital letters too.
//
// # Sentences
//
// See the comment of appendSentences for what ends one.
//
// # Examples
//
//	match:
//	- {text: …, by: do-not-tell}
//	- {text: …, by: x, surface: enum, severity: info}
//	- {tool: {name: …, description: …, inputSchema: { … }}, by: y}
//	clean:
//	- {text: …}
//
// Verify runs them: each matches by the alternative it names, with the rule's
// severity or info where it says so; clean ones match by none; each alternative is the
// only one to match some example.
//
// # Guarantees
//
// The time of Match is linear in the bytes of the texts for a given set, whatever the
// texts; its result is the same on every run, and the same as that of running every
// pattern over every unit (see window.go). It does not decode or normalise disguises:
// readings come from package textcheck. It does not say what a match means for a
// scan: that is package scan.
package rule
