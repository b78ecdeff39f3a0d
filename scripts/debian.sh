#!/usr/bin/env bash
# Makes ibex_VERSION_ARCHITECTURE.deb of the tarball that npm pack made here, or that is named: the program in
# /usr/lib/node_modules, /usr/bin/ibex, its completion for bash and zsh, the unit, and a configuration in /etc/ibex. Takes npm and
# dpkg-deb.
#
#     npm pack && scripts/debian.sh [ibex-node-VERSION.tgz]
#
# It holds the native code of this machine's platform alone. Node.js has to come from elsewhere than Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(node -p 'require("./package.json").version')
tarball=$(realpath "${1:-ibex-node-$version.tgz}")
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

root=$work/root
npm install --global --prefix "$root/usr" --no-fund --no-audit --loglevel=error "$tarball"
platform=$(node -p 'process.platform + "-" + process.arch')
find "$root" -path '*/prebuilds/*' -type d -prune ! -name "$platform*" -exec rm -rf {} +

package=$root/usr/lib/node_modules/ibex-node
install -D -m 644 "$package/config/ibex.service" "$root/lib/systemd/system/ibex.service"
install -d -m 755 "$root/etc/ibex"
sed 's#^genesis-file = "#&/usr/lib/node_modules/ibex-node/#; /^data-path/d' "$package/config/mainnet.toml" \
  > "$root/etc/ibex/node.toml"
for shell in bash:bash-completion/completions/ibex zsh:zsh/vendor-completions/_ibex; do
  mkdir -p "$root/usr/share/$(dirname "${shell#*:}")"
  "$root/usr/bin/ibex" completion "${shell%%:*}" > "$root/usr/share/${shell#*:}"
done
install -D -m 644 LICENSE "$root/usr/share/doc/ibex/copyright"

install -d -m 755 "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<CONTROL
Package: ibex
Version: $version
Architecture: $architecture
Maintainer: The Ibex developers <ibex@localhost>
Depends: nodejs (>= 20.19), libc6, libstdc++6
Section: net
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: full node for EVM chains that agree by IBFT 2.0
 Follows a chain, makes its blocks if its key is a validator's, and answers JSON-RPC
 as Besu 24.7 does. The service is ibex.service, its configuration /etc/ibex/node.toml.
CONTROL
echo /etc/ibex/node.toml > "$root/DEBIAN/conffiles"
# The service is neither started nor enabled: its configuration comes first. What runs goes on with the former version.
cat > "$root/DEBIAN/postinst" <<'POSTINST'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
POSTINST
chmod 755 "$root/DEBIAN/postinst"

dpkg-deb --root-owner-group --build "$root" "ibex_${version}_${architecture}.deb"
