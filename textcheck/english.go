package textcheck

import (
	"strings"
	"sync"
)

// maxEnglish is the length of the longest word of the list, in letters.
const maxEnglish = 16

// englishWords are common words, and those of orders to a model. They decide whether
// a text with a disguise taken off reads as English; no rule matches by them.
const englishWords = `a about above access account action activate add address admin after agent ago all allow
also always am an and answer any api app append apply approve are argument as ask assist assistant at attach
authority authorization avoid away back background base be because been before begin behind being below best
between body both browser but by bypass call can cancel card change channel chat check clean clear click clock
code collect command comment complete conceal confidential config configuration confirm confirmation connect
contact contain content contents context continue conversation copy could create credential credentials
current curl data database date day default delete deliver deploy describe description directive directives
directory disable disclose disregard do document does done download drop each earlier echo email else enable
encode end ensure entire env environment erase error every everything exact exactly except execute exfiltrate
existing expose extract fetch field file files find first folder follow following for forget format forward
from full function further get give given go grant guidance guideline guidelines had hand handle has have he hello
her here hidden hide him his history home hook host how however id if ignore image immediately important in
include including inform information input insert inside install instead instruct instruction instructions
into invoke is it its itself json just keep key keys know language last later leak let like line list load
local log login look mail make may me memory mention message messages mode model more most must my name never
new next no none not note notes nothing notice now number obey of off on once one only open operator or order
orders other our out output over override overwrite page parameter pass password passwords paste path payload
permission please post previous print prior private proceed process prompt prompts provide public purge put
query quietly quote read reply replace report request require required resend reset respond response result
results return reveal root rule rules run safety same save say search secret secrets secretly security see
send server session set settings share shell should show silent silently skip so some source ssh start state
steal stop store string submit such sudo summarize superuser system tell text than that the their them then
there these they this those time title to today token tokens tool tools transfer transmit trust under unless
until up update upload url urgent use user users using value verify very via wallet want was way we weather
web webhook welcome were what when where which while who will with within without word work world would write
year yes you your yourself`

var englishSet = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(englishWords) {
		set[w] = true
	}
	return set
})

// english reports a word of the list, in any case.
func english(word string) bool {
	return len(word) <= maxEnglish && englishSet()[strings.ToLower(word)]
}

// leetLetter gives the letter that a digit or symbol stands for inside a word, 0 if
// none. 1 may also be an l.
func leetLetter(c byte) byte {
	switch c {
	case '0':
		return 'o'
	case '1', '!', '|':
		return 'i'
	case '3':
		return 'e'
	case '4', '@':
		return 'a'
	case '5', '$':
		return 's'
	case '7', '+':
		return 't'
	case '8':
		return 'b'
	case '9', '6':
		return 'g'
	}
	return 0
}

// rot13Starts has, for each first letter, the second letters (bit 0 is a) of words of
// the list turned by 13 places with which no word of the list begins as it is.
// TestRot13Starts makes it.
var rot13Starts = [26]uint32{
	0x80, 0x401c4, 0x1002012, 0x80, 0x82, 0xa028e2, 0x200002, 0x24,
	0x220000, 0x222012, 0x0, 0x20002, 0x0, 0x10d83e4, 0x890, 0x1002082,
	0x222012, 0x300a501, 0x220002, 0x200000, 0x200002, 0x2080040, 0x20, 0x20001,
	0x222002, 0x22082,
}

// rot13Start reports that a word beginning with these two letters may be a word of
// the list turned by 13 places.
func rot13Start(a, b byte) bool {
	return rot13Starts[(a|0x20)-'a']>>((b|0x20)-'a')&1 != 0
}
