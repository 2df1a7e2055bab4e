package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/yamldoctest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// histories is the number of random cases for each law.
const histories = 1000

// anyID draws from few workloads, so that draws collide.
func anyID(r *rand.Rand) workload.ID {
	return workload.ID{
		Namespace: []string{"shop", "pay", "on", "0"}[r.IntN(4)],
		Kind:      []workload.Kind{workload.Deployment, workload.StatefulSet}[r.IntN(2)],
		Name:      []string{"web", "web-2", "web.v2", "1e3", "null"}[r.IntN(5)],
	}
}

// anyRollout returns a rollout that a checkpoint file can have.
func anyRollout(r *rand.Rand) Rollout {
	images := func() Images {
		by := map[string]string{}
		for range r.IntN(3) {
			by[pick(r, "app", "proxy", "1", "from-to")] = pick(r, "web:v1", "registry:5000/a/web@sha256:0f", "[::1]:5000/x=y:null", "1e3", "~", "'#{}%!d(&*")
		}
		return ImagesOf(by)
	}
	return Rollout{
		Milestone: r.Int32N(100), Phase: pick(r, Phases()...), Returns: pick(r, SideFrom, SideTo), ImagesOnly: r.IntN(2) == 0,
		From: Template{Hash: pick(r, "5d8f", "1e3", "0", "web-5f"), Images: images()},
		To:   Template{Hash: pick(r, "7c9b", "null", "007", "web-7c"), Images: images()},
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func anyEntry(r *rand.Rand) Entry {
	e := Entry{Replicas: 1 + r.Int32N(3)}
	if r.IntN(3) == 0 {
		e.Rollout = anyRollout(r)
	}
	if r.IntN(6) == 0 {
		return Entry{Rollout: anyRollout(r)}
	}
	if r.IntN(3) == 0 {
		e.Min = 1 + r.Int32N(3)
	}
	if r.IntN(3) == 0 {
		e.Max = e.Min + 1 + r.Int32N(3)
	}
	return e
}

// anyTree returns the files of a site with a few entries.
func anyTree(r *rand.Rand) map[string][]byte {
	var changes []Change
	for id := range someIDs(r) {
		changes = append(changes, Change{ID: id, To: anyEntry(r)})
	}
	files, _ := Merge(Tree{}, example, changes)
	return files
}

func someIDs(r *rand.Rand) map[workload.ID]bool {
	ids := map[workload.ID]bool{}
	for range r.IntN(8) {
		ids[anyID(r)] = true
	}
	return ids
}

// anyChanges returns changes to the entries in held. Someone else has changed some of
// the entries since.
func anyChanges(r *rand.Rand, held map[workload.ID]Entry) []Change {
	var changes []Change
	for id := range someIDs(r) {
		c := Change{ID: id, From: held[id]}
		if r.IntN(4) == 0 {
			c.From = anyEntry(r)
		}
		if r.IntN(3) > 0 {
			c.To = anyEntry(r)
		}
		changes = append(changes, c)
	}
	return changes
}

// with returns files after a commit of merged.
func with(files, merged map[string][]byte) map[string][]byte {
	after := maps.Clone(files)
	for path, data := range merged {
		if data == nil {
			delete(after, path)
		} else {
			after[path] = data
		}
	}
	return after
}

func same(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }

// try runs a law on random cases, each named by its seed.
func try(t *testing.T, law func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range uint64(histories) {
		law(t, rand.New(rand.NewPCG(seed, 0)))
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// The oracle: a merge as a table of entries, with no files.
func TestMergeAppliesOnlyWhereFromIsHeld(t *testing.T) {
	t.Parallel()
	try(t, func(t *testing.T, r *rand.Rand) {
		files := anyTree(r)
		want := mustParse(t, files).Entries()
		var lost []workload.ID
		changes := anyChanges(r, want)
		for _, c := range changes {
			switch {
			case want[c.ID] != c.From:
				lost = append(lost, c.ID)
			case c.To.IsZero():
				delete(want, c.ID)
			default:
				want[c.ID] = c.To
			}
		}
		slices.SortFunc(lost, workload.Compare)

		merged, skipped := Merge(mustParse(t, files), example, changes)
		if !slices.Equal(skipped, lost) {
			t.Errorf("skipped %v, want %v", skipped, lost)
		}
		after := mustParse(t, with(files, merged))
		if got := after.Entries(); !maps.Equal(got, want) {
			t.Errorf("entries are %v, want %v", got, want)
		}
		if stale := after.Stale(); len(stale) > 0 {
			t.Errorf("stale: %v", stale)
		}
		for path, data := range merged {
			if held, ok := files[path]; ok && data != nil && bytes.Equal(held, data) {
				t.Errorf("%s is among the files and does not change", path)
			}
		}
	})
}

func TestMergeTwiceIsMergeOnce(t *testing.T) {
	t.Parallel()
	try(t, func(t *testing.T, r *rand.Rand) {
		files := anyTree(r)
		changes := anyChanges(r, mustParse(t, files).Entries())
		merged, _ := Merge(mustParse(t, files), example, changes)
		once := with(files, merged)

		// The changes are in the files: changes from an entry to itself write nothing.
		var again []Change
		held := mustParse(t, once).Entries()
		for _, c := range changes {
			again = append(again, Change{ID: c.ID, From: held[c.ID], To: held[c.ID]})
		}
		if merged, skipped := Merge(mustParse(t, once), example, again); !same(with(once, merged), once) || len(skipped) > 0 {
			t.Errorf("a second merge writes %v, skips %v", slices.Collect(maps.Keys(merged)), skipped)
		}
		// The same changes once more are skipped, or change nothing.
		moved := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
			return c.From == c.To
		})
		if merged, skipped := Merge(mustParse(t, once), example, moved); len(merged) > 0 || len(skipped) != len(moved) {
			t.Errorf("the same changes write %v, skip %v of %d", slices.Collect(maps.Keys(merged)), skipped, len(moved))
		}
	})
}

func TestMergeHeedsNoOrder(t *testing.T) {
	t.Parallel()
	try(t, func(t *testing.T, r *rand.Rand) {
		files := anyTree(r)
		changes := anyChanges(r, mustParse(t, files).Entries())
		at := r.IntN(len(changes) + 1)
		together, lost := Merge(mustParse(t, files), example, changes)

		r.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		shuffled, lostShuffled := Merge(mustParse(t, files), example, changes)
		if !same(together, shuffled) || !slices.Equal(lost, lostShuffled) {
			t.Error("another order of changes gives other files")
		}
		first, _ := Merge(mustParse(t, files), example, changes[:at])
		between := with(files, first)
		second, _ := Merge(mustParse(t, between), example, changes[at:])
		if !same(with(between, second), with(files, together)) {
			t.Error("two merges give other files than one")
		}
	})
}

func TestFormatOfParsedIsWhatWasParsed(t *testing.T) {
	t.Parallel()
	try(t, func(t *testing.T, r *rand.Rand) {
		for path, data := range anyTree(r) {
			namespace, ok := namespaceOf(example.Name, path)
			if !ok {
				continue
			}
			record, err := ParseRecord(namespace, data)
			if err != nil || !bytes.Equal(record.Format(), data) {
				t.Errorf("error %v, and reads as\n%s", err, record.Format())
			}
		}
		site := Site{Name: "s", Cluster: fmt.Sprintf("\"%d\x00\u2028é #%d: '", r.Uint64(), r.IntN(9)), Version: 1}
		if r.IntN(2) == 0 {
			site.Kinds = workload.Kinds{"worker": {Group: "example.com", Version: "v1", Kind: "Worker"}}
		}
		if got, err := parseSite(siteFile, site.Format()); err != nil || !reflect.DeepEqual(got, site) {
			t.Errorf("site reads as %+v, error %v, want %+v", got, err, site)
		}
	})
}

// For any bytes, a parser returns a value, or problems on one line each with their place.
// A checkpoint file is unchanged after it was written and read again.
func FuzzParseRecord(f *testing.F) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: gitlatch-levels}\n"
	for _, seed := range []string{
		head + "data: {deployment.a: 1}", head + "data: ~", head + "data: {deployment.a: !pods \"1\\n2\"}", head + "data: {\"deployment.a\\n\": 5}",
		head + "data: {deployment.a_milestone: 0, deployment.a_phase: halted, deployment.a_from: 5, deployment.a_to: 6, deployment.a_returns: from, deployment.a_differ: more, deployment.a_to_app: x}",
		"a: &a [*a]\n<<: *a", "a: &a ~\ndata: *a", siteHeader + "  name: a\n  version: 9", siteHeader + "  name: a\n  version: 1\n  \"kind.a\\nb\": x",
		"kind: MutatingAdmissionPolicyBinding\n---\n" + head + "---\n# end", head + "---\n" + head,
	} {
		f.Add([]byte(seed))
	}
	files, _ := Merge(Tree{}, example, exampleChanges())
	for _, data := range files {
		f.Add(data)
	}
	broken, _ := filepath.Glob(golden + "/broken/*.yaml")
	for _, path := range broken {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		yamldoctest.Check(t, len(data), func() error {
			_, err := parseSite(siteFile, data)
			return err
		})
		var r Record
		yamldoctest.Check(t, len(data), func() (err error) {
			r, err = ParseRecord("shop", data)
			return err
		})
		for id, e := range r.Entries {
			if err := Fits(id); err != nil || id.Namespace != "shop" {
				t.Errorf("took %s: %v", id, err)
			}
			if err := e.valid(id); err != nil {
				t.Errorf("took %s, which %v", id, err)
			}
		}
		again, err := ParseRecord("shop", Record{"shop", r.Entries}.Format())
		if err != nil || !maps.Equal(again.Entries, r.Entries) {
			t.Errorf("error %v, and reads as\n%s", err, again.Format())
		}
	})
}
