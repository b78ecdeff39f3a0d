import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { provideFixtures } from "./vectors.ts";

/**
 * For vitest: all that a run puts into temporary folders goes into one, which is removed when it is over, however it ends.
 * The fixtures are unpacked there where the folder of all vectors is missing.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "ibex-tests-"));
  // Some nodes run as another user: it is to them what /tmp is.
  chmodSync(folder, 0o1777);
  // Workers, and the nodes that they start, inherit it.
  process.env["TMPDIR"] = folder;
  provideFixtures(join(folder, "vectors"));
  return () => rmSync(folder, { recursive: true, force: true });
}
