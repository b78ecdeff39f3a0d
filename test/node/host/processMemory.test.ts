import { describe, expect, it } from "vitest";
import { memoryIn, processMemory } from "../../../src/node/host/processMemory.ts";

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
    const { ownBytes = 0, mappedBytes = 0 } = processMemory() ?? {};
    expect(ownBytes).toBeGreaterThan(1e7);
    expect(mappedBytes).toBeGreaterThan(1e6);
    expect(ownBytes).toBeLessThan(process.memoryUsage.rss());
  });
});
