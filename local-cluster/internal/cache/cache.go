// Package cache keeps what takes long to make, outside the checkout, under a key made of everything it depends on.
//
// An entry is a directory. It appears under its final name by one rename, so whoever sees it sees all of it, and a
// lock per entry makes a second process wait for the first instead of doing the same work beside it.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Directory returns where entries live: RAY_LOCAL_CLUSTER_CACHE, or a folder in the user's cache directory.
func Directory() (string, error) {
	if dir := os.Getenv("RAY_LOCAL_CLUSTER_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory: %w (set RAY_LOCAL_CLUSTER_CACHE)", err)
	}
	return filepath.Join(base, "ray-local-cluster"), nil
}

// Key collects the inputs of an entry. Each input is hashed with its length, so that moving text from one input to
// the next makes another key.
type Key struct{ parts [][]byte }

// Text adds strings to the key.
func (k *Key) Text(parts ...string) *Key {
	for _, part := range parts {
		k.parts = append(k.parts, []byte(part))
	}
	return k
}

// Files adds the names (as given) and contents of files to the key.
func (k *Key) Files(root string, names ...string) error {
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		k.Text(name, string(content))
	}
	return nil
}

// String returns the key as 16 hexadecimal digits.
func (k *Key) String() string {
	sum := sha256.New()
	for _, part := range k.parts {
		fmt.Fprintf(sum, "%d:", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Entry is one cached directory, present or not.
type Entry struct {
	Name string
	Key  string
}

// Path returns where the entry is or would be.
func (e Entry) Path() (string, error) {
	dir, err := Directory()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, e.Name+"-"+e.Key), nil
}

// Present says whether the entry is there.
func (e Entry) Present() bool {
	path, err := e.Path()
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// Get returns the entry's directory and calls make to fill a new one when it is missing. waiting is called once if
// another process is making it at this moment.
func (e Entry) Get(waiting func(), make func(dir string) error) (string, error) {
	path, err := e.Path()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	unlock, err := Lock(path+".lock", waiting)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// Nobody else works here while we hold the lock: what is there was left by a process that was killed.
	temporary := path + ".partial"
	if err := os.RemoveAll(temporary); err != nil {
		return "", err
	}
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return "", err
	}
	if err := make(temporary); err != nil {
		return "", err
	}
	return path, os.Rename(temporary, path)
}

// Lock takes an exclusive lock on a file, which the kernel releases when this process ends however it ends. waiting
// (if not nil) is called once if another process holds it. Holders may delete the file.
func Lock(path string, waiting func()) (unlock func(), err error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			if waiting != nil {
				waiting()
				waiting = nil
			}
			if err := flock(file); err != nil {
				file.Close()
				return nil, fmt.Errorf("lock %s: %w", path, err)
			}
		}
		// The last holder may have deleted the file while we waited for it; then others lock another one.
		ours, err := file.Stat()
		if err != nil {
			file.Close()
			return nil, err
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(ours, now) {
			return func() { file.Close() }, nil
		}
		file.Close()
	}
}

// flock waits for the lock; a signal that the Go runtime uses for itself may interrupt the wait.
func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

// HashFile returns the SHA-256 of a file's content, in hexadecimal.
func HashFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
