import { createRequire } from "node:module";
import { join } from "node:path";
import { PACKAGE_FOLDER } from "../primitives/packageFolder.ts";

/**
 * The client version shown to operators, callers and peers: Besu's slash-separated form under our own
 * name, for example ibex/v0.3.0/linux-x86_64/node-v20.20.2 (options.md#client-version).
 */
export function clientVersion(identity?: string): string {
  const system = `${OS_NAMES[process.platform] ?? process.platform}-${ARCH_NAMES[process.arch] ?? process.arch}`;
  const parts = ["ibex", ...(identity === undefined ? [] : [identity]), `v${packageVersion()}`, system];
  return [...parts, `node-${process.version}`].join("/");
}

const OS_NAMES: Readonly<Record<string, string>> = { darwin: "macos", win32: "windows" };
const ARCH_NAMES: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)(join(PACKAGE_FOLDER, "package.json"));
  const hasVersion = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return hasVersion ? String(manifest.version) : "0.0.0";
}
