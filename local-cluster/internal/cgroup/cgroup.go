// Package cgroup keeps everything that pods create below one folder of ours in each control group hierarchy, so that
// it can be found and removed, and is not taken for another kubelet's.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Root is our folder in every hierarchy, as the kubelet wants it named.
const Root = "/ray-local-cluster"

// hierarchy is one mounted control group file system.
type hierarchy struct {
	path string
	// second says that it is of version 2, where controllers must be handed down to children.
	second bool
}

func hierarchies() ([]hierarchy, error) {
	content, err := os.ReadFile("/proc/self/mounts")
	return parseMounts(string(content)), err
}

func parseMounts(mounts string) []hierarchy {
	var found []hierarchy
	lines := bufio.NewScanner(strings.NewReader(mounts))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 2 && (fields[2] == "cgroup" || fields[2] == "cgroup2") {
			found = append(found, hierarchy{path: fields[1], second: fields[2] == "cgroup2"})
		}
	}
	return found
}

// Create makes the folder in every hierarchy.
func Create() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		dir := filepath.Join(h.path, Root)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("control group: %w", err)
		}
		// A new cpuset of version 1 is empty, and nothing can run in it.
		for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
			if value, err := os.ReadFile(filepath.Join(h.path, name)); err == nil && !h.second {
				if err := os.WriteFile(filepath.Join(dir, name), value, 0); err != nil {
					return fmt.Errorf("control group: %w", err)
				}
			}
		}
	}
	return nil
}

// Remove kills what still runs in our folders and removes them.
func Remove() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(10 * time.Second)
	for _, h := range all {
		dir := filepath.Join(h.path, Root)
		for {
			err := remove(dir)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("control group: %w", err)
			}
			kill(dir)
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// Present says whether our folder exists in any hierarchy.
func Present() bool {
	all, _ := hierarchies()
	for _, h := range all {
		if _, err := os.Stat(filepath.Join(h.path, Root)); err == nil {
			return true
		}
	}
	return false
}

// remove removes a folder, deepest first: the kernel removes only groups without children and processes, and the
// files in them go by themselves.
func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(dir); err != nil && err != syscall.ENOENT {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// kill kills every process in the groups of a folder.
func kill(dir string) {
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, field := range strings.Fields(string(content)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err == nil && pid > 1 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return nil
	})
}
