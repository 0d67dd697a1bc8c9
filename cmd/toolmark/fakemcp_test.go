package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// rpcRequest is a JSON-RPC request to one of the fake servers.
type rpcRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Cursor          string `json:"cursor"`
	} `json:"params"`
}

// answer gives the response of a server that declares list, a snapshot; "" where
// there is none to give. A capability is declared for each list that the snapshot has,
// unless it has capabilities of its own.
func (r rpcRequest) answer(list string) string {
	var snapshot map[string]json.RawMessage
	if err := json.Unmarshal([]byte(list), &snapshot); err != nil {
		return r.failure(-32603, "the list is broken")
	}
	member := func(name, otherwise string) string {
		if v := snapshot[name]; v != nil {
			return compact(v)
		}
		return otherwise
	}
	switch {
	case len(r.ID) == 0:
		return ""
	case r.Method == "initialize":
		version := strings.Trim(member("protocolVersion", r.Params.ProtocolVersion), `"`)
		result := fmt.Sprintf(`"protocolVersion":%q,"capabilities":%s,"serverInfo":%s`, version,
			member("capabilities", capabilities(snapshot)), member("serverInfo", `{"name":"fake","version":"1"}`))
		if snapshot["instructions"] != nil {
			result += `,"instructions":` + member("instructions", "")
		}
		return r.result(result)
	}
	for method, name := range map[string]string{
		"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
	} {
		if r.Method == method && (snapshot[name] != nil || name == "tools") {
			return r.result(fmt.Sprintf("%q:%s", name, member(name, "null")))
		}
	}
	return r.failure(-32601, "method not found")
}

func (r rpcRequest) result(members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, r.ID, members)
}

func (r rpcRequest) failure(code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, r.ID, code, message)
}

func capabilities(snapshot map[string]json.RawMessage) string {
	list := []string{`"tools":{}`}
	if snapshot["prompts"] != nil {
		list = append(list, `"prompts":{}`)
	}
	if snapshot["resources"] != nil || snapshot["resourceTemplates"] != nil {
		list = append(list, `"resources":{}`)
	}
	return "{" + strings.Join(list, ",") + "}"
}

// paged gives the page of tools/list that a request asks for: one tool each.
func (r rpcRequest) paged(list string) string {
	var snapshot struct{ Tools []json.RawMessage }
	if err := json.Unmarshal([]byte(list), &snapshot); err != nil || snapshot.Tools == nil {
		return r.failure(-32603, "the list is broken")
	}
	if len(snapshot.Tools) == 0 {
		return r.result(`"tools":[]`)
	}
	page, next := 0, ""
	fmt.Sscanf(r.Params.Cursor, "page %d", &page)
	if page = min(page, len(snapshot.Tools)-1); page+1 < len(snapshot.Tools) {
		next = fmt.Sprintf(`,"nextCursor":"page %d"`, page+1)
	}
	return r.result(`"tools":[` + compact(snapshot.Tools[page]) + `]` + next)
}

// compact takes the line ends out of JSON, which a stdio message must not have.
func compact(v json.RawMessage) string { return strings.Join(strings.Fields(string(v)), " ") }

// fakeMCP is a stdio server for the transcripts: fakemcp KIND [FILE].
func fakeMCP() {
	kind, list := os.Args[1], ""
	if len(os.Args) > 2 {
		data, err := os.ReadFile(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		list = string(data)
	}
	switch kind {
	case "die":
		fmt.Fprintln(os.Stderr, "fatal: no licence \x1b[31mfound")
		os.Exit(4)
	case "hang":
		time.Sleep(time.Minute)
		os.Exit(1)
	case "rubbish":
		for range 5 {
			fmt.Println("Welcome to the tool server!")
		}
		os.Exit(0)
	case "slow":
		time.Sleep(500 * time.Millisecond)
	case "vary":
		// A server whose texts follow its surroundings: ${LANG}, ${HOME} and the like.
		list = os.Expand(list, os.Getenv)
	case "chatty":
		fmt.Println("Server v1 ready \x1b[2J")
	case "needs-key":
		if os.Getenv("FAKE_KEY") != "sesame" {
			fmt.Fprintln(os.Stderr, "FAKE_KEY is not set")
			os.Exit(1)
		}
	}
	listed := 0
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var request rpcRequest
		if err := json.Unmarshal(in.Bytes(), &request); err != nil {
			continue
		}
		answer := request.answer(list)
		switch {
		case kind == "pages" && request.Method == "tools/list":
			answer = request.result(`"tools":[],"nextCursor":"again"`)
		case kind == "announce" && request.Method == "tools/list":
			// It says once that its list changed, although it never declared that it would.
			if listed++; listed == 1 {
				time.AfterFunc(300*time.Millisecond, func() { fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) })
			}
		case kind == "grows" && request.Method == "tools/list":
			// Its list is another one each time it is asked, and it never says so.
			listed++
			answer = strings.Replace(answer, `"tools":[`, fmt.Sprintf(`"tools":[{"name":"more_%d"},`, listed), 1)
		case kind == "paged" && request.Method == "tools/list":
			answer = request.paged(list)
		case kind == "half" && request.Method == "prompts/list":
			answer = request.failure(-32603, "the disk is full")
		case kind == "locale" && request.Method == "tools/list" && strings.HasPrefix(os.Getenv("LANG"), "de"):
			answer = strings.ReplaceAll(answer, "Finds a word", "Findet ein Wort")
		}
		if answer != "" {
			fmt.Println(answer)
		}
	}
	os.Exit(0)
}

// firstUnprintable finds what a terminal must not get: broken UTF-8, control
// characters but for newlines, and characters that nobody sees.
func firstUnprintable(text string) (offset int, r rune, found bool) {
	for i, r := range text {
		switch {
		case r == '\n':
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r),
			r == 0x2028, r == 0x2029, r >= 0xe0000 && r <= 0xe01ef:
			return i, r, true
		}
	}
	return 0, 0, false
}
