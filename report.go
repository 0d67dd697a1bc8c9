package toolmark

// Fingerprint is the RFC 8785 hash of a server's name, version and tools, written
// "tmfp1:" and 64 lower-case hex digits.
type Fingerprint string

// FingerprintPrefix is the version tag every fingerprint starts with.
const FingerprintPrefix = "tmfp1:"

// ToolHash is one tool's own hash, in the pin's canonical form.
type ToolHash struct {
	Name   Text   `json:"name"`
	SHA256 string `json:"sha256"`
}

// Report is the answer to a scan. Its members are those of the manifest-scan API.
type Report struct {
	SHA256         string      `json:"sha256"`
	OK             bool        `json:"ok"`
	Findings       []Finding   `json:"findings"`
	Tools          []ToolHash  `json:"tools"`
	Incomplete     bool        `json:"incomplete"`
	UnscannedTools []Text      `json:"unscanned_tools"`
	Fingerprint    Fingerprint `json:"fingerprint,omitempty"`
}

// Worst gives the greatest severity among the findings, 0 where there are none.
func (r *Report) Worst() Severity {
	var worst Severity
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	return worst
}

// Unfinished reports whether something of the list was not scanned: the time ran out, or
// a check failed on a tool (CodeUnscannable).
func (r *Report) Unfinished() bool {
	if r.Incomplete {
		return true
	}
	for i := range r.Findings {
		if r.Findings[i].Code == CodeUnscannable {
			return true
		}
	}
	return false
}
