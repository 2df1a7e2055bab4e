package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// whole is the start of a configuration, without its cluster, state and repository.
const whole = "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\n"

const onCodeCommit = "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/site"

func opener(t *testing.T, document string) *Opener {
	t.Helper()
	c, err := config.ParseConfig("config.yaml", []byte(whole+document))
	if err != nil {
		t.Fatal(err)
	}
	return &Opener{Config: c, Getenv: func(string) string { return "" }, Clock: time.Now}
}

// isolated hides the AWS settings of the machine.
func isolated(t *testing.T, region string) {
	t.Helper()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("AWS_CONFIG_FILE", nowhere)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", region)
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
}

func TestWhatIsConfiguredIsOpened(t *testing.T) {
	isolated(t, "eu-west-1") // sets the environment, so the test is not parallel
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "a",
"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}], "contexts": [{"name": "a", "context": {"cluster": "a"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ document, want string }{
		{
			"cluster: {eks: prod}\nstate: {dynamodb: gitlatch}\nrepository: {url: '" + onCodeCommit + "', mode: proposal}\nalerts: {topicArn: 'arn:aws:sns:eu-west-1:123456789012:t'}",
			"*eks.Cluster *eks.Cluster *dynamo.Store *codecommit.Repository *codecommit.Repository sns.Topic propose",
		},
		{
			"cluster: {kubeconfig: " + kubeconfig + "}\nstate: {memory: {}}\nrepository: {url: 'https://git.example.com/site.git'}",
			"*kube.Sampler *kube.Sampler *mem.Store *gitwire.Repository <nil> <nil> direct",
		},
		{
			"cluster: {kubeconfig: " + kubeconfig + "}\nstate: {bolt: /var/state.db}\nrepository: {url: '" + onCodeCommit + "'}",
			"*kube.Sampler *kube.Sampler *mem.Store *codecommit.Repository *codecommit.Repository <nil> direct",
		},
	} {
		o := opener(t, c.document)
		o.Bolt = func(path string) (latch.Store, error) {
			if path != "/var/state.db" {
				t.Errorf("bolt file %s", path)
			}
			return mem.New(), nil
		}
		p, err := o.Open(t.Context())
		if err != nil {
			t.Errorf("%s\n%v", c.document, err)
			continue
		}
		mode := "direct"
		tick := local.Tick(o.Config, p)
		if tick.Propose {
			mode = "propose"
		}
		if got := fmt.Sprintf("%T %T %T %T %T %T %s", p.Sampler, tick.Levels, p.Store, p.Repository, p.Proposals, p.Alerts, mode); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.document, got, c.want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAlertsGoToAWebhookWhoseURLIsASecret(t *testing.T) {
	t.Parallel()
	const document = "state: {memory: {}}\nrepository: {url: 'https://git.example.com/site.git'}\nalerts: {webhook: env:HOOK}"
	for value, want := range map[string]string{
		"https://hooks.example.com/hunter2": "webhook.Hook <nil>",
		"hunter2":                           "<nil> alerts.webhook: the URL must be an https URL, or an http one within the network",
		"":                                  "<nil> read alerts.webhook: environment variable HOOK is not set",
	} {
		o := opener(t, document)
		o.Getenv = func(string) string { return value }
		opened, err := o.Alerts(t.Context())
		if got := fmt.Sprintf("%T %v", opened, err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAStateInMemoryOutlivesWhatIsOpened(t *testing.T) {
	t.Parallel()
	o := opener(t, "state: {memory: {}}\nrepository: {url: 'https://git.example.com/site.git'}")
	first, err := o.Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if second, err := o.Store(t.Context()); err != nil || second != first {
		t.Errorf("another store, error %v", err)
	}
}

func TestWithoutARegionTheFieldIsNamed(t *testing.T) {
	isolated(t, "")
	const rest = "cluster: {eks: arn:aws:eks:eu-west-1:123456789012:cluster/prod}\nstate: {dynamodb: arn:aws:dynamodb:eu-west-1:123456789012:table/gitlatch}\nrepository: {url: 'https://git.example.com/site.git'}"
	if _, err := opener(t, rest).Open(t.Context()); err != nil {
		t.Error(err)
	}
	for field, without := range map[string]string{
		"cluster: cluster.eks": "arn:aws:eks:eu-west-1:123456789012:cluster/",
		"state.dynamodb":       "arn:aws:dynamodb:eu-west-1:123456789012:table/",
	} {
		document := strings.Replace(rest, without, "", 1)
		if _, err := opener(t, document).Open(t.Context()); err == nil || !strings.HasPrefix(err.Error(), field+": no Region is configured. Set AWS_REGION") {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// A vault returns one answer.
type vault struct {
	answer *string
	err    error
}

func (v vault) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return &secretsmanager.GetSecretValueOutput{Name: in.SecretId, SecretString: v.answer}, v.err
}

func TestASecretThatCannotBeUsedIsNamedAndNotTold(t *testing.T) {
	t.Parallel()
	code := func(code string) vault {
		return vault{err: &smithy.GenericAPIError{Code: code, Message: "said"}}
	}
	for name, c := range map[string]struct {
		vault vault
		want  string
	}{
		"not there":     {code("ResourceNotFoundException"), "create the secret, or correct its name"},
		"not allowed":   {code("AccessDeniedException"), "allow the role secretsmanager:GetSecretValue"},
		"not decrypted": {code("DecryptionFailure"), "kms:Decrypt"},
		"anything else": {code("InternalServiceError"), "said"},
		"no answer":     {vault{err: errors.New("connection refused")}, "connection refused"},
		"binary":        {vault{}, "is binary. Store it as text"},
		"blank":         {vault{answer: aws.String(" \n")}, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := secret{field: "repository.credential", name: "gitlatch/git"}
			_, err := s.text(t.Context(), c.vault)
			if err == nil || !strings.HasPrefix(err.Error(), s.field+": secret gitlatch/git: ") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}
