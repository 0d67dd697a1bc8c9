package probe

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unicode/utf16"
)

// announcing serves lists of one tool, t and the number of the reading, and announces a
// change after each of the first readings. hello is the answer to initialize.
func announcing(f *fake, hello string, notifications ...string) {
	n := 0
	for {
		c := f.next()
		switch {
		case c.ID == nil:
		case c.Method == "initialize":
			f.say(respond(c, hello))
		case c.Method == "prompts/list":
			f.say(respond(c, `"result":{"prompts":[{"name":"p"}]}`))
		case c.Method == "tools/list":
			n++
			f.say(respond(c, fmt.Sprintf(`"result":{"tools":[{"name":"t%d"}]}`, n)))
			if n <= 3 {
				time.Sleep(20 * time.Millisecond)
				f.say(notifications...)
			}
		default:
			f.say(respond(c, wellBehaved(c)))
		}
	}
}

const (
	toolsNews   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	promptsNews = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}`
)

func helloWith(capabilities string) string {
	return `"result":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"fake","version":"1.2"}}`
}

// modernWatched is a server of revision 2026-07-28 that announces a change after its
// first list, ends the subscription after the second, and has a third.
func modernWatched(f *fake) {
	listen, lists, discovered := json.RawMessage(nil), 0, 0
	for {
		c := f.next()
		switch c.Method {
		case "server/discover":
			discovered++
			f.say(respond(c, fmt.Sprintf(`"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"discovered %d times"}`, discovered)))
		case "subscriptions/listen":
			if lists == 0 {
				f.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"another"},"notifications":{}}}`)
			}
			listen = c.ID
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":true}}}`, listen))
		case "tools/list":
			lists++
			f.say(respond(c, fmt.Sprintf(`"result":{"resultType":"complete","tools":[{"name":"m%d"}]}`, lists)))
			time.Sleep(20 * time.Millisecond)
			switch lists {
			case 1:
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, listen))
			case 2:
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, listen))
			}
		}
	}
}

// watchFakes are the stdio servers of the tests of Watch.
var watchFakes = map[string]func(*fake){
	"announces":            func(f *fake) { announcing(f, helloWith(`{"tools":{"listChanged":true}}`), toolsNews) },
	"announces-undeclared": func(f *fake) { announcing(f, helloWith(`{"tools":{}}`), promptsNews, toolsNews) },
	"grows":                func(f *fake) { announcing(f, helloWith(`{"tools":{"listChanged":true}}`)) },
	"late-tools": func(f *fake) {
		n := 0
		f.serve(func(c call) string {
			if c.Method != "tools/list" {
				return ""
			}
			if n++; n > 1 {
				return `"result":{"tools":[{"name":"early"},{"name":"late"}]}`
			}
			f.say(toolsNews)
			return `"result":{"tools":[{"name":"early"}]}`
		})
	},
	"floods": func(f *fake) {
		go func() {
			for {
				f.say(toolsNews)
			}
		}()
		f.serve(nil)
	},
	"exits-after-list": func(f *fake) {
		for {
			c := f.next()
			if c.ID == nil {
				continue
			}
			f.say(respond(c, wellBehaved(c)))
			if c.Method == "tools/list" {
				time.Sleep(20 * time.Millisecond)
				os.Exit(3)
			}
		}
	},
	"chatters-when-idle": func(f *fake) {
		for {
			c := f.next()
			if c.ID == nil {
				continue
			}
			f.say(respond(c, wellBehaved(c)))
			for c.Method == "tools/list" {
				f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"still here"}}`)
			}
		}
	},
	"noise-bom": func(f *fake) {
		fmt.Print("\ufeff")
		f.serve(nil)
	},
	"noise-crlf": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				fmt.Print("\r\n\r\n  " + respond(c, wellBehaved(c)) + " \r\n")
			}
		}
	},
	"noise-every": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				f.say("-> "+c.Method, respond(c, wellBehaved(c)), "\x1b[2mdone\x1b[0m", "undefined", "NaN", "{broken", "0")
			}
		}
	},
	"noise-json-log": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				f.say(`{"level":"info","id":`+string(c.ID)+`,"result":{"tools":[]}}`, `[]`, `null`, respond(c, wellBehaved(c)))
			}
		}
	},
	"noise-no-newline-at-end": func(f *fake) {
		for {
			c := f.next()
			if c.ID == nil {
				continue
			}
			fmt.Print(respond(c, wellBehaved(c)))
			if c.Method == "tools/list" {
				os.Exit(0)
			}
			fmt.Println()
		}
	},
	"noise-split-message": func(f *fake) {
		for {
			c := f.next()
			switch {
			case c.ID == nil:
			case c.Method == "tools/list":
				f.say(`{"jsonrpc":"2.0","id":`+string(c.ID)+`,"result":{"tools":[`, `]}}`)
			default:
				f.say(respond(c, wellBehaved(c)))
			}
		}
	},
	"noise-utf16": func(f *fake) {
		for {
			if c := f.next(); c.ID != nil {
				for _, u := range utf16.Encode([]rune(respond(c, wellBehaved(c)) + "\n")) {
					os.Stdout.Write([]byte{byte(u), byte(u >> 8)})
				}
			}
		}
	},
	"modern-announces": modernWatched,
	"modern-tells-none": func(f *fake) {
		for {
			c := f.next()
			if c.Method == "subscriptions/listen" {
				f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":false}}}`, c.ID))
				f.say(respond(c, `"result":{"resultType":"complete"}`))
				continue
			}
			f.say(respond(c, modern(c)))
		}
	},
	"modern-ends-listen": func(f *fake) {
		f.serve(func(c call) string {
			if c.Method == "subscriptions/listen" {
				return `"result":{"resultType":"complete"}`
			}
			return modern(c)
		})
	},
}
