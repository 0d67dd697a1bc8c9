package atr

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ruleFile is what is read of a rule's YAML; other members do not matter here.
type ruleFile struct {
	ID       string `yaml:"id"`
	Title    string `yaml:"title"`
	Status   string `yaml:"status"`
	Maturity string `yaml:"maturity"`
	Severity string `yaml:"severity"`
	Tags     struct {
		Confidence string `yaml:"confidence"`
		Suppress   bool   `yaml:"suppress_in_code_blocks"`
	} `yaml:"tags"`
	Detection struct {
		Method   string `yaml:"method"`
		Semantic struct {
			Fallback string `yaml:"fallback_method"`
		} `yaml:"semantic"`
		Condition  string          `yaml:"condition"`
		Conditions []conditionFile `yaml:"conditions"`
	} `yaml:"detection"`
	TestCases struct {
		Negatives []struct {
			Input yaml.Node `yaml:"input"`
		} `yaml:"true_negatives"`
	} `yaml:"test_cases"`
}

type conditionFile struct {
	Field    string  `yaml:"field"`
	Operator string  `yaml:"operator"`
	Value    *string `yaml:"value"`
	Language string  `yaml:"language"`
}

// readRule reads one file. A shape that this package does not know is an error,
// never a rule that is skipped: a new pack is reviewed.
func readRule(data []byte) (*ruleFile, error) {
	var r ruleFile
	if err := yaml.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	switch {
	case r.ID == "" || r.Title == "":
		return nil, errors.New("no id or no title")
	case r.runs() && len(r.Detection.Conditions) == 0:
		return nil, fmt.Errorf("%s: no list of conditions", r.ID)
	case r.runs() && !r.any() && !r.all():
		return nil, fmt.Errorf("%s: condition %q is neither any nor all", r.ID, r.Detection.Condition)
	}
	for i, c := range r.Detection.Conditions {
		if r.runs() && (c.Operator != "regex" || c.Value == nil || c.Language != "") {
			return nil, fmt.Errorf("%s: condition %d is not a plain regex", r.ID, i)
		}
	}
	return &r, nil
}

// runs reports whether the rule is one that matches single texts.
func (r *ruleFile) runs() bool {
	if r.Status == "draft" || r.Status == "deprecated" || strings.TrimSpace(r.Maturity) == "deprecated" {
		return false
	}
	switch r.Detection.Method {
	case "", "pattern":
		return true
	case "semantic":
		return r.Detection.Semantic.Fallback == "pattern"
	}
	return false
}

func (r *ruleFile) any() bool { return r.Detection.Condition == "any" || r.Detection.Condition == "or" }

func (r *ruleFile) all() bool {
	return r.Detection.Condition == "all" || r.Detection.Condition == "and"
}

// confidence is what the engine of the package says of a match: 0.9, 0.7 or 0.5 as
// the rule's tag is high, medium or another, and a tenth of the share of conditions
// that held; it stops at the first one where any will do. It is added up as the engine
// does, in doubles, so that 0.7 and 0.1 are less than 0.8.
func (r *ruleFile) confidence() float64 {
	base := 0.5
	switch r.Tags.Confidence {
	case "high":
		base = 0.9
	case "medium":
		base = 0.7
	}
	share := 1.0
	if r.any() {
		share = 1 / float64(len(r.Detection.Conditions))
	}
	return min(base+float64(share*0.1), 1) // float64: no fused multiply-add
}

// honest gives the texts that the author says the rule must not match.
func (r *ruleFile) honest() []string {
	var list []string
	for i := range r.TestCases.Negatives {
		if n := &r.TestCases.Negatives[i].Input; n.Kind == yaml.ScalarNode {
			list = append(list, n.Value)
		}
	}
	return list
}

// plain drops one leading group of inline flags from a pattern.
func plain(pattern string) string {
	rest, ok := strings.CutPrefix(pattern, "(?")
	if !ok {
		return pattern
	}
	end := strings.IndexByte(rest, ')')
	if end < 1 || strings.Trim(rest[:end], "imsx") != "" {
		return pattern
	}
	return rest[end+1:]
}

// hasUnicodeFlag reports whether the engine gives a pattern the u flag.
func hasUnicodeFlag(pattern string) bool {
	return strings.Contains(pattern, `\u{`) || strings.Contains(pattern, `\p{`)
}
