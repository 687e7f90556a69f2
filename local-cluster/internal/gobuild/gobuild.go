// Package gobuild compiles the programs whose sources lie beside this tool, once, into the cache.
package gobuild

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"localcluster/internal/cache"
	"localcluster/internal/progress"
)

// Program is one executable to build.
type Program struct {
	// Name of the executable and of its cache entry.
	Name string
	// Module is the folder of the Go module, below the tool's own.
	Module string
	// Package to build, relative to the module.
	Package string
	// Sources are the folders (relative to the module) whose Go files belong to the cache key.
	Sources []string
	// LinkerFlags come after -s -w.
	LinkerFlags string
	// Long says that this takes minutes, so that the user is told before.
	Long string
}

// compilerFlags leave out debugging information: writing it costs a fifth of the compile time.
const compilerFlags = "all=-dwarf=false"

// KubernetesVersion is the release that kubernetes/go.mod pins.
const KubernetesVersion = "v1.36.3"

// kubernetesVersionFlags make /version and the clients' user agents tell the truth: upstream's own build sets these
// too.
const kubernetesVersionFlags = "-X k8s.io/component-base/version.gitVersion=" + KubernetesVersion +
	" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36" +
	" -X k8s.io/client-go/pkg/version.gitVersion=" + KubernetesVersion +
	" -X k8s.io/client-go/pkg/version.gitCommit=unknown"

// The programs this tool can build.
var (
	ControlPlane = Program{
		Name: "control-plane", Module: "kubernetes", Package: "./control-plane",
		Sources: []string{"control-plane", "component"}, LinkerFlags: kubernetesVersionFlags,
		Long: "about 10 minutes on two cores with an empty build cache",
	}
	Node = Program{
		Name: "node", Module: "kubernetes", Package: "./node",
		Sources: []string{"node", "component"}, LinkerFlags: kubernetesVersionFlags,
		Long: "about 3 minutes on two cores after the control plane",
	}
	Kwok = Program{
		// A tool of its module: upstream's own main package, without a line of ours.
		Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
		Long: "about 3 minutes on two cores",
	}
	Pause = Program{Name: "pause", Module: ".", Package: "./cmd/pause", Sources: []string{"cmd/pause"}}
)

// SourceRoot finds the folder local-cluster of the checkout, which holds the modules to build: named by
// RAY_LOCAL_CLUSTER_SOURCE, where this executable was compiled, or at or above the working directory.
func SourceRoot() (string, error) {
	if dir := os.Getenv("RAY_LOCAL_CLUSTER_SOURCE"); dir != "" {
		return dir, nil
	}
	isRoot := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "kubernetes", "go.mod"))
		return err == nil
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if dir := filepath.Dir(filepath.Dir(filepath.Dir(file))); isRoot(dir) {
			return dir, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		for _, candidate := range []string{dir, filepath.Join(dir, "local-cluster")} {
			if isRoot(candidate) {
				return candidate, nil
			}
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return "", errors.New("cannot find the sources to build Kubernetes from: run inside the checkout, or name its folder local-cluster in RAY_LOCAL_CLUSTER_SOURCE")
	}
}

// Binary returns the path of the built program and builds it first when it is not in the cache.
func (p Program) Binary(log *progress.Log) (string, error) {
	root, err := SourceRoot()
	if err != nil {
		return "", err
	}
	module := filepath.Join(root, p.Module)
	version, err := goVersion()
	if err != nil {
		return "", err
	}
	entry, err := p.entry(module, version)
	if err != nil {
		return "", err
	}
	waiting := func() { log.Line(p.Name, "another process builds it, waiting") }
	dir, err := entry.Get(waiting, func(dir string) error { return p.build(log, module, filepath.Join(dir, p.Name)) })
	if err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	return filepath.Join(dir, p.Name), nil
}

// entry names the program in the cache by everything that goes into it.
func (p Program) entry(module, goVersion string) (cache.Entry, error) {
	key := new(cache.Key).Text(goVersion, compilerFlags, p.LinkerFlags, p.Package)
	names := []string{"go.mod"}
	if _, err := os.Stat(filepath.Join(module, "go.sum")); err == nil {
		names = append(names, "go.sum")
	}
	for _, source := range p.Sources {
		err := filepath.WalkDir(filepath.Join(module, source), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(module, path)
			if name != "go.mod" && name != "go.sum" {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return cache.Entry{}, err
		}
	}
	if err := key.Files(module, names...); err != nil {
		return cache.Entry{}, err
	}
	return cache.Entry{Name: p.Name, Key: key.String()}, nil
}

// goVersion names the toolchain and the platform it builds for.
func goVersion() (string, error) {
	out, err := exec.Command("go", "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("the Go toolchain is needed to build Kubernetes: %w", err)
	}
	return string(out), nil
}

// build compiles the program. With -v the compiler names each package, and their number is all there is to tell a
// user who waits for minutes that something happens.
func (p Program) build(log *progress.Log, module, output string) error {
	if p.Long != "" {
		log.Line(p.Name, "compiling (%s)", p.Long)
	}
	cmd := exec.Command("go", "build", "-v", "-trimpath", "-buildvcs=false", "-gcflags="+compilerFlags,
		"-ldflags=-s -w "+p.LinkerFlags, "-o", output, p.Package)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var compiled lineCounter
	cmd.Stdout, cmd.Stderr = &compiled, &compiled
	detail := func() string { return fmt.Sprintf("%d packages", compiled.lines.Load()) }
	return log.Watched(p.Name, "compiling", "compiled", detail, func() error {
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w\n%s", err, compiled.tail())
		}
		return nil
	})
}

// lineCounter counts lines and keeps the last of them for an error message.
type lineCounter struct {
	lines atomic.Int64
	last  []byte
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines.Add(int64(bytes.Count(p, []byte("\n"))))
	c.last = append(c.last, p...)
	if extra := len(c.last) - 4096; extra > 0 {
		c.last = c.last[extra:]
	}
	return len(p), nil
}

func (c *lineCounter) tail() string {
	lines := strings.Split(strings.TrimSpace(string(c.last)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
