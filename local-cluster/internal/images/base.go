package images

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"

	"localcluster/internal/oci"
)

// unwanted are the parts of an installed Debian that no container reads. Package lists and apt's configuration would
// also tell where this machine gets its packages from.
var unwanted = []string{
	"boot", "dev", "etc/apt/sources.list", "etc/hostname", "etc/resolv.conf", "proc", "run", "sys", "tmp",
	"usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man",
	"var/cache", "var/lib/apt/lists", "var/log", "var/tmp",
	// Debian's marker that forbids pip to install for everybody; in a container that is the point.
	"usr/lib/python" + pythonVersion + "/EXTERNALLY-MANAGED",
	// Replaced below.
	"etc/passwd",
}

// packBase writes the Debian installed in root as a layout with one layer.
func packBase(layout oci.Layout, root string) error {
	passwd, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if err != nil {
		return err
	}
	passwd = fmt.Appendf(passwd, "ray:x:%d:%d::/home/ray:/bin/bash\n", userID, groupID)
	skip := map[string]bool{}
	for _, path := range unwanted {
		skip[path] = true
	}
	layer, err := layout.AddLayer(func(layer *tar.Writer) error {
		if err := oci.AddTree(layer, root, "", func(path string) bool { return skip[path] }); err != nil {
			return err
		}
		if err := oci.AddText(layer, "etc/passwd", 0o644, string(passwd)); err != nil {
			return err
		}
		for _, dir := range []string{"boot", "dev", "proc", "run", "sys", "var/cache", "var/log"} {
			if err := oci.AddDir(layer, dir, 0o755, 0, 0); err != nil {
				return err
			}
		}
		for _, dir := range []string{"tmp", "var/tmp"} {
			if err := oci.AddDir(layer, dir, 0o1777, 0, 0); err != nil {
				return err
			}
		}
		if err := oci.AddDir(layer, "home/ray", 0o755, userID, groupID); err != nil {
			return err
		}
		return oci.AddLink(layer, "usr/local/bin/python", "/usr/bin/python3")
	})
	if err != nil {
		return err
	}
	return layout.Finish(oci.Config{}, []oci.Descriptor{layer}, "debian-base")
}
