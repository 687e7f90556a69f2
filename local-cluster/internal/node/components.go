package node

import (
	"context"

	"localcluster/internal/controlplane"
	"localcluster/internal/kubeapi"
	"localcluster/internal/process"
)

// specs returns how to run the components besides the control plane's.
func (c Config) specs() map[string]process.Spec {
	commands := map[string][]string{
		containerd: {"containerd", "--config", c.conf("containerd.toml")},
		kubelet: {c.NodeBinary, kubelet,
			"--config=" + c.conf("kubelet.yaml"),
			"--kubeconfig=" + c.conf("kubelet.kubeconfig"),
			"--root-dir=" + c.path("kubelet"),
			"--cert-dir=" + c.path("kubelet", "pki"),
			"--hostname-override=" + Name,
			"--node-ip=" + c.Network.Node.String(),
		},
		kubeProxy: {c.NodeBinary, kubeProxy, "--config=" + c.conf("kube-proxy.yaml")},
		coreDNS:   {c.NodeBinary, coreDNS, "-conf", c.conf("Corefile")},
	}
	specs := map[string]process.Spec{}
	for name, command := range commands {
		specs[name] = process.Spec{Name: name, Command: command, Dir: "/", Log: c.log(name)}
	}
	return specs
}

// componentNames lists all components in the order users like to read them in.
var componentNames = []string{
	controlplane.Etcd, controlplane.APIServer, controlplane.ControllerManager, controlplane.Scheduler,
	containerd, kubelet, kubeProxy, coreDNS,
}

// resolverUser is whom CoreDNS authenticates as.
const resolverUser = "system:coredns"

// allowResolver lets CoreDNS read what it answers from. Upstream has no role for it.
func allowResolver(ctx context.Context, client *kubeapi.Client) error {
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	metadata := map[string]any{"name": resolverUser}
	watch := []string{"list", "watch"}
	err := client.Create(ctx, rbac+"clusterroles", map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata,
		"rules": []any{
			map[string]any{"apiGroups": []string{""}, "resources": []string{"services", "namespaces", "pods"}, "verbs": watch},
			map[string]any{"apiGroups": []string{"discovery.k8s.io"}, "resources": []string{"endpointslices"}, "verbs": watch},
		},
	})
	if err != nil {
		return err
	}
	return client.Create(ctx, rbac+"clusterrolebindings", map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": metadata,
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": resolverUser},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": resolverUser}},
	})
}
