package node

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// privateFolders are those of which the node has an empty one of its own: what components keep there (locks, names
// of network namespaces, sockets of containers and plug-ins, the state of pod networks, links to logs) ends with the node.
var privateFolders = []string{"/run", "/var/log", "/var/lib/cni", "/var/lib/kubelet"}

// tunables are kernel settings that a kubelet insists on, with the values it wants. They are not per namespace, so the
// node gets files in their place, and this machine keeps its own values.
var tunables = map[string]string{
	"/proc/sys/vm/overcommit_memory":      "1\n",
	"/proc/sys/vm/panic_on_oom":           "0\n",
	"/proc/sys/kernel/panic":              "10\n",
	"/proc/sys/kernel/panic_on_oops":      "1\n",
	"/proc/sys/kernel/keys/root_maxkeys":  "1000000\n",
	"/proc/sys/kernel/keys/root_maxbytes": "25000000\n",
}

// goAhead is what Init waits for on its standard input.
const goAhead = "go\n"

// Init is the first process in the node's namespaces, with the process ID 1. It sets up mounts and network, runs the
// supervisor, adopts and reaps orphans, and when it ends, by whatever cause, the kernel ends everything else.
func Init(dir string, supervise []string) error {
	// The cable comes from outside. Whoever lays it may die before, and closes our input then.
	if message, err := io.ReadAll(os.Stdin); err != nil || string(message) != goAhead {
		return fmt.Errorf("told %q instead of to go ahead (%v)", message, err)
	}
	config, err := readConfig(dir)
	if err != nil {
		return err
	}
	if err := setUpMounts(config); err != nil {
		return fmt.Errorf("mounts of the node: %w", err)
	}
	if err := config.Network.SetUpNode(); err != nil {
		return fmt.Errorf("network of the node: %w", err)
	}
	child, err := os.StartProcess(supervise[0], supervise, &os.ProcAttr{Dir: "/", Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for s := range signals {
			child.Signal(s)
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case pid == child.Pid && status.ExitStatus() == 0:
			return nil
		case pid == child.Pid:
			return fmt.Errorf("the supervisor ended: exit status %d, signal %d", status.ExitStatus(), status.Signal())
		}
	}
}

func setUpMounts(config Config) error {
	mount := func(source, target, kind string, flags uintptr, data string) error {
		if err := syscall.Mount(source, target, kind, flags, data); err != nil {
			return &os.PathError{Op: "mount", Path: target, Err: err}
		}
		return nil
	}
	// From here on nothing that is mounted here shows outside.
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return err
	}
	for _, folder := range privateFolders {
		if err := mount("tmpfs", folder, "tmpfs", 0, "mode=755"); err != nil {
			return err
		}
	}
	for path, value := range tunables {
		if _, err := os.Stat(path); err != nil {
			continue // this kernel does not have it
		}
		file := config.path("conf", "kernel-"+filepath.Base(path))
		if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
			return err
		}
		if err := mount(file, path, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
	}
	// Volumes that the kubelet mounts must reach containers, whose mounts are copies of these.
	return mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "")
}

// makeFolders makes the private folders that do not exist on this machine, and returns those, to be removed later.
func makeFolders() ([]string, error) {
	var made []string
	for _, folder := range privateFolders {
		err := os.Mkdir(folder, 0o755)
		switch {
		case err == nil:
			made = append(made, folder)
		case !os.IsExist(err):
			return made, err
		}
	}
	return made, nil
}

// cloneFlags are the namespaces that Init is born in.
const cloneFlags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET
