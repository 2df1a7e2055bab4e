package config

import "testing"

// Address returns "" for a repository that only this machine can reach.
func TestTheAddressOfARepository(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Repository{
		"https://git.example.com/team/site.git":                           {URL: "https://git.example.com/team/site.git"},
		"git@git.example.com:team/site.git":                               {URL: "git@git.example.com:team/site.git"},
		"ssh://git@git.example.com/team/site.git":                         {URL: "ssh://git@git.example.com/team/site.git"},
		"https://github.com/team/site.git":                                {GitHub: GitHub{Repository: "team/site"}},
		"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/team-eu": {CodeCommit: CodeCommit{Name: "team-eu", Region: "eu-west-1"}},
	} {
		if got := r.Address(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, r := range []Repository{{URL: "/srv/site.git"}, {URL: "file:///srv/site.git"}, {URL: "http://localhost:3000/team/site.git"}, {CodeCommit: CodeCommit{Name: "site"}}} {
		if got := r.Address(); got != "" {
			t.Errorf("%+v: got %s", r, got)
		}
	}
}
