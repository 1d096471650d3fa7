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
. "$place/stage.json.env"
for pair in sums:openai_agent screenshot:anthropic_agent report:agents_sdk_agent repository:pydantic_ai_agent; do
	replay record "${pair%%:*}" "$@" -- python "examples/${pair##*:}.py"
done
