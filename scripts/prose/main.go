// Command prose measures what people read of gitlatch: the README, the topics of
// the handbook and the help of each command.
//
//	figure readme_words        words of the README, code and tables included
//	figure topic_words_most    words of the longest topic, likewise
//	figure sentence_p90        words that 90 % of the sentences do not exceed
//
// With -long it lists the sentences that are longer than that should be.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/docs"
)

// sentenceMost is the most words that 90 % of the sentences may have. Pages have no
// limit: a limit on words made writers leave nouns out.
const sentenceMost = 25

func main() {
	long := flag.Bool("long", false, fmt.Sprintf("list sentences of more than %d words", sentenceMost))
	flag.Parse()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
	m := measure(string(readme))
	m.print(os.Stdout)
	if *long {
		for _, s := range m.long {
			fmt.Println(s)
		}
	}
	if m.sentence > sentenceMost {
		fmt.Fprintf(os.Stderr, "prose: 90 %% of the sentences must have at most %d words, and they have up to %d\n", sentenceMost, m.sentence)
		os.Exit(1)
	}
}

// figures are in words.
type figures struct {
	readme, topic, sentence int

	longest string   // topic
	long    []string // sentences, each with where it stands
}

func measure(readme string) figures {
	m := figures{readme: len(words(readme))}
	var lengths []int
	read := func(where, text string) {
		for _, s := range sentences(text) {
			n := len(words(s))
			if lengths = append(lengths, n); n > sentenceMost {
				m.long = append(m.long, fmt.Sprintf("%s: %d words: %s", where, n, s))
			}
		}
	}
	read("README.md", readme)
	for _, t := range docs.Topics() {
		if n := len(words(t.Text)); n > m.topic {
			m.topic, m.longest = n, t.Name
		}
		read(t.Name, t.Text)
	}
	for where, text := range helps(cli.Commands(cli.Env{Getenv: func(string) string { return "" }})) {
		read(where, text)
	}
	slices.Sort(lengths)
	slices.Sort(m.long)
	m.sentence = lengths[len(lengths)*9/10]
	return m
}

func (m figures) print(out io.Writer) {
	fmt.Fprintf(out, "figure readme_words %d\nfigure topic_words_most %d (%s)\nfigure sentence_p90 %d\n", m.readme, m.topic, m.longest, m.sentence)
}

// helps are the texts that the help of each command is made of.
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
