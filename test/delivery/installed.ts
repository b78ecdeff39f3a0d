import { spawnSync } from "node:child_process";

/** Whether a program is there; a test file that skips for want of it says so once. */
export function isInstalled(program: string, versionOption = "--version"): boolean {
  return spawnSync(program, [versionOption]).status === 0;
}

export function saySkipped(what: string, program: string, debianPackage: string): void {
  console.warn(`SKIPPED: ${what}, for ${program} (Debian: ${debianPackage}) is not there`);
}
