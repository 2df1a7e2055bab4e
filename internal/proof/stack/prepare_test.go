//go:build aws

package stack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/gitlatch/gitlatch/internal/cli/setup"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

// motoAccount is the account of moto.
const motoAccount = "123456789012"

// TestInitPreparesADeployment runs gitlatch init --aws in an account without gitlatch.
func TestInitPreparesADeployment(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "gitlatch")
	build := command(t, "go", "build", "-o", binary, "./functions/gitlatch")
	build.Dir = root
	output(t, build)
	for name, test := range map[string]func(*testing.T, string){
		"the deployment runs twice with the same result": runsTwice,
		"in the network of a private cluster":            inANetwork,
		"a repository in CodeCommit":                     inCodeCommit,
		"a repository on any other git server":           onAnyServer,
		"each missing flag is named":                     withoutFlags,
		"each problem of the account is named":           withProblems,
		"five questions on a terminal":                   onATerminal,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, binary)
		})
	}
}

// A home is an AWS account before the deployment, and the folder of a user.
type home struct {
	dir      string
	gitlatch string // the command
	moto     *moto.Server
	gateway  *gateway.Gateway
}

// newHome returns an account with the cluster prod-eu-blue. moto imports a service at its first
// request, which on a busy machine takes longer than the command waits for an answer. So the
// first request is one of the test, whose client waits.
// The network has the fields of the cluster in EKS.
func newHome(t *testing.T, binary string, network map[string]any) *home {
	t.Helper()
	h := &home{dir: workplace(t), gitlatch: binary, moto: moto.Start(t)}
	services := map[string]string{}
	for _, name := range []string{"eks", "ec2", "dynamodb"} {
		services[name] = h.moto.URL
	}
	h.gateway = gateway.Start(t, services)
	_, err := dynamodb.NewFromConfig(h.moto.Config()).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	h.cluster(t, "API", network)
	return h
}

// open is the network of a cluster that all addresses can reach.
var open = map[string]any{"vpcId": "vpc-0a1b2c3d", "endpointPublicAccess": true, "publicAccessCidrs": []string{"0.0.0.0/0"}}

// cluster sets the answer of EKS, which the API model of EKS checks.
func (h *home) cluster(t *testing.T, mode string, network map[string]any) {
	t.Helper()
	cluster := map[string]any{"name": "prod-eu-blue", "arn": "arn:aws:eks:" + region + ":" + account + ":cluster/prod-eu-blue", "status": "ACTIVE", "accessConfig": map[string]any{"authenticationMode": mode}}
	if network != nil {
		cluster["resourcesVpcConfig"] = network
	}
	h.gateway.Instead("eks:DescribeCluster", moto.Answer(t, "eks", "DescribeCluster", map[string]any{"cluster": cluster}))
}

// prepare runs gitlatch init --aws without a terminal, and returns its output and status.
func (h *home) prepare(t *testing.T, flags ...string) (string, int) {
	t.Helper()
	return ran(t, h.command(t, flags...))
}

func (h *home) command(t *testing.T, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, h.gitlatch, append([]string{"init", "--aws"}, flags...)...)
	cmd.Dir = h.dir
	cmd.Env = []string{"HOME=" + t.TempDir(), "AWS_ENDPOINT_URL=" + h.gateway.URL, "AWS_REGION=" + region,
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_EC2_METADATA_DISABLED=true"}
	return cmd
}

// flat returns a text without line breaks.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func ran(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// text returns a file of the user's folder.
func (h *home) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// onGitHub are the flags for a site on GitHub. Each flag answers one question.
var onGitHub = []string{"--cluster", "prod-eu-blue", "--site", "prod-eu", "--repository", "https://github.com/example/fleet",
	"--credential", "gitlatch/github", "--alert-email", "platform@example.com"}

// deploysWithoutAQuestion builds and deploys the stack, and returns all its deployments.
func (h *home) deploysWithoutAQuestion(t *testing.T, at *cloud) []deployment {
	t.Helper()
	played := playShown(t, step{command: deployCommand}, h.dir, at)
	if asked := question.FindString(played); asked != "" || strings.Contains(played, "[y/N]") {
		t.Errorf("sam deploy asks a question:\n%s", played)
	}
	all := at.deployed(t, "gitlatch")
	for _, d := range all {
		for _, said := range d.violated() {
			t.Error(said)
		}
	}
	return all
}

