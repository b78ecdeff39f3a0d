import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNamedFile, readRegularFile } from "../../src/primitives/boundedFile.ts";

const folder = mkdtempSync(join(tmpdir(), "ibex-bounded-"));

function aFile(text: string): string {
  const path = join(folder, "file");
  writeFileSync(path, text);
  return path;
}

function aPipe(name: string): string {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  return path;
}

describe.each([
  ["a named file", readNamedFile],
  ["a regular file", readRegularFile],
])("%s", (_what, read) => {
  it("is read up to its limit", () => {
    const path = aFile("seven é");
    expect(read(path, 8)).toBe("seven é");
    expect(() => read(path, 7)).toThrow("it is larger than 7 bytes");
    expect(read(aFile(""), 0)).toBe("");
  });

  it("is no device and no folder", () => {
    expect(() => read("/dev/zero", 8)).toThrow("it is not a regular file");
    expect(() => read(folder, 8)).toThrow("it is a folder");
    expect(() => read(join(folder, "absent"), 8)).toThrow("ENOENT");
  });
});

describe("a pipe", () => {
  it("is read to its end, also when its other end is opened later", () => {
    const path = aPipe("late");
    spawn("sh", ["-c", `sleep 0.3; { printf one; sleep 0.3; printf two; } > ${path}`]);
    expect(readNamedFile(path, 100)).toBe("onetwo");
  });

  it("has a limit of bytes, and of time", () => {
    const path = aPipe("endless");
    const writer = spawn("sh", ["-c", `yes > ${path}`]);
    expect(() => readNamedFile(path, 1000)).toThrow("it is larger than 1000 bytes");
    writer.kill();
    expect(() => readNamedFile(aPipe("silent"), 8, 200)).toThrow(
      "it is a pipe that does not end within 0.2 s",
    );
    expect(() => readRegularFile(path, 8)).toThrow("it is not a regular file");
  });
});
