package cli

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
)

// Without --url a tool gets the address in the configuration, if a cluster could reach
// that address.
func TestTheRepositoryIsWhereTheConfigurationHasIt(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.com/platform/fleet.git"
	for repository, want := range map[string]string{
		"{url: " + url + "}":    url,
		"{url: /srv/fleet.git}": "",
		"{github: {repository: platform/fleet, tokenSecret: fleet}}":                                         "https://github.com/platform/fleet.git",
		"{github: {repository: platform/fleet, tokenSecret: fleet, apiURL: https://git.example.com/api/v3}}": url,
		"{codecommit: {name: fleet, region: eu-west-1}}":                                                     "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet",
	} {
		c, err := config.ParseConfig("config", []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: "+repository+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var place ways.Place
		if err := (&source{}).fill(&place, c); place.Repository != want || (err != nil) != (want == "") || place.Path != "clusters/prod-eu" {
			t.Errorf("%s: %+v, error %v", repository, place, err)
		}
	}
}
