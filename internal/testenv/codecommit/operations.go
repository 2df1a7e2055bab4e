package codecommit

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// An operation is one of the API, while no other runs.
type operation func(s *Server, body []byte) (any, error)

var operations = map[string]operation{
	"GetBranch":                    decoded((*Server).getBranch),
	"GetCommit":                    decoded((*Server).getCommit),
	"GetFolder":                    decoded((*Server).getFolder),
	"GetBlob":                      decoded((*Server).getBlob),
	"CreateCommit":                 decoded((*Server).createCommit),
	"CreateBranch":                 decoded((*Server).createBranch),
	"DeleteBranch":                 decoded((*Server).deleteBranch),
	"ListPullRequests":             decoded((*Server).listPullRequests),
	"GetPullRequest":               decoded((*Server).getPullRequest),
	"CreatePullRequest":            decoded((*Server).createPullRequest),
	"UpdatePullRequestTitle":       decoded((*Server).updateTitle),
	"UpdatePullRequestDescription": decoded((*Server).updateDescription),
	"UpdatePullRequestStatus":      decoded((*Server).updateStatus),
	"PostCommentForPullRequest":    decoded((*Server).postComment),
}

// decoded refuses a request with fields that the operation does not have.
func decoded[In any](do func(*Server, In) (any, error)) operation {
	return func(s *Server, body []byte) (any, error) {
		var in In
		d := json.NewDecoder(strings.NewReader(string(body)))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil {
			return nil, fault("SerializationException", err.Error())
		}
		return do(s, in)
	}
}

type m = map[string]any

func (s *Server) origin(name string) (*gitserver.Origin, error) {
	if name == "" {
		return nil, fault("RepositoryNameRequiredException", "A repository name is required.")
	}
	o, ok := s.origins[name]
	if !ok {
		return nil, fault("RepositoryDoesNotExistException", name+" does not exist")
	}
	return o, nil
}

func noBranch(name string) error {
	return fault("BranchDoesNotExistException", "The branch does not exist: "+name)
}

func (s *Server) getBranch(in struct{ RepositoryName, BranchName string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	if in.BranchName == "" {
		return nil, fault("BranchNameRequiredException", "A branch name is required.")
	}
	tip := o.Tip(in.BranchName)
	if tip == "" {
		return nil, noBranch(in.BranchName)
	}
	return m{"branch": m{"branchName": in.BranchName, "commitId": tip}}, nil
}

func (s *Server) getCommit(in struct{ RepositoryName, CommitId string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	raw, ok := object(o, "commit", in.CommitId)
	if !ok {
		return nil, fault("CommitIdDoesNotExistException", "The commit does not exist: "+in.CommitId)
	}
	head, message, _ := strings.Cut(raw, "\n\n")
	c := m{"commitId": in.CommitId, "message": message, "additionalData": "", "parents": []string{}}
	for _, text := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(text, " ")
		switch key {
		case "tree":
			c["treeId"] = value
		case "parent":
			c["parents"] = append(c["parents"].([]string), value)
		case "author", "committer":
			c[key] = person(value)
		}
	}
	return m{"commit": c}, nil
}

// person parses "name <email> seconds zone".
func person(value string) m {
	name, rest, _ := strings.Cut(value, " <")
	email, date, _ := strings.Cut(rest, "> ")
	return m{"name": name, "email": email, "date": date}
}

func (s *Server) getFolder(in struct{ RepositoryName, CommitSpecifier, FolderPath string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	commit, ok := commitOf(o, in.CommitSpecifier)
	if !ok {
		return nil, fault("CommitDoesNotExistException", "The commit does not exist: "+in.CommitSpecifier)
	}
	folder := strings.Trim(in.FolderPath, "/")
	tree, failed := git(o, "", nil, "rev-parse", "--verify", "--quiet", commit+":"+folder)
	lines, ok := listing(o, tree)
	if failed != nil || !ok {
		return nil, fault("FolderDoesNotExistException", "The folder does not exist: "+in.FolderPath)
	}
	lists := map[string][]m{"files": {}, "subFolders": {}, "symbolicLinks": {}, "subModules": {}}
	for _, l := range lines {
		e := m{"absolutePath": path.Join(folder, l.path), "relativePath": l.path}
		list := "files"
		switch {
		case l.kind == "tree":
			list, e["treeId"] = "subFolders", l.id
		case l.kind == "commit":
			list, e["commitId"] = "subModules", l.id
		case l.mode == "120000":
			list, e["blobId"], e["fileMode"] = "symbolicLinks", l.id, "SYMLINK"
		case l.mode == "100755":
			e["blobId"], e["fileMode"] = l.id, "EXECUTABLE"
		default:
			e["blobId"], e["fileMode"] = l.id, "NORMAL"
		}
		lists[list] = append(lists[list], e)
	}
	answer := m{"commitId": commit, "folderPath": folder, "treeId": tree}
	for name, list := range lists {
		answer[name] = list
	}
	return answer, nil
}

func (s *Server) getBlob(in struct{ RepositoryName, BlobId string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	content, ok := object(o, "blob", in.BlobId)
	if !ok {
		return nil, fault("BlobIdDoesNotExistException", "The blob does not exist: "+in.BlobId)
	}
	if len(content) > 6<<20 {
		return nil, fault("FileTooLargeException", "The file is too large.")
	}
	return m{"content": []byte(content)}, nil
}

func (s *Server) createBranch(in struct{ RepositoryName, BranchName, CommitId string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	if _, err := git(o, "", nil, "check-ref-format", "--branch", in.BranchName); err != nil {
		return nil, fault("InvalidBranchNameException", in.BranchName)
	}
	if o.Tip(in.BranchName) != "" {
		return nil, fault("BranchNameExistsException", "The branch name already exists: "+in.BranchName)
	}
	if _, err := git(o, "", nil, "cat-file", "-e", in.CommitId+"^{commit}"); err != nil {
		return nil, fault("CommitDoesNotExistException", in.CommitId)
	}
	return m{}, updateRef(o, in.BranchName, in.CommitId, zero)
}

const zero = "0000000000000000000000000000000000000000"

func updateRef(o *gitserver.Origin, branch, id, old string) error {
	if _, err := git(o, "", nil, "update-ref", "refs/heads/"+branch, id, old); err != nil {
		return fault("ParentCommitIdOutdatedException", "The parent commit ID is not the current tip of the branch.")
	}
	return nil
}

// deleteBranch closes the pull requests from the branch, like CodeCommit.
func (s *Server) deleteBranch(in struct{ RepositoryName, BranchName string }) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	if in.BranchName == "main" {
		return nil, fault("DefaultBranchCannotBeDeletedException", "The default branch cannot be deleted.")
	}
	tip := o.Tip(in.BranchName)
	if tip == "" {
		return m{}, nil
	}
	for _, p := range s.pulls {
		p.look()
	}
	if _, err := git(o, "", nil, "update-ref", "-d", "refs/heads/"+in.BranchName, tip); err != nil {
		return nil, fault(string(Broken), err.Error())
	}
	for _, p := range s.pulls {
		p.look()
	}
	return m{"deletedBranch": m{"branchName": in.BranchName, "commitId": tip}}, nil
}
