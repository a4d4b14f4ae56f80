#!/bin/sh
# A hook as people write them for Claude Code: the payload on stdin, exit status 2 and a reason on stderr, or JSON.
payload=$(cat)
case $payload in
*'"command":"terraform import'* | *'"command": "terraform import'*)
    echo "terraform import is for people" >&2
    exit 2
    ;;
*'"command":"terraform apply'* | *'"command": "terraform apply'*)
    printf '%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"This changes infrastructure."}}'
    ;;
esac
exit 0
