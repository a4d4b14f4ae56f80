#!/bin/sh
# Flask in a virtual environment beside this file, then the server.
set -eu
cd "$(dirname "$0")"
[ -x .venv/bin/pip ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
exec .venv/bin/python server.py
