package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// written returns the path of a closed file with a site after a number of saves, and
// the content of the site.
func written(t *testing.T, saves int) (string, latch.Head, []latch.Latch) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := bolt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := s.Acquire(t.Context(), "prod", "a", noon, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var put []latch.Latch
	for i := range 200 {
		put = append(put, latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("web-", i)}})
	}
	for range saves {
		if err := s.Save(t.Context(), lease, latchtest.Full[latch.Head](), put, nil); err != nil {
			t.Fatal(err)
		}
		put = latchtest.Stored(t, s, "prod", put)
	}
	head, latches, err := latch.Load(t.Context(), s, "prod")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, head, slices.SortedFunc(maps.Values(latches), byID)
}

func byID(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) }

// use opens a file and calls each method of its store once.
func use(t *testing.T, path string) (head latch.Head, latches []latch.Latch, err error) {
	t.Helper()
	s, err := bolt.Open(path)
	if err != nil {
		return head, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	lease, err := s.Acquire(t.Context(), "prod", "a", noon, noon.Add(time.Minute))
	if err != nil {
		return head, nil, err
	}
	head, loaded, err := latch.Load(t.Context(), s, "prod")
	if err != nil {
		return head, nil, err
	}
	latches = slices.SortedFunc(maps.Values(loaded), byID)
	if err = s.Save(t.Context(), lease, head, latches, nil); err != nil {
		return head, nil, err
	}
	return head, latches, s.Release(t.Context(), lease)
}

func TestStateOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path, head, latches := written(t, 3)
	s := open(t, path)
	gotHead, got, err := latch.Load(t.Context(), s, "prod")
	if err != nil || !reflect.DeepEqual(gotHead, head) || !reflect.DeepEqual(slices.SortedFunc(maps.Values(got), byID), latches) {
		t.Errorf("error %v; head %+v", err, gotHead)
	}
	if _, err := s.Acquire(t.Context(), "prod", "b", noon, noon.Add(time.Minute)); !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("the lease was forgotten: %v", err)
	}
}

func TestFileInUseSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	open(t, path)
	_, err := bolt.Open(path)
	var busy *bolt.BusyError
	if !errors.As(err, &busy) || busy.Path != path || !strings.Contains(err.Error(), "another gitlatch process has it open") {
		t.Errorf("error is %v", err)
	}
	if errors.As(err, new(*latch.CorruptError)) {
		t.Error("a file in use is not a damaged one")
	}
}

func TestFileThatCannotBeOpenedIsNotCalledCorrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "such", "folder.db")} {
		_, err := bolt.Open(path)
		if err == nil || errors.As(err, new(*latch.CorruptError)) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

// For any damage to a file, its store returns an error, or the written content. It never
// ends the process. After the file is moved away, the store creates a new one.
func TestDamagedFileIsCorrupt(t *testing.T) {
	t.Parallel()
	path, head, latches := written(t, 3)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	type damage struct {
		data    []byte
		certain bool // found even if no operation reads a damaged page
	}
	cases := map[string]damage{
		"a text file":        {[]byte("site: prod\n"), true},
		"a large text file":  {bytes.Repeat([]byte("site: prod\n"), 10_000), true},
		"all zero":           {make([]byte, len(sound)), true},
		"both meta pages":    {append(bytes.Repeat([]byte{0xff}, 2*page), sound[2*page:]...), true},
		"half of it":         {sound[:len(sound)/2], true},
		"meta pages alone":   {sound[:2*page], true},
		"half of page three": {sound[:2*page+page/2], true},
		"one byte":           {sound[:1], true},
		"pages of ones":      {append(bytes.Clone(sound[:2*page]), bytes.Repeat([]byte{0xff}, len(sound)-2*page)...), true},
		"pages of zero":      {append(bytes.Clone(sound[:2*page]), make([]byte, len(sound)-2*page)...), true},
	}
	for at := 2 * page; at < len(sound); at += page {
		for _, fill := range []byte{0x00, 0x01, 0xff} {
			data := bytes.Clone(sound)
			copy(data[at:], bytes.Repeat([]byte{fill}, page))
			cases[fmt.Sprintf("page %d all %#x", at/page, fill)] = damage{data: data}
		}
	}
	dir := t.TempDir()
	found := 0
	for name, c := range cases {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		gotHead, got, err := use(t, path)
		var corrupt *latch.CorruptError
		switch {
		case errors.As(err, &corrupt):
			found++
			if corrupt.Where != path || !strings.Contains(err.Error(), "Move it away") {
				t.Errorf("%s: error is %v", name, err)
			}
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			open(t, path)
		case err != nil:
			t.Errorf("%s: error is %v", name, err)
		case c.certain:
			t.Errorf("%s was taken", name)
		case !reflect.DeepEqual(gotHead, head) || len(got) != len(latches):
			t.Errorf("%s: another state came back: %+v, %d latches", name, gotHead, len(got))
		}
	}
	if found < 15 {
		t.Errorf("%d of %d damages were come across", found, len(cases))
	}
}

// A file that was cut short anywhere is refused before a tick starts, even if its missing
// pages are not in use.
func TestFileCutShortIsNotOpened(t *testing.T) {
	t.Parallel()
	for saves := range 3 { // each puts the list of free pages elsewhere
		path, _, _ := written(t, saves)
		for size := pages(t, path) - 1; size > 0; size -= int64(os.Getpagesize()) {
			short := filepath.Join(t.TempDir(), "state.db")
			sound, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(short, sound[:size], 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := bolt.Open(short)
			if !errors.As(err, new(*latch.CorruptError)) {
				t.Errorf("cut to %d bytes: error is %v", size, err)
			}
			if err == nil {
				_ = s.Close()
			}
		}
	}
}

// pages returns the size of a file's pages in bytes. The file may be longer.
func pages(t *testing.T, path string) (size int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil }), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestValueThatCannotBeReadIsCorrupt(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"nonsense":     "\x1f\x8b\x00",
		"cut short":    `{"format":1,"state":{"id":"shop/depl`,
		"wrong type":   `{"format":1,"state":{"id":5}}`,
		"wrong name":   `{"format":1,"state":{"id":"shop/deployment/../web"}}`,
		"no format":    `{"state":{"id":"shop/deployment/web"}}`,
		"more fields":  `{"format":1,"state":{"id":"shop/deployment/web","colour":"blue"}}`,
		"newer format": `{"format":2,"state":{"id":{"ns":"shop"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			path, _, latches := written(t, 3)
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("prod")).Bucket([]byte("latches")).Put([]byte("shop/deployment/web-0"), []byte(value))
			})
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			lease, err := s.Acquire(t.Context(), "prod", "a", noon, noon.Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			_, loadErr := s.Latches(t.Context(), "prod")
			saveErr := s.Save(t.Context(), lease, latch.Head{}, latches, nil)
			for _, err := range []error{loadErr, saveErr} {
				var corrupt *latch.CorruptError
				switch {
				case name == "newer format" && err != nil && strings.Contains(err.Error(), "the state has format 2"):
				case name != "newer format" && errors.As(err, &corrupt) && corrupt.Where == path:
				default:
					t.Errorf("error is %v", err)
				}
			}
		})
	}
}