// Two runs of init and of the deployment have the same result. The rules of the template
// accept the parameters, and sam deploy asks nothing.
func runsTwice(t *testing.T, binary string) {
	h, at := newHome(t, binary, open), newCloud(t)
	var settings, site string
	for i := range 2 {
		flags := onGitHub
		if i == 1 {
			flags = nil // the answers of the first run are the defaults of the second
		}
		out, status := h.prepare(t, flags...)
		if status != 0 || strings.Contains(out, "kept") || strings.Contains(out, "after you resolve") || !strings.Contains(out, "aws secretsmanager create-secret --region eu-west-1 --name gitlatch/github --secret-string file://credential") {
			t.Fatalf("run %d: exit status %d\n%s", i, status, out)
		}
		if want := []string{"created  ", "unchanged  "}[i]; strings.Count(out, want) != 2 {
			t.Errorf("run %d does not print %q twice:\n%s", i, want, out)
		}
		if i == 1 && (h.text(t, "samconfig.toml") != settings || h.text(t, "prod-eu.yaml") != site) {
			t.Error("the second run changed a file")
		}
		settings, site = h.text(t, "samconfig.toml"), h.text(t, "prod-eu.yaml")
		deployed := h.deploysWithoutAQuestion(t, at)
		if len(deployed) != i+1 {
			t.Fatalf("deployed %d times", len(deployed))
		}
		for name, want := range map[string]string{"Site": "prod-eu", "ClusterName": "prod-eu-blue", "RepositoryUrl": "https://github.com/example/fleet",
			"Credential": "gitlatch/github", "AlertEmail": "platform@example.com", "SubnetIds": ""} {
			if got := deployed[i].parameters[name]; got != want {
				t.Errorf("run %d: %s was deployed as %q, want %q", i, name, got, want)
			}
		}
	}

	// After the deployment, the configuration has the table.
	h.table(t, "gitlatch-StateTable-1A2B3C4D5E6F")
	if out, status := h.prepare(t); status != 0 || !strings.Contains(out, "updated    prod-eu.yaml") || !strings.Contains(out, "unchanged  samconfig.toml") {
		t.Errorf("after the deployment: exit status %d\n%s", status, out)
	}
	c, err := config.ParseConfig("prod-eu.yaml", []byte(h.text(t, "prod-eu.yaml")))
	if err != nil || !strings.HasSuffix(c.State.DynamoDB, ":table/gitlatch-StateTable-1A2B3C4D5E6F") || c.Cluster.EKS.Name != "prod-eu-blue" || c.Repository.Credential.Name != "gitlatch/github" {
		t.Errorf("the configuration is %+v, error %v", c, err)
	}

	// The user's edits stay, and the output has them.
	edited := strings.Replace(settings, `  "Site=prod-eu",`, "  \"Site=prod-eu\",\n  \"PeriodMinutes=10\",", 1)
	write(t, filepath.Join(h.dir, "samconfig.toml"), edited)
	out, status := h.prepare(t)
	if status != 1 || h.text(t, "samconfig.toml") != edited || !strings.Contains(out, "kept       samconfig.toml") || !strings.Contains(out, `-   "PeriodMinutes=10",`) {
		t.Errorf("after an edit: exit status %d\n%s", status, out)
	}
}

