package archive

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
)

// suite checks an archive against the interface. open returns an empty archive, and read
// returns the content at a link.
func suite(t *testing.T, open func(t *testing.T) Archive, read func(t *testing.T, l drill.Link) []byte) {
	at := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	document := func(site string, at time.Time) drill.Document {
		half := 0.5
		return drill.Document{
			Document: term.DocumentOf(drill.Kind), Site: site, At: at, Links: []drill.Link{},
			Fleet: drill.Fleet{Coverage: new(0.5)}, Workloads: []drill.Workload{{Named: term.Named{Namespace: "shop", Kind: "deployment", Name: "web"}, Coverage: &half, Causes: []drill.Cause{}}},
		}
	}
	t.Run("nothing was kept yet", func(t *testing.T) {
		if d, err := open(t).Last(t.Context(), "prod"); d != nil || err != nil {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("what was kept is the last", func(t *testing.T) {
		k := open(t)
		for i, page := range [][]byte{nil, []byte("<!doctype html>é")} {
			d := document("prod", at.Add(time.Duration(i)*time.Hour))
			links, err := k.Save(t.Context(), d, page)
			if err != nil || len(links) != 1+i {
				t.Fatalf("links %+v, %v", links, err)
			}
			last, err := k.Last(t.Context(), "prod")
			if err != nil || last == nil {
				t.Fatalf("%+v, %v", last, err)
			}
			for n, l := range links {
				if kept := last.Links[n]; kept.URI != l.URI || kept.Form != l.Form || kept.URL != "" {
					t.Errorf("kept %+v, and was told %+v", kept, l)
				}
			}
			kept := read(t, links[0])
			last.Links = d.Links
			if !reflect.DeepEqual(*last, d) {
				t.Errorf("got %+v, want %+v", *last, d)
			}
			if again, err := decode(kept); err != nil || !again.At.Equal(d.At) {
				t.Errorf("%s, %v", kept, err)
			}
			if i == 1 && !bytes.Equal(read(t, links[1]), page) {
				t.Errorf("the page is %q", read(t, links[1]))
			}
		}
	})
	t.Run("sites are apart", func(t *testing.T) {
		k := open(t)
		for _, site := range []string{"prod", "prod2"} {
			if _, err := k.Save(t.Context(), document(site, at), nil); err != nil {
				t.Fatal(err)
			}
		}
		if d, err := k.Last(t.Context(), "prod"); err != nil || d.Site != "prod" {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("earlier ones stay", func(t *testing.T) {
		k := open(t)
		first, err := k.Save(t.Context(), document("prod", at), nil)
		if err == nil {
			_, err = k.Save(t.Context(), document("prod", at.Add(time.Minute)), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if d, err := decode(read(t, first[0])); err != nil || !d.At.Equal(at) {
			t.Errorf("%+v, %v", d, err)
		}
	})
}
