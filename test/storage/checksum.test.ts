import { describe, expect, it } from "vitest";
import { openEntry, sealEntry } from "../../src/storage/checksum.ts";

describe("a sealed entry", () => {
  it("opens again when its value is empty, whatever kind of emptiness was sealed", () => {
    const key = Uint8Array.of(1, 2, 3);
    for (const nothing of [
      new Uint8Array(0),
      Uint8Array.of(9).subarray(0, 0),
      new Uint8Array(new ArrayBuffer(8), 8),
    ]) {
      expect(openEntry(key, sealEntry(key, nothing), "an entry")).toHaveLength(0);
    }
  });

  it("does not open under another key", () => {
    const sealed = sealEntry(Uint8Array.of(1), Uint8Array.of(5));
    expect(() => openEntry(Uint8Array.of(2), sealed, "an entry")).toThrow(/damaged/);
  });
});
