// What a node runs besides its container runtime: kubelet, kube-proxy, and CoreDNS as the cluster's resolver.
package main

import (
	"context"
	"flag"
	"os"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"localcluster/kubernetes/component"
)

func main() {
	component.Run(map[string]func(){
		"coredns": func() {
			caddy.AppName = "CoreDNS"
			coremain.Run()
		},
		"kube-proxy": func() {
			withoutCoreDNSFlags()
			os.Exit(cli.Run(proxy.NewProxyCommand()))
		},
		"kubelet": func() {
			withoutCoreDNSFlags()
			os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
		},
	})
}

// withoutCoreDNSFlags takes CoreDNS's flags out of the process-wide set it registers them in. Kubernetes
// components take that set over into their own, and its boolean "version" would hide theirs: kube-proxy
// --version would start a proxy. The rest of the set stays, because the kubelet insists on finding cAdvisor's.
func withoutCoreDNSFlags() {
	coreDNS := map[string]bool{
		"conf": true, "dns.port": true, "p": true, "pidfile": true, "plugins": true, "quiet": true, "version": true,
	}
	rest := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if !coreDNS[f.Name] {
			rest.Var(f.Value, f.Name, f.Usage)
		}
	})
	flag.CommandLine = rest
}
