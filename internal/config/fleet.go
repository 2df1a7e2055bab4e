package config

import "cmp"

// A Member is one site of a fleet: what it has other than the rest.
type Member struct {
	Site   string // a DNS label
	EKS    EKS
	Branch string // of its policy and checkpoints; "" is the one that the list is on
}

// ParseFleet reads a document of kind Fleet, the list of a fleet's sites, in its
// order. The name stands in errors, which are *Errors and hold all that is wrong.
func ParseFleet(name string, data []byte) ([]Member, error) {
	var all []*Member
	r := newReader(name)
	r.read(KindFleet, data, fleetFields(&all))
	checkFleet(r, all)
	if err := r.err(); err != nil {
		return nil, err
	}
	members := make([]Member, len(all))
	for i, m := range all {
		members[i] = *m
	}
	return members, nil
}

// Of returns how a member of the fleet is run that the configuration is of.
func (c Config) Of(m Member) Config {
	c.Fleet, c.Site, c.Cluster = "", m.Site, Cluster{EKS: m.EKS}
	c.Repository.Branch = cmp.Or(m.Branch, c.Repository.Branch)
	return c
}

func fleetFields(all *[]*Member) []field {
	return []field{
		{"sites", "the sites, each with its cluster", true, list{func() object {
			*all = append(*all, new(Member))
			return memberFields((*all)[len(*all)-1])
		}}},
	}
}

func memberFields(m *Member) object {
	return object{fields: []field{
		{"site", "the name that a cluster fills, such as prod-eu; it outlives clusters", true,
			text{into: &m.Site, pattern: labelShape, must: "a DNS label: lower case letters, digits and dashes, at most 63"}},
		{"eks", "the cluster of Amazon EKS that fills it", true, eksFields(&m.EKS)},
		{"branch", "the branch with its policy and its checkpoints; without it the one that this file is on", false,
			text{into: &m.Branch, pattern: branchShape, must: "the name of a branch", check: wrongBranch}},
	}}
}

// checkFleet reports what two sites must not share: a name, or a cluster.
func checkFleet(r *reader, all []*Member) {
	type place struct{ name, region, role string }
	sites, clusters := map[string]int{}, map[place]int{}
	for i, m := range all {
		at := place{m.EKS.Name, m.EKS.Region, m.EKS.RoleARN}
		if before, twice := sites[m.Site]; twice && m.Site != "" {
			r.report(index("sites", i)+".site", "must stand once, and sites[%d] has it", before)
		} else {
			sites[m.Site] = i
		}
		if before, twice := clusters[at]; twice && m.EKS.Name != "" {
			r.report(index("sites", i)+".eks.name", "must be of one site, and sites[%d] has the cluster", before)
		} else {
			clusters[at] = i
		}
	}
}
