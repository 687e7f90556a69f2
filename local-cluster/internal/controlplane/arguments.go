package controlplane

import (
	"fmt"
	"strconv"
)

// Clients of the API server inside the control plane get a budget that they never exhaust: at upstream's defaults
// (20 and 50 requests a second) they, not the machine, set the pace of a test with many objects.
const (
	clientQPS   = 1000
	clientBurst = 2000
)

func (c *ControlPlane) etcd() []string {
	// etcd wants advertised URLs to look like a host with a port, and takes only that part of a peer's: the peer's
	// socket gets this name in the working directory, and nobody reads the client's.
	const peer, client = "unix://peer:0", "unix://client:0"
	return []string{
		"--name=only",
		"--data-dir=data",
		"--listen-client-urls=unix://" + c.socket(),
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=only=" + peer,
		// The data is thrown away with the cluster: it need not survive a power failure.
		"--unsafe-no-fsync",
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
	}
}

func (c *ControlPlane) apiServer() []string {
	arguments := []string{
		"--etcd-servers=unix://" + c.socket(),
		"--bind-address=" + c.Address,
		"--secure-port=" + strconv.Itoa(c.Port),
		"--tls-cert-file=" + c.pki("apiserver.crt"),
		"--tls-private-key-file=" + c.pki("apiserver.key"),
		"--client-ca-file=" + c.pki("ca.crt"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.pki("service-accounts.pub"),
		"--service-account-signing-key-file=" + c.pki("service-accounts.key"),
		"--service-cluster-ip-range=" + c.ServiceCIDR,
		"--kubelet-client-certificate=" + c.pki("kubelet-client.crt"),
		"--kubelet-client-key=" + c.pki("kubelet-client.key"),
		"--kubelet-certificate-authority=" + c.pki("ca.crt"),
		// Nobody resolves the node's name.
		"--kubelet-preferred-address-types=InternalIP",
	}
	if c.Advertise {
		arguments = append(arguments, "--advertise-address="+c.Address, "--endpoint-reconciler-type=lease")
	} else {
		// It refuses a loopback address as the endpoint of its own service.
		arguments = append(arguments, "--endpoint-reconciler-type=none")
	}
	if c.SharePort {
		arguments = append(arguments, "--permit-port-sharing")
	}
	if c.AuditLog != "" {
		arguments = append(arguments, "--audit-policy-file="+c.conf("audit.yaml"), "--audit-log-path="+c.AuditLog,
			"--audit-log-format=json")
	}
	if c.NoServiceAccounts {
		arguments = append(arguments, "--disable-admission-plugins=ServiceAccount")
	}
	return arguments
}

func (c *ControlPlane) controllerManager() []string {
	kubeconfig := c.conf(ControllerManager + ".kubeconfig")
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + c.pki("service-accounts.key"),
		"--root-ca-file=" + c.pki("ca.crt"),
		"--cluster-signing-cert-file=" + c.pki("ca.crt"),
		"--cluster-signing-key-file=" + c.pki("ca.key"),
		"--kube-api-qps=" + strconv.Itoa(clientQPS),
		"--kube-api-burst=" + strconv.Itoa(clientBurst),
	}
}

func (c *ControlPlane) scheduler() []string {
	return []string{"--config=" + c.conf("scheduler.yaml"), "--secure-port=0"}
}

func (c *ControlPlane) schedulerConfig() string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %s
  qps: %d
  burst: %d
leaderElection:
  leaderElect: false
`, c.conf(Scheduler+".kubeconfig"), clientQPS, clientBurst)
}

// auditPolicy logs who asked for what, once a request, without the objects.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`
