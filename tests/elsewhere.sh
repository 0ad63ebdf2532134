#!/usr/bin/env bash
# The suite as strangers run it: a fresh clone in a path with a space and an umlaut, another user (if
# run by root), LANG=C, an empty environment, a home that cannot be written, tests in random order.
#
#     bash tests/elsewhere.sh [pytest's arguments]
#     CORE=SkylakeX bash tests/elsewhere.sh        # OpenBLAS's kernels of another processor
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
place=$(mktemp -d)
trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT
chmod 755 "$place"
mkdir "$place/home" "$place/tmp"
git clone -q "$top" "$place/ein Ort für Tests"
cd "$place/ein Ort für Tests"
"${PYTHON:-python3}" -m venv --copies .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]" pytest-randomly
as=()
if [ "$(id -u)" = 0 ]; then
    chown -R 65534:65534 "$place"
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
chmod a-w "$place/home"
settings=(PATH="$PATH" HOME="$place/home" TMPDIR="$place/tmp" LANG=C OMP_NUM_THREADS=1)
[ -z "${CORE:-}" ] || settings+=(OPENBLAS_CORETYPE="$CORE")
"${as[@]}" env -i "${settings[@]}" .venv/bin/python -m pytest -q -p no:cacheprovider -n auto \
    --dist loadgroup "$@"
