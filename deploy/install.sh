#!/bin/sh
# Installs unit, drop-ins (switched off), udev rule and sysctl: deploy/install.sh [ROOT]; ROOT is / unless it is an image.
# The program itself: python3 -m venv /opt/jointwatch/.venv && /opt/jointwatch/.venv/bin/pip install /opt/jointwatch
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/}
install -Dm644 "$here/jointwatch.service" "$root/etc/systemd/system/jointwatch.service"
for file in realtime network; do
    install -Dm644 "$here/drop-ins/$file.conf" "$root/usr/share/jointwatch/$file.conf"
done
install -Dm644 "$here/70-jointwatch-serial.rules" "$root/etc/udev/rules.d/70-jointwatch-serial.rules"
install -Dm644 "$here/99-jointwatch-can.conf" "$root/etc/sysctl.d/99-jointwatch-can.conf"
install -dm755 "$root/etc/jointwatch"
[ -e "$root/etc/jointwatch/jointwatch.toml" ] || install -m644 "$here/jointwatch.toml" "$root/etc/jointwatch/jointwatch.toml"
if [ "$root" = / ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    udevadm control --reload
    sysctl --quiet --load /etc/sysctl.d/99-jointwatch-can.conf
fi
echo "installed into $root; edit /etc/jointwatch/jointwatch.toml, then: systemctl enable --now jointwatch"
