package setup

import (
	"bytes"
	"cmp"
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
	switch {
	case f.Host.CodeCommit != "":
		add("GitProvider", "codecommit")
		add("CodeCommitRepository", f.Host.CodeCommit)
	case f.Host.URL != "":
		add("GitProvider", "url")
		add("GitUrl", f.Host.URL)
		add("GitCredential", given.Credential)
	default:
		add("GitHubRepository", f.Host.GitHub)
		add("GitHubLogin", given.CredentialType)
		add("GitHubCredential", given.Credential)
	}
	add("GitHubCredentialKeyArn", f.KeyARN)
	add("Branch", f.Branch)
	add("AlertEmail", given.AlertEmail)
	add("SubnetIds", strings.Join(f.Network.Subnets, ","))
	add("SecurityGroupIds", f.Network.SecurityGroup)
	return all
}

// The text of infra/samconfig.toml in which Samconfig sets the parameters.
var (
	section  = regexp.MustCompile(`(?s)\n\[default\.deploy\.parameters\]\n.*?\n\n`)
	examples = regexp.MustCompile(`(?s)# A site on GitHub:\n.*\n\n`)
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
func Earlier(samconfig []byte, region string) (a Answers) {
	values := map[string]string{}
	for _, m := range given.FindAllSubmatch(section.Find(samconfig), -1) {
		values[string(m[1])] = string(m[2])
	}
	a = Answers{
		Cluster: values["ClusterName"], Site: values["Site"],
		Repository: values["GitUrl"], Credential: cmp.Or(values["GitCredential"], values["GitHubCredential"]),
		CredentialType: values["GitHubLogin"], AlertEmail: values["AlertEmail"],
	}
	switch {
	case values["GitHubRepository"] != "":
		a.Repository = "https://github.com/" + values["GitHubRepository"]
	case values["CodeCommitRepository"] != "":
		a.Repository = fmt.Sprintf("https://git-codecommit.%s.amazonaws.com/v1/repos/%s", region, values["CodeCommitRepository"])
	}
	return a
}

// Config returns the configuration of the site, for the commands of a user. Before the
// deployment, the table is unknown, so the state is only in memory.
func Config(f Facts, given Answers) ([]byte, error) {
	state := `state: {memory: {}} # until the stack exists. Then run "gitlatch init --aws" again`
	if f.Table != "" {
		state = fmt.Sprintf("state: {dynamodb: {table: %q, region: %q}}", f.Table, f.Region)
	}
	repository := fmt.Sprintf("github: {repository: %q, %sSecret: %q}", f.Host.GitHub, given.CredentialType, given.Credential)
	switch {
	case f.Host.CodeCommit != "":
		repository = fmt.Sprintf("codecommit: {name: %q, region: %q}", f.Host.CodeCommit, f.Region)
	case f.Host.URL != "":
		repository = fmt.Sprintf("url: %q, auth: {secret: %q}", f.Host.URL, given.Credential)
	}
	if f.Branch != "" {
		repository += fmt.Sprintf(", branch: %q", f.Branch)
	}
	text := fmt.Appendf(nil, `apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: %q
cluster: {eks: {name: %q, region: %q}}
%s
repository: {%s}
`, given.Site, given.Cluster, f.Region, state, repository)
	_, err := config.ParseConfig("the configuration of the site", text)
	return text, err
}
