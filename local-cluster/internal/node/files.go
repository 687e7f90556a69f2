package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"localcluster/internal/cgroup"
	"localcluster/internal/controlplane"
	"localcluster/internal/images"
	"localcluster/internal/network"
)

// prepare makes keys, certificates and configuration files in an empty folder.
func prepare(config Config) (*controlplane.ControlPlane, error) {
	for _, name := range []string{"conf", "cni", "kubelet", "pod-logs", "containerd", "containerd-state"} {
		if err := os.MkdirAll(config.path(name), 0o755); err != nil {
			return nil, err
		}
	}
	plane, err := controlplane.Prepare(config.controlPlane())
	if err != nil {
		return nil, err
	}
	if err := plane.ComponentKubeconfig(kubelet, "system:node:"+Name, "system:nodes"); err != nil {
		return nil, err
	}
	// Bound to its role by the API server itself.
	if err := plane.ComponentKubeconfig(kubeProxy, "system:kube-proxy"); err != nil {
		return nil, err
	}
	if err := plane.ComponentKubeconfig(coreDNS, resolverUser); err != nil {
		return nil, err
	}
	serving, err := plane.Authority.Server("system:node:"+Name, Name, config.Network.Node.String())
	if err != nil {
		return nil, err
	}
	if err := serving.Write(config.pki(""), kubelet); err != nil {
		return nil, err
	}
	for path, content := range map[string]string{
		config.conf("kubelet.yaml"):            config.kubeletConfig(),
		config.conf("kube-proxy.yaml"):         config.proxyConfig(),
		config.conf("Corefile"):                config.corefile(),
		config.conf("containerd.toml"):         config.containerdConfig(""),
		config.conf("containerd-sweep.toml"):   config.containerdConfig(`"io.containerd.grpc.v1.cri", `),
		config.path("cni", "10-pods.conflist"): config.podNetwork(),
		config.conf("resolv.conf"):             "",
		config.path("logs", "supervisor.log"):  "",
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	if err := giveToCaller(plane.Kubeconfig()); err != nil {
		return nil, err
	}
	return plane, config.write()
}

// giveToCaller makes the user who called sudo the owner of a file that only its owner may read.
func giveToCaller(path string) error {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil {
		return nil
	}
	return os.Chown(path, uid, -1)
}

func (c Config) kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
healthzBindAddress: 127.0.0.1
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]s}
authorization: {mode: Webhook}
tlsCertFile: %[3]s
tlsPrivateKeyFile: %[4]s
clusterDNS: [%[1]s]
clusterDomain: cluster.local
# Pods inherit nothing from this machine's resolver: names outside the cluster are answered at once, and with no.
resolvConf: %[5]s
containerRuntimeEndpoint: unix://%[6]s
cgroupDriver: cgroupfs
cgroupRoot: %[7]s
failCgroupV1: false
failSwapOn: false
# Root may lack the right to lower this.
oomScoreAdj: 0
serializeImagePulls: false
maxPods: 250
podLogsDir: %[8]s
volumePluginDir: %[9]s
# Images come from no registry: one that is collected does not come back.
imageGCHighThresholdPercent: 100
evictionHard:
  memory.available: 100Mi
  nodefs.available: 1%%
  imagefs.available: 1%%
`, c.Network.Node, c.pki("ca.crt"), c.pki("kubelet.crt"), c.pki("kubelet.key"), c.conf("resolv.conf"),
		containerdSocket(c.Dir), cgroup.Root, c.path("pod-logs"), c.path("kubelet", "volume-plugins"))
}

func (c Config) proxyConfig() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %s}
hostnameOverride: %s
mode: iptables
# A service that changes is followed at once instead of once a second.
iptables: {minSyncPeriod: 100ms}
clusterCIDR: %s
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
oomScoreAdj: 0
# Zero leaves the kernel's limits alone; they belong to this machine, not to the node.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`, c.conf("kube-proxy.kubeconfig"), Name, c.Network.Pods)
}

// corefile answers for the cluster, and for the rest with "no such name" at once: no answer would make Ray wait, and a
// failure would make programs report a broken resolver where the name is wrong. Nothing is cached: a worker that asks
// for its head a moment too early would hear "no such host" again and again.
func (c Config) corefile() string {
	return fmt.Sprintf(`cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {
    bind %[1]s
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig %[2]s
        ttl 1
    }
}

.:53 {
    bind %[1]s
    template ANY ANY {
        rcode NXDOMAIN
    }
}
`, c.Network.Node, c.conf("coredns.kubeconfig"))
}

// containerdConfig renders containerd's configuration; disabled is put before the list of disabled plug-ins.
func (c Config) containerdConfig(disabled string) string {
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
oom_score = 0
disabled_plugins = [%[8]s"io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
  address = %[3]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  # Root may lack the right to lower a process's score, and then no container would start.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %[5]q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = %[6]q
        SystemdCgroup = %[7]t
`, containerdRoot(c.Dir), filepath.Dir(containerdSocket(c.Dir)), containerdSocket(c.Dir), images.PauseName,
		c.path("cni"), "/run/runc", false, disabled)
}

func (c Config) podNetwork() string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge",
      "bridge": %q,
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": %q, "rangeStart": %q, "gateway": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": %q
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, network.Bridge, c.Network.Pods, c.Network.FirstPod, c.Network.Node, c.path("pod-addresses"))
}
