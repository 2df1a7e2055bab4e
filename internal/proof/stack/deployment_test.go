package stack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The account and the region of the deployments in these tests.
const (
	account = "111122223333"
	region  = "eu-west-1"
)

// A deployment is a template with the given parameters, resolved as CloudFormation does.
type deployment struct {
	t          *testing.T
	template   template
	stack      string
	parameters map[string]string
	imports    map[string]string // the exports of other stacks
}

func deploy(t *testing.T, of template, stack string, given map[string]string) deployment {
	t.Helper()
	d := deployment{t, of, stack, map[string]string{}, map[string]string{}}
	for name, definition := range of.section("Parameters") {
		value, isGiven := given[name]
		if standard := at(definition, "Default"); !isGiven && standard != nil {
			value, isGiven = fmt.Sprint(standard), true
		}
		if !isGiven {
			t.Fatalf("%s: parameter %s has no default and is not given", of.name, name)
		}
		if wrong := refused(definition, value); wrong != "" {
			t.Fatalf("%s: parameter %s is %q, and %s", of.name, name, value, wrong)
		}
		d.parameters[name] = value
	}
	for name := range given {
		if _, known := d.parameters[name]; !known {
			t.Fatalf("%s has no parameter %s", of.name, name)
		}
	}
	return d
}

// refused returns why a parameter may not have a value, or "" if it may.
func refused(definition any, value string) string {
	each := []string{value}
	if at(definition, "Type") == "CommaDelimitedList" {
		each = strings.Split(value, ",")
	}
	for _, one := range each {
		if pattern, _ := at(definition, "AllowedPattern").(string); pattern != "" && !regexp.MustCompile(pattern).MatchString(one) {
			return fmt.Sprint(at(definition, "ConstraintDescription"))
		}
	}
	allowed := list(at(definition, "AllowedValues"))
	if allowed != nil && !slices.ContainsFunc(allowed, func(v any) bool { return fmt.Sprint(v) == value }) {
		return fmt.Sprintf("must be one of %v", allowed)
	}
	return ""
}

// violated returns the assertions in the template's rules that the parameters violate.
func (d deployment) violated() []string {
	var said []string
	rules := d.template.section("Rules")
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if condition := at(rules[name], "RuleCondition"); condition != nil && !d.holds(condition) {
			continue
		}
		for _, assertion := range list(at(rules[name], "Assertions")) {
			if !d.holds(at(assertion, "Assert")) {
				said = append(said, fmt.Sprint(at(assertion, "AssertDescription")))
			}
		}
	}
	return said
}

// resources returns the created resources by logical id, with resolved intrinsics. A
// reference to a resource that is not created fails the test, as CloudFormation also
// refuses it.
func (d deployment) resources() map[string]any {
	made := map[string]any{}
	for id, r := range d.template.section("Resources") {
		if d.makes(id) {
			made[id] = d.resolve(r)
		}
	}
	return made
}

func (d deployment) makes(id string) bool {
	r, known := d.template.section("Resources")[id]
	condition, _ := at(r, "Condition").(string)
	return known && (condition == "" || d.holds(map[string]any{"Condition": condition}))
}

// exports returns the exports of the stack.
func (d deployment) exports() map[string]string {
	exported := map[string]string{}
	for _, output := range d.template.section("Outputs") {
		condition, _ := at(output, "Condition").(string)
		name := at(output, "Export", "Name")
		if name != nil && (condition == "" || d.holds(map[string]any{"Condition": condition})) {
			exported[d.text(name)] = d.text(at(output, "Value"))
		}
	}
	return exported
}

// holds returns the value of a condition.
func (d deployment) holds(v any) bool {
	name, argument := intrinsic(v)
	arguments := list(argument)
	switch name {
	case "Condition":
		definition, known := d.template.section("Conditions")[fmt.Sprint(argument)]
		if !known {
			d.t.Fatalf("%s: there is no condition %v", d.template.name, argument)
		}
		return d.holds(definition)
	case "Fn::Equals":
		return d.text(arguments[0]) == d.text(arguments[1])
	case "Fn::Not":
		return !d.holds(arguments[0])
	case "Fn::And":
		return !slices.ContainsFunc(arguments, func(a any) bool { return !d.holds(a) })
	case "Fn::Or":
		return slices.ContainsFunc(arguments, d.holds)
	case "Fn::EachMemberEquals":
		return !slices.ContainsFunc(list(d.resolve(arguments[0])), func(a any) bool { return d.text(a) != d.text(arguments[1]) })
	}
	d.t.Fatalf("%s: %v is no condition", d.template.name, v)
	return false
}

// nothing is the value of AWS::NoValue.
type nothing struct{}

// resolve returns a value without intrinsics.
func (d deployment) resolve(v any) any {
	if name, argument := intrinsic(v); name != "" {
		return d.call(name, argument)
	}
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, value := range v {
			if value = d.resolve(value); value != (nothing{}) {
				m[key] = value
			}
		}
		return m
	case []any:
		items := []any{}
		for _, item := range v {
			if item = d.resolve(item); item != (nothing{}) {
				items = append(items, item)
			}
		}
		return items
	}
	return v
}

func (d deployment) text(v any) string { return fmt.Sprint(d.resolve(v)) }

