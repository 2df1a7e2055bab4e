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

// Over returns the policy that the file at Path gets from one site. It has the kinds and the
// images of the site, and each other kind of the file in git.
//
// All sites of a repository share the file, but gitlatch finds only the policy of one of
// them: its path is in the configuration of the site. So a kind stays in the file until a
// user deletes the file, even if no site defines it any more. Such a kind has no effect,
// because the policy applies only to workloads that have an entry. If two sites define a
// kind or set the images in different ways, the file has the definition of the last one, and
// its commit shows the change.
//
// An empty file has no kinds. The error names Path, and returns the fix if the file has no
// policy.
func (p Policy) Over(file []byte) (Policy, error) {
	if len(file) == 0 {
		return p, nil
	}
	kept, err := parse(file)
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w. Delete the file, and then run \"gitlatch init\" for each site", Path, err)
	}
	for name, o := range p.Kinds {
		maps.DeleteFunc(kept, func(other workload.Kind, old workload.Object) bool {
			return other == name || old.FullResource() == o.FullResource()
		})
		kept[name] = o
	}
	p.Kinds = kept
	return p, nil
}

// kindLine matches the text that line returns.
var kindLine = regexp.MustCompile(`'([^']+)': \['([^']+)', '([^']*)'\]`)

// parse returns the custom kinds in a file of any version. The objects have the fields that
// Format uses.
func parse(file []byte) (workload.Kinds, error) {
	policy, err := document(file, "MutatingAdmissionPolicy", Name)
	if err != nil {
		return nil, err
	}
	objects := map[string]workload.Object{}
	rules, _ := at(policy, "spec", "matchConstraints", "resourceRules").([]any)
	for _, rule := range rules {
		o := workload.Object{Group: only(rule, "apiGroups"), Version: only(rule, "apiVersions"), Resource: only(rule, "resources")}
		objects[o.FullResource()] = o
	}
	kinds := workload.Kinds{}
	for _, item := range kindLine.FindAllSubmatch(file, -1) {
		kind := workload.Kind(item[2])
		o := objects[string(item[1])]
		o.Replicas = workload.Field(item[3])
		if _, builtIn := (workload.Kinds{}).Object(kind); !builtIn {
			kinds[kind] = o
		}
	}
	return kinds, nil
}

// only returns the one item of a list of texts in a rule, or "".
func only(rule any, list string) string {
	all, _ := at(rule, list).([]any)
	if len(all) != 1 {
		return ""
	}
	text, _ := all[0].(string)
	return text
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

// Raises reports whether the policy can set the replicas of a custom kind. After a rebuild,
// a restore raises the workloads of other kinds.
func Raises(o workload.Object) bool { return !outside.MatchString(string(o.Replicas)) }

// Format returns the canonical bytes of the file at Path: the Namespace, the policy, its
// WatchBinding, and the RBAC objects that let gitlatch read the levels. Equal policies have
// equal files. The file leaves out the kinds that the policy cannot raise. The error names
// the fields of kinds that are not valid.
func (p Policy) Format() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	var rules, kinds, stated, raise strings.Builder
	paths := map[workload.Field]bool{}
	for _, kind := range p.Kinds.All() {
		o, _ := p.Kinds.Object(kind)
		if kind.Scales() && Raises(o) || !kind.Scales() && p.Images {
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
