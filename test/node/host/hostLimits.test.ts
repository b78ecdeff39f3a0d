import { describe, expect, it } from "vitest";
import {
  connectionLimit,
  hostLimits,
  hostWarnings,
  spareDescriptors,
  tableDescriptors,
} from "../../../src/node/host/hostLimits.ts";
import { CALLER_SERVERS } from "../../../src/rpc/server/serverTable.ts";

const GIGABYTE = 1024 ** 3;

describe("the host limits", () => {
  it("give no warning with the recommended limit of files and a gigabyte", () => {
    expect(hostWarnings({ openFiles: 4096, memoryBytes: GIGABYTE })).toEqual([]);
    expect(hostWarnings({ openFiles: undefined, memoryBytes: GIGABYTE })).toEqual([]);
  });

  it("give warnings with the figures and the remedy when they are lower", () => {
    expect(hostWarnings({ openFiles: 1024, memoryBytes: GIGABYTE / 4 })).toEqual([
      expect.stringMatching(/^Only 1024 files .* 4096 .*ulimit -n 65536.*LimitNOFILE=65536/),
      expect.stringMatching(/^Only 256 MB of memory .* 1024 MB .*MemoryMax/),
    ]);
  });

  it.runIf(process.platform === "linux")(
    "leave fewer connections with threads for callers and visitors, which have files of their own",
    () => {
      const limits = { openFiles: 100_000, memoryBytes: GIGABYTE };
      const spared = (callers: number, visitors: number, indexers = 0): number =>
        (connectionLimit(limits, { callers: 0, visitors: 0, indexers: 0 }) ?? 0) -
        (connectionLimit(limits, { callers, visitors, indexers }) ?? 0);
      expect(spared(2, 0)).toBe(20 + 2 * CALLER_SERVERS.length * spareDescriptors(limits));
      expect(spared(2, 1)).toBe(30 + 2 * CALLER_SERVERS.length * spareDescriptors(limits));
      expect(spared(0, 1)).toBe(10);
      expect(spared(0, 1, 1)).toBe(116);
      expect(spareDescriptors({ openFiles: 256, memoryBytes: GIGABYTE })).toBe(0);
    },
  );

  it("leave the database descriptors for its tables, unless files are short", () => {
    const of = (openFiles: number | undefined) => tableDescriptors({ openFiles, memoryBytes: GIGABYTE });
    expect([undefined, 1024, 4096, 65_536].map(of)).toEqual([0, 0, 409, 6553]);
  });

  it.runIf(process.platform === "linux")("leave a fifth of the files to the database", () => {
    const connections = (openFiles: number): number =>
      connectionLimit({ openFiles, memoryBytes: GIGABYTE }, { callers: 0, visitors: 0, indexers: 0 }) ?? 0;
    expect(connections(20_000) - connections(10_000)).toBe(8_000);
  });

  it("are read from the system", () => {
    const { openFiles, memoryBytes } = hostLimits();
    expect(memoryBytes).toBeGreaterThan(GIGABYTE / 16);
    if (process.platform === "linux") expect(openFiles).toBeGreaterThan(0);
  });
});
