package images

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"localcluster/internal/oci"
)

func TestParseLdd(t *testing.T) {
	got, err := parseLdd(`	linux-vdso.so.1 (0x00007ffc)
	libgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007f1a)
	/lib64/ld-linux-x86-64.so.2 (0x00007f1b)
`)
	want := []string{"/lib/x86_64-linux-gnu/libgcc_s.so.1", "/lib64/ld-linux-x86-64.so.2"}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := parseLdd("	libnone.so.1 => not found\n"); err == nil {
		t.Fatal("a library that is not there must be an error")
	}
}

func TestFullName(t *testing.T) {
	for short, full := range map[string]string{
		"ray-operator":               "docker.io/library/ray-operator:latest",
		"ray-operator:dev":           "docker.io/library/ray-operator:dev",
		"someone/ray-operator:dev":   "docker.io/someone/ray-operator:dev",
		"registry.example/x/y:1":     "registry.example/x/y:1",
		"localhost/ray-operator":     "localhost/ray-operator:latest",
		"registry.example:5000/y":    "registry.example:5000/y:latest",
		"docker.io/rayproject/ray:2": "docker.io/rayproject/ray:2",
	} {
		if got := FullName(short); got != full {
			t.Errorf("%s became %s, want %s", short, got, full)
		}
	}
}

func TestBinaryImageIsDeterministic(t *testing.T) {
	write := func() []byte {
		layout := oci.Layout{Dir: t.TempDir()}
		if err := Binary(layout, "/bin/sh", "sh:1", "/manager", filepath.Join(t.TempDir(), "none")); err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := layout.WriteArchive(&archive); err != nil {
			t.Fatal(err)
		}
		return archive.Bytes()
	}
	if !bytes.Equal(write(), write()) {
		t.Fatal("two archives of one executable differ")
	}
}

func TestBinaryImageNeedsTheBinary(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	err := Binary(oci.Layout{Dir: t.TempDir()}, missing, "x:1", "/manager", "")
	if err == nil {
		t.Fatal("an image without its executable must be an error")
	}
	if _, err := os.Stat(missing); err == nil {
		t.Fatal("nobody makes the executable")
	}
}
