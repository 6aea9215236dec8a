#!/usr/bin/env bash
set -euo pipefail
echo "REMCOCHAT_SKILLS_SCRIPT_OK"
