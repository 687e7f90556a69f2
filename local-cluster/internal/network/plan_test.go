package network

import (
	"net/netip"
	"testing"
)

func TestPlanKeepsItsPartsApart(t *testing.T) {
	plan, err := NewPlan(DefaultSubnet)
	if err != nil {
		t.Fatal(err)
	}
	parts := []netip.Prefix{plan.Pods, plan.Services, plan.Link}
	for i, part := range parts {
		if !netip.MustParsePrefix(DefaultSubnet).Overlaps(part) {
			t.Errorf("%s lies outside the subnet", part)
		}
		for _, other := range parts[i+1:] {
			if part.Overlaps(other) {
				t.Errorf("%s overlaps %s", part, other)
			}
		}
	}
	for address, part := range map[netip.Addr]netip.Prefix{
		plan.Node: plan.Pods, plan.FirstPod: plan.Pods, plan.API: plan.Services, plan.HostEnd: plan.Link, plan.NodeEnd: plan.Link,
	} {
		if !part.Contains(address) {
			t.Errorf("%s is not in %s", address, part)
		}
	}
}

func TestPlanRefusesOtherSubnets(t *testing.T) {
	for _, subnet := range []string{"", "10.213.0.0", "10.213.0.0/24", "10.213.1.0/16", "fd00::/16"} {
		if _, err := NewPlan(subnet); err == nil {
			t.Errorf("%q must be refused", subnet)
		}
	}
}
