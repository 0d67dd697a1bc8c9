package httpapi

import "encoding/json"

// maxFaults is the most faults one answer lists. A hostile megabyte could hold some
// 300,000; the last entry of a full list says that there are more.
const maxFaults = 1000

// fault is one entry of a 422's detail.
type fault struct {
	// Loc is the place: "body", then member names (strings) and indexes (ints). Names
	// are those of the API, never text of the request.
	Loc []any `json:"loc"`
	// Msg is in our own words.
	Msg string `json:"msg"`
	// Type is a stable name of the kind of fault.
	Type string `json:"type"`
}

// The kinds of faults. They are named as clients of FastAPI services know them.
const (
	faultMissing   = "missing"                 // a required member is not there
	faultJSON      = "json_invalid"            // not JSON, or JSON that is refused; loc ends with the byte offset
	faultObject    = "dict_type"               // not an object
	faultList      = "list_type"               // not an array
	faultString    = "string_type"             // not a string
	faultShort     = "string_too_short"        // too few characters
	faultLong      = "string_too_long"         // too many characters
	faultPattern   = "string_pattern_mismatch" // not of the form
	faultCount     = "too_long"                // too many entries, or characters of the whole list
	faultEnum      = "enum"                    // not one of the words allowed
	faultBool      = "bool_type"               // not true or false
	faultInt       = "int_type"                // not a whole number
	faultValue     = "value_error"             // any other value that is not allowed
	faultTruncated = "too_many_faults"         // further faults are not listed
)

// faultList collects faults in the order of the body.
type faults struct {
	list []fault
}

// full reports whether nothing more is listed.
func (f *faults) full() bool { return len(f.list) > maxFaults }

// add adds a fault at a place. The place is copied.
func (f *faults) add(kind, msg string, loc ...any) {
	switch {
	case f.full():
	case len(f.list) == maxFaults:
		f.list = append(f.list, fault{Loc: []any{"body"}, Type: faultTruncated, Msg: "there are more faults than are listed"})
	default:
		f.list = append(f.list, fault{Loc: append([]any{"body"}, loc...), Msg: msg, Type: kind})
	}
}

// failure gives the 422, or nil where there is no fault.
func (f *faults) failure() error {
	if len(f.list) == 0 {
		return nil
	}
	return &failure{status: 422, code: "invalid_request", message: "the body has faults", faults: f.list}
}

// MarshalJSON keeps a place an array even where it is empty.
func (f fault) MarshalJSON() ([]byte, error) {
	type plain fault
	if f.Loc == nil {
		f.Loc = []any{}
	}
	return json.Marshal(plain(f))
}
