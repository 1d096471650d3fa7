#!/bin/sh
# Records the golden recordings anew, against the local stage (examples/stage.py). usage: record-examples.sh [--update]
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
place=$(mktemp -d)
python -m examples.stage --ready-file "$place/stage.json" &
stage=$!
trap 'kill $stage; rm -rf "$place"' EXIT
while [ ! -e "$place/stage.json" ]; do sleep 0.1; done
options=$(python -c '
import json, sys
ready = json.load(open(sys.argv[1]))
print("--upstream-ca", ready["upstream_ca"], *(f"--connect-to {rule}" for rule in ready["connect_to"]))
' "$place/stage.json")
# shellcheck disable=SC2086  # the options are words
for pair in sums:openai_agent screenshot:anthropic_agent report:agents_sdk_agent repository:pydantic_ai_agent; do
	replay record "${pair%%:*}" "$@" $options -- python "examples/${pair##*:}.py"
done
