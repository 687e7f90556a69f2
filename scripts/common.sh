# Sourced by the scripts here: where things are, how progress is told, how nothing keeps running after an end.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build_dir=${CARGO_TARGET_DIR:-$root/target}
local_cluster=$root/target/local-cluster

if [[ -t 1 ]]; then bold=$'\e[1m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' red='' dim='' plain=''; fi

started=$EPOCHREALTIME
elapsed() {
  local tenths=$(((${EPOCHREALTIME/[.,]/} - ${started/[.,]/}) / 100000))
  printf '%4d.%d' $((tenths / 10)) $((tenths % 10))
}
say() { echo "${dim}[$(elapsed)s]${plain} $*"; }

# The step that is under way and what to look at should it fail.
step='' hint=''
step() {
  step=$1 hint=${2:-}
  say "$1"
}

# Fails with a text of its own instead of the step's.
stop() {
  step=''
  echo "$red$1$plain" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints standard input line by line with our clock instead of the writer's, and what it is about.
relay() {
  local line
  while IFS= read -r line; do
    [[ $line =~ ^\[\ *[0-9.]+s\]\ (.*)$ ]] && line=${BASH_REMATCH[1]}
    say "$1$line"
  done
}

# Keeps standard input, which is what cargo prints, in a file, and tells now and then how far it is.
relay_cargo() {
  local line crates=0 told=$SECONDS result
  while :; do
    result=0
    IFS= read -r -t 5 line || result=$?
    if ((result == 0)); then
      echo "$line" >>"$1"
      if [[ $line =~ ^\ +Compiling ]]; then crates=$((crates + 1)); fi
    elif ((result <= 128)); then
      return 0
    fi
    if ((SECONDS - told >= 20)); then
      told=$SECONDS
      say "operator: compiling crate $crates"
    fi
  done
}

# Whatever takes long runs as a job with a process group of its own: a signal then reaches this shell at once, and
# its end takes the whole group along.
jobs_of_ours=()
spawn() {
  set -m
  "$@" </dev/null &
  set +m
  jobs_of_ours+=("$!")
}
# Waits for the job with that id.
await() {
  local result=0 job left=()
  wait "$1" || result=$?
  for job in "${jobs_of_ours[@]}"; do [[ $job = "$1" ]] || left+=("$job"); done
  jobs_of_ours=("${left[@]}")
  return "$result"
}
run() {
  spawn "$@"
  await "$!"
}

# Overridden where there is more to put away.
at_end() { :; }
finish() {
  local result=$?
  trap '' INT TERM
  trap - EXIT
  local job
  for job in "${jobs_of_ours[@]}"; do kill -- "-$job" 2>/dev/null || true; done
  for job in "${jobs_of_ours[@]}"; do wait "$job" 2>/dev/null || true; done
  if ((result != 0)) && [[ -n $step ]]; then
    { ((result > 128)) && echo "${red}interrupted during:$plain $step" || echo "${red}failed:$plain $step"; } >&2
    ((result > 128)) || [[ -z $hint ]] || echo "look at: $hint" >&2
  fi
  at_end "$result" || true
  exit "$result"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

need_go_and_rust() {
  local missing=()
  has go || missing+=("Go 1.26 or newer")
  has cargo || missing+=("Rust 1.95 or newer (cargo)")
  has cc || missing+=("a C compiler (apt-get install gcc libc6-dev)")
  has make || missing+=("make (apt-get install make)")
  has pip || has pip3 || missing+=("pip, for the image of Ray (apt-get install python3-pip)")
  ((${#missing[@]} == 0)) || stop "missing on this machine: $(printf '%s; ' "${missing[@]}")see README.md"
}

need_root() {
  ((EUID == 0)) || stop "$1 needs root: the node's containers, its network and the Debian packages it is made of (containerd, runc).
Run it as:  sudo env \"PATH=\$PATH\" \"HOME=\$HOME\" $2"
}

build_local_cluster() {
  mkdir -p target
  run go build -C local-cluster -o "$local_cluster" ./cmd/local-cluster
}

node_is_up() { "$local_cluster" status >/dev/null 2>&1; }

# Brings the node up and builds it first where needed; nothing happens when it is up.
node_up() { "$local_cluster" up 2>&1 >/dev/null | relay 'node: '; }

# Makes an image of an executable for the node. The tag is made of its content: a Deployment then sees what is new.
load_operator() {
  local sum
  sum=$(sha256sum "$1") || return 1
  image=ray-operator:${sum:0:12}
  "$local_cluster" image binary --binary "$1" --name "$image" --load >/dev/null 2>"$build_dir/image.log" ||
    { cat "$build_dir/image.log" >&2 && return 1; }
}

# Writes a kustomization into a folder: ray-operator/deploy with that image.
overlay() {
  local name=$2 version=''
  if [[ $2 == *@* ]]; then
    name=${2%@*} version="digest: ${2#*@}"
  elif [[ ${2##*/} == *:* ]]; then
    name=${2%:*} version="newTag: \"${2##*:}\""
  else
    version='newTag: latest'
  fi
  mkdir -p "$1"
  cat >"$1/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - $(realpath --relative-to="$1" "$root/ray-operator/deploy")
images:
  - name: ray-operator
    newName: $name
    $version
END
}
