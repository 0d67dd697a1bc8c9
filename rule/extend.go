package rule

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolmark/toolmark"
)

// An extension is a file <language>/<id>.yaml that says extends: <id>. It gives that
// rule more alternatives, for one language. Its excuses hold for these only, besides
// those that the rule has for all.

// extension is what one such file holds. Its alternatives, excuses and examples are
// read into a rule of their own, which is not part of the set.
type extension struct {
	of          string
	rule        *Rule
	line        int
	toolExcuses []int
}

// isLanguageTag tells what a language tag looks like (BCP 47, section 2.1): a
// language of two or three letters, and further subtags of two to eight letters or
// digits.
func isLanguageTag(s string) bool {
	for i, subtag := range strings.Split(s, "-") {
		if len(subtag) < 2 || len(subtag) > 8 || i == 0 && len(subtag) > 3 {
			return false
		}
		for _, c := range []byte(strings.ToLower(subtag)) {
			if (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// extends reads an extension in place of a rule.
func (r *ruleReader) extends(key, v *yaml.Node, n *yaml.Node, required []string) {
	of := r.text(v)
	language := path.Base(path.Dir(r.file))
	switch {
	case strings.TrimSuffix(path.Base(r.file), path.Ext(r.file)) != of:
		r.fault(v.Line, "a file that extends rule %q must be named %s.yaml", of, of)
	case !isLanguageTag(language):
		r.fault(v.Line, "a file that extends a rule stands in a folder named by its language (de, pt-BR), not %q", language)
	}
	r.extension = &extension{of: of, rule: r.rule, line: key.Line}
	decoders := r.sharedDecoders()
	decoders["extends"] = func(_, _ *yaml.Node) {}
	for i, name := range required {
		if name == "id" {
			required = slices.Replace(slices.Clone(required), i, i+1, "extends")
		}
	}
	required = slices.DeleteFunc(required, func(name string) bool { return decoders[name] == nil })
	r.members(n, decoders, required...)
	prefix := strings.ToLower(language) + "-"
	for _, alt := range r.rule.alternatives {
		if !strings.HasPrefix(alt.id, prefix) {
			r.fault(alt.line, "the alternative's id %q must begin with %q", alt.id, prefix)
		}
		alt.unless = slices.Concat(alt.unless, r.rule.unless)
		alt.downgrade = slices.Concat(alt.downgrade, r.rule.downgrade)
	}
	r.extension.toolExcuses = r.toolExcuses
}

// extend adds extensions, in order of their files, to the rules that they name.
func (l *loader) extend(extensions []*extension) {
	byID := map[string]*Rule{}
	for _, rule := range l.set.rules {
		byID[rule.ID] = rule
	}
	for _, x := range extensions {
		r := reader{file: x.rule.File, rule: x.of}
		rule := byID[x.of]
		if rule == nil {
			r.fault(x.line, "there is no rule %q to extend", x.of)
			l.faults = append(l.faults, r.faults...)
			continue
		}
		if rule.Severity == toolmark.High {
			r.refuseToolExcuses(x.toolExcuses)
		}
		if rule.Weight != 0 {
			r.signalOnly(x.rule)
		}
		for _, alt := range x.rule.alternatives {
			if slices.Contains(rule.Alternatives(), alt.id) {
				r.fault(alt.line, "alternative %q stands in another file of the rule", alt.id)
			}
			alt.rule = rule
			rule.alternatives = append(rule.alternatives, alt)
		}
		rule.sources = append(rule.sources, x.rule.sources...)
		l.faults = append(l.faults, r.faults...)
	}
}
