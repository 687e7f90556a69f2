# Waits until the GCS of the Ray head accepts a connection. Asking Ray itself would be more thorough, but importing it
# costs one to two seconds of CPU for each question; `ray start` asks again anyway.
export LC_ALL=C
address="@ADDRESS@"
host="${address%:*}"
port="${address##*:}"
# A connection to an address nobody answers for would hang for minutes, also after the name has got another address.
limit=""
if command -v timeout > /dev/null; then limit="timeout 5"; fi
connect() { $limit bash -c 'exec 3<> "/dev/tcp/$0/$1"' "$host" "$port"; }
# Some builds of Bash lack network redirections; Ray's images always have Python.
case "$( (exec 3<> /dev/tcp/127.0.0.1/1) 2>&1 )" in
  *"No such file"*)
    connect() {
      python3 -c 'import socket, sys
try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
except OSError as error: sys.exit(str(error))' "$host" "$port"
    } ;;
esac
next=0
until error="$(connect 2>&1)"; do
  if [ "$SECONDS" -ge "$next" ]; then
    error="${error%%$'\n'*}"
    error="${error##*: }"
    echo "waiting for the Ray head at $address for $SECONDS s: ${error:-no answer within 5 s}"
    next=$((SECONDS + 15))
  fi
  if [ "$SECONDS" -lt 30 ]; then pause=0.5; elif [ "$SECONDS" -lt 120 ]; then pause=1; else pause=2; fi
  sleep "$pause" || sleep 1
done
echo "the Ray head at $address answers after $SECONDS s"
