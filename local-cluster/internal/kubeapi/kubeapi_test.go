package kubeapi

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"localcluster/internal/certs"
)

// client talks to a server that answers every path with the status and the body.
func client(t *testing.T, status int, body string) *Client {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	authority, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	user, err := authority.Client("somebody")
	if err != nil {
		t.Fatal(err)
	}
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c, err := New(server.URL, trusted, user)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNodeReadyReadsTheCondition(t *testing.T) {
	ctx := context.Background()
	ready := `{"status":{"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}}`
	if err := client(t, 200, ready).NodeReady(ctx, "n"); err != nil {
		t.Error(err)
	}
	not := `{"status":{"conditions":[{"type":"Ready","status":"False","message":"no network"}]}}`
	if err := client(t, 200, not).NodeReady(ctx, "n"); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v", err)
	}
	if client(t, 200, `{}`).NodeReady(ctx, "n") == nil {
		t.Error("a node without conditions is not ready")
	}
}

func TestErrorsCarryTheServersWords(t *testing.T) {
	err := client(t, 403, `{"kind":"Status","message":"pods is forbidden"}`).Ready(context.Background())
	var status *StatusError
	if !errors.As(err, &status) || status.Code != 403 || status.Message != "pods is forbidden" {
		t.Fatalf("got %v", err)
	}
}

func TestCreateIsContentWithWhatExists(t *testing.T) {
	if err := client(t, 409, `{}`).Create(context.Background(), "/x", map[string]any{}); err != nil {
		t.Error(err)
	}
	if client(t, 422, `{}`).Create(context.Background(), "/x", map[string]any{}) == nil {
		t.Error("a refusal is an error")
	}
}

func TestWaitEndsWhenWaitingIsPointless(t *testing.T) {
	dead := errors.New("dead")
	err := Wait(context.Background(), func() error { return dead }, func(context.Context) error { return errors.New("not yet") })
	if !errors.Is(err, dead) {
		t.Fatalf("got %v", err)
	}
}
