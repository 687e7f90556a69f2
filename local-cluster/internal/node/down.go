package node

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"localcluster/internal/cgroup"
	"localcluster/internal/network"
	"localcluster/internal/process"
	"localcluster/internal/progress"
)

// Down stops the node and removes everything it left, but for the images; those too if all is set. A node that is
// not there is fine.
func Down(log *progress.Log, dir string, all bool) error {
	if os.Getuid() != 0 {
		return errors.New("stopping a node needs root")
	}
	if err := CheckDirectory(dir); err != nil {
		return err
	}
	unlock, err := lock(log, dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := log.Step("node", "stopping", "down", func() error { return clean(log, dir) }); err != nil {
		return err
	}
	if all {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	} else {
		removeIfEmpty(containerdRoot(dir))
		removeIfEmpty(dir)
	}
	if err := os.Remove(dir + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removeIfEmpty(filepath.Dir(dir))
	return nil
}

// removeIfEmpty removes a folder, unless something is in it, which is no error.
func removeIfEmpty(dir string) { os.Remove(dir) }

// clean ends the node's processes and removes its traces. It trusts no record: a start may have been killed at any
// point, before or after it wrote something down.
func clean(log *progress.Log, dir string) error {
	s, stateErr := readState(dir)
	inits, err := findInits(dir)
	if err != nil {
		return err
	}
	if stateErr == nil && s.Init.Running() && !slices.Contains(inits, s.Init) {
		inits = append(inits, s.Init)
	}
	for _, init := range inits {
		if err := init.Stop(stopGrace + 5*time.Second); err != nil {
			return err
		}
	}
	// The kernel takes the cable away with the namespace, but not at once.
	if err := network.Disconnect(); err != nil {
		if again := network.Disconnect(); again != nil {
			return again
		}
	}
	if err := cgroup.Remove(); err != nil {
		return err
	}
	if err := unmountBelow(dir); err != nil {
		return err
	}
	for _, folder := range s.MadeFolders {
		removeIfEmpty(folder)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if path := filepath.Join(dir, entry.Name()); path != containerdRoot(dir) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// findInits looks for the first processes of nodes, recorded or not. A machine has room for one node: the cable and
// the control groups have fixed names, and removing them here would break another folder's node, which is an error.
func findInits(dir string) ([]process.Identity, error) {
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var inits []process.Identity
	for _, path := range commands {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		other, isInit := initFolder(string(content))
		if !isInit {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		identity, err := process.Identify(pid)
		switch {
		case err != nil: // it ended meanwhile
		case other != dir:
			return nil, fmt.Errorf("this machine runs a node in %s, and has room for one", other)
		default:
			inits = append(inits, identity)
		}
	}
	return inits, nil
}

const dirFlag = "--dir="

// InitArguments are the arguments by which an Init of a folder is started, and recognised.
func InitArguments(dir string) []string { return []string{"node", "init", dirFlag + dir} }

// SuperviseArguments are those of its supervisor.
func SuperviseArguments(dir string) []string { return []string{"node", "supervise", dirFlag + dir} }

// initFolder returns the folder of the node whose Init has this command line, its parts separated by zero bytes.
func initFolder(commandLine string) (dir string, isInit bool) {
	parts := strings.Split(strings.TrimRight(commandLine, "\x00"), "\x00")
	if len(parts) != 4 {
		return "", false
	}
	dir, found := strings.CutPrefix(parts[3], dirFlag)
	return dir, found && slices.Equal(parts[1:], InitArguments(dir))
}

// unmountBelow unmounts what is mounted below a folder, the last first. In the node's own mount namespace there is
// much; here there should be nothing, and where there is, removing files would remove somebody's data.
func unmountBelow(dir string) error {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	points := mountsBelow(string(content), dir)
	slices.Reverse(points)
	for _, point := range points {
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", point, err)
		}
	}
	return nil
}

// mountsBelow returns the mount points below a folder in the order they were mounted in.
func mountsBelow(mountinfo, dir string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var points []string
	lines := bufio.NewScanner(strings.NewReader(mountinfo))
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 {
			if point := unescape.Replace(fields[4]); strings.HasPrefix(point, dir+"/") {
				points = append(points, point)
			}
		}
	}
	return points
}

// emptyFolder removes what is in a folder.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
