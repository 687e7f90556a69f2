// Package kubeapi asks an API server the few questions that tell whether a cluster is ready.
//
// It reads a handful of fields of a handful of objects; Kubernetes' own client library would make this tool
// take minutes to compile for that.
package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"localcluster/internal/certs"
)

// Client talks to one API server.
type Client struct {
	server string
	http   *http.Client
}

// New returns a client that trusts the authority and presents the pair.
func New(server string, authority []byte, user certs.Pair) (*Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("the authority is no certificate")
	}
	certificate, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}},
		MaxIdleConnsPerHost: 8,
	}
	return &Client{server: server, http: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

// StatusError is an answer of the API server that is not success.
type StatusError struct {
	Code    int
	Message string
}

func (e *StatusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Code, e.Message) }

// Do sends one request; body and answer may be nil. contentType says what the body is.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body, answer any) error {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, reader)
	if err != nil {
		return err
	}
	// Whoever counts requests in an audit log can tell ours.
	request.Header.Set("User-Agent", "local-cluster")
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return &StatusError{Code: response.StatusCode, Message: message(content)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(content, answer)
}

// message takes the text out of a Status object, or returns what there is instead of one.
func message(content []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(content, &status) == nil && status.Message != "" {
		return status.Message
	}
	return strings.TrimSpace(string(content))
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, path string, answer any) error {
	return c.Do(ctx, http.MethodGet, path, "", nil, answer)
}

// Create makes an object; one that exists already is fine.
func (c *Client) Create(ctx context.Context, path string, object any) error {
	err := c.Do(ctx, http.MethodPost, path, "application/json", object, nil)
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusConflict {
		return nil
	}
	return err
}

// Ready returns nil when the API server says that it is ready to serve.
func (c *Client) Ready(ctx context.Context) error {
	return c.Get(ctx, "/readyz", nil)
}

// DefaultServiceAccount returns nil when pods are admitted to the namespace "default": they are refused until the
// controller-manager has made its service account.
func (c *Client) DefaultServiceAccount(ctx context.Context) error {
	return c.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
}

// NodeReady returns nil when the node exists and its Ready condition is true.
func (c *Client) NodeReady(ctx context.Context, name string) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := c.Get(ctx, "/api/v1/nodes/"+name, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" {
			if condition.Status == "True" {
				return nil
			}
			return fmt.Errorf("node %s is not ready: %s", name, condition.Message)
		}
	}
	return fmt.Errorf("node %s has no Ready condition yet", name)
}

// Wait repeats the question until the answer is nil, the context ends, or alive says that waiting is pointless.
func Wait(ctx context.Context, alive func() error, question func(context.Context) error) error {
	for {
		err := question(ctx)
		if err == nil {
			return nil
		}
		if dead := alive(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last answer: %w", ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
