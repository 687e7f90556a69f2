// Package network connects a node that lives in a network namespace of its own with this machine, and nothing else
// with it.
package network

import (
	"fmt"
	"net/netip"
)

// DefaultSubnet is what a node gets all its addresses from. It is not one that container engines or Kubernetes
// distributions take by default.
const DefaultSubnet = "10.213.0.0/16"

// Names of our interfaces: HostLink is the end of the cable on this machine, NodeLink the one in the node, Bridge is
// what pods hang on.
const (
	HostLink = "rlc-host"
	NodeLink = "rlc-node"
	Bridge   = "rlc-pods"
)

// Plan says who has which address. The first half of the subnet is for pods, a quarter for services, and the last
// four addresses for the cable between this machine and the node.
type Plan struct {
	Pods, Services, Link netip.Prefix
	// Node is the node's own address, on the bridge: the API server, the kubelet and the resolver have it.
	Node netip.Addr
	// API is the address of the service "kubernetes".
	API netip.Addr
	// HostEnd and NodeEnd are the two ends of the cable.
	HostEnd, NodeEnd netip.Addr
	// FirstPod leaves some addresses after the node's unused, where they are easy to tell from pods.
	FirstPod netip.Addr
}

// NewPlan divides a subnet of 16 bits.
func NewPlan(subnet string) (Plan, error) {
	prefix, err := netip.ParsePrefix(subnet)
	if err != nil {
		return Plan{}, err
	}
	if !prefix.Addr().Is4() || prefix.Bits() != 16 || prefix != prefix.Masked() {
		return Plan{}, fmt.Errorf("%s is no IPv4 network of 16 bits, like %s", subnet, DefaultSubnet)
	}
	base := prefix.Addr().As4()
	at := func(third, fourth byte) netip.Addr { return netip.AddrFrom4([4]byte{base[0], base[1], third, fourth}) }
	return Plan{
		Pods:     netip.PrefixFrom(at(0, 0), 17),
		Services: netip.PrefixFrom(at(128, 0), 18),
		Link:     netip.PrefixFrom(at(255, 252), 30),
		Node:     at(0, 1),
		FirstPod: at(0, 10),
		API:      at(128, 1),
		HostEnd:  at(255, 253),
		NodeEnd:  at(255, 254),
	}, nil
}
