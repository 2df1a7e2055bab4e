package checkpoint

// Begin returns the initial files of a site that a tree lacks, by their path from the root
// of the repository: site.yaml. It never replaces an existing file. The first level of a
// namespace starts its checkpoint file.
func Begin(tree Tree, site Site) map[string][]byte {
	path := SitePath(site.Name)
	if _, there := tree.files[path]; there {
		return map[string][]byte{}
	}
	return map[string][]byte{path: site.Format()}
}
