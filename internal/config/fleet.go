package config

import (
	"cmp"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A Member is one site of a fleet, with the settings that differ between sites.
type Member struct {
	Site   string // a DNS label
	EKS    EKS
	Branch string // of its policy and checkpoints; "" is the branch of the fleet file
	GitOps Cluster
}

// ParseFleet parses a document of kind Fleet, and returns its sites in order. Errors are
// *yamldoc.Errors, which start with name and list every problem.
func ParseFleet(name string, data []byte) ([]Member, error) {
	var all []*Member
	if err := read(name, data, fleetDocument(&all)); err != nil {
		return nil, err
	}
	return lists.Map(all, func(m *Member) Member { return *m }), nil
}

// Of returns the configuration of a member. c is the configuration of the fleet.
func (c Config) Of(m Member) Config {
	c.Fleet = ""
	c.Site = m.Site
	c.Cluster = Cluster{EKS: m.EKS}
	c.GitOps = m.GitOps
	c.Repository.Branch = cmp.Or(m.Branch, c.Repository.Branch)
	return c
}

func fleetDocument(all *[]*Member) yamldoc.Document {
	apart := yamldoc.Rule{Check: func(r *yamldoc.Reader, path string) { apart(r, path, *all) }}
	return document(KindFleet, yamldoc.Fields(
		yamldoc.Required("sites", "list of the sites in the fleet, each with its EKS cluster", items(all, memberFields, apart)),
	))
}

func memberFields(m *Member) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("site", "name of the site, such as prod-eu; a site keeps its name when you replace its cluster",
			yamldoc.Into(&m.Site, yamldoc.Label, WrongSite)),
		yamldoc.Required("eks", eksMeaning, eksName(&m.EKS)),
		yamldoc.Optional("roleArn", roleMeaning, yamldoc.Into(&m.EKS.RoleARN, role)),
		yamldoc.Optional("branch", "branch that contains the policy and the checkpoint files of the site; the default is `repository.branch` in the fleet's Config",
			yamldoc.Into(&m.Branch, yamldoc.Text(branchShape, "the name of a branch"), wrongBranch)),
		yamldoc.Optional("gitops", gitopsMeaning, clusterFields(&m.GitOps).With(yamldoc.AnyOf("eks", "context", "kubeconfig"))),
	)
}

// apart reports sites with the same name or the same cluster.
func apart(r *yamldoc.Reader, path string, all []*Member) {
	sites, clusters := firsts{}, firsts{}
	for i, m := range all {
		if before, twice := sites.before(i, m.Site); twice && m.Site != "" {
			r.Report(yamldoc.Index(path, i)+".site", "must be unique, and sites[%d] has it", before)
		}
		if before, twice := clusters.before(i, [3]string{m.EKS.Name, m.EKS.Region, m.EKS.RoleARN}); twice && m.EKS.Name != "" {
			r.Report(yamldoc.Index(path, i)+".eks", "must be unique, and sites[%d] has this cluster", before)
		}
	}
}
