import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { runStateTest, type StateTest, type StateTestCase, type StateTestFile } from "./stateTest.ts";

/** Of some 14,800 cases every fortieth is executed here, which touches nearly all folders; all of them take minutes. */
const STRIDE = 40;

interface NamedCase {
  readonly name: string;
  readonly fork: string;
  readonly test: StateTest;
  readonly expected: StateTestCase;
}

function* allCases(): Iterable<NamedCase> {
  const root = vectorPath("state-tests");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of files) {
    const file = JSON.parse(readFileSync(path, "utf8")) as StateTestFile;
    for (const [title, test] of Object.entries(file))
      for (const [fork, cases] of Object.entries(test.post))
        for (const [index, expected] of cases.entries())
          yield { name: `${title}, ${fork}, case ${index}`, fork, test, expected };
  }
}

describeWithVectors("state tests of the Ethereum foundation", () => {
  it("gives the state root and the logs that they expect, or refuses", async () => {
    const failures: string[] = [];
    let executed = 0;
    let index = 0;
    for (const { name, fork, test, expected } of allCases()) {
      if (index++ % STRIDE !== 0) continue;
      executed++;
      const failure = await runStateTest(test, fork, expected);
      if (failure !== undefined) failures.push(`${name}: ${failure}`);
    }
    expect(failures).toEqual([]);
    expect(executed).toBeGreaterThan(300);
  }, 120_000);

  it("notices a state root that is not the right one", async () => {
    for (const { fork, test, expected } of allCases()) {
      if (expected.expectException !== undefined) continue;
      const wrong = { ...expected, hash: `0x${"0".repeat(64)}` };
      expect(await runStateTest(test, fork, wrong)).toMatch(/^state root 0x/);
      return;
    }
  });
});
