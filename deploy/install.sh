#!/bin/sh
# Installs unit, drop-ins (switched off), udev rule and sysctl: deploy/install.sh [ROOT]. ROOT is $DESTDIR, or / for this machine.
# The program itself: python3 -m venv /opt/jointwatch/.venv && /opt/jointwatch/.venv/bin/pip install /opt/jointwatch
# With --package WHEEL in front everything goes where a Debian package has it, the program too: deploy/debian.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wheel=
if [ "${1:-}" = --package ]; then
    wheel=$2
    shift 2
fi
root=${1:-${DESTDIR:-/}}
system=$root/etc
[ -z "$wheel" ] || system=$root/usr/lib
install -Dm644 "$here/jointwatch.service" "$system/systemd/system/jointwatch.service"
install -Dm644 "$here/70-jointwatch-serial.rules" "$system/udev/rules.d/70-jointwatch-serial.rules"
install -Dm644 "$here/99-jointwatch-can.conf" "$system/sysctl.d/99-jointwatch-can.conf"
for file in realtime network; do
    install -Dm644 "$here/drop-ins/$file.conf" "$root/usr/share/jointwatch/$file.conf"
done
install -dm755 "$root/etc/jointwatch"
[ -e "$root/etc/jointwatch/jointwatch.toml" ] || install -m644 "$here/jointwatch.toml" "$root/etc/jointwatch/jointwatch.toml"
if [ -n "$wheel" ]; then
    python=${PYTHON:-python3}
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile \
        --constraint "$here/../constraints.txt" --target "$root/usr/lib/jointwatch" "$wheel"
    rm -rf "$root/usr/lib/jointwatch/bin"
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    mkdir -p "$root/usr/bin"
    sed "s/@python@/python$version/" "$here/debian/jointwatch.in" >"$root/usr/bin/jointwatch"
    chmod 755 "$root/usr/bin/jointwatch"
    sed -i -e 's|/opt/jointwatch/.venv/bin/|/usr/bin/|' -e 's|/opt/jointwatch/README.md|/usr/share/doc/jointwatch/README.md|' \
        -e '/^# Expects the program/s|/opt/jointwatch/.venv|/usr/lib/jointwatch|' "$system/systemd/system/jointwatch.service"
    for file in README.md CHANGELOG.md SECURITY.md; do
        install -Dm644 "$here/../$file" "$root/usr/share/doc/jointwatch/$file"
    done
    install -m644 "$here/../LICENSE" "$root/usr/share/doc/jointwatch/copyright"
fi
if [ "$root" = / ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    udevadm control --reload
    sysctl --quiet --load "$system/sysctl.d/99-jointwatch-can.conf"
fi
echo "installed into $root; edit /etc/jointwatch/jointwatch.toml, then: systemctl enable --now jointwatch"
