package codecommit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

type putFile struct {
	FilePath, FileMode string
	FileContent        []byte
}

type createCommit struct {
	RepositoryName, BranchName, ParentCommitId string
	AuthorName, Email, CommitMessage           string
	PutFiles                                   []putFile
	DeleteFiles                                []struct{ FilePath string }
	KeepEmptyFolders                           bool
}

var modes = map[string]string{"": "100644", "NORMAL": "100644", "EXECUTABLE": "100755"}

func (s *Server) createCommit(in createCommit) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	tip := o.Tip(in.BranchName)
	switch {
	case tip == "":
		return nil, noBranch(in.BranchName)
	case in.ParentCommitId == "":
		return nil, fault("ParentCommitIdRequiredException", "A parent commit ID is required.")
	case in.ParentCommitId != tip:
		return nil, fault("ParentCommitIdOutdatedException", "The parent commit ID is not the current tip of the branch: "+in.BranchName)
	case len(in.CommitMessage) > 256<<10:
		return nil, fault("CommitMessageLengthExceededException", "The commit message is too long.")
	}
	if err := in.check(o, tip); err != nil {
		return nil, err
	}
	tree, err := s.tree(o, tip, in)
	if err != nil {
		return nil, err
	}
	if old, _ := git(o, "", nil, "rev-parse", tip+"^{tree}"); old == tree {
		return nil, fault("NoChangeException", "The commit would make no change.")
	}
	s.commits++
	at := fmt.Sprintf("%d +0000", gitserver.Epoch.Unix()+int64(86400+60*s.commits))
	env := []string{
		"GIT_AUTHOR_NAME=" + in.AuthorName, "GIT_AUTHOR_EMAIL=" + in.Email, "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + in.AuthorName, "GIT_COMMITTER_EMAIL=" + in.Email, "GIT_COMMITTER_DATE=" + at,
	}
	id, failed := git(o, in.CommitMessage, env, "commit-tree", "-p", tip, tree)
	if failed != nil {
		return nil, fault(string(Broken), failed.Error())
	}
	return m{"commitId": id, "treeId": tree}, updateRef(o, in.BranchName, id, tip)
}

// check refuses what CodeCommit does not take.
func (in createCommit) check(o *gitserver.Origin, tip string) error {
	if len(in.PutFiles)+len(in.DeleteFiles) == 0 {
		return fault("FileEntryRequiredException", "The commit cannot be created because no files have been specified.")
	}
	files, folders := map[string]bool{}, map[string]bool{}
	lines, _ := listing(o, tip, "-r", "-t")
	for _, l := range lines {
		files[l.path], folders[l.path] = l.kind != "tree", l.kind == "tree"
	}
	named := map[string]bool{}
	once := func(path string) error {
		if path == "" || strings.HasPrefix(path, "/") || named[path] {
			return fault("SamePathRequestException", "The path is named twice, or is no path: "+path)
		}
		named[path] = true
		return nil
	}
	for _, f := range in.DeleteFiles {
		if err := once(f.FilePath); err != nil {
			return err
		}
		if !files[f.FilePath] {
			return fault("FileDoesNotExistException", "The file does not exist: "+f.FilePath)
		}
		delete(files, f.FilePath)
	}
	size := 0
	for _, f := range in.PutFiles {
		if err := once(f.FilePath); err != nil {
			return err
		}
		size += len(f.FileContent)
		switch {
		case modes[f.FileMode] == "":
			return fault("InvalidFileModeException", f.FileMode)
		case len(f.FileContent) > 6<<20 || size > 7<<20:
			return fault("FileContentSizeLimitExceededException", "The file cannot be added because it is too large.")
		case folders[f.FilePath] && !in.empties(files, f.FilePath):
			return fault("FileNameConflictsWithDirectoryNameException", f.FilePath)
		}
		for dir := filepath.Dir(f.FilePath); dir != "."; dir = filepath.Dir(dir) {
			if files[dir] {
				return fault("DirectoryNameConflictsWithFileNameException", dir)
			}
		}
	}
	return nil
}

// empties reports whether nothing is left below a folder.
func (in createCommit) empties(left map[string]bool, folder string) bool {
	for file, is := range left {
		if is && strings.HasPrefix(file, folder+"/") {
			return false
		}
	}
	return true
}

// tree writes the tree of a commit with the change.
func (s *Server) tree(o *gitserver.Origin, tip string, in createCommit) (string, error) {
	dir, err := os.MkdirTemp(s.root, "index-")
	if err != nil {
		return "", fault(string(Broken), err.Error())
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	var change strings.Builder
	for _, f := range in.DeleteFiles {
		fmt.Fprintf(&change, "0 %s\t%s\x00", zero, f.FilePath)
	}
	for _, f := range in.PutFiles {
		id, err := git(o, string(f.FileContent), nil, "hash-object", "-w", "--stdin")
		if err != nil {
			return "", fault(string(Broken), err.Error())
		}
		fmt.Fprintf(&change, "%s %s\t%s\x00", modes[f.FileMode], id, f.FilePath)
	}
	for _, step := range [][]string{{"read-tree", tip}, {"update-index", "-z", "--replace", "--index-info"}} {
		if _, err := git(o, change.String(), env, step...); err != nil {
			return "", fault("InvalidPathException", "git takes no such path")
		}
	}
	tree, err := git(o, "", env, "write-tree")
	if err != nil {
		return "", fault(string(Broken), err.Error())
	}
	return tree, nil
}
