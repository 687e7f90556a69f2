package kwok

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNodesHaveRoomAndOneLabel(t *testing.T) {
	text, err := json.Marshal(nodeList(Options{Nodes: 2, Taint: true}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kwok-0000"`, `"kwok-0001"`, `"pods":"1000"`, `"kwok.x-k8s.io/node":"simulated"`, `"NoSchedule"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(string(text), `"kwok-0002"`) {
		t.Error("a node too many")
	}
}
