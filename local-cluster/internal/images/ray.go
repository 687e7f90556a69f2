// Package images makes the container images a node needs, from packages, without a registry or a container engine.
package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"localcluster/internal/apt"
	"localcluster/internal/cache"
	"localcluster/internal/oci"
	"localcluster/internal/progress"
)

// DefaultRayVersion is the release of Ray that a node has when none is asked for.
const DefaultRayVersion = "2.60.0"

const (
	debianRelease = "bookworm"
	// pythonVersion is Debian bookworm's.
	pythonVersion = "3.11"
	sitePackages  = "usr/local/lib/python" + pythonVersion + "/dist-packages"
	// recipe changes whenever this file makes something else of the same versions.
	recipe = "2"
	// userID and groupID are those of user ray in the public image, which volumes and security contexts rely on.
	userID, groupID = 1000, 100
)

// debianPackages are what Ray needs beside a minimal Debian: wget is what KubeRay's probes call, procps has the ps
// that Ray's own scripts look for.
var debianPackages = []string{"ca-certificates", "procps", "python3", "wget"}

// RayNames returns the names the image of a Ray version is known under: those of the public image, so that manifests
// written for that run unchanged.
func RayNames(version string) []string {
	const name = "docker.io/rayproject/ray:"
	return []string{name + version, name + version + "-py311"}
}

var validVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[a-z0-9.]*$`)

// Ray returns the image of a Ray version, and makes it when the cache has none.
func Ray(log *progress.Log, version string) (oci.Layout, error) {
	if !validVersion.MatchString(version) {
		return oci.Layout{}, fmt.Errorf("%q is no version of Ray", version)
	}
	key := new(cache.Key).Text(recipe, debianRelease, pythonVersion, version).Text(debianPackages...).String()
	name := "image ray " + version
	dir, err := cache.Entry{Name: "image-ray-" + version, Key: key}.Get(
		func() { log.Line(name, "another process makes it, waiting") },
		func(dir string) error { return makeRay(log, name, version, dir) })
	if err != nil {
		return oci.Layout{}, fmt.Errorf("%s: %w", name, err)
	}
	return oci.Layout{Dir: filepath.Join(dir, "image")}, nil
}

func makeRay(log *progress.Log, name, version, dir string) error {
	if os.Getuid() != 0 {
		return errors.New("making the image needs root (debootstrap)")
	}
	packages := filepath.Join(dir, "packages")
	var base string
	err := progress.Together(
		func() (err error) { base, err = debianBase(log); return err },
		func() error {
			return log.Step(name, "installing from PyPI", "installed from PyPI", func() error { return pipInstall(version, packages) })
		})
	if err != nil {
		return err
	}
	root := filepath.Join(base, "root")
	err = log.Step(name, "compiling its Python files", "Python files compiled", func() error { return compilePython(root, packages) })
	if err != nil {
		return err
	}
	layout := oci.Layout{Dir: filepath.Join(dir, "image")}
	err = log.Step(name, "packing", "packed", func() error { return packRay(layout, oci.Layout{Dir: base}, packages, version) })
	if err != nil {
		return err
	}
	return os.RemoveAll(packages)
}

// pipInstall downloads wheels for the image's Python, whichever Python runs pip. Only wheels: building from sources
// would build for this machine.
func pipInstall(version, target string) error {
	python := "python" + pythonVersion
	if _, err := exec.LookPath(python); err != nil {
		python = "python3"
	}
	if exec.Command(python, "-m", "pip", "--version").Run() != nil {
		return errors.New("pip is needed (Debian: python3-pip)")
	}
	arguments := []string{"-m", "pip", "install", "--quiet", "--no-compile", "--no-cache-dir",
		"--target", target, "--only-binary=:all:", "--python-version", pythonVersion, "--implementation", "cp",
		"--abi", "cp311", "--abi", "abi3", "--abi", "none", "--platform", "manylinux2014_x86_64"}
	// The image's C library is 2.36: wheels for it and older ones do. These are the versions that wheels are made for.
	for _, minor := range []string{"17", "24", "27", "28", "31", "34", "35", "36"} {
		arguments = append(arguments, "--platform", "manylinux_2_"+minor+"_x86_64")
	}
	// pip itself, for runtime environments that install packages.
	cmd := exec.Command(python, append(arguments, "ray[default,serve]=="+version, "pip")...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pip: %w\n%s", err, tail(output))
	}
	return nil
}

// compilePython writes .pyc files with the image's own Python: the files of an image cannot be written when they are
// first imported, and a Ray head would compile for seconds at each start. The mount is seen by this one command only.
func compilePython(root, packages string) error {
	const script = `mount --bind "$1" "$2/$3" && exec chroot "$2" python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash "/$3"`
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", packages, root, sitePackages)
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		// Some package always has a file for another Python, such as a template; that one stays uncompiled.
		return nil
	}
	if err != nil {
		return fmt.Errorf("compile: %w\n%s", err, tail(output))
	}
	return nil
}

func packRay(layout, base oci.Layout, packages, version string) error {
	layers, err := base.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := layout.AddLayerOf(base, layer); err != nil {
			return err
		}
	}
	rayLayer, err := layout.AddLayer(func(layer *tar.Writer) error {
		if err := oci.AddTree(layer, packages, sitePackages, func(path string) bool { return path == "bin" }); err != nil {
			return err
		}
		return addScripts(layer, filepath.Join(packages, "bin"))
	})
	if err != nil {
		return err
	}
	config := oci.Config{
		User: fmt.Sprintf("%d:%d", userID, groupID),
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/ray",
			"LANG=C.UTF-8", "RAY_VERSION=" + version},
		Cmd:        []string{"/bin/bash"},
		WorkingDir: "/home/ray",
	}
	return layout.Finish(config, append(layers, rayLayer), RayNames(version)...)
}

// addScripts adds what pip put into bin. Its Python scripts name the Python that ran pip; the image has another.
func addScripts(layer *tar.Writer, bin string) error {
	return filepath.WalkDir(bin, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return oci.AddText(layer, "usr/local/bin/"+entry.Name(), 0o755, string(withImagePython(content)))
	})
}

// withImagePython replaces the interpreter of a Python script, in both forms pip writes: a path after #!, or, where
// that would be too long for the kernel, three lines that a shell reads as a command and Python as a string.
func withImagePython(script []byte) []byte {
	const interpreter = "#!/usr/bin/python3\n"
	first, rest, _ := bytes.Cut(script, []byte("\n"))
	switch {
	case !bytes.HasPrefix(first, []byte("#!")):
		return script
	case bytes.Contains(first, []byte("python")):
		return append([]byte(interpreter), rest...)
	case bytes.HasPrefix(rest, []byte("'''exec'")):
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
		return append([]byte(interpreter), rest...)
	}
	return script
}

// debianBase returns a folder with a minimal Debian in root, and the same as the only layer of a layout.
func debianBase(log *progress.Log) (string, error) {
	const name = "image base"
	key := new(cache.Key).Text(recipe, debianRelease).Text(debianPackages...).String()
	return cache.Entry{Name: "image-debian-" + debianRelease, Key: key}.Get(
		func() { log.Line(name, "another process makes it, waiting") },
		func(dir string) error {
			root := filepath.Join(dir, "root")
			err := log.Step(name, "installing Debian "+debianRelease, "Debian "+debianRelease+" installed", func() error { return debootstrap(root) })
			if err != nil {
				return err
			}
			return log.Step(name, "packing", "packed", func() error { return packBase(oci.Layout{Dir: dir}, root) })
		})
}

func debootstrap(root string) error {
	mirror, err := apt.Mirror(debianRelease)
	if err != nil {
		return err
	}
	cmd := exec.Command("debootstrap", "--variant=minbase", "--include="+strings.Join(debianPackages, ","),
		debianRelease, root, mirror)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("debootstrap: %w\n%s", err, tail(output))
	}
	return nil
}

func tail(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
