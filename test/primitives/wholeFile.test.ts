import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeWhole } from "../../src/primitives/wholeFile.ts";
import { temporaryFolder } from "../cluster/harness/nodeProcess.ts";

describe("a file that is written whole", () => {
  it("is another one than before, so that nobody sees a part of it", () => {
    const folder = temporaryFolder();
    const path = join(folder, "node.pid");
    writeFileSync(path, "4711");
    const before = openSync(path, "r");
    writeWhole(path, "4712");
    expect(readFileSync(before, "utf8")).toBe("4711");
    closeSync(before);
    expect(readFileSync(path, "utf8")).toBe("4712");
    expect(readdirSync(folder)).toEqual(["node.pid"]);
  });

  it("leaves a device what it is", () => {
    writeWhole("/dev/null", "4711");
    expect(readFileSync("/dev/null", "utf8")).toBe("");
  });

  it("is not written into a folder that does not exist", () => {
    const path = join(temporaryFolder(), "absent", "node.pid");
    expect(() => writeWhole(path, "4711")).toThrow("ENOENT");
  });
});
