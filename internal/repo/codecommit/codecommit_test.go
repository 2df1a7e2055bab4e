package codecommit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	api "github.com/aws/aws-sdk-go-v2/service/codecommit"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/codecommit"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	standin "github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func TestContract(t *testing.T) {
	t.Parallel()
	repotest.Run(t, func(t *testing.T, files map[string]string) repotest.Fixture {
		s, o := shop(t, files)
		return repotest.Fixture{
			Origin:        o,
			Open:          func(t *testing.T) repo.Repository { return open(t, s) },
			Refuse:        func(t *testing.T, words string) { s.Deny("CreateCommit", words) },
			ServerCommits: true,
		}
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		s, o := shop(t, files)
		r := open(t, s)
		return repotest.Host{
			Repository: r,
			Proposals:  r,
			Reopened:   true,
			Push: func(t testing.TB, branch string, files map[string]string) {
				o.Push(t, base(branch), files, "by a person")
			},
			Show:    func(t testing.TB, branch, path string) string { return o.Show(t, base(branch), path) },
			Merge:   s.Merge,
			Decline: s.Decline,
			Words:   s.Words,
		}
	})
}

func base(branch string) string {
	if branch == "" {
		return "main"
	}
	return branch
}

func shop(t *testing.T, files map[string]string) (*standin.Server, *gitserver.Origin) {
	s := standin.Start(t)
	return s, s.Create(t, "shop", files)
}

func open(t *testing.T, s *standin.Server) *codecommit.Repository {
	t.Helper()
	r, err := codecommit.Open(codecommit.Options{Repository: "shop", Branch: "main", Client: client(s), Region: standin.Region})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// client returns the AWS client, with almost no delay before a retry.
func client(s *standin.Server) *api.Client {
	return api.New(api.Options{
		BaseEndpoint: aws.String(s.Endpoint()),
		Region:       standin.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "SECRETEXAMPLE"}, nil
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond }),
	})
}

// A window with more commits than the limit is cut.
func TestAWindowOf500CommitsIsCut(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "0"})
	first := o.Tip("main")
	var stream strings.Builder
	for n := range 501 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 2\nhi\n", gitserver.Epoch.Unix()+int64(n))
		if n == 0 {
			fmt.Fprintf(&stream, "from %s\n", first)
		}
	}
	o.GitInput(t, stream.String(), "fast-import", "--quiet")
	got, err := open(t, s).Between(t.Context(), first, o.Tip("main"))
	if err != nil || !got.Cut || got.Descends || got.Commits != nil {
		t.Errorf("descends %v, cut %v, %d commits, %v; want a window that was cut", got.Descends, got.Cut, len(got.Commits), err)
	}
}
