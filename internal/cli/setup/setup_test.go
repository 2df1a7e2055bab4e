package setup

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2 "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Each address that init accepts is valid in the template and in a configuration.
func TestHostOfARepository(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]repo.HostKind{
		"https://github.com/example/fleet":                              repo.GitHub,
		"https://git-codecommit.us-east-1.amazonaws.com/v1/repos/fleet": repo.CodeCommit,
		"gitlab::https://git.example.com/platform/fleet.git":            repo.GitLab,
		"https://git.example.com/fleet":                                 repo.Git,
		"ssh://git@git.example.com:2222/platform/fleet.git":             repo.Git,
		"git@git.example.com:platform/fleet.git":                        "",
		"fleet.git":                                                     "",
		"https://git.example.com/a b":                                   "",
		"https://bot:hunter2@git.example.com/fleet":                     "",
	} {
		got, err := HostOf(address)
		if (err == nil) != (want != "") || err == nil && got.Kind != want || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %+v, error %v", address, got, err)
		}
	}
}

// The template accepts each URL that init accepts.
func TestThePatternOfURLsIsThatOfTheTemplate(t *testing.T) {
	t.Parallel()
	template, err := os.ReadFile("../../../template.yaml")
	if err != nil || !strings.Contains(string(template), "\n    AllowedPattern: \""+addresses.String()+"\"\n") {
		t.Errorf("template.yaml has no parameter with the pattern %s, error %v", addresses, err)
	}
}

// A function must not run in a subnet with an internet gateway. A subnet without a table
// uses the main table.
func TestTheFunctionRunsInPrivateSubnets(t *testing.T) {
	t.Parallel()
	table := func(subnet string, main bool, route ec2.Route) ec2.RouteTable {
		of := ec2.RouteTableAssociation{Main: &main}
		if subnet != "" {
			of.SubnetId = &subnet
		}
		return ec2.RouteTable{Associations: []ec2.RouteTableAssociation{of}, Routes: []ec2.Route{route}}
	}
	everywhere := aws.String("0.0.0.0/0")
	igw := ec2.Route{DestinationCidrBlock: everywhere, GatewayId: aws.String("igw-1")}
	nat := ec2.Route{DestinationCidrBlock: everywhere, NatGatewayId: aws.String("nat-1")}
	local := ec2.Route{DestinationCidrBlock: aws.String("10.0.0.0/16"), GatewayId: aws.String("local")}
	for name, c := range map[string]struct {
		tables  []ec2.RouteTable
		want    string
		natless bool
	}{
		"a NAT gateway":      {[]ec2.RouteTable{table("a", false, igw), table("b", false, nat), table("c", false, local)}, "b", false},
		"no way out":         {[]ec2.RouteTable{table("a", false, igw), table("b", false, local), table("c", false, local)}, "b c", true},
		"the main table":     {[]ec2.RouteTable{table("a", false, igw), table("", true, nat)}, "b c", false},
		"only public":        {[]ec2.RouteTable{table("", true, igw)}, "", false},
		"no table at all":    {nil, "a b c", true},
		"a table of another": {[]ec2.RouteTable{table("z", false, nat), table("", true, igw)}, "", false},
	} {
		got, natless := routed(c.tables, []string{"a", "b", "c"})
		if strings.Join(got, " ") != c.want || natless != c.natless {
			t.Errorf("%s: %q, without NAT: %v", name, got, natless)
		}
	}
}

// The settings are infra/samconfig.toml with the parameters, and contain the answers.
func TestTheSettingsContainTheAnswers(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../../infra/samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []Answers{
		{Cluster: "blue", Site: "prod", Repository: "https://github.com/example/fleet", Credential: "gitlatch/git", AlertEmail: "a@example.com"},
		{Cluster: "blue", Site: "prod", Repository: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet"},
	} {
		settings, err := Samconfig(example, Parameters(Facts{}, given))
		if err != nil {
			t.Fatal(err)
		}
		if got := Earlier(settings); got != given {
			t.Errorf("got %+v, want %+v", got, given)
		}
		if strings.Count(string(settings), "confirm_changeset = false") != 1 {
			t.Errorf("sam deploy asks a question by\n%s", settings)
		}
		if !strings.Contains(string(settings), "\n[edge.deploy.parameters]\n") || !strings.Contains(string(settings), "  \"StateStack=gitlatch\",\n") {
			t.Errorf("the other environments are not in\n%s", settings)
		}
	}
	if got := Earlier(example); got != (Answers{}) {
		t.Errorf("the example has the answers %+v", got)
	}
	for _, broken := range []string{"", "\n[default.deploy.parameters]\nconfirm_changeset = true\n\n", "\n[default.deploy.parameters]\n# The parameters of a site:\n# x\n\n"} {
		if _, err := Samconfig([]byte(broken), nil); err == nil {
			t.Errorf("no error for %q", broken)
		}
	}
}
