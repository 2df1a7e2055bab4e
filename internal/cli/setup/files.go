package setup

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/config"
)

// A Parameter is a parameter of the template.
type Parameter struct{ Name, Value string }

// Parameters returns the parameters of the template that differ from its defaults.
func Parameters(f Facts, given Answers) (all []Parameter) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, Parameter{name, value})
		}
	}
	add("Site", given.Site)
	add("ClusterName", given.Cluster)
	add("RepositoryUrl", given.Repository)
	add("Credential", given.Credential)
	add("AlertEmail", given.AlertEmail)
	add("SubnetIds", strings.Join(f.Network.Subnets, ","))
	add("SecurityGroupIds", f.Network.SecurityGroup)
	return all
}

// The text of infra/samconfig.toml in which Samconfig sets the parameters.
var (
	section  = regexp.MustCompile(`(?s)\n\[default\.deploy\.parameters\]\n.*?\n\n`)
	examples = regexp.MustCompile(`(?s)# The parameters of a site:\n.*\n\n`)
	given    = regexp.MustCompile(`(?m)^ +"(\w+)=(.*)",$`)
)

// Samconfig returns the settings of SAM: infra/samconfig.toml with the parameters, and
// without the question of sam deploy.
func Samconfig(example []byte, parameters []Parameter) ([]byte, error) {
	at := section.FindIndex(example)
	if at == nil {
		return nil, errors.New("infra/samconfig.toml has no section [default.deploy.parameters]")
	}
	own := example[at[0]:at[1]]
	if !examples.Match(own) || !bytes.Contains(own, []byte("confirm_changeset = true")) {
		return nil, errors.New("infra/samconfig.toml has no example of parameters, or no confirm_changeset")
	}
	var list strings.Builder
	list.WriteString("parameter_overrides = [\n")
	for _, p := range parameters {
		fmt.Fprintf(&list, "  \"%s=%s\",\n", p.Name, p.Value)
	}
	list.WriteString("]\n\n")
	own = examples.ReplaceAllLiteral(own, []byte(list.String()))
	own = bytes.Replace(own, []byte("confirm_changeset = true"), []byte("confirm_changeset = false"), 1)
	return bytes.Join([][]byte{example[:at[0]], own, example[at[1]:]}, nil), nil
}

// Earlier returns the answers in the settings of an earlier run. A missing answer is "".
func Earlier(samconfig []byte) Answers {
	values := map[string]string{}
	for _, m := range given.FindAllSubmatch(section.Find(samconfig), -1) {
		values[string(m[1])] = string(m[2])
	}
	return Answers{Cluster: values["ClusterName"], Site: values["Site"], Repository: values["RepositoryUrl"],
		Credential: values["Credential"], AlertEmail: values["AlertEmail"]}
}

// Config returns the configuration of the site, for the commands of a user. Before the
// deployment, the table is unknown, so the state is only in memory.
func Config(f Facts, given Answers) ([]byte, error) {
	state := `state: {memory: {}} # until the stack exists. Then run "gitlatch init --aws" again`
	if f.Table != "" {
		table := f.Cluster
		table.Service, table.Resource = "dynamodb", "table/"+f.Table
		state = fmt.Sprintf("state: {dynamodb: %q}", table)
	}
	repository := fmt.Sprintf("url: %q", given.Repository)
	if given.Credential != "" {
		repository += fmt.Sprintf(", credential: %q", "secret:"+given.Credential)
	}
	text := fmt.Appendf(nil, `apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: %q
cluster: {eks: %q}
%s
repository: {%s}
`, given.Site, f.Cluster, state, repository)
	_, err := config.ParseConfig("the configuration of the site", text)
	return text, err
}
