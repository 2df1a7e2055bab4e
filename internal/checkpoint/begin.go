package checkpoint

import "slices"

// Begin returns the initial files of a site that a tree lacks, by their path from the
// root of the repository: site.yaml, the site's kustomization, and for each namespace a
// Component. A kustomization without checkpoint files and a Component without levels
// change nothing, so builds can include them before the first level. Begin never replaces
// an existing file. It skips the Component of a namespace with a broken checkpoint file,
// and the kustomization leaves out a malformed one.
func Begin(tree Tree, site Site, namespaces []string) map[string][]byte {
	files := map[string][]byte{}
	begin := func(path string, data []byte) {
		if _, there := tree.files[path]; !there {
			files[path] = data
		}
	}
	begin(SitePath(site.Name), site.Format())
	if !tree.ForeignList() {
		sound := slices.DeleteFunc(tree.recorded(), func(namespace string) bool { return tree.Malformed[namespace] })
		begin(ListPath(site.Name), formatList(sound))
	}
	for _, namespace := range namespaces {
		if tree.Broken[namespace] == nil {
			begin(ComponentPath(site.Name, namespace), tree.Records[namespace].Component(tree.Site.Kinds.With(site.Kinds)))
		}
	}
	return files
}
