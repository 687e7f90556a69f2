package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParseMounts(t *testing.T) {
	got := parseMounts(`tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
/dev/vda / ext4 rw 0 0
`)
	want := []hierarchy{{path: "/sys/fs/cgroup/memory"}, {path: "/sys/fs/cgroup/unified", second: true}}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v", got)
	}
}

func TestRemoveGoesDeepestFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.MkdirAll(filepath.Join(dir, "kubepods", "besteffort", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatal("still there")
	}
	if err := remove(dir); err != nil {
		t.Fatalf("removing nothing must be fine: %v", err)
	}
}
