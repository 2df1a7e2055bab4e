package main

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed usage.yaml
var listed []byte

// A Usage has the values of a month that were not measured, by name.
type Usage map[string]float64

// DefaultUsage returns the values in usage.yaml, which has all names.
func DefaultUsage() (u Usage, err error) {
	if err := yaml.Unmarshal(listed, &u); err != nil {
		return nil, fmt.Errorf("read usage.yaml: %w", err)
	}
	return u, nil
}

// Set replaces one value, written name=value.
func (u Usage) Set(text string) error {
	name, number, ok := strings.Cut(text, "=")
	value, err := strconv.ParseFloat(number, 64)
	_, known := u[name]
	switch {
	case !ok || err != nil:
		return fmt.Errorf("%q: want name=number", text)
	case !known:
		return fmt.Errorf("unknown name %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(u)), ", "))
	case value < 0 || math.IsNaN(value) || math.IsInf(value, 0):
		return fmt.Errorf("%s must not be %v", name, value)
	case value == 0 && slices.Contains(divisors, name):
		return fmt.Errorf("%s must be above 0", name)
	}
	u[name] = value
	return nil
}

// divisors are the values that must not be 0.
var divisors = []string{"hours", "period_minutes"}