// table creates a table.
func (h *home) table(t *testing.T, name string) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(h.moto.Config()).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A cluster that not every address can reach puts the function into the private subnets
// of the cluster with a route to a NAT gateway.
func inANetwork(t *testing.T, binary string) {
	h, at := newHome(t, binary, open), newCloud(t)
	network := h.network(t)
	h.cluster(t, "API_AND_CONFIG_MAP", map[string]any{"vpcId": network.VPC, "clusterSecurityGroupId": network.SecurityGroup,
		"subnetIds": append([]string{"subnet-00000000"}, network.Subnets...), "endpointPublicAccess": true, "publicAccessCidrs": []string{"198.51.100.0/24"}})
	private := network.Subnets[:1]
	network.Subnets = private
	if out, status := h.prepare(t, onGitHub...); status != 0 {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	d := h.deploysWithoutAQuestion(t, at)[0]
	for name, want := range map[string]string{"SubnetIds": private[0], "SecurityGroupIds": network.SecurityGroup} {
		if got := d.parameters[name]; got != want {
			t.Errorf("%s was deployed as %q, want %q", name, got, want)
		}
	}
}

// network creates a VPC with a private subnet behind a NAT gateway and a public subnet, in
// this order.
func (h *home) network(t *testing.T) (n setup.Network) {
	t.Helper()
	client := ec2.NewFromConfig(h.moto.Config())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	vpc, err := client.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	must(err)
	n.VPC, n.SecurityGroup = *vpc.Vpc.VpcId, "sg-0a1b2c3d"
	igw, err := client.CreateInternetGateway(t.Context(), &ec2.CreateInternetGatewayInput{})
	must(err)
	_, err = client.AttachInternetGateway(t.Context(), &ec2.AttachInternetGatewayInput{InternetGatewayId: igw.InternetGateway.InternetGatewayId, VpcId: &n.VPC})
	must(err)
	for _, cidr := range []string{"10.0.1.0/24", "10.0.2.0/24"} {
		subnet, err := client.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: &n.VPC, CidrBlock: &cidr})
		must(err)
		n.Subnets = append(n.Subnets, *subnet.Subnet.SubnetId)
	}
	nat, err := client.CreateNatGateway(t.Context(), &ec2.CreateNatGatewayInput{SubnetId: &n.Subnets[1]})
	must(err)
	for i, subnet := range n.Subnets {
		table, err := client.CreateRouteTable(t.Context(), &ec2.CreateRouteTableInput{VpcId: &n.VPC})
		must(err)
		_, err = client.AssociateRouteTable(t.Context(), &ec2.AssociateRouteTableInput{RouteTableId: table.RouteTable.RouteTableId, SubnetId: &subnet})
		must(err)
		route := &ec2.CreateRouteInput{RouteTableId: table.RouteTable.RouteTableId, DestinationCidrBlock: aws.String("0.0.0.0/0")}
		if i == 0 {
			route.NatGatewayId = nat.NatGateway.NatGatewayId
		} else {
			route.GatewayId = igw.InternetGateway.InternetGatewayId
		}
		_, err = client.CreateRoute(t.Context(), route)
		must(err)
	}
	return n
}

// A repository in CodeCommit needs no credential.
func inCodeCommit(t *testing.T, binary string) {
	h, at := newHome(t, binary, open), newCloud(t)
	flags := []string{"--cluster", "prod-eu-blue", "--site", "prod-eu", "--repository", onCodeCommit, "--credential", "unused"}
	if out, status := h.prepare(t, flags...); status != 0 || strings.Contains(out, "create-secret") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	d := h.deploysWithoutAQuestion(t, at)[0]
	for name, want := range map[string]string{"RepositoryUrl": onCodeCommit, "Credential": ""} {
		if got := d.parameters[name]; got != want {
			t.Errorf("%s was deployed as %q, want %q", name, got, want)
		}
	}
}

// A repository on any other git server needs a secret, whose content depends on the URL.
func onAnyServer(t *testing.T, binary string) {
	h, at := newHome(t, binary, open), newCloud(t)
	repository := "ssh://git@git.example.com/platform/fleet.git"
	out, status := h.prepare(t, "--cluster", "prod-eu-blue", "--site", "prod-eu", "--repository", repository)
	if want := "The file credential contains the lines that ssh-keyscan prints, and then a private SSH key"; status != 0 || !strings.Contains(flat(out), want) {
		t.Errorf("exit status %d, no %q in\n%s", status, want, out)
	}
	if want := `repository: {url: "` + repository + `", credential: "secret:gitlatch/git"}`; !strings.Contains(h.text(t, "prod-eu.yaml"), want) {
		t.Errorf("no %q in\n%s", want, h.text(t, "prod-eu.yaml"))
	}
	d := h.deploysWithoutAQuestion(t, at)[0]
	for name, want := range map[string]string{"RepositoryUrl": repository, "Credential": "gitlatch/git"} {
		if got := d.parameters[name]; got != want {
			t.Errorf("%s was deployed as %q, want %q", name, got, want)
		}
	}
	if out, _ := h.prepare(t); strings.Count(out, "unchanged  ") != 2 {
		t.Errorf("the answers of the first run are not the defaults of the second:\n%s", out)
	}
}

