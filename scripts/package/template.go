package main

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The additional parameters of a packaged template. The prefix contains the version,
// because CloudFormation updates code only if its key changes.
const parameters = `  CodeBucket:
    Type: String
    Description: The bucket, in the region of this stack, that holds the zips of the functions
    AllowedPattern: "^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$"
    ConstraintDescription: must be the name of a bucket
  CodePrefix:
    Type: String
    Default: gitlatch/%s/
    Description: What their keys begin with, with the slash at its end
    AllowedPattern: "^([-A-Za-z0-9_.+]+/)*$"
    ConstraintDescription: must be folders with a slash after each, such as gitlatch/v1.2.3/
`

// Package returns a SAM template with the code of its functions in a bucket, each with
// the name of its function, and the names of the functions. All other bytes stay
// unchanged.
func Package(text []byte, version string) (packaged []byte, functions []string, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	resources := value(document.Content[0], "Resources")
	if resources == nil {
		return nil, nil, fmt.Errorf("it has no Resources")
	}
	for i := 0; i+1 < len(resources.Content); i += 2 {
		name, resource := resources.Content[i].Value, resources.Content[i+1]
		if kind := value(resource, "Type"); kind == nil || kind.Value != "AWS::Serverless::Function" {
			continue
		}
		code := value(value(resource, "Properties"), "CodeUri")
		if code == nil || code.Kind != yaml.ScalarNode {
			return nil, nil, fmt.Errorf("%s: its CodeUri must be a path", name)
		}
		at := &lines[code.Line-1]
		*at = fmt.Appendf(nil, "%s{Bucket: !Ref CodeBucket, Key: !Sub \"${CodePrefix}%s.zip\"}\n", (*at)[:code.Column-1], name)
		functions = append(functions, name)
	}
	own := value(document.Content[0], "Parameters")
	if own == nil || len(functions) == 0 {
		return nil, nil, fmt.Errorf("it has no Parameters, or no function")
	}
	at := &lines[own.Line-1]
	*at = append(fmt.Appendf(nil, parameters, strings.TrimSuffix(version, "/")), *at...)
	return bytes.Join(lines, nil), functions, nil
}

// value returns the value of a key in a mapping, or nil.
func value(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
