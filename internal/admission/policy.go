package admission

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

const (
	// Name is the name of the admission policy.
	Name = "gitlatch-levels"
	// Namespace is the namespace of the ConfigMaps with the levels. Only gitlatch's files
	// write to it. Names with a dot in it are not levels: Kubernetes adds kube-root-ca.crt
	// to every namespace.
	Namespace = "gitlatch-levels"
	// Mark is the annotation of a workload that had a level when it was created. Its value
	// is the level, also if the manifest asked for more pods or for none.
	Mark = "gitlatch.dev/floor"
	// WatchBinding is the name of the one binding in the file at Path. It differs from each
	// BindingName. The binding selects the namespace of the levels, which has no workloads, and
	// a ConfigMap that does not exist, so it applies to no workload.
	//
	// It keeps the watch of ConfigMaps. If no binding of a policy has ConfigMaps as
	// parameters for about a second, an API server stops its watch, and never starts it
	// again (kubernetes/kubernetes#130887). Until the API server restarts, it acts on old
	// levels or on none. Without this binding, the removal of the last checkpoint file has
	// this effect. The binding does not help if a user deletes the policy, or if an API
	// server started its watch for a ValidatingAdmissionPolicy that then loses its last
	// binding. TestFolderApplied of internal/proof/owners measures the effect of this binding
	// and of the ValidatingAdmissionPolicy.
	//
	// Flux starts with a dry run of all objects, and the API server refuses the binding of a
	// policy that does not exist yet, unless the user has "get" on all resources. So in a new
	// cluster, an account of Flux with the rights on these objects alone cannot apply the
	// file. With kubectl, they are enough.
	WatchBinding = Name
	// Path is the path of the file that Format writes, from the root of the repository.
	Path = "checkpoints/admission/gitlatch.yaml"
)

// A Policy is the input of the admission policy. The zero value raises the built-in kinds
// and replaces no images.
type Policy struct {
	// Kinds are the custom kinds. Their Ready fields have no effect.
	Kinds workload.Kinds
	// Images adds the mutation that replaces images. If a workload is created during a
	// rollout that a rebuild returns from, it starts with the images of the old template.
	Images bool
}

// Join returns the policy for all sites of a repository, by the name of the site: the file
// is the same for all of them. It returns an error for each kind that two sites define in
// different ways, and if only some of the sites replace images.
func Join(sites map[string]Policy) (Policy, error) {
	joined := Policy{Kinds: workload.Kinds{}}
	var problems []error
	names := slices.Sorted(maps.Keys(sites))
	for _, site := range names {
		p := sites[site]
		if p.Images != sites[names[0]].Images {
			problems = append(problems, fmt.Errorf("site %s: admission.images: must be the same for all sites of a repository, got %t, and %t for site %s. Set it to one value", site, p.Images, !p.Images, names[0]))
		}
		for _, kind := range slices.Sorted(maps.Keys(p.Kinds)) {
			o := p.Kinds[kind]
			o.Ready = ""
			if other, same := rival(joined.Kinds, kind, o); !same {
				problems = append(problems, fmt.Errorf("site %s: kinds[%s]: must have one definition in all sites of a repository, got another than kinds[%s] of an earlier site. Use the same name, apiVersion, resource and replicas", site, kind, other))
				continue
			}
			joined.Kinds[kind] = o
		}
		joined.Images = p.Images
	}
	return joined, errors.Join(problems...)
}

// rival returns the first of the kinds that has the name or the resource of a kind. same is
// false if the two differ in another field.
func rival(kinds workload.Kinds, kind workload.Kind, o workload.Object) (other workload.Kind, same bool) {
	for _, other := range slices.Sorted(maps.Keys(kinds)) {
		if other == kind || kinds[other].FullResource() == o.FullResource() {
			return other, other == kind && kinds[other] == o
		}
	}
	return "", true
}

// The shapes of the fields of a custom kind. They contain no quote, which would end a text
// in the policy early.
var shapes = []struct {
	field string
	of    func(workload.Object) string
	shape *regexp.Regexp
}{
	{"apiVersion", workload.Object.APIVersion, regexp.MustCompile(workload.APIVersionShape)},
	{"resource", func(o workload.Object) string { return o.Resource }, regexp.MustCompile(workload.ResourceShape)},
	{"replicas", func(o workload.Object) string { return string(o.Replicas) }, regexp.MustCompile(workload.ReplicasShape)},
}

