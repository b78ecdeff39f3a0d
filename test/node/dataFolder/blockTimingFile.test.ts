import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readBlockTiming, writeBlockTiming } from "../../../src/node/dataFolder/blockTimingFile.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";

describe("the block timing file", () => {
  it("returns what was written, and undefined when it is absent or damaged anywhere", () => {
    const folder = temporaryFolder();
    expect(readBlockTiming(folder)).toBeUndefined();
    const timing = { fixedMs: 12.5, eachMs: 0.0312 };
    writeBlockTiming(folder, timing);
    expect(readBlockTiming(folder)).toEqual(timing);
    const file = join(folder, "block-timing.json");
    const sound = readFileSync(file);
    for (let at = 0; at < sound.length - 1; at++) {
      writeFileSync(
        file,
        sound.map((byte, index) => (index === at ? byte ^ 1 : byte)),
      );
      expect(readBlockTiming(folder)).toBeUndefined();
      writeFileSync(file, sound.subarray(0, at));
      expect(readBlockTiming(folder)).toBeUndefined();
    }
  });
});
