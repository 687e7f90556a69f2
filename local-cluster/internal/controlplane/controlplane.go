// Package controlplane describes the four processes that make a Kubernetes API: etcd, the API server, the
// controller-manager and the scheduler. An API-only cluster and a node run the same ones, told apart by a few fields.
package controlplane

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"localcluster/internal/certs"
	"localcluster/internal/kubeapi"
	"localcluster/internal/kubeconfig"
	"localcluster/internal/process"
)

// Names of the components, which are also the names of their logs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Config says what one control plane looks like.
type Config struct {
	// Name of the cluster, as clients see it in their kubeconfig.
	Name string
	// Binary is the executable that is all four components.
	Binary string
	// Dir gets keys, configuration, etcd's data and the kubeconfig; Logs one log a component.
	Dir, Logs string
	// Address and Port the API server listens on.
	Address string
	Port    int
	// Advertise puts the address into the endpoints of the service "kubernetes", so that pods reach the API server.
	Advertise bool
	// SharePort lets the API server bind a port that this process already holds for it.
	SharePort bool
	// ServiceCIDR is where services get their addresses from; ServiceIP is its first, the API server's own.
	ServiceCIDR, ServiceIP string
	// AuditLog, if not empty, is a file that gets one JSON line a request.
	AuditLog string
	// NoServiceAccounts admits pods to namespaces without a service account: nobody makes one where the
	// controller-manager does not run.
	NoServiceAccounts bool
}

// ControlPlane is a prepared control plane: keys made, files written, nothing started.
type ControlPlane struct {
	Config
	// Authority signs everybody's certificates.
	Authority *certs.Authority
	// Admin may do everything.
	Admin certs.Pair
	// Client talks to the API server as the administrator.
	Client *kubeapi.Client
}

// Server returns the API server's URL.
func (c Config) Server() string {
	return "https://" + net.JoinHostPort(c.Address, strconv.Itoa(c.Port))
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c Config) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

func (c Config) pki(name string) string  { return filepath.Join(c.Dir, "pki", name) }
func (c Config) conf(name string) string { return filepath.Join(c.Dir, "conf", name) }
func (c Config) log(name string) string  { return filepath.Join(c.Logs, name+".log") }

// socket is where etcd listens. A socket needs no free port and no certificates: who may enter the folder may speak.
func (c Config) socket() string { return filepath.Join(c.Dir, "etcd", "client.sock") }

// maxSocketPath is the kernel's limit for the path of a socket.
const maxSocketPath = 107

// Prepare makes keys, certificates and configuration files in an existing, empty Dir.
func Prepare(config Config) (*ControlPlane, error) {
	c := &ControlPlane{Config: config}
	if len(c.socket()) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket (%d characters at most)", c.socket(), maxSocketPath)
	}
	for _, dir := range []string{c.pki(""), c.conf(""), filepath.Dir(c.socket()), c.Logs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	if c.Authority, err = certs.NewAuthority(c.Name); err != nil {
		return nil, err
	}
	if err := (certs.Pair{Certificate: c.Authority.PEM, Key: c.Authority.KeyPEM}).Write(c.pki(""), "ca"); err != nil {
		return nil, err
	}
	private, public, err := certs.KeyPair()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.pki("service-accounts.key"), private, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.pki("service-accounts.pub"), public, 0o644); err != nil {
		return nil, err
	}
	server, err := c.Authority.Server(APIServer, "localhost", "kubernetes", "kubernetes.default",
		"kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "127.0.0.1", c.ServiceIP, c.Address)
	if err != nil {
		return nil, err
	}
	if err := server.Write(c.pki(""), "apiserver"); err != nil {
		return nil, err
	}
	// The API server is a client, too: of the kubelet, for logs, exec and port-forward.
	kubeletClient, err := c.Authority.Client("kube-apiserver-kubelet-client", "system:masters")
	if err != nil {
		return nil, err
	}
	if err := kubeletClient.Write(c.pki(""), "kubelet-client"); err != nil {
		return nil, err
	}
	if c.Admin, err = c.Authority.Client("kubernetes-admin", "system:masters"); err != nil {
		return nil, err
	}
	if err := c.Admin.Write(c.pki(""), "admin"); err != nil {
		return nil, err
	}
	if err := c.WriteKubeconfig(c.Kubeconfig(), c.Admin); err != nil {
		return nil, err
	}
	for _, name := range []string{ControllerManager, Scheduler} {
		if err := c.ComponentKubeconfig(name, "system:"+name); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(c.conf("scheduler.yaml"), []byte(c.schedulerConfig()), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.conf("audit.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return nil, err
	}
	c.Client, err = kubeapi.New(c.Server(), c.Authority.PEM, c.Admin)
	return c, err
}

// Load returns a control plane that another process prepared. It cannot issue certificates.
func Load(config Config) (*ControlPlane, error) {
	c := &ControlPlane{Config: config}
	authority, err := os.ReadFile(c.pki("ca.crt"))
	if err != nil {
		return nil, err
	}
	if c.Admin.Certificate, err = os.ReadFile(c.pki("admin.crt")); err != nil {
		return nil, err
	}
	if c.Admin.Key, err = os.ReadFile(c.pki("admin.key")); err != nil {
		return nil, err
	}
	c.Client, err = kubeapi.New(c.Server(), authority, c.Admin)
	return c, err
}

// ComponentKubeconfig issues a certificate for a component and writes its kubeconfig as conf/NAME.kubeconfig.
func (c *ControlPlane) ComponentKubeconfig(name, user string, groups ...string) error {
	pair, err := c.Authority.Client(user, groups...)
	if err != nil {
		return err
	}
	return c.WriteKubeconfig(c.conf(name+".kubeconfig"), pair)
}

// WriteKubeconfig writes a kubeconfig of this cluster for a user.
func (c *ControlPlane) WriteKubeconfig(path string, user certs.Pair) error {
	return kubeconfig.Config{Name: c.Name, Server: c.Server(), Authority: c.Authority.PEM, User: user}.Write(path)
}

// Spec returns how to run one of the four components.
func (c *ControlPlane) Spec(name string) process.Spec {
	arguments := map[string]func() []string{
		Etcd:              c.etcd,
		APIServer:         c.apiServer,
		ControllerManager: c.controllerManager,
		Scheduler:         c.scheduler,
	}[name]()
	return process.Spec{
		Name:    name,
		Command: append([]string{c.Binary, name}, arguments...),
		Dir:     filepath.Dir(c.socket()),
		Log:     c.log(name),
	}
}
