import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkStateTest, type StateTestFile } from "../conformance/suites/stateTest.ts";

/*
 * Programs that once came to something else here than in go-ethereum, each the smallest that the fuzz found
 * (`npm run fuzz -- evm`). They are state tests with go-ethereum's results; a failing fuzz adds its own.
 */
const FOLDER = join(import.meta.dirname, "programs");
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

describe("programs come to what they come to in go-ethereum", () => {
  it("and there are some", () => expect(files.length).toBeGreaterThan(0));

  it.each(files)("%s", async (name) => {
    const file = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as StateTestFile;
    for (const test of Object.values(file))
      for (const [fork, cases] of Object.entries(test.post))
        for (const expected of cases) expect(await checkStateTest(test, fork, expected)).toBeUndefined();
  });
});
