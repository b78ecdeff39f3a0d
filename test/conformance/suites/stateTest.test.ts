import { expect, it } from "vitest";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { checkStateTest, type StateTestCase, type StateTestFile } from "./stateTest.ts";

describeWithVectors("the check of a state test", () => {
  const { test, expected } = firstOf("stExample", "add11.json");
  const zeroHash = `0x${"0".repeat(64)}`;

  it.each([
    ["another state root", { hash: zeroHash }, /^state root 0x/],
    ["other logs", { logs: zeroHash }, /^logs 0x/],
    ["a refusal", { expectException: "TR_NoFunds" }, /^refused: no, expected: TR_NoFunds/],
    ["an execution where we refuse", { txbytes: "0x01c0" }, /^refused: .+, expected: no/],
  ] satisfies [string, Partial<StateTestCase>, RegExp][])("notices %s", async (_, change, failure) => {
    expect(await checkStateTest(test, "London", expected)).toBeUndefined();
    expect(await checkStateTest(test, "London", { ...expected, ...change })).toMatch(failure);
  });
});

function firstOf(...path: readonly string[]) {
  const [test] = Object.values(readVectorJson<StateTestFile>("state-tests", ...path));
  const expected = test?.post["London"]?.[0];
  if (test === undefined || expected === undefined) throw new Error("no case for London");
  return { test, expected };
}
