package gobuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyFollowsSourcesToolchainAndDependencies(t *testing.T) {
	module := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := Program{Name: "p", Package: "./main", Sources: []string{"main"}}
	key := func(version string) string {
		t.Helper()
		entry, err := program.entry(module, version)
		if err != nil {
			t.Fatal(err)
		}
		return entry.Key
	}
	write("go.mod", "module p")
	write("main/main.go", "package main")
	write("other/other.go", "package other")
	first := key("go1")

	write("other/other.go", "package other // changed")
	write("main/main_test.go", "package main")
	if key("go1") != first {
		t.Error("files that do not go into the program changed its key")
	}
	if key("go2") == first {
		t.Error("another toolchain must make another key")
	}
	write("go.sum", "x")
	second := key("go1")
	if second == first {
		t.Error("another go.sum must make another key")
	}
	write("main/main.go", "package main // changed")
	if key("go1") == second {
		t.Error("another main file must make another key")
	}
}

func TestPinnedVersionIsTheOneThatIsBuilt(t *testing.T) {
	root, err := SourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "kubernetes", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(gomod), "k8s.io/kubernetes "+KubernetesVersion+"\n") {
		t.Errorf("kubernetes/go.mod does not require %s", KubernetesVersion)
	}
}
