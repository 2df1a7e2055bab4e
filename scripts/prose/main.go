// Command prose measures the text of gitlatch: README, handbook, help of the commands,
// strings and comments of the code, and commit subjects.
//
//	figure dialect_readme     patterns of the house dialect per 1,000 words of the README
//	figure dialect_handbook   the same for the handbook
//	figure dialect_help       the same for the help of the commands
//	figure dialect_strings    the same for strings of at least four words in the product
//	figure dialect_comments   the same for comments of Go files
//	figure dialect_subjects   the same for commit subjects since this command counts them
//	figure sentence_p90       words that 90 % of the sentences do not exceed
//
// It exits with 1 if a figure is above its limit, or if a file has more patterns in its
// comments than testdata/comments.txt allows. With -list NAME it lists the patterns of a
// surface, such as handbook, with file and line. With -update it writes the present
// patterns of each file to testdata/comments.txt.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gitlatch/gitlatch/internal/cli"
)

// sentenceMost is the most words that 90 % of the sentences may have. Pages have no
// limit: a limit on words made writers leave nouns out.
const sentenceMost = 25

// A surface is one kind of text, with the patterns that it may have.
type surface struct {
	name string
	most float64 // patterns per 1,000 words
	read func(*tree) ([]passage, error)
}

var surfaces = []surface{
	{"readme", 2, (*tree).readme},
	{"handbook", 2, (*tree).handbook},
	{"help", 2, (*tree).help},
	{"strings", 2, (*tree).strings},
	{"comments", 10, (*tree).comments},
	{"subjects", 5, (*tree).subjects},
}

func main() {
	list := flag.String("list", "", "list the patterns of a surface, such as handbook")
	update := flag.Bool("update", false, "write the present patterns of comments to testdata/comments.txt")
	flag.Parse()
	err := run(os.Stdout, ".", *list, *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, list string, update bool) error {
	t := &tree{root: root}
	var above []string
	for _, s := range surfaces {
		passages, err := s.read(t)
		if err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		m := measure(passages)
		fmt.Fprintf(out, "figure dialect_%s %.1f\n", s.name, m.perThousand())
		if m.perThousand() > s.most {
			above = append(above, fmt.Sprintf("dialect_%s is %.1f, and its limit is %.1f. To see the patterns, run make prose ARGS='-list %[1]s'", s.name, m.perThousand(), s.most))
		}
		if s.name == list {
			for _, h := range m.hits {
				fmt.Fprintf(out, "%s: %s: %q. %s\n", h.where, h.rule, h.text, h.remedy)
			}
		}
		if s.name == "comments" && update {
			err = writeAllowed(filepath.Join(root, allowedFile), m.byFile())
		}
		if err != nil {
			return err
		}
	}
	p90, err := t.sentence()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "figure sentence_p90 %d\n", p90)
	if p90 > sentenceMost {
		above = append(above, fmt.Sprintf("sentence_p90 is %d, and its limit is %d", p90, sentenceMost))
	}
	if len(above) > 0 {
		return fmt.Errorf("%s", strings.Join(above, "; "))
	}
	return nil
}

// measured contains the patterns in the passages of a surface.
type measured struct {
	words int
	hits  []placed
}

// A placed hit has its place, as file:line.
type placed struct {
	hit
	file, where string
}

func measure(passages []passage) (m measured) {
	for _, p := range passages {
		m.words += len(words(p.text))
		for _, h := range hits(strings.ReplaceAll(p.text, "\n", " ")) {
			line := p.line + strings.Count(p.text[:h.at], "\n")
			m.hits = append(m.hits, placed{h, p.file, fmt.Sprintf("%s:%d", p.file, line)})
		}
	}
	return m
}

// perThousand returns the hits per 1,000 words; 0 without words.
func (m measured) perThousand() float64 {
	return 1000 * float64(len(m.hits)) / float64(max(m.words, 1))
}

// byFile counts the hits of each file.
func (m measured) byFile() map[string]int {
	all := map[string]int{}
	for _, h := range m.hits {
		all[h.file]++
	}
	return all
}

// sentence returns the words that 90 % of the sentences of the README, the handbook and
// the help do not exceed.
func (t *tree) sentence() (int, error) {
	var lengths []int
	for _, read := range []func(*tree) ([]passage, error){(*tree).readme, (*tree).handbook, (*tree).help} {
		passages, err := read(t)
		if err != nil {
			return 0, err
		}
		for _, p := range passages {
			for _, s := range sentences(p.text) {
				lengths = append(lengths, len(words(s)))
			}
		}
	}
	slices.Sort(lengths)
	return lengths[len(lengths)*9/10], nil
}

// helps returns the help of each command, by its path.
func helps(c *cobra.Command) map[string]string {
	text := c.Short + ".\n\n" + c.Long + "\n"
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { text += "\n- " + f.Usage })
	all := map[string]string{c.CommandPath() + " --help": text}
	for _, below := range c.Commands() {
		for where, text := range helps(below) {
			all[where] = text
		}
	}
	return all
}

// commands returns the tree of commands.
func commands() *cobra.Command {
	return cli.Commands(cli.Env{Getenv: func(string) string { return "" }})
}
