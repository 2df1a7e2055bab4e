// Package story plays scenarios: the events of a site, one per line, in the words of a
// table. The parts around a tick work in memory, and a tick can be killed before any of
// its effects. Only tests use the package.
package story

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Tellings splits an archive into its stories, by name, and the files of the repository
// at the start of each. The name of a story has no dot.
func Tellings(archive *txtar.Archive) (start, stories map[string]string) {
	start, stories = map[string]string{}, map[string]string{}
	for _, f := range archive.Files {
		if !strings.Contains(f.Name, ".") {
			stories[f.Name] = string(f.Data)
		} else {
			start[f.Name] = string(f.Data)
		}
	}
	return start, stories
}

// A Story is a scenario under way. Use New.
type Story struct {
	*World
	Last Told // the result of the last tick
	// Watch is called before each tick, and its result after the tick. It may be nil.
	Watch func() (after func())
	// Hear is called with the words of each line before the line is executed. It may be
	// nil.
	Hear func(words []string)

	was    map[string]string // files before the last tick
	pushed string            // the last commit that a tick reported
	marked map[string]string // commits that the story remembers, by name
	broken map[string]string // the text of files before a user broke them, by path
	failed error             // the error of a rival
	turn   time.Time         // of the next ticks; may be zero
	turns  bool              // gives each tick its own
	beside *Story            // another site of the same repository; nil before the first line about it
}

// New starts a story in a world whose repository has the files.
func New(files map[string]string) *Story {
	return &Story{World: NewWorld(files), marked: map[string]string{}, broken: map[string]string{}}
}

// Told is the result of a tick.
type Told struct {
	tick.Report
	Failed error // the tick's error; may be nil
}

// String returns the decisions and the notices, one per line.
func (r Told) String() string {
	var b strings.Builder
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "%s %s %s: %s\n", d.ID, d.Verdict, d.Reason, d.Text)
	}
	for _, n := range r.Notices {
		fmt.Fprintf(&b, "notice %s %s: %s\n", n.Kind, n.Subject, n.Text)
	}
	fmt.Fprintf(&b, "problems: %v\nerror: %v\n", r.Err(), r.Failed)
	return b.String()
}

// Play plays lines until one of them fails.
func (s *Story) Play(lines string) error {
	for i, line := range strings.Split(lines, "\n") {
		if err := s.Do(line); err != nil {
			return fmt.Errorf("story line %d: %s\n%w\nlast report:\n%s", i+1, line, err, s.Last)
		}
	}
	return nil
}

// Do plays one line. It ignores an empty line and a comment.
func (s *Story) Do(line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	return s.do(words)
}

func (s *Story) do(words []string) error {
	if s.Hear != nil {
		s.Hear(words)
	}
	event, ok := events[words[0]]
	switch {
	case words[0] == "before" && len(words) > 2:
		return s.doBefore(words[1], words[2:])
	case words[0] == "beside" && len(words) > 1:
		return s.doBeside(words[1:])
	case !ok:
		return fmt.Errorf("nobody knows how to %q", words[0])
	}
	err := errors.Join(event(s, words[1:]), s.failed)
	s.failed = nil
	return err
}

// before 3 person sets shop/web 150 | before 3 try: an event just before the third
// effect of the next tick.
func (s *Story) doBefore(effect string, words []string) error {
	n, err := strconv.Atoi(effect)
	if s.before == nil {
		s.before = map[int][]func(){}
	}
	s.before[n] = append(s.before[n], func() { s.failed = errors.Join(s.failed, s.do(words)) })
	return err
}

// beside workload shop/web 12: an event of another site in the same repository.
func (s *Story) doBeside(words []string) error {
	if s.beside == nil {
		s.beside = New(nil)
		s.beside.Site, s.beside.Repository = "stage", s.Repository
	}
	s.beside.Now = s.Now
	return s.beside.do(words)
}

func (s *Story) run() {
	s.was = s.Repository.Files()
	after := func() {}
	if s.Watch != nil {
		after = s.Watch()
	}
	turn := s.turn
	if s.turns && turn.IsZero() {
		turn = s.Now
	}
	report, err := s.Tick(func(t *tick.Tick) { t.Turn = turn })
	s.Last = Told{report, err}
	if report.Commit != nil {
		s.pushed = report.Commit.ID
	}
	after()
	s.Now = s.Now.Add(Period)
}

// ID parses namespace/name as a Deployment, or namespace/kind/name. Any other text
// panics.
func ID(text string) workload.ID {
	if strings.Count(text, "/") == 1 {
		text = strings.Replace(text, "/", "/deployment/", 1)
	}
	who, err := workload.ParseID(text)
	if err != nil {
		panic(err)
	}
	return who
}

// split splits a line into words; "..." is one word, and # starts a comment.
func split(line string) (words []string, err error) {
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		word, rest, _ := strings.Cut(line, " ")
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			rest = line[len(quoted):]
		}
		words, line = append(words, word), rest
	}
	return words, nil
}