// Without a terminal, the error names each missing flag, and no file is written.
func withoutFlags(t *testing.T, binary string) {
	h := newHome(t, binary, open)
	out, status := h.prepare(t)
	for _, flag := range []string{"--cluster is required", "--site is required", "--repository is required"} {
		if !strings.Contains(out, flag) {
			t.Errorf("%q is not in\n%s", flag, out)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "samconfig.toml")); status != 2 || err == nil {
		t.Errorf("exit status %d, and samconfig.toml exists: %v", status, err == nil)
	}
	for name, c := range map[string]struct {
		flag, value string
		want        string
	}{
		"another host":    {"--repository", "http://git.example.com/fleet", "--repository: "},
		"quotes":          {"--credential", `a"b`, "--credential: must be the name of a secret"},
		"no site":         {"--site", "Prod", "--site: must be a DNS label"},
		"no address":      {"--alert-email", "platform", "--alert-email: must be an e-mail address"},
		"another cluster": {"--cluster", "blue!", "--cluster: must be the name"},
	} {
		if out, status := h.prepare(t, append(slices.Clone(onGitHub), c.flag, c.value)...); status != 2 || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit status %d\n%s", name, status, out)
		}
	}
	if out, status := h.prepare(t, append(slices.Clone(onGitHub), "--dry-run")...); status != 0 || !strings.Contains(out, "\n  \"ClusterName=prod-eu-blue\",\n") {
		t.Errorf("a dry run: exit status %d\n%s", status, out)
	}
	if files, err := filepath.Glob(path.Join(h.dir, "*.toml")); err != nil || len(files) > 0 {
		t.Errorf("a dry run wrote %q, error %v", files, err)
	}
}

// A problem on AWS is named with its fix, and the files are written.
func withProblems(t *testing.T, binary string) {
	h := newHome(t, binary, open)
	_, err := ec2.NewFromConfig(h.moto.Config()).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}) // see newHome
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func()
		want  []string
	}{
		"no access entries": {func() { h.cluster(t, "CONFIG_MAP", open) }, []string{
			"The authentication mode of the EKS cluster prod-eu-blue is CONFIG_MAP, which has no access entries.",
			"Fix: aws eks update-cluster-config --region eu-west-1 --name prod-eu-blue --access-config authenticationMode=API_AND_CONFIG_MAP"}},
		"no answer about the network": {func() { h.cluster(t, "API", nil) }, []string{"The network of the EKS cluster prod-eu-blue is unknown."}},
		"no private subnet": {func() {
			h.cluster(t, "API", map[string]any{"vpcId": "vpc-0a1b2c3d", "subnetIds": []string{}, "endpointPublicAccess": false})
		}, []string{"so the function must run in vpc-0a1b2c3d, but the cluster has no private subnet."}},
	} {
		h.cluster(t, "API", open)
		c.spoil()
		out, status := h.prepare(t, slices.Concat(onGitHub, []string{"--dry-run"})...)
		for _, want := range c.want {
			if status != 1 || !strings.Contains(flat(out), want) {
				t.Errorf("%s: exit status %d, no %q in\n%s", name, status, want, out)
			}
		}
	}
}

// On a terminal, init asks five questions, and Enter takes the answer in brackets.
func onATerminal(t *testing.T, binary string) {
	if _, err := exec.LookPath("script"); err != nil {
		skip.Test(t, "needs script, which runs a command on a terminal")
	}
	h := newHome(t, binary, open)
	h.gateway.Instead("eks:GET /clusters", moto.Answer(t, "eks", "ListClusters", map[string]any{"clusters": []string{"prod-eu-blue"}}))
	cmd := command(t, "script", "-qec", h.gitlatch+" init --aws", "/dev/null")
	cmd.Dir, cmd.Env = h.dir, append(h.command(t).Env, "PATH="+os.Getenv("PATH"), "TERM=dumb")
	keys, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	defer keys.Close()
	cmd.Stdin = keys
	var asked []string
	shown := &screen{answer: func(q string) {
		asked = append(asked, q)
		answer := map[string]string{"URL of the git repository []:": "https://github.com/example/fleet", "E-mail address for alerts, or empty []:": "platform@example.com"}[q]
		_, _ = io.WriteString(typed, answer+"\n") // fails if the program has ended; its output has the reason
	}}
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = shown, &all
	err = cmd.Run()
	if err != nil || len(asked) != 5 || !strings.Contains(h.text(t, "samconfig.toml"), `"Site=prod-eu-blue"`) {
		t.Errorf("error %v, questions %q\n%s%s", err, asked, shown.all.Bytes(), all.Bytes())
	}
}
