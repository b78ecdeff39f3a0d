import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./documents.ts";

/** A newcomer reads it in one sitting; the rest belongs in docs/. */
const README_LIMIT_BYTES = 8192;

describe("the README", () => {
  it("stays short enough for a newcomer", () => {
    expect(statSync(join(root, "README.md")).size).toBeLessThan(README_LIMIT_BYTES);
  });
});
