package cache

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestKeyKeepsInputsApart(t *testing.T) {
	one := new(Key).Text("ab", "c").String()
	two := new(Key).Text("a", "bc").String()
	if one == two {
		t.Fatalf("different inputs share the key %s", one)
	}
	if again := new(Key).Text("ab", "c").String(); again != one {
		t.Fatalf("the same inputs gave %s and %s", one, again)
	}
}

func TestGetMakesOnceAndNeverShowsHalfAnEntry(t *testing.T) {
	t.Setenv("RAY_LOCAL_CLUSTER_CACHE", t.TempDir())
	entry := Entry{Name: "thing", Key: "1"}

	if _, err := entry.Get(nil, func(string) error { return errors.New("no") }); err == nil {
		t.Fatal("a failed make must fail")
	}
	if entry.Present() {
		t.Fatal("a failed make must leave no entry")
	}

	var made atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			dir, err := entry.Get(nil, func(dir string) error {
				made.Add(1)
				return os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o644)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if content, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(content) != "content" {
				t.Errorf("entry holds %q, %v", content, err)
			}
		}()
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Fatalf("made %d times", made.Load())
	}
}
