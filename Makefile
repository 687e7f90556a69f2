# Every command a person needs; `make help` lists them.

LOCAL_CLUSTER := target/local-cluster
KUBECTL := $(LOCAL_CLUSTER) kubectl
NODE_IMAGE := ray-operator:dev
BUILD_DIR := $(or $(CARGO_TARGET_DIR),target)

.DEFAULT_GOAL := help
.PHONY: help quickstart test unit-test api-test e2e-test lint fmt crds cluster cluster-down cluster-status \
	api-cluster api-cluster-down image deploy undeploy bench bench-ray clean $(LOCAL_CLUSTER)

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quickstart: ## From nothing to a Ray cluster that ran a Ray program (CONTEXT=name IMAGE=name uses your own cluster)
	@scripts/quickstart

test: ## Run every test: unit, API server, end to end with real Ray
	@scripts/test all

unit-test: ## Run the tests that need no cluster
	@scripts/test unit

api-test: ## Run the tests that need an API server
	@scripts/test api

e2e-test: ## Run the tests with real Ray on a real node
	@scripts/test e2e

lint: ## Check format, clippy, licences, Go vet
	@scripts/lint

fmt: ## Format the sources
	cargo fmt --all
	gofmt -w local-cluster

crds: ## Generate the CRDs from the Rust types
	cargo run --quiet --package ray-api --bin crdgen -- ray-operator/deploy/crds/ray.io_rayclusters.yaml

$(LOCAL_CLUSTER):
	@mkdir -p target
	@cd local-cluster && go build -o ../$(LOCAL_CLUSTER) ./cmd/local-cluster

cluster: $(LOCAL_CLUSTER) ## Start a real one-node Kubernetes with Ray's image on it (needs root)
	@$(LOCAL_CLUSTER) up

cluster-down: $(LOCAL_CLUSTER) ## Stop it; nothing stays behind (needs root)
	@$(LOCAL_CLUSTER) down

cluster-status: $(LOCAL_CLUSTER) ## Show its components
	@$(LOCAL_CLUSTER) status

api-cluster: $(LOCAL_CLUSTER) ## Start an API server without nodes, in seconds (NAME=dev)
	@$(LOCAL_CLUSTER) api up --name $(or $(NAME),dev)

api-cluster-down: $(LOCAL_CLUSTER) ## Stop it (NAME=dev)
	@$(LOCAL_CLUSTER) api down --name $(or $(NAME),dev)

image: $(LOCAL_CLUSTER) ## Build the operator's image, without Docker, and load it into the node
	cargo build --release --locked --package ray-operator
	$(LOCAL_CLUSTER) image binary --binary $(BUILD_DIR)/release/ray-operator --name $(NODE_IMAGE) --load

deploy: image ## Install the operator on the node, or what was changed of it
	$(KUBECTL) apply -k ray-operator/deploy
	$(KUBECTL) rollout restart -n ray-system deployment/ray-operator
	$(KUBECTL) rollout status -n ray-system deployment/ray-operator --timeout=120s

undeploy: ## Remove it
	$(KUBECTL) delete --ignore-not-found -k ray-operator/deploy

bench: ## Measure speed and size; prints one table (ARGS=--short for a quick look)
	@scripts/bench $(ARGS)

bench-ray: ## Measure how long real Ray takes, on the node of `make cluster`
	@scripts/bench --ray --json target/bench-ray.json $(ARGS)

clean: ## Remove what was built in the checkout
	cargo clean
