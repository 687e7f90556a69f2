package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Connect lays the cable between this machine and the network namespace of a process, and sends what is for pods and
// services through it. All of it disappears with that namespace.
func (p Plan) Connect(pid int) error {
	if err := p.free(); err != nil {
		return err
	}
	via := p.NodeEnd.String()
	return ip(
		"link add "+HostLink+" type veth peer name "+NodeLink+" netns "+strconv.Itoa(pid),
		"address add "+p.HostEnd.String()+"/30 dev "+HostLink,
		"link set "+HostLink+" up",
		"route add "+p.Pods.String()+" via "+via,
		"route add "+p.Services.String()+" via "+via,
	)
}

// Disconnect removes the cable, if it is there, and the routes with it.
func Disconnect() error {
	if _, err := net.InterfaceByName(HostLink); err != nil {
		return nil
	}
	return ip("link delete " + HostLink)
}

// free refuses addresses that this machine uses for something else.
func (p Plan) free() error {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		if err != nil {
			continue
		}
		for _, ours := range []netip.Prefix{p.Pods, p.Services, p.Link} {
			if prefix.Overlaps(ours) {
				return fmt.Errorf("this machine has the address %s, which overlaps the node's %s: choose another --subnet", prefix, ours)
			}
		}
	}
	return nil
}

// SetUpNode makes the bridge and the routes inside the node's namespace, where it must run.
func (p Plan) SetUpNode() error {
	err := ip(
		"link set lo up",
		// With an address of its own the bridge does not take over that of the newest pod, which would leave all
		// others with a wrong entry in their tables.
		"link add "+Bridge+" address 02:72:61:79:00:01 type bridge",
		"address add "+p.Node.String()+"/"+strconv.Itoa(p.Pods.Bits())+" dev "+Bridge,
		"link set "+Bridge+" up",
		"address add "+p.NodeEnd.String()+"/30 dev "+NodeLink,
		"link set "+NodeLink+" up",
		"route add default via "+p.HostEnd.String(),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0),
		// Pods on one bridge reach each other's services only if bridged packets pass iptables, too.
		os.WriteFile("/proc/sys/net/bridge/bridge-nf-call-iptables", []byte("1"), 0),
	)
}

// ip runs one ip command after the other.
func ip(commands ...string) error {
	for _, command := range commands {
		if output, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, strings.TrimSpace(string(output)))
		}
	}
	return nil
}