// check returns an error for each custom kind that the policy cannot contain.
func (p Policy) check() error {
	var problems []error
	resources := map[string]workload.Kind{}
	for _, kind := range p.Kinds.All() {
		o, _ := p.Kinds.Object(kind)
		if !workload.ValidLabel(string(kind)) {
			problems = append(problems, fmt.Errorf("kinds[%s].name: must be %s", yamldoc.Quote(string(kind)), workload.MustLabel))
		}
		for _, s := range shapes {
			if kind.Scales() && !s.shape.MatchString(s.of(o)) {
				problems = append(problems, fmt.Errorf("kinds[%s].%s: must match %s, got %s", kind, s.field, s.shape, yamldoc.Quote(s.of(o))))
			}
		}
		if other, twice := resources[o.FullResource()]; twice {
			problems = append(problems, fmt.Errorf("kinds[%s].resource: must be unique in a group, got %s, which kinds[%s] has. Keep one", kind, yamldoc.Quote(o.Resource), other))
		}
		resources[o.FullResource()] = kind
	}
	return errors.Join(problems...)
}

// outside matches the paths that the Common Expression Language (CEL) has no notation for:
// a dash is an operator, and four words are not names.
var outside = regexp.MustCompile(`-|\.(in|true|false|null)(\.|$)`)

// raises reports whether the policy can set the replicas of a kind.
func raises(o workload.Object) bool { return !outside.MatchString(string(o.Replicas)) }

// Format returns the canonical bytes of the file at Path: the Namespace, the policy, its
// WatchBinding, and the RBAC objects that let gitlatch read the levels. Equal policies have
// equal files. A comment lists the kinds that the policy cannot raise. The error names the
// fields of kinds that are not valid.
func (p Policy) Format() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	var left, rules, kinds, stated, raise strings.Builder
	paths := map[workload.Field]bool{}
	for _, kind := range p.Kinds.All() {
		o, _ := p.Kinds.Object(kind)
		if kind.Scales() && !raises(o) {
			fmt.Fprintf(&left, leftText, o.FullResource(), o.Replicas)
			continue
		}
		if kind.Scales() || p.Images {
			rules.WriteString(rule(o))
			fmt.Fprintf(&kinds, "      %s,\n", line(kind, o))
			paths[o.Replicas] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if path != workload.Replicas && path != "" {
			fmt.Fprintf(&stated, statedText, path, stating(path))
			fmt.Fprintf(&raise, raiseText, path, setting(path))
		}
	}
	variables, mutation := "", ""
	if p.Images {
		variables = imagesVariables
		mutation = imagesMutation
	}
	slots := strings.NewReplacer(
		"{{left}}", left.String(),
		"{{rules}}", rules.String(),
		"{{kinds}}", kinds.String(),
		"{{stated}}", stated.String()+stating(workload.Replicas),
		"{{raise}}", raise.String(),
		"{{set}}", setting(workload.Replicas),
		"{{variables}}", variables,
		"{{mutation}}", mutation,
		"{{roles}}", roles("gitlatch-reader", readerRules(), readers),
	)
	return []byte(slots.Replace(policyText)), nil
}

// rule returns the rule of the policy that matches a kind.
func rule(o workload.Object) string {
	return fmt.Sprintf(ruleText, o.Group, o.Version, o.Resource)
}

// line returns the item of a kind in the variable kinds of the policy.
func line(kind workload.Kind, o workload.Object) string {
	return fmt.Sprintf("'%s': ['%s', '%s']", o.FullResource(), kind, o.Replicas)
}

// stating returns the expression for the replicas in the manifest: null if it has no
// replicas.
func stating(path workload.Field) string {
	optional := lists.Map(path.Names(), func(name string) string { return ".?" + name })
	return "object" + strings.Join(optional, "") + ".orValue(null)"
}

// setting returns the expression that sets a path to the level. It adds missing parents.
func setting(path workload.Field) string {
	all := path.Names()
	text := "variables.level"
	for i := len(all) - 1; i > 0; i-- {
		text = fmt.Sprintf("Object.%s{%s: %s}", strings.Join(all[:i], "."), all[i], text)
	}
	return all[0] + ": " + text
}
