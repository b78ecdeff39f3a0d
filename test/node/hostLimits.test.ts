import { describe, expect, it } from "vitest";
import { hostLimits, hostWarnings } from "../../src/node/hostLimits.ts";

const GIGABYTE = 1024 ** 3;

describe("what the system grants", () => {
  it("is enough with the advised limit of files and a gigabyte", () => {
    expect(hostWarnings({ openFiles: 4096, memoryBytes: GIGABYTE })).toEqual([]);
    expect(hostWarnings({ openFiles: undefined, memoryBytes: GIGABYTE })).toEqual([]);
  });

  it("is warned of with the figures and what to do when it is less", () => {
    expect(hostWarnings({ openFiles: 1024, memoryBytes: GIGABYTE / 4 })).toEqual([
      expect.stringMatching(/^Only 1024 files .* 4096 .*ulimit -n 65536.*LimitNOFILE=65536/),
      expect.stringMatching(/^Only 256 MB of memory .* 1024 MB .*MemoryMax/),
    ]);
  });

  it("is read from the system", () => {
    const { openFiles, memoryBytes } = hostLimits();
    expect(memoryBytes).toBeGreaterThan(GIGABYTE / 16);
    if (process.platform === "linux") expect(openFiles).toBeGreaterThan(0);
  });
});
