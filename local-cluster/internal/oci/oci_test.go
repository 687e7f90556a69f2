package oci

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestSameTreeGivesSameArchive(t *testing.T) {
	write := func(when time.Time) []byte {
		t.Helper()
		tree := t.TempDir()
		for _, name := range []string{"b", "a", "c"} {
			path := filepath.Join(tree, name)
			if err := os.WriteFile(path, []byte(name), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		}
		layout := Layout{Dir: t.TempDir()}
		layer, err := layout.AddLayer(func(w *tar.Writer) error { return AddTree(w, tree, "opt", nil) })
		if err != nil {
			t.Fatal(err)
		}
		if err := layout.Finish(Config{Entrypoint: []string{"/opt/a"}}, []Descriptor{layer}, "one:1", "two:2"); err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := layout.WriteArchive(&archive); err != nil {
			t.Fatal(err)
		}
		names, err := layout.Names()
		if err != nil || len(names) != 2 || names["one:1"] == "" || names["one:1"] != names["two:2"] {
			t.Fatalf("names are %v, %v", names, err)
		}
		return archive.Bytes()
	}
	if !bytes.Equal(write(time.Unix(1, 0)), write(time.Now())) {
		t.Fatal("two archives of the same files differ")
	}
}

func TestTreeKeepsLinksAndSkips(t *testing.T) {
	tree := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(tree, "skipped", "below"), 0o755))
	must(os.WriteFile(filepath.Join(tree, "file"), []byte("x"), 0o755))
	must(os.Link(filepath.Join(tree, "file"), filepath.Join(tree, "hard")))
	must(os.Symlink("file", filepath.Join(tree, "soft")))

	var out bytes.Buffer
	w := tar.NewWriter(&out)
	must(AddTree(w, tree, "", func(path string) bool { return path == "skipped" }))
	must(w.Close())

	var got []string
	reader := tar.NewReader(&out)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		got = append(got, string(header.Typeflag)+" "+header.Name+" "+header.Linkname)
	}
	want := []string{"0 file ", "1 hard file", "2 soft file"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}
