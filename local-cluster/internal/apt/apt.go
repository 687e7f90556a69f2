// Package apt installs the programs that a node needs and that Debian packages, and finds the mirror in use.
package apt

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"

	"localcluster/internal/progress"
)

// packages maps each file the node runs to the Debian package that has it.
var packages = map[string]string{
	"/usr/bin/containerd":        "containerd",
	"/usr/bin/ctr":               "containerd",
	"/usr/sbin/runc":             "runc",
	"/usr/lib/cni/bridge":        "containernetworking-plugins",
	"/usr/lib/cni/host-local":    "containernetworking-plugins",
	"/usr/sbin/iptables":         "iptables",
	"/usr/sbin/iptables-restore": "iptables",
	"/usr/sbin/conntrack":        "conntrack",
	"/usr/sbin/debootstrap":      "debootstrap",
	"/usr/sbin/ip":               "iproute2",
	"/usr/bin/mount":             "mount",
	"/usr/bin/unshare":           "util-linux",
}

// Install installs what is missing. It needs root only when something is.
func Install(log *progress.Log) error {
	wanted := missing(func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
	if len(wanted) == 0 {
		return nil
	}
	names := strings.Join(wanted, " ")
	if os.Getuid() != 0 {
		return fmt.Errorf("these Debian packages are missing, and installing them needs root: %s", names)
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("these Debian packages are missing, and this is no Debian: %s", names)
	}
	return log.Step("packages", "installing "+names, "installed "+names, func() error {
		if install(wanted) == nil {
			return nil
		}
		// Most likely the package lists are old or absent.
		if err := get("update"); err != nil {
			return err
		}
		return install(wanted)
	})
}

func missing(present func(string) bool) []string {
	set := map[string]bool{}
	for path, name := range packages {
		if !present(path) {
			set[name] = true
		}
	}
	var names []string
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func install(packages []string) error {
	return get(append([]string{"install", "--yes", "--no-install-recommends"}, packages...)...)
}

// get runs apt-get without questions, and waits when somebody else holds its lock.
func get(arguments ...string) error {
	cmd := exec.Command("apt-get", append([]string{"--quiet", "--option=DPkg::Lock::Timeout=300"}, arguments...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", arguments[0], err, lastLines(string(output), 10))
	}
	return nil
}

// Mirror returns the address that this machine's apt fetches a Debian release from, or RAY_LOCAL_CLUSTER_MIRROR.
func Mirror(release string) (string, error) {
	if mirror := os.Getenv("RAY_LOCAL_CLUSTER_MIRROR"); mirror != "" {
		return mirror, nil
	}
	output, err := exec.Command("apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)",
		"Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("apt does not tell its mirror (name one in RAY_LOCAL_CLUSTER_MIRROR): %w", err)
	}
	return mirrorOf(string(output), release)
}

func mirrorOf(targets, release string) (string, error) {
	for _, line := range strings.Split(targets, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[1] == release && fields[2] == "main" {
			return fields[0], nil
		}
	}
	return "", errors.New("apt has no source for Debian " + release + "; name a mirror in RAY_LOCAL_CLUSTER_MIRROR")
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
