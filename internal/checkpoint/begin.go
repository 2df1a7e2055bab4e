package checkpoint

// Begin returns the files of a site that a tree lacks to begin with, by their
// path from the root of the repository: site.yaml, and for each namespace a
// Component that changes nothing yet, so that builds can include it before
// anything is declared. What is there stays as it is, whatever it says.
func Begin(tree Tree, site Site, namespaces []string) map[string][]byte {
	files := map[string][]byte{}
	begin := func(path string, data []byte) {
		if _, there := tree.files[path]; !there {
			files[path] = data
		}
	}
	begin(SitePath(site.Name), site.Format())
	for _, namespace := range namespaces {
		if tree.Broken[namespace] == nil {
			begin(ComponentPath(site.Name, namespace), tree.Records[namespace].Component(tree.Site.Kinds.With(site.Kinds)))
		}
	}
	return files
}
