// Package codecommit is the adapter of [repo.Repository] and [repo.Proposals] for AWS
// CodeCommit. It uses only the API. One CreateCommit makes a commit, and CodeCommit
// accepts it only on the tip of the branch. A tick reads folders and blobs by their ids.
//
// CodeCommit differs from git in three ways. First, the server makes the commits, and
// sets their ids and times. The adapter recognizes its own commit by message, parent and
// content. Second, a branch can only move forward. A changed proposal gets another commit
// on top as long as the base has not moved. Third, if the base moved, the adapter removes
// the branch and makes it again. CodeCommit then closes its pull request, and the adapter
// opens another.
package codecommit
