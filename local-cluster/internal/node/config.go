// Package node runs one real Kubernetes node, control plane included, in network, mount and process namespaces of its
// own. All of it ends when the first process in there ends, and this machine keeps its network, mounts and firewall
// as they were.
package node

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"localcluster/internal/controlplane"
	"localcluster/internal/network"
)

// Name of the node and of the cluster.
const (
	Name    = "local"
	Cluster = "ray-local-cluster"
)

// apiPort is where the API server listens, on the node's address.
const apiPort = 6443

// Names of the components besides the control plane's.
const (
	containerd = "containerd"
	kubelet    = "kubelet"
	kubeProxy  = "kube-proxy"
	coreDNS    = "coredns"
)

// Config is everything the processes inside need to know. It travels as a file.
type Config struct {
	// Dir holds the node's state, logs and kubeconfig.
	Dir string
	// Network says who has which address.
	Network network.Plan
	// ControlPlaneBinary and NodeBinary are the executables that are the Kubernetes components.
	ControlPlaneBinary, NodeBinary string
}

// Directory is where the node lives unless a flag says otherwise: RAY_LOCAL_CLUSTER_DIR, or a folder in /var/lib.
func Directory() string {
	if dir := os.Getenv("RAY_LOCAL_CLUSTER_DIR"); dir != "" {
		return dir
	}
	return "/var/lib/ray-local-cluster/node"
}

// CheckDirectory refuses folders that the node's own mounts would hide from it.
func CheckDirectory(dir string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return errors.New("the node's folder must be a plain absolute path")
	}
	for _, hidden := range privateFolders {
		if dir == hidden || strings.HasPrefix(dir, hidden+"/") {
			return errors.New("the node's folder cannot be in " + hidden + ", of which the node has one of its own")
		}
	}
	return nil
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func Kubeconfig(dir string) string { return filepath.Join(dir, "kubeconfig") }

func (c Config) path(parts ...string) string {
	return filepath.Join(append([]string{c.Dir}, parts...)...)
}

func (c Config) conf(name string) string { return c.path("conf", name) }
func (c Config) pki(name string) string  { return c.path("pki", name) }
func (c Config) log(name string) string  { return c.path("logs", name+".log") }

// containerdRoot holds images. It alone outlives the node, because importing a Ray image takes a while.
func containerdRoot(dir string) string { return filepath.Join(dir, "containerd") }

func containerdSocket(dir string) string { return filepath.Join(dir, "containerd-state", "socket") }

func (c Config) controlPlane() controlplane.Config {
	return controlplane.Config{
		Name:        Cluster,
		Binary:      c.ControlPlaneBinary,
		Dir:         c.Dir,
		Logs:        c.path("logs"),
		Address:     c.Network.Node.String(),
		Port:        apiPort,
		Advertise:   true,
		ServiceCIDR: c.Network.Services.String(),
		ServiceIP:   c.Network.API.String(),
	}
}

func configPath(dir string) string { return filepath.Join(dir, "conf", "node.json") }

func (c Config) write() error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(configPath(c.Dir), content, 0o644)
}

// readConfig returns the configuration of the node that was started last in a folder.
func readConfig(dir string) (Config, error) {
	content, err := os.ReadFile(configPath(dir))
	if err != nil {
		return Config{}, err
	}
	var config Config
	return config, json.Unmarshal(content, &config)
}
