package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain makes the test binary a misbehaving stdio server where a probe of one of
// the tests starts it as such.
func TestMain(m *testing.M) {
	if name := os.Getenv("FAKE_SERVER"); name != "" {
		run, ok := fakes[name]
		if !ok {
			run, ok = watchFakes[name]
		}
		if !ok {
			fmt.Fprintln(os.Stderr, "no fake server", name)
			os.Exit(64)
		}
		run(&fake{in: bufio.NewReader(os.Stdin)})
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A call is a request as a fake server sees it.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor *string                    `json:"cursor"`
		Meta   map[string]json.RawMessage `json:"_meta"`

		ProtocolVersion string          `json:"protocolVersion"`
		Notifications   json.RawMessage `json:"notifications"`
	} `json:"params"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

const oneTool = `{"tools":[{"name":"echo","description":"Gives back its input.","inputSchema":{"type":"object"}}]}`

// wellBehaved gives the result or error of a server of revision 2025-06-18 with one
// tool: what fakes fall back on.
func wellBehaved(c call) string {
	switch c.Method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.2"}}`
	case "tools/list":
		return `"result":` + oneTool
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}

// respond wraps a result or an error as the response to c.
func respond(c call, body string) string {
	return `{"jsonrpc":"2.0","id":` + string(c.ID) + `,` + body + `}`
}

// A fake is the server's side of a stdio connection.
type fake struct{ in *bufio.Reader }

func (f *fake) say(lines ...string) {
	for _, l := range lines {
		fmt.Println(l)
	}
}

func (f *fake) next() call {
	for {
		line, err := f.in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var c call
		if json.Unmarshal(line, &c) == nil {
			return c
		}
	}
}

// serve answers with what answer gives; where that is "", as wellBehaved does.
func (f *fake) serve(answer func(c call) string) {
	for {
		c := f.next()
		if c.ID == nil {
			continue
		}
		body := ""
		if answer != nil {
			body = answer(c)
		}
		if body == "" {
			body = wellBehaved(c)
		}
		f.say(respond(c, body))
	}
}

// on answers one method and leaves the rest to wellBehaved.
func on(method, body string) func(call) string {
	return func(c call) string {
		if c.Method == method {
			return body
		}
		return ""
	}
}

func declaring(capabilities string, rest func(call) string) func(call) string {
	return func(c call) string {
		if c.Method == "initialize" {
			return `"result":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"fake","version":"1.2"}}`
		}
		return rest(c)
	}
}

// spawn starts the test binary again as another fake, with our stdout, and writes its
// process id to the file that the test named.
func spawn(name string, change func(*exec.Cmd)) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_SERVER="+name)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(65)
	}
	f, err := os.OpenFile(os.Getenv("FAKE_PIDS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(66)
	}
	fmt.Fprintln(f, cmd.Process.Pid)
	f.Close()
	return cmd
}

func forever() { time.Sleep(time.Hour) }

// fakes are the stdio servers by name.
var fakes = map[string]func(*fake){
	"good":    func(f *fake) { f.serve(nil) },
	"sleeper": func(*fake) { forever() },
	"exits": func(*fake) {
		fmt.Fprintln(os.Stderr, "line before")
		fmt.Fprintln(os.Stderr, "API key \x1b[31mmissing\x1b[0m")
		os.Exit(7)
	},
	"silent": func(f *fake) {
		fmt.Fprintln(os.Stderr, "waiting for the database")
		io.Copy(io.Discard, f.in)
		forever()
	},
	"deaf": func(*fake) { forever() }, // never reads its stdin
	"no-list": func(f *fake) {
		for {
			if c := f.next(); c.Method != "tools/list" && c.ID != nil {
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"rubbish": func(f *fake) {
		for {
			f.say("progress 12% \x1b[2K and so on, for ever and ever")
		}
	},
	"rubbish-without-lines": func(*fake) {
		for {
			os.Stdout.WriteString(strings.Repeat("#", 4096))
		}
	},
	"closes-stdout": func(*fake) {
		os.Stdout.Close()
		forever()
	},
	"pages-forever": func(f *fake) {
		n := 0
		f.serve(func(c call) string {
			if c.Method != "tools/list" {
				return ""
			}
			n++
			return fmt.Sprintf(`"result":{"tools":[],"nextCursor":"c%d"}`, n)
		})
	},
	"repeats-cursor": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[],"nextCursor":"again\u200b"}`))
	},
	"empty-cursor": func(f *fake) {
		f.serve(func(c call) string {
			switch {
			case c.Method != "tools/list":
				return ""
			case c.Params.Cursor == nil:
				return `"result":{"tools":[{"name":"a"}],"nextCursor":""}`
			case *c.Params.Cursor == "":
				return `"result":{"tools":[ ],"nextCursor":"two"}`
			}
			return `"result":{"tools":[ {"name":"b"} , {"name":"c"} ]}`
		})
	},
	"wrong-cursor":  func(f *fake) { f.serve(on("tools/list", `"result":{"tools":[],"nextCursor":7}`)) },
	"no-tools":      func(f *fake) { f.serve(on("tools/list", `"result":{"tool":[]}`)) },
	"tools-object":  func(f *fake) { f.serve(on("tools/list", `"result":{"tools":{"name":"a"}}`)) },
	"bad-tool":      func(f *fake) { f.serve(on("tools/list", `"result":{"tools":[{"name":"a"},{"name":7}]}`)) },
	"result-string": func(f *fake) { f.serve(on("tools/list", `"result":"tools"`)) },
	"list-error": func(f *fake) {
		f.serve(on("tools/list", `"error":{"code":-32000,"message":"no \u001b[2Jlicence"}`))
	},
	"501-tools": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[`+strings.TrimSuffix(strings.Repeat(`{"name":"t"},`, 501), ",")+`]}`))
	},
	"tools-forever": func(f *fake) {
		n := 0
		f.serve(func(c call) string {
			if n++; c.Method != "tools/list" || n > 10 { // a probe that goes on finds an end
				return ""
			}
			return fmt.Sprintf(`"result":{"tools":[%s],"nextCursor":"%d"}`, strings.TrimSuffix(strings.Repeat(`{"name":"t"},`, 251), ","), n)
		})
	},
	"long-name": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[{"name":"`+strings.Repeat("n", 257)+`"}]}`))
	},
	"deep": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[{"name":"d","x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}]}`))
	},
	"invalid-utf8": func(f *fake) {
		f.serve(on("tools/list", "\"result\":{\"tools\":[{\"name\":\"a\xff\"}]}"))
	},
	"long-log-line": func(f *fake) {
		f.say(strings.Repeat("0123456789", 1<<20)) // 10 MiB
		f.serve(nil)
	},
	"long-answer": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[{"name":"a","description":"`+strings.Repeat("x", 10<<20)+`"}]}`))
	},
	"too-long-answer": func(f *fake) {
		f.serve(on("tools/list", `"result":{"tools":[{"name":"a","description":"`+strings.Repeat("x", 17<<20)+`"}]}`))
	},
	"banner": func(f *fake) {
		f.say("Loaded 3 plugins \x1b[32mok\x1b[0m", "", "  ", `{"level":"info","msg":"listening"}`, `[1,2]`, `"text"`, `{"jsonrpc":"1.0","id":1,"result":{}}`)
		f.serve(nil)
	},
	"talkative": func(f *fake) {
		// Requests and notifications of its own before every answer, and answers to
		// what nobody asked.
		for {
			c := f.next()
			if c.ID == nil {
				continue
			}
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`,
				`{"jsonrpc":"2.0","id":4711,"result":{"tools":[]}}`,
				`{"jsonrpc":"2.0","id":"s-1","method":"ping"}`)
			if a := f.next(); string(a.ID) != `"s-1"` || string(a.Result) != "{}" {
				os.Exit(70)
			}
			for i, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create"} {
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, 900+i, method))
				if a := f.next(); string(a.ID) != strconv.Itoa(900+i) || a.Error == nil || a.Error.Code != -32601 {
					os.Exit(71)
				}
			}
			f.say(respond(c, wellBehaved(c)))
		}
	},
	"string-ids": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				c.ID = json.RawMessage(`"` + string(c.ID) + `"`)
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"float-ids": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				c.ID = append(c.ID, ".0"...)
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"batches": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				f.say(`[{"jsonrpc":"2.0","method":"notifications/x"},` + respond(c, wellBehaved(c)) + `]`)
			}
		}
	},
	"null-id-error": func(f *fake) {
		for {
			c := f.next()
			switch {
			case c.Method == "tools/list":
				f.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
			case c.ID != nil:
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"only-initialize": func(f *fake) {
		// Ends when the first request is another one.
		c := f.next()
		if c.Method != "initialize" {
			os.Exit(1)
		}
		f.say(respond(c, wellBehaved(c)))
		f.serve(nil)
	},
	"ignores-discover": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil && c.Method != "server/discover" {
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"modern": func(f *fake) { f.serve(modern) },
	// It starts slowly the first time, and then also answers what it was asked long ago.
	"modern-slow-first": func(f *fake) {
		if mark := os.Getenv("FAKE_MARK"); os.Mkdir(mark, 0o700) == nil {
			time.Sleep(1500 * time.Millisecond)
		}
		f.serve(func(c call) string {
			if c.Method == "initialize" {
				return wellBehaved(c)
			}
			return modern(c)
		})
	},
	"slow-modern": func(f *fake) {
		time.Sleep(800 * time.Millisecond)
		f.serve(modern)
	},
	"version-2024": func(f *fake) {
		f.serve(on("initialize", `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`))
	},
	"version-unknown": func(f *fake) {
		f.serve(on("initialize", `"result":{"protocolVersion":"1999-01-01\u001b","capabilities":{},"serverInfo":{"name":"x","version":"0"}}`))
	},
	"version-missing": func(f *fake) {
		f.serve(on("initialize", `"result":{"capabilities":{},"serverInfo":{"name":"x","version":"0"}}`))
	},
	"discover-names-older": func(f *fake) {
		f.serve(func(c call) string {
			switch {
			case c.Method == "server/discover":
				return `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-03-26","2024-11-05"],"requested":"2026-07-28"}}`
			case c.Method == "initialize" && c.Params.ProtocolVersion != "2025-03-26":
				return `"error":{"code":-32602,"message":"no"}`
			case c.Method == "initialize":
				return `"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.2"}}`
			}
			return ""
		})
	},
	"initialize-names-older": func(f *fake) {
		f.serve(func(c call) string {
			if c.Method == "initialize" && c.Params.ProtocolVersion != "2024-11-05" {
				return `"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"]}}`
			}
			if c.Method == "initialize" {
				return `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.2"}}`
			}
			return ""
		})
	},
	"refuses-all-versions": func(f *fake) {
		f.serve(on("initialize", `"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2023-01-01"]}}`))
	},
	"prompts-only": func(f *fake) {
		f.serve(declaring(`{"prompts":{}}`, func(c call) string {
			switch c.Method {
			case "prompts/list":
				return `"result":{"prompts":[{"name":"p"}]}`
			case "tools/list":
				return `"error":{"code":-32601,"message":"Method not found"}`
			}
			return ""
		}))
	},
	"undeclared-tools": func(f *fake) { f.serve(declaring(`{}`, on("tools/list", `"result":`+oneTool))) },
	"optional-lists-fail": func(f *fake) {
		f.serve(declaring(`{"tools":{},"prompts":{},"resources":{}}`, func(c call) string {
			switch c.Method {
			case "prompts/list":
				return `"error":{"code":-32603,"message":"disk \u001b[5mfull"}`
			case "resources/list":
				return `"result":{"resources":[{"uri":"x:1","name":"one"}]}`
			}
			return "" // resources/templates/list: method not found
		}))
	},
	"optional-list-hangs": func(f *fake) {
		answer := declaring(`{"tools":{},"prompts":{}}`, func(c call) string { return wellBehaved(c) })
		for {
			if c := f.next(); c.ID != nil && c.Method != "prompts/list" {
				f.say(respond(c, answer(c)))
			}
		}
	},
	"exact-bytes":  func(f *fake) { f.serve(exactBytes) },
	"recursive":    func(f *fake) { f.serve(on("tools/list", `"result":`+recursiveTool)) },
	"stderr-flood": func(f *fake) { fmt.Fprint(os.Stderr, strings.Repeat("e", 1<<20)); f.serve(nil) },
	"environment": func(f *fake) {
		names := []string{}
		for _, kv := range os.Environ() {
			name, _, _ := strings.Cut(kv, "=")
			names = append(names, name)
		}
		b, _ := json.Marshal(strings.Join(names, " "))
		f.serve(on("tools/list", `"result":{"tools":[{"name":"env","description":`+string(b)+`}]}`))
	},
	"reports-itself": func(*fake) {
		os.WriteFile(os.Getenv("FAKE_PIDS"), []byte(strconv.Itoa(os.Getpid())), 0o600)
		forever()
	},
	"prober": func(*fake) {
		Probe(context.Background(), Source{
			Command: []string{os.Args[0]},
			Env:     []string{"FAKE_SERVER=reports-itself", "FAKE_PIDS=" + os.Getenv("FAKE_PIDS")},
		}, Options{})
	},
	"child-in-group": func(f *fake) { spawn("sleeper", nil); f.serve(nil) },
	"child-holds-pipes": func(*fake) {
		spawn("sleeper", func(cmd *exec.Cmd) { cmd.Stdin = os.Stdin })
		fmt.Fprintln(os.Stderr, "wrapper is done")
		os.Exit(3)
	},
	"stubborn": func(f *fake) { ignoreTerm(); spawn("stubborn-sleeper", nil); f.serve(nil) },
	"stubborn-sleeper": func(*fake) {
		ignoreTerm()
		forever()
	},
	"child-in-own-session": func(f *fake) { spawn("sleeper", ownSession); f.serve(nil) },
	"daemon": func(f *fake) {
		// Two generations: the sleeper's parent ends, so that nobody is left to ask.
		spawn("daemon-parent", ownSession).Wait()
		f.serve(nil)
	},
	"daemon-parent": func(*fake) { spawn("sleeper", ownSession) },
}

// modern is a server of revision 2026-07-28: no initialize, and every request carries
// its version in _meta.
func modern(c call) string {
	if string(c.Params.Meta["io.modelcontextprotocol/protocolVersion"]) != `"2026-07-28"` ||
		c.Params.Meta["io.modelcontextprotocol/clientCapabilities"] == nil {
		return `"error":{"code":-32602,"message":"request metadata is missing"}`
	}
	switch c.Method {
	case "server/discover":
		return `"result":{"resultType":"complete","ttlMs":0,"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"Read \u00e9 first.","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"9"}}}`
	case "tools/list":
		return `"result":{"resultType":"complete","ttlMs":0,"tools":[{"name":"m"}]}`
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}

// The strings below hold what a decoder into Go types would lose.
const (
	exactHello = `"result":{"protocolVersion":"2025-11-25", "capabilities" : {"tools":{"listChanged":true},"prompts":{}, "experimental":{"x":1.0}},"serverInfo":{"version":"1.0","name":"caf\u00e9","name":"caf\u00c9","icons":[]},"instructions":"tab\tand \ud83d\ude00 and \ud800","x\u002dnew":{"n":1E400},"pin":"not taken over","_meta":{"a":-0}}`
	exactPage1 = `"result":{ "tools" : [ {"name":"a","inputSchema":{"type":"object","properties":{"n":{"minimum":1.0,"maximum":100000000000000000000000000001,"default":1e+2}}},"dup":1,"dup":2 } ],"nextCursor":"\ud800\u0041","_meta":{}}`
	exactPage2 = `"result":{"tools":[{"description":"\u003cb\u003e \/ é","name":"b","_meta":{"k":-0.0}}]}`
	exactWant  = `"capabilities":{"tools":{"listChanged":true},"prompts":{}, "experimental":{"x":1.0}},"instructions":"tab\tand \ud83d\ude00 and \ud800","x\u002dnew":{"n":1E400},"_meta":{"a":-0},"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"minimum":1.0,"maximum":100000000000000000000000000001,"default":1e+2}}},"dup":1,"dup":2 },{"description":"\u003cb\u003e \/ é","name":"b","_meta":{"k":-0.0}}],"prompts":[]}`
	exactInfo  = `"serverInfo":{"version":"1.0","name":"caf\u00e9","name":"caf\u00c9","icons":[]},`

	recursiveTool = `{"tools":[{"name":"tree","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"oneOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/$defs/Node"}}]}}}}]}`
)

func exactBytes(c call) string {
	switch {
	case c.Method == "initialize":
		return exactHello
	case c.Method == "prompts/list":
		return `"result":{"prompts":[  ]}`
	case c.Method == "tools/list" && c.Params.Cursor == nil:
		return exactPage1
	case c.Method == "tools/list":
		return exactPage2
	}
	return ""
}
