//go:build aws

package main

import (
	"net/http"
	"strings"
	"testing"

	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
)

// A trouble is a problem of a site at level 5 whose desired replicas leave that level.
type trouble struct {
	name     string
	provider string
	breaks   func(*testing.T, *stack)
	repairs  func(*testing.T, *stack) // nil if there is nothing to repair
	says     []string                 // in the error of each tick during the trouble

	alert alert.Kind // raised once, and resolved after the repair
	// commits is the level on the base during the trouble, if the checkpoint file still
	// follows; 0 if it does not.
	commits int32
	// lowers lowers the desired replicas from 8 to 3, instead of raising them from 3 to
	// 8.
	lowers bool
	needs  int // desired replicas in place of 8
	// slow is true if a tick waits for the problem to end. One tick is then enough.
	slow bool
}

// as returns a step that starts the function with a changed configuration.
func as(from, to string) func(*testing.T, *stack) {
	return func(t *testing.T, s *stack) { s.start(t, from, strings.ReplaceAll(to, "SITE", s.name)) }
}

// again starts the function with the configuration of the template.
func again(t *testing.T, s *stack) { s.start(t) }

// instead makes the gateway answer an operation, and starts a new environment.
func instead(operation string, answer http.Handler) func(*testing.T, *stack) {
	return func(t *testing.T, s *stack) {
		s.gateway.Instead(operation, answer)
		s.start(t)
	}
}

// denied is an answer of IAM.
func denied(action string) http.Handler {
	return gateway.Fault(http.StatusBadRequest, "AccessDeniedException", "User: latch is not authorized to perform: "+action)
}

var creating = gateway.Answer(map[string]any{"cluster": map[string]any{"name": cluster, "status": "CREATING"}})

