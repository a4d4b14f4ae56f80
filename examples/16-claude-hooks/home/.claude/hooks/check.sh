#!/bin/sh
# A hook as it was written for Claude Code: it knows no other agent.
case $(cat) in
*"make release"*)
  echo "Releases are frozen until Monday." >&2
  exit 2
  ;;
esac
