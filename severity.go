package toolmark

import "fmt"

// Severity says how much a finding weighs. High findings make a list not ok.
type Severity uint8

// Severities, ordered: a greater one is worse.
const (
	Info Severity = iota + 1
	Medium
	High
)

var severityNames = []string{Info: "info", Medium: "medium", High: "high"}

// String gives "info", "medium" or "high". It is the inverse of ParseSeverity.
func (s Severity) String() string {
	if s >= Info && s <= High {
		return severityNames[s]
	}
	return fmt.Sprintf("severity(%d)", uint8(s))
}

// ParseSeverity reads what String writes; any other text is an error.
func ParseSeverity(text string) (Severity, error) {
	for s := Info; s <= High; s++ {
		if severityNames[s] == text {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q: use info, medium or high", text)
}

// MarshalText writes a severity as String does; an invalid one is an error.
func (s Severity) MarshalText() ([]byte, error) {
	if s < Info || s > High {
		return nil, fmt.Errorf("cannot write %v", s)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a severity as ParseSeverity does.
func (s *Severity) UnmarshalText(text []byte) error {
	parsed, err := ParseSeverity(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}
