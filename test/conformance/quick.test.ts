import { expect, it } from "vitest";
import { describeWithVectors } from "../vectors.ts";
import { EXPECTED_FAILURES } from "./expectedFailures.ts";
import { judge, strays } from "./judgement.ts";
import { type CaseResult, runCase } from "./suite.ts";
import { SUITES } from "./suites.ts";

/** IBEX_CONFORMANCE_EVERY=1 runs all cases here, on one core; `npm run conformance` is the quicker way to that. */
const every = process.env["IBEX_CONFORMANCE_EVERY"];

describeWithVectors("conformance, every so-manieth case", () => {
  it.each(SUITES.map((suite) => [suite.name, suite] as const))(
    "does what the vectors say: %s",
    async (_, suite) => {
      const cases = suite.cases();
      const stride = every === undefined ? suite.every : Number(every);
      const results: CaseResult[] = [];
      for (let index = 0; index < cases.length; index += stride) {
        const one = cases[index];
        if (one !== undefined) results.push(await runCase(one));
      }
      const ids = cases.map(({ id }) => id);
      expect(judge(suite, ids, results, EXPECTED_FAILURES).problems).toEqual([]);
    },
    600_000,
  );

  it("lists failures of suites that exist only", () => {
    expect(strays(SUITES, EXPECTED_FAILURES)).toEqual([]);
  });
});
