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
	} `json:"params"`
}

// answer gives the response of a server that declares list, a snapshot; "" where
// there is none to give.
func (r rpcRequest) answer(list string) string {
	var snapshot struct {
		ServerInfo json.RawMessage `json:"serverInfo"`
		Tools      json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal([]byte(list), &snapshot); err != nil {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the list is broken"}}`, r.ID)
	}
	switch {
	case len(r.ID) == 0:
		return ""
	case r.Method == "initialize":
		info := snapshot.ServerInfo
		if info == nil {
			info = json.RawMessage(`{"name":"fake","version":"1"}`)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":%s}}`,
			r.ID, r.Params.ProtocolVersion, compact(info))
	case r.Method == "tools/list":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, r.ID, compact(snapshot.Tools))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, r.ID)
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
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var request rpcRequest
		if err := json.Unmarshal(in.Bytes(), &request); err != nil {
			continue
		}
		answer := request.answer(list)
		if kind == "pages" && request.Method == "tools/list" {
			answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"nextCursor":"again"}}`, request.ID)
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
