package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed prices.yaml
var listed []byte

// A List has the inputs of a bill, except the requests.
type List struct {
	Currency string             `yaml:"currency"`
	Region   string             `yaml:"region"`
	Date     string             `yaml:"date"` // when the prices were written down
	Prices   map[string]float64 `yaml:"prices"`
	Usage    map[string]float64 `yaml:"usage"`
}

// DefaultList returns the list in prices.yaml, which has all names.
func DefaultList() (List, error) { return parse("prices.yaml", listed) }

func parse(file string, text []byte) (l List, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("read %s: %w", file, err)
	}
	return l, nil
}

// Read replaces the values with the values in a file. Their names must be in the list.
func (l *List) Read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	other, err := parse(file, text)
	if err != nil {
		return err
	}
	for _, own := range []struct{ into, from *string }{{&l.Currency, &other.Currency}, {&l.Region, &other.Region}, {&l.Date, &other.Date}} {
		if *own.from != "" {
			*own.into = *own.from
		}
	}
	var problems []error
	for _, section := range []struct {
		name       string
		into, from map[string]float64
	}{{"prices", l.Prices, other.Prices}, {"usage", l.Usage, other.Usage}} {
		for _, name := range slices.Sorted(maps.Keys(section.from)) {
			if err := replace(section.into, name, section.from[name]); err != nil {
				problems = append(problems, fmt.Errorf("%s: %s: %w", file, section.name, err))
			}
		}
	}
	return errors.Join(problems...)
}

// Set replaces one price or usage, written name=value.
func (l *List) Set(text string) error {
	name, number, ok := strings.Cut(text, "=")
	value, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q: want name=number", text)
	}
	if _, price := l.Prices[name]; price {
		return replace(l.Prices, name, value)
	}
	if _, used := l.Usage[name]; used {
		return replace(l.Usage, name, value)
	}
	return unknown(name, l.Prices, l.Usage)
}

func replace(all map[string]float64, name string, value float64) error {
	if _, ok := all[name]; !ok {
		return unknown(name, all)
	}
	if value < 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%s must not be %v", name, value)
	}
	if value == 0 && slices.Contains(divisors, name) {
		return fmt.Errorf("%s must be above 0", name)
	}
	all[name] = value
	return nil
}

// divisors are the values that must not be 0.
var divisors = []string{"hours", "period_minutes"}

func unknown(name string, all ...map[string]float64) error {
	var names []string
	for _, m := range all {
		names = append(names, slices.Sorted(maps.Keys(m))...)
	}
	return fmt.Errorf("unknown name %q; there are %s", name, strings.Join(names, ", "))
}
