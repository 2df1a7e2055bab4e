package main

import (
	"regexp"
	"strings"
)

// A rule is one pattern of the house dialect: text that a reader has to read twice.
type rule struct {
	name    string
	pattern *regexp.Regexp
	// unless matches the text from the start of a hit if the hit is ordinary English; may
	// be nil.
	unless *regexp.Regexp
	// after matches the text before a hit if the hit is ordinary English; may be nil.
	after   *regexp.Regexp
	remedy  string
	example string // text that the pattern finds
}

// rules are the patterns, with a text that each of them finds.
var rules = []rule{
	{
		name:    "free relative clause",
		pattern: regexp.MustCompile(`\bwhat (?:is|are|was|were|runs?|it|they|he|git|nothing|nobody|no|a|the|does|do|did|applies|keeps?|has|have|had|would|will|could|should|may|must|can|that|this|stands?|comes?|came|goes|works|needs?|remains|people|gitlatch|stays|moved|crosses|follows|begins|ends|fits|matters)\b`),
		after:   regexp.MustCompile(`\bsee $`),
		remedy:  "name the thing: the object that, the workload",
		example: "gitlatch skips what the overlay omits.",
	},
	{
		name:    "nothing that",
		pattern: regexp.MustCompile(`\b(?:nothing|nobody|none) (?:that|known|is known|here|of|could|may|has|will|would|builds?|applies|keeps?|says?|owns?|runs?|more|is asked|is said)\b`),
		remedy:  "state the condition positively: no rule found",
		example: "There is nothing that protects it.",
	},
	{
		name:    "is no",
		pattern: regexp.MustCompile(`\b(?:is|are|was|were|be) no [a-z]+`),
		unless:  regexp.MustCompile(`^\w+ no (?:longer|more|such|need|less|later|earlier|older|effect)\b`),
		remedy:  "write: is not a",
		example: "A skipped sample is no absence.",
	},
	{
		name:    "preposition and relative pronoun",
		pattern: regexp.MustCompile(`\b(?:by|of|from|with|behind|beside|over|than) (?:which|whom|what|whose)\b|\b(?:in|on|to|for|at|under) (?:whom|what|whose)\b`),
		remedy:  "write two sentences",
		example: "It names the workload of which the level moved.",
	},
	{
		name:    "whoever",
		pattern: regexp.MustCompile(`\b(?:[Ww]hoever|[Ww]hatever|[Ww]hichever)\b`),
		remedy:  "write: anyone who, the identity that",
		example: "Whoever has the URL may post.",
	},
	{
		name:    "where as if",
		pattern: regexp.MustCompile(`\bwhere (?:there|it|that|this|nothing|nobody|no|none|they|one|any|a|an|not)\b`),
		remedy:  "write: if or when",
		example: "It is left out where it is unknown.",
	},
	{
		name:    "say and tell",
		pattern: regexp.MustCompile(`\b(?:say|says|said|tell|tells|told) (?:what|how|of|why|which|who|that|so|when|where|people|by|apart|all|otherwise|nothing|no)\b`),
		remedy:  "write: report, print, show, list, state",
		example: "The report says why it waits.",
	},
	{
		name:    "hold against",
		pattern: regexp.MustCompile(`\b(?:hold|holds|held) (?:\w+ ){0,5}?(?:against|still|no more|back|apart|to)\b`),
		remedy:  "write: compare, stop",
		example: "It holds the cluster against git.",
	},
	{
		name:    "stand",
		pattern: regexp.MustCompile(`\b(?:stand|stands|stood) (?:in|at|under|by|below|there|as|still|twice|where|behind|before|beside|for|alone|open|between|on|to|one)\b`),
		remedy:  "write: is, appears, stops",
		example: "Its timers stand still.",
	},
	{
		name:    "do without",
		pattern: regexp.MustCompile(`\b(?:does|do) without\b|\bwithout (?:it|them|one|those|that|any)(?:[,;:.]| (?:the|a|no|it|that|what|nowhere|they))`),
		remedy:  "write: if X is not set",
		example: "A policy may do without a rule.",
	},
	{
		name:    "sentence that starts with of",
		pattern: regexp.MustCompile(`(?:^|[.;:] )Of (?:\w+)`),
		unless:  regexp.MustCompile(`^(?:[.;:] )?Of course`),
		remedy:  "start with the subject",
		example: "It lists ten. Of others it shows a count.",
	},
	{
		name:    "as it is",
		pattern: regexp.MustCompile(`\bas (?:it|they|those|that|he|one|what|theirs) (?:is|are|was|were|does|do|did|has|have|had|came|stands|stand|would)\b`),
		remedy:  "write: unchanged, like",
		example: "The file stays as it is.",
	},
	{
		name:    "archaic word",
		pattern: regexp.MustCompile(`\b(?:anew|afresh|meanwhile|besides|alike|likewise|till|herein|therein|hence|whence|wherever|howsoever|nor|lest|heeded|mend(?:s|ed)?|whole)\b`),
		remedy:  "write: again, also, in the meantime, fix",
		example: "It is decided anew.",
	},
	{
		name:    "passive of knowledge",
		pattern: regexp.MustCompile(`\b(?:is|are|was|were|be|been) (?:not )?(?:known|said|told|meant|heeded|spoken|looked at|looked for|taken for|asked for|asked of|held against|waited for|heard of)\b`),
		remedy:  "name the actor",
		example: "No rule is known to protect it.",
	},
	{
		name:    "causative have",
		pattern: regexp.MustCompile(`\b(?:has|have|had|having) (?:Flux|Argo CD|kustomize|gitlatch|a|an|the|its|namespaces|people|members|rollouts?|clusters?|mutations?|dynamic|latches|its record|their|that) (?:[\w-]+ ){0,3}?(?:apply|applies|begin|leave|follow|go|be|log|cope|run|take|make|come|declared|acts?|return|applied|synced)\b`),
		remedy:  "write: lets, makes, causes",
		example: "It has the latches follow git.",
	},
	{
		name:    "that of",
		pattern: regexp.MustCompile(`\b(?:that|those) of\b`),
		remedy:  "repeat the noun",
		example: "The level is that of the peak.",
	},
	{
		name:    "none",
		pattern: regexp.MustCompile(`\b(?:there is|there are|has|have|is|are|was|were) none\b|, none\b|\bnone (?:is|are|any)\b`),
		remedy:  "write: no X",
		example: "The namespace has none.",
	},
	{
		name:    "bare all",
		pattern: regexp.MustCompile(`\b(?:all|All) (?:is|are|was|could|can|must|may|that|at|had|else)\b`),
		remedy:  "write: everything, every workload",
		example: "It keeps all that was read.",
	},
	{
		name:    "too at the end",
		pattern: regexp.MustCompile(`, too[,.;:]`),
		remedy:  "write: also",
		example: "It counts the next one, too.",
	},
	{
		name:    "look as a noun",
		pattern: regexp.MustCompile(`\b(?:a|one|each|every|this|two|the|last|second|first|next) looks?\b`),
		unless:  regexp.MustCompile(`^\w+ looks? like\b`),
		remedy:  "write: sample, run, check",
		example: "It waits for the next look.",
	},
	{
		name:    "begin with",
		pattern: regexp.MustCompile(`\b(?:begins?|began|begun) (?:with|at|to|by|once|anew|from|when)\b`),
		remedy:  "write: starts",
		example: "The line begins with the site.",
	},
	{
		name:    "way as a noun",
		pattern: regexp.MustCompile(`\b(?:admission|ignore|other|Flux|Argo CD) ways?\b`),
		remedy:  "write: method, option",
		example: "Use the admission way.",
	},
	{
		name:    "ringing alarm",
		pattern: regexp.MustCompile(`\balarms? rings?\b|\brings when\b`),
		remedy:  "write: fires",
		example: "The alarm rings after an hour.",
	},
	{
		name:    "compressed phrase",
		pattern: regexp.MustCompile(`\b(?:in as many words|as many|as much|so many|so much|of old|by itself|by themselves|of its own|of their own|for good|at all)\b`),
		remedy:  "leave it out, or name the thing",
		example: "It ends by itself.",
	},
}

// A hit is a pattern of the dialect in a text.
type hit struct {
	rule   string
	remedy string
	at     int    // offset in the text, in bytes
	text   string // the words that match
}

// hits finds the patterns of the dialect in a text.
func hits(text string) (all []hit) {
	for _, r := range rules {
		for _, at := range r.pattern.FindAllStringIndex(text, -1) {
			ordinary := r.unless != nil && r.unless.MatchString(text[at[0]:])
			ordinary = ordinary || r.after != nil && r.after.MatchString(text[:at[0]])
			if !ordinary {
				all = append(all, hit{r.name, r.remedy, at[0], strings.TrimSpace(text[at[0]:at[1]])})
			}
		}
	}
	return all
}
