package repo

import (
	"strings"
	"testing"
)

func TestTheHostFollowsFromTheAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]Host{
		"https://github.com/example/fleet":                                  {Kind: GitHub, URL: "https://github.com/example/fleet", Name: "example/fleet", Server: "https://github.com"},
		"https://github.com/example/fleet.git":                              {Kind: GitHub, URL: "https://github.com/example/fleet.git", Name: "example/fleet", Server: "https://github.com"},
		"https://example.ghe.com/platform/fleet":                            {Kind: GitHub, URL: "https://example.ghe.com/platform/fleet", Name: "platform/fleet", Server: "https://example.ghe.com"},
		"github::https://git.example.com:8443/example/fleet":                {Kind: GitHub, URL: "https://git.example.com:8443/example/fleet", Name: "example/fleet", Server: "https://git.example.com:8443"},
		"https://gitlab.com/platform/eu/fleet.git":                          {Kind: GitLab, URL: "https://gitlab.com/platform/eu/fleet.git", Server: "https://gitlab.com"},
		"gitlab::https://git.example.com/platform/fleet":                    {Kind: GitLab, URL: "https://git.example.com/platform/fleet", Server: "https://git.example.com"},
		"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet":     {Kind: CodeCommit, URL: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet", Name: "fleet", Region: "eu-west-1"},
		"https://git-codecommit.cn-north-1.amazonaws.com.cn/v1/repos/a.b-c": {Kind: CodeCommit, URL: "https://git-codecommit.cn-north-1.amazonaws.com.cn/v1/repos/a.b-c", Name: "a.b-c", Region: "cn-north-1"},
		"https://github.com.example.com/example/fleet":                      {Kind: Git, URL: "https://github.com.example.com/example/fleet"},
		"git@github.com:example/fleet.git":                                  {Kind: Git, URL: "git@github.com:example/fleet.git"},
		"ssh://git@git.example.com:2222/platform/fleet.git":                 {Kind: Git, URL: "ssh://git@git.example.com:2222/platform/fleet.git"},
		"fleet.git": {Kind: Git, URL: "fleet.git"},

		"https://git-codecommit.eu-west-1.amazonaws.com/fleet":                  {},
		"https://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet":    {},
		"github::https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet": {},
		"https://github.com/example":                                            {},
		"https://github.com/example/fleet/tree":                                 {},
		"gitlab::https://git.example.com/fleet":                                 {},
		"gitlab::git@git.example.com:platform/fleet.git":                        {},
		"github::fleet.git":                                                     {},
		"github::http://git.example.com/example/fleet":                          {},
		"https://bot:hunter2@github.com/example/fleet":                          {},
		"github::https://bot:hunter2@git.example.com/example/fleet":             {},
		"": {},
	} {
		got, err := ParseHost(address)
		if got != want || (err == nil) != (want != Host{}) || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %+v, error %v", address, got, err)
		}
	}
}
