#!/bin/sh
# Install Pagemason from a checkout into a folder of its own, with the versions in constraints.txt:
#
#     sh deploy/install.sh CHECKOUT FOLDER [EXTRA...]
#
# The steps of the container image; on a machine, the first half of the systemd installation. PYTHON names the Python
# to use (3.11 or newer). The folder must not exist yet, or hold an earlier installation, which is brought up to date.
set -eu

checkout=$1
folder=$2
shift 2
extras=$(echo "$*" | tr ' ' ',')

"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
    --constraint "$checkout/constraints.txt" "$checkout${extras:+[$extras]}"
