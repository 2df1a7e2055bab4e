// Command argocd runs Argo CD for the tests: its application-controller, its repo-server
// or a Redis in memory. The name of the started program selects one of them.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
)

func main() {
	if err := run(filepath.Base(os.Args[0])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	switch name {
	case "argocd-application-controller":
		return controller.NewCommand().Execute()
	case "argocd-repo-server":
		return reposerver.NewCommand().Execute()
	case "argocd-redis":
		return redis(os.Args[1])
	default:
		return fmt.Errorf("%s is no part of Argo CD that the tests run", name)
	}
}

// redis serves at an address until it is killed. Without FastForward, its clock does not
// move, and a key never expires.
func redis(address string) error {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr(address); err != nil {
		return err
	}
	for range time.Tick(time.Second) {
		m.FastForward(time.Second)
	}
	return nil
}
