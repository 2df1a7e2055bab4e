//go:build aws

package stack

import (
	"path/filepath"
	"testing"
)

// A user without Go deploys these templates: the code comes from a bucket, and nothing
// else differs.
func TestPackagedTemplatesTakeTheCodeFromABucket(t *testing.T) {
	t.Parallel()
	dir := packaged(t)
	var files []string
	for _, name := range []string{"gitlatch.yaml", "gitlatch-drill.yaml", "gitlatch-restore.yaml", "gitlatch-fleet.yaml"} {
		files = append(files, filepath.Join(dir, name))
	}
	for i, file := range withCode {
		built := readFile(t, files[i]).section("Resources")
		for id := range functions(read(t, file).section("Resources")) {
			code := at(built, id, "Properties", "CodeUri")
			if at(code, "Bucket", "Ref") != "CodeBucket" || at(code, "Key", "Fn::Sub") != "${CodePrefix}"+id+".zip" {
				t.Errorf("the code of %s is in %v", id, code)
			}
		}
	}
}
