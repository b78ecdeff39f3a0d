import { describe, expect, it } from "vitest";
import { openEntry, sealEntry } from "../../src/storage/checksum.ts";

describe("an entry with a checksum", () => {
  it("can have an empty value, whatever kind of empty array it is", () => {
    const key = Uint8Array.of(1, 2, 3);
    for (const empty of [
      new Uint8Array(0),
      Uint8Array.of(9).subarray(0, 0),
      new Uint8Array(new ArrayBuffer(8), 8),
    ]) {
      expect(openEntry(key, sealEntry(key, empty), "an entry")).toHaveLength(0);
    }
  });

  it("is refused under another key", () => {
    const sealed = sealEntry(Uint8Array.of(1), Uint8Array.of(5));
    expect(() => openEntry(Uint8Array.of(2), sealed, "an entry")).toThrow(/damaged/);
  });
});
