package images

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"localcluster/internal/oci"
)

// authorities is where Debian, and images made of it, keep the certificate authorities that programs trust.
const authorities = "etc/ssl/certs/ca-certificates.crt"

// Binary writes an image of one executable of this machine, with the shared libraries it needs and nothing else:
// no shell, no package manager, and a user of its own. hostAuthorities is the file with the trusted certificate
// authorities; it is left out if it does not exist.
func Binary(layout oci.Layout, binary, name, entrypoint, hostAuthorities string) error {
	libraries, err := sharedLibraries(binary)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(entrypoint) {
		return fmt.Errorf("the entry point %q is no absolute path", entrypoint)
	}
	files := map[string]string{strings.TrimPrefix(entrypoint, "/"): binary}
	for _, library := range libraries {
		files[strings.TrimPrefix(library, "/")] = library
	}
	if _, err := os.Stat(hostAuthorities); err == nil {
		files[authorities] = hostAuthorities
	}
	layer, err := layout.AddLayer(func(layer *tar.Writer) error {
		if err := addFiles(layer, files); err != nil {
			return err
		}
		if err := oci.AddDir(layer, "tmp", 0o1777, 0, 0); err != nil {
			return err
		}
		if err := oci.AddText(layer, "etc/passwd", 0o644, passwd); err != nil {
			return err
		}
		return oci.AddText(layer, "etc/group", 0o644, group)
	})
	if err != nil {
		return err
	}
	config := oci.Config{
		User:       "65532:65532",
		Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SSL_CERT_FILE=/" + authorities},
		Entrypoint: []string{entrypoint},
		WorkingDir: "/",
	}
	return layout.Finish(config, []oci.Descriptor{layer}, FullName(name))
}

const (
	passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
	group  = "root:x:0:\nnonroot:x:65532:\n"
)

// addFiles adds files in the order of their names, each folder before what is in it.
func addFiles(layer *tar.Writer, files map[string]string) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	made := map[string]bool{".": true}
	var makeDir func(dir string) error
	makeDir = func(dir string) error {
		if made[dir] {
			return nil
		}
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		made[dir] = true
		return oci.AddDir(layer, dir, 0o755, 0, 0)
	}
	for _, name := range names {
		if err := makeDir(filepath.Dir(name)); err != nil {
			return err
		}
		mode := int64(0o755)
		if name == authorities {
			mode = 0o644
		}
		if err := oci.AddFile(layer, files[name], name, mode); err != nil {
			return err
		}
	}
	return nil
}

// sharedLibraries asks the dynamic loader which files it would load for the executable, the loader included. A
// static executable needs none.
func sharedLibraries(binary string) ([]string, error) {
	cmd := exec.Command("ldd", binary)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	output, err := cmd.CombinedOutput()
	if bytes.Contains(output, []byte("not a dynamic executable")) || bytes.Contains(output, []byte("statically linked")) {
		if _, err := os.Stat(binary); err != nil {
			return nil, err
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w\n%s", binary, err, output)
	}
	return parseLdd(string(output))
}

// parseLdd takes the paths out of ldd's lines, which are one of
//
//	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)
//	/lib64/ld-linux-x86-64.so.2 (0x...)
//	linux-vdso.so.1 (0x...)
//	libother.so => not found
func parseLdd(output string) ([]string, error) {
	var libraries []string
	lines := bufio.NewScanner(strings.NewReader(output))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if name, missing := strings.CutSuffix(line, " => not found"); missing {
			return nil, fmt.Errorf("the shared library %s is not on this machine", name)
		}
		if _, after, found := strings.Cut(line, " => "); found {
			line = after
		}
		path, _, _ := strings.Cut(line, " (")
		if filepath.IsAbs(path) {
			libraries = append(libraries, path)
		}
	}
	return libraries, nil
}

// FullName adds what a short image name leaves out, as the container runtime does when it reads one in a pod.
func FullName(name string) string {
	last := name[strings.LastIndexByte(name, '/')+1:]
	if !strings.Contains(last, ":") {
		name += ":latest"
	}
	first, _, several := strings.Cut(name, "/")
	switch {
	case !several:
		return "docker.io/library/" + name
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		return "docker.io/" + name
	}
	return name
}
