import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryIn, memoryReport } from "../../src/node/processMemory.ts";

describe("the memory of a process", () => {
  it("is its own, or of mapped files", () => {
    const status =
      "VmRSS:\t 1500000 kB\nRssAnon:\t  820000 kB\nRssFile:\t  658000 kB\nRssShmem:\t       0 kB\n";
    expect(memoryIn(status)).toEqual({ ownBytes: 820_000 * 1024, mappedBytes: 658_000 * 1024 });
  });

  it.each(["", "VmRSS:\t 1500000 kB\n", "RssAnon:\t many kB\nRssFile:\t 1 kB\n"])(
    "is unknown where the system does not tell: %j",
    (status) => {
      expect(memoryIn(status)).toBeUndefined();
    },
  );

  it.runIf(process.platform === "linux")("is read from the system", () => {
    const memory = memoryIn(readFileSync("/proc/self/status", "utf8"));
    expect(memory?.mappedBytes).toBeGreaterThan(1e6);
    const { own = 0, resident, limit } = memoryReport({ openFiles: undefined, memoryBytes: 7 });
    expect(own).toBeGreaterThan(1e7);
    expect(own).toBeLessThan(resident);
    expect(limit).toBe(7);
  });
});
