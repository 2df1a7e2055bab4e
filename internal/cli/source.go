package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
)

// A source contains the flags that describe the site's kustomization for a tool in the
// cluster.
type source struct{ name, path, url string }

func (s *source) register(c *cobra.Command) {
	c.Flags().StringVar(&s.name, "name", "", "name of the printed objects (default: the name of the site)")
	c.Flags().StringVar(&s.path, "path", "", "folder of the kustomization that includes the Components (default: clusters/<site>)")
	c.Flags().StringVar(&s.url, "url", "", "URL from which the cluster reads the repository (default: the URL in the configuration)")
}

// fill sets the source in place. The error lists every problem of the flags. It never
// contains the URL, which may have a password.
func (s *source) fill(place *ways.Place, c config.Config) error {
	place.Branch = c.Repository.Branch
	place.Name = cmp.Or(s.name, c.Site)
	place.Path = cmp.Or(s.path, "clusters/"+c.Site)
	place.Repository = s.url
	if s.url == "" && strings.HasPrefix(c.Repository.Address(), "https://") {
		place.Repository = c.Repository.Address()
	}
	name, bare := place.Name, strings.TrimSuffix(strings.TrimPrefix(place.Path, "./"), "/") // users write ./ and /, and both tools accept them
	wrong := wrongs{wrongURL(place.Repository)}
	wrong.unless(len(validation.IsDNS1123Subdomain(name)) == 0 && len(name) <= validation.LabelValueMaxLength, // both tools use it as a label
		"--name: must be a DNS name: lower case letters, digits, dashes and dots, at most %d; got %q", validation.LabelValueMaxLength, name)
	wrong.unless(place.Path == "./" || fs.ValidPath(bare), "--path: must be a folder from the root of the repository, such as clusters/prod, got %q", place.Path)
	return errors.Join(wrong...)
}

// wrongURL returns the problem of a URL that users will commit.
func wrongURL(text string) error {
	if text == "" {
		return errors.New("--url is required, because the configuration has no URL at which the cluster reads the repository")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Path == "" || !slices.Contains([]string{"https", "http", "ssh"}, u.Scheme) {
		return errors.New("--url: must be an https, http or ssh URL, such as https://git.example.com/team/site.git")
	}
	_, password := u.User.Password()
	switch {
	case u.User != nil && (u.Scheme != "ssh" || password): // the user of an ssh URL is not a secret
		return errors.New("--url: must not contain a password or token, because you commit the output. Give the GitOps tool a Secret in the cluster")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("--url: must not have a query or a fragment, which may contain a token, because you commit the output")
	}
	return nil
}
