package apt

import (
	"slices"
	"testing"
)

func TestMirrorIsTheReleasesOwn(t *testing.T) {
	targets := "http://a.example/debian bookworm-security main\n" +
		"http://b.example/tools cloud main\n" +
		"http://c.example/debian bookworm main\n"
	mirror, err := mirrorOf(targets, "bookworm")
	if err != nil || mirror != "http://c.example/debian" {
		t.Fatalf("got %q, %v", mirror, err)
	}
	if _, err := mirrorOf(targets, "trixie"); err == nil {
		t.Fatal("a release without a source must be an error")
	}
}

func TestMissingNamesEachPackageOnce(t *testing.T) {
	got := missing(func(path string) bool { return path != "/usr/bin/ctr" && path != "/usr/bin/containerd" })
	if !slices.Equal(got, []string{"containerd"}) {
		t.Fatalf("got %v", got)
	}
}
