#!/bin/sh
# Every scenario in every wiring, and an ordinary day as installed, two at a time, with the real client.
#   run.sh --client PATH/claude --hookctl PATH/hookctl --servers DIR [more of e2e.py's options]
# The client: npm install --prefix DIR --ignore-scripts @anthropic-ai/claude-code@2.1.329
#   -> DIR/node_modules/@anthropic-ai/claude-code-linux-x64/claude
set -eu
exec python3 "$(dirname -- "$0")/e2e.py" --all --day --jobs 2 "$@"