const partial = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: partial}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: partial}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: partial}]
`

func troubles() []trouble {
	enters := func(groups ...string) func(*testing.T, *stack) {
		return func(t *testing.T, s *stack) {
			s.enter(t, s.role, groups...)
			s.renew(t)
		}
	}
	secret := func(key string) func(*testing.T, *stack) {
		return func(t *testing.T, s *stack) {
			s.change(t, appSecret(t, key))
			s.start(t)
		}
	}
	held := func(t *testing.T, s *stack) { s.change(t, s.secret) }
	refuse := func(on bool) func(*testing.T, *stack) {
		return func(t *testing.T, s *stack) { s.refuse(t, on) }
	}
	return []trouble{
		{name: "cluster-missing", provider: "codecommit",
			breaks: as(`eks: "`+cluster+`"`, `eks: "gone"`), repairs: again,
			says: []string{"sample: describe EKS cluster gone in eu-west-1: ResourceNotFoundException: ", "Check the name and the Region in cluster.eks"}},
		{name: "cluster-not-active", provider: "codecommit",
			breaks: instead("eks:DescribeCluster", creating), repairs: instead("eks:DescribeCluster", nil),
			says: []string{"EKS cluster prod-eu in eu-west-1: its status is CREATING: it can be sampled once it is ACTIVE"}},
		{name: "cluster-denied", provider: "codecommit",
			breaks: instead("eks:DescribeCluster", denied("eks:DescribeCluster")), repairs: instead("eks:DescribeCluster", nil),
			says: []string{"describe EKS cluster prod-eu in eu-west-1: AccessDeniedException", "allow arn:aws:iam::123456789012:role/cluster-denied eks:DescribeCluster on it"}},
		{name: "role-not-assumable", provider: "spoke",
			breaks:  func(t *testing.T, s *stack) { s.eks.Role(s.spokeRole(), "another"); s.start(t) },
			repairs: func(_ *testing.T, s *stack) { s.eks.Role(s.spokeRole(), "gitlatch/"+s.name) },
			says:    []string{"assume arn:aws:iam::444455556666:role/role-not-assumable for EKS cluster prod-eu", "AccessDenied", "trust policy of this role, with the external ID gitlatch/role-not-assumable"}},
		{name: "no-access-entry", provider: "codecommit", breaks: enters(),
			repairs: func(t *testing.T, s *stack) { s.enter(t, s.role, group) },
			says:    []string{": unauthorized: ", "aws eks create-access-entry --region eu-west-1 --cluster-name prod-eu --principal-arn arn:aws:iam::123456789012:role/no-access-entry --kubernetes-groups gitlatch:samplers"}},
		{name: "no-rights", provider: "codecommit", breaks: enters("gitlatch:nobody"), repairs: enters(group),
			says: []string{"forbidden", "cannot get", "Give group gitlatch:samplers its rights", "kubectl apply -k infra/rbac"}},
		{name: "kind-forbidden", provider: "codecommit", lowers: true, alert: alert.Unread,
			breaks: func(t *testing.T, s *stack) {
				less := strings.NewReplacer("statefulsets, ", "", "name: gitlatch-sampler", "name: partial").Replace(read(t, role))
				s.cp.Apply(t, less, partial)
				s.enter(t, s.role, "partial")
				s.renew(t)
			},
			repairs: enters(group),
			says:    []string{"not read: statefulsets: forbidden: ", "gitlatch lowers no level until then. If the API server forbids it, run \"kubectl apply -k infra/rbac\""}},
		{name: "wrong-cluster-id", provider: "codecommit",
			breaks: func(t *testing.T, s *stack) {
				admin := s.cp.Config()
				s.eks.Describe("prod-us", standeks.Cluster{Endpoint: admin.Host, CA: admin.CAData})
				s.start(t, `eks: "`+cluster+`"`, `eks: "prod-us"`)
			},
			repairs: again,
			says:    []string{": unauthorized: ", "--cluster-name prod-us ", "check that prod-us in cluster.eks is the name of the cluster"}},
		{name: "wrong-secret", provider: "codecommit",
			breaks: func(t *testing.T, s *stack) {
				s.eks.Rotate(s.key)
				s.start(t)
			},
			repairs: func(t *testing.T, s *stack) { s.renew(t) },
			says:    []string{"sample: describe EKS cluster prod-eu in eu-west-1: SignatureDoesNotMatch: ", "AWS rejects the credentials. Check whether they expired or were replaced"}},

		{name: "table-missing", provider: "codecommit",
			breaks: as(`dynamodb: "gitlatch"`, `dynamodb: "gitlatch-gone"`), repairs: again,
			says: []string{"take the lease of site table-missing: ", "table gitlatch-gone does not exist: create it, or correct the table or the region of state.dynamodb"}},
		{name: "table-misshapen", provider: "codecommit",
			breaks: as(`dynamodb: "gitlatch"`, `dynamodb: "gitlatch-misshapen"`), repairs: again,
			says: []string{"table gitlatch-misshapen has another key schema: its key must be pk (partition) and sk (sort), both strings"}},
		{name: "table-denied", provider: "codecommit",
			breaks: instead("dynamodb:Query", denied("dynamodb:Query")), repairs: instead("dynamodb:Query", nil),
			says: []string{"table gitlatch denies access: allow the role GetItem, Query, UpdateItem and DeleteItem on the table"}},
		{name: "table-throttled", provider: "codecommit", slow: true,
			breaks:  instead("dynamodb:UpdateItem", gateway.Fault(http.StatusBadRequest, "ThrottlingException", "Rate exceeded")),
			repairs: instead("dynamodb:UpdateItem", nil),
			says:    []string{"table gitlatch is throttled: use on-demand capacity"}},

		{name: "codecommit-missing", provider: "codecommit",
			breaks: as(`/v1/repos/codecommit-missing`, `/v1/repos/gone`), repairs: again,
			says: []string{"reconcile with git: ", `repository "gone" does not exist in this account and Region`}},
		{name: "codecommit-branch-missing", provider: "codecommit",
			breaks: as(`branch: "main"`, `branch: "release"`), repairs: again, says: []string{"reconcile with git: ", `branch "release"`, "Create the branch, or deploy the stack with another Branch"}},
		{name: "codecommit-not-read", provider: "codecommit",
			breaks: func(_ *testing.T, s *stack) {
				s.codecommit.Deny("GetBranch", "because no identity-based policy allows the action")
			},
			repairs: func(_ *testing.T, s *stack) { s.codecommit.Deny("GetBranch", "") },
			says:    []string{"the role is not allowed to: ", "codecommit:GetBranch"}},
		{name: "codecommit-protected", provider: "codecommit", alert: alert.Blocked, breaks: refuse(true), repairs: refuse(false),
			says: []string{"publish: ", "AccessDeniedException", "codecommit:CreateCommit", "explicit deny", "the levels in git do not change until the branch accepts a push"}},
		{name: "codecommit-throttled", provider: "codecommit",
			breaks: func(_ *testing.T, s *stack) {
				s.codecommit.Fail("GetBranch", slowly(6)...)
			},
			says: []string{"reconcile with git: ", "ThrottlingException: Rate exceeded", "check which other clients call CodeCommit"}},

		{name: "github-missing", provider: "github",
			breaks: as(`/octo/github-missing"`, `/octo/gone"`), repairs: again,
			says: []string{"GitHub answers 422, the installation does not include the repository"}},
		{name: "github-unseen", provider: "spoke",
			breaks: as(`/octo/github-unseen"`, `/octo/gone"`), repairs: again,
			says: []string{"reconcile with git: ", "octo/gone", "credentials"}},
		{name: "github-branch-missing", provider: "github",
			breaks: as(`branch: "main"`, `branch: "release"`), repairs: again, says: []string{"reconcile with git: ", `branch "release"`, "Create the branch, or deploy the stack with another Branch"}},
		{name: "github-protected", provider: "github", alert: alert.Blocked, breaks: refuse(true), repairs: refuse(false),
			says: []string{"publish: ", "GH006: Protected branch update failed for refs/heads/main", "the levels in git do not change"}},
		{name: "github-read-only", provider: "spoke", alert: alert.Blocked,
			breaks:  func(_ *testing.T, s *stack) { s.github.ReadOnly(true) },
			repairs: func(_ *testing.T, s *stack) { s.github.ReadOnly(false) },
			says:    []string{"publish: ", "403"}},
		{name: "app-key-malformed", provider: "github", breaks: secret("nonsense"), repairs: held,
			says: []string{"repository.credential: secret gitlatch/app-key-malformed: privateKey: is not PEM, or its line breaks were lost"}},
		{name: "app-secret-missing", provider: "github",
			breaks: as(`"secret:gitlatch/app-secret-missing"`, `"secret:gitlatch/gone"`), repairs: again,
			says: []string{"repository.credential: secret gitlatch/gone: create the secret, or correct its name and region"}},
		{name: "app-secret-denied", provider: "github",
			breaks: instead("secretsmanager:GetSecretValue", denied("secretsmanager:GetSecretValue")), repairs: instead("secretsmanager:GetSecretValue", nil),
			says: []string{"secret gitlatch/app-secret-denied: allow the role secretsmanager:GetSecretValue on the secret"}},
		{name: "app-suspended", provider: "github",
			breaks:  func(_ *testing.T, s *stack) { s.github.Suspend() },
			repairs: func(_ *testing.T, s *stack) { s.github.Resume() },
			says:    []string{"reconcile with git: ", "the installation is suspended: let an owner of the organisation resume it"}},
		{name: "token-revoked", provider: "spoke",
			breaks: func(_ *testing.T, s *stack) { s.github.Expire() },
			repairs: func(t *testing.T, s *stack) { // the same environment reads the secret again
				s.github.Grant("github_pat_another")
				s.change(t, "github_pat_another")
			},
			says: []string{"reconcile with git: ", "credentials"}},

		{name: "topic-missing", provider: "codecommit", needs: 60, commits: 100,
			breaks: as(`:topic-missing"`, `:gone"`), repairs: again,
			says: []string{`send alert "[warning] gitlatch topic-missing: surge topic-missing/deployment/web"`, ":gone: the topic does not exist: deploy the stack again, or correct alerts.topicArn"}},
		{name: "topic-denied", provider: "codecommit", needs: 60, commits: 100,
			breaks:  instead("sns:Publish", gateway.Fault(http.StatusForbidden, "AuthorizationError", "not authorized")),
			repairs: instead("sns:Publish", nil),
			says:    []string{"the role may not publish to it: allow sns:Publish on the topic"}},
	}
}
