//go:build aws

package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"

	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
)

// A silence is a part that accepts a tick's request and never answers.
type silence struct {
	name     string
	provider string
	begins   func(*testing.T, *stack)
	ends     func(*testing.T, *stack)
	says     []string // the part that did not answer
	needs    int      // desired replicas in place of 8
	// pushed is true if the commit lands although the tick gets no answer. The next tick
	// finds the commit by its intent, and saves it.
	pushed bool
}

func silences() []silence {
	mute := func(operation string, renewed bool) (begins, ends func(*testing.T, *stack)) {
		return func(t *testing.T, s *stack) {
				s.gateway.Instead(operation, gateway.Silent)
				if renewed {
					s.start(t)
				}
			}, func(t *testing.T, s *stack) {
				s.gateway.Instead(operation, nil)
			}
	}
	call := func(name, provider, operation string, renewed bool, says ...string) silence {
		begins, ends := mute(operation, renewed)
		return silence{name: name, provider: provider, begins: begins, ends: ends, says: says}
	}
	elsewhere := func(t *testing.T, s *stack) {
		s.start(t, strings.TrimSuffix(s.github.APIURL(), "/api/v3"), "http://"+deaf(t))
	}
	alerts := call("silent-topic", "codecommit", "sns:Publish", false, "send alert", "topic arn:aws:sns:", "SNS: Publish")
	alerts.needs = 60
	all := []silence{
		call("silent-eks", "codecommit", "eks:DescribeCluster", true, "sample: describe EKS cluster prod-eu in eu-west-1: ", "EKS: DescribeCluster"),
		call("silent-sts", "spoke", "sts:AssumeRole", true, "sample: assume arn:aws:iam::444455556666:role/silent-sts"),
		call("silent-lease", "codecommit", "dynamodb:UpdateItem", false, "take the lease of site silent-lease: ", "table gitlatch: ", "DynamoDB: UpdateItem"),
		call("silent-table", "codecommit", "dynamodb:Query", true, "table gitlatch: ", "DynamoDB: Query"),
		call("silent-codecommit", "codecommit", "codecommit:GetBranch", false, "reconcile with git: ", "codecommit repository silent-codecommit: "),
		call("silent-commit", "codecommit", "codecommit:CreateCommit", false, "publish: ", "codecommit repository silent-commit: "),
		call("silent-secret", "github", "secretsmanager:GetSecretValue", true, "reconcile with git: ", "secret gitlatch/silent-secret: ", "Secrets Manager: GetSecretValue"),
		{name: "silent-cluster", provider: "codecommit", says: []string{"sample: reach the API server at https://127.0.0.1:"},
			begins: func(t *testing.T, s *stack) {
				s.eks.Describe("deaf", standeks.Cluster{Endpoint: "https://" + deaf(t), CA: s.cp.Config().CAData})
				s.start(t, `eks: "`+cluster+`"`, `eks: "deaf"`)
			}, ends: again},
		{name: "silent-github", provider: "github", begins: elsewhere, ends: again, says: []string{"reconcile with git: ", "get a token for App 7", "127.0.0.1:"}},
		{name: "silent-git", provider: "spoke", begins: elsewhere, ends: again, says: []string{"reconcile with git: ", "/octo/silent-git.git"}},
		alerts,
	}
	var released chan struct{}
	var before string
	return append(all, silence{name: "silent-push", provider: "spoke", pushed: true,
		begins: func(t *testing.T, s *stack) {
			released, before = make(chan struct{}), s.origin.Tip("main")
			s.github.Before(github.Push, func() { <-released })
		},
		ends: func(t *testing.T, s *stack) {
			close(released)
			s.moves(t, before) // an earlier tick races the push
		},
		says: []string{"publish: ", "/octo/silent-push.git"},
	})
}

// deaf returns the address of a server that accepts connections, and never answers.
func deaf(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		for _, c := range held {
			_ = c.Close()
		}
	})
	return listener.Addr().String()
}

// silences makes each part in turn stop answering. The tick ends before the function
// would be killed, reports the part, and releases the lease. The next tick catches up.
func (c *cloud) silences(t *testing.T) {
	for _, x := range silences() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := c.deploy(t, plan{name: x.name, provider: x.provider, mode: "direct"})
			s.scales(t, 3)
			s.ticks(t)
			x.happens(t, s)
		})
	}
}

func (x silence) happens(t *testing.T, s *stack) {
	level := int32(10)
	s.scales(t, 8)
	if x.needs > 0 {
		s.scales(t, x.needs)
		level = 100
	}
	x.begins(t, s)
	r := x.fails(t, s)
	if r.Error.Type == "Sandbox.Timedout" || strings.Count(r.Logs, `"message":"tick"`) != 1 {
		t.Errorf("error %v, logs\n%s", r.Error, r.Logs)
	}
	x.ends(t, s)
	next := s.ticks(t) // finds the lease free
	s.declares(t, level)
	if x.pushed {
		told(t, next, "landed")
	}
}

// fails sends an event, and one with more time if a busy machine did not reach the
// silence. The last one must fail, and name the silent part.
func (x silence) fails(t *testing.T, s *stack) runtimeapi.Result {
	t.Helper()
	defer func() { s.timeout = 0 }()
	for s.timeout = 12 * time.Second; s.timeout < time.Minute; s.timeout *= 2 {
		_, r := s.send(t, "scheduler")
		missing := func(says string) bool { return !strings.Contains(r.Error.Message, says) }
		if r.Error != nil && !slices.ContainsFunc(x.says, missing) {
			return r
		}
		t.Logf("within %s: %+v", s.timeout, r.Error)
	}
	return s.fails(t, x.says...)
}

// moves waits until the base has another commit.
func (s *stack) moves(t *testing.T, from string) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		if tip := s.origin.Tip("main"); tip == "" || tip == from {
			return fmt.Errorf("main is still at %s", from)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
