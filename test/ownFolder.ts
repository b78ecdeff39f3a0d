import { chmodSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { provideFixtures } from "./vectors.ts";

/**
 * For vitest, which calls it for each project: all that a run puts into temporary folders goes into one, which is removed when it
 * is over, however it ends. The fixtures are unpacked there where the folder of all vectors is missing.
 */
export function setup(): (() => Promise<void>) | undefined {
  if (process.env["IBEX_TESTS_FOLDER"] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "ibex-tests-"));
  // Some nodes run as another user: it is to them what /tmp is.
  chmodSync(folder, 0o1777);
  // Workers, and the nodes that they start, inherit both.
  process.env["TMPDIR"] = folder;
  process.env["IBEX_TESTS_FOLDER"] = folder;
  provideFixtures(join(folder, "vectors"));
  // Not in one step: on a busy disk it takes a minute, after which vitest takes its processes for stuck.
  return () => rm(folder, { recursive: true, force: true });
}
