package config

import "testing"

// Address returns "" for a repository without a git server.
func TestTheAddressOfARepository(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Repository{
		"https://github.example.com/team/site.git":                        {URL: "github::https://github.example.com/team/site.git"},
		"https://git.example.com/team/site.git":                           {URL: "https://git.example.com/team/site.git"},
		"http://localhost:3000/team/site.git":                             {URL: "http://localhost:3000/team/site.git"},
		"git@git.example.com:team/site.git":                               {URL: "git@git.example.com:team/site.git"},
		"ssh://git@git.example.com/team/site.git":                         {URL: "ssh://git@git.example.com/team/site.git"},
		"https://github.com/team/site.git":                                {URL: "https://github.com/team/site.git", Credential: Secret{Env: "TOKEN"}},
		"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/team-eu": {URL: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/team-eu"},
	} {
		if got := r.Address(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, r := range []Repository{{URL: "/srv/site.git"}, {URL: "file:///srv/site.git"}} {
		if got := r.Address(); got != "" {
			t.Errorf("%+v: got %s", r, got)
		}
	}
}
