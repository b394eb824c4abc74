#!/bin/sh
# Builds jointwatch_VERSION_ARCH.deb of a wheel: deploy/debian.sh WHEEL [FOLDER]. The program with all that it needs, in the
# versions of constraints.txt, goes to /usr/lib/jointwatch, for the Python that builds it; configuration: /etc/jointwatch; state:
# /var/lib/jointwatch, made by systemd. Needs dpkg-deb and pip.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wheel=$1
out=${2:-.}
python=${PYTHON:-python3}
version=$(basename "$wheel" | cut -d- -f2)
needs=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
architecture=$(dpkg --print-architecture)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
umask 022
"$here/install.sh" --package "$wheel" "$stage" >&2
mkdir "$stage/DEBIAN"
cat >"$stage/DEBIAN/control" <<END
Package: jointwatch
Version: $version
Architecture: $architecture
Maintainer: The jointwatch maintainers <root@localhost>
Depends: $needs
Section: science
Priority: optional
Description: Live identification of a robot's joints
 Listens to a robot controller and says what each joint's inertia,
 friction and gravity torque are, and what has changed since when.
END
echo /etc/jointwatch/jointwatch.toml >"$stage/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m755 "$here/debian/$script" "$stage/DEBIAN/$script"
done
file=$out/jointwatch_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zgzip -z1 --build "$stage" "$file" >&2
echo "$file"