// intrinsic returns the name and the argument of {"Fn::If": [...]}; the name is "" if v
// is not an intrinsic.
func intrinsic(v any) (name string, argument any) {
	m, _ := v.(map[string]any)
	if len(m) != 1 {
		return "", nil
	}
	for name, argument = range m {
		// The Condition of a resource also names a condition, but is never the only
		// key.
		if name == "Ref" || name == "Condition" || strings.HasPrefix(name, "Fn::") {
			return name, argument
		}
	}
	return "", nil
}

func (d deployment) call(name string, argument any) any {
	arguments := list(argument)
	switch name {
	case "Ref":
		return d.ref(argument.(string))
	case "Condition":
		return argument // in a policy's statement, Condition is a mapping of operators
	case "Fn::GetAtt":
		return d.attribute(arguments[0].(string), arguments[1].(string))
	case "Fn::Sub":
		values, _ := at(argument, 1).(map[string]any)
		return d.substitute(arguments[0].(string), values)
	case "Fn::If":
		if d.holds(map[string]any{"Condition": arguments[0]}) {
			return d.resolve(arguments[1])
		}
		return d.resolve(arguments[2])
	case "Fn::FindInMap":
		found := at(d.template.section("Mappings"), d.text(arguments[0]), d.text(arguments[1]), d.text(arguments[2]))
		if found == nil {
			d.t.Fatalf("%s: nothing is mapped at %v", d.template.name, d.resolve(arguments))
		}
		return found
	case "Fn::Split":
		var parts []any
		for part := range strings.SplitSeq(d.text(arguments[1]), arguments[0].(string)) {
			parts = append(parts, part)
		}
		return parts
	case "Fn::Select":
		return at(d.resolve(arguments[1]), arguments[0])
	case "Fn::Join":
		var parts []string
		for _, part := range list(d.resolve(arguments[1])) {
			parts = append(parts, fmt.Sprint(part))
		}
		return strings.Join(parts, arguments[0].(string))
	case "Fn::ImportValue":
		value, exported := d.imports[d.text(argument)]
		if !exported {
			d.t.Fatalf("%s: no stack exports %s", d.template.name, d.text(argument))
		}
		return value
	case "Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or":
		return d.holds(map[string]any{name: argument})
	}
	d.t.Fatalf("%s: %s is not known to these tests", d.template.name, name)
	return nil
}

var placeholder = regexp.MustCompile(`\$\{([^!}]+)\}`)

func (d deployment) substitute(text string, values map[string]any) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if value, own := values[name]; own {
			return d.text(value)
		}
		if resource, attribute, dotted := strings.Cut(name, "."); dotted {
			return fmt.Sprint(d.attribute(resource, attribute))
		}
		return fmt.Sprint(d.ref(name))
	})
}

func (d deployment) ref(name string) any {
	switch name {
	case "AWS::NoValue":
		return nothing{}
	case "AWS::Region":
		return region
	case "AWS::AccountId":
		return account
	case "AWS::Partition":
		return "aws"
	case "AWS::URLSuffix":
		return "amazonaws.com"
	case "AWS::StackName":
		return d.stack
	}
	if value, isParameter := d.parameters[name]; isParameter {
		if at(d.template.section("Parameters"), name, "Type") == "CommaDelimitedList" {
			return d.call("Fn::Split", []any{",", value})
		}
		return value
	}
	if d.typeOf(name) == "AWS::SNS::Topic" {
		return d.arn(name)
	}
	return d.physical(name)
}

func (d deployment) attribute(id, name string) any {
	switch name {
	case "Arn":
		return d.arn(id)
	case "QueueName", "GroupId":
		return d.physical(id)
	}
	d.t.Fatalf("%s: attribute %s of %s is not known to these tests", d.template.name, name, id)
	return nil
}

// physical returns a name in the form of CloudFormation's names.
func (d deployment) physical(id string) string {
	d.typeOf(id)
	return d.stack + "-" + id + "-1A2B3C4D5E6F"
}

func (d deployment) typeOf(id string) string {
	if !d.makes(id) {
		d.t.Fatalf("%s: %s is referred to, and not made", d.template.name, id)
	}
	return fmt.Sprint(at(d.template.section("Resources"), id, "Type"))
}

// arns are the formats of the ARNs of the resources in our templates; %s is the name.
var arns = map[string]string{
	"AWS::DynamoDB::Table":      "arn:aws:dynamodb:" + region + ":" + account + ":table/%s",
	"AWS::IAM::Role":            "arn:aws:iam::" + account + ":role/%s",
	"AWS::KMS::Key":             "arn:aws:kms:" + region + ":" + account + ":key/%s",
	"AWS::Logs::LogGroup":       "arn:aws:logs:" + region + ":" + account + ":log-group:%s:*",
	"AWS::SNS::Topic":           "arn:aws:sns:" + region + ":" + account + ":%s",
	"AWS::SQS::Queue":           "arn:aws:sqs:" + region + ":" + account + ":%s",
	"AWS::Serverless::Function": "arn:aws:lambda:" + region + ":" + account + ":function:%s",
}

func (d deployment) arn(id string) string {
	shape, known := arns[d.typeOf(id)]
	if !known {
		d.t.Fatalf("%s: the ARN of a %s is not known to these tests", d.template.name, d.typeOf(id))
	}
	name := d.physical(id)
	if d.typeOf(id) == "AWS::KMS::Key" {
		name = strings.ToLower(name)
	}
	return fmt.Sprintf(shape, name)
}
