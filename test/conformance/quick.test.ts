import { expect, it } from "vitest";
import { describeWithVectors } from "../vectors.ts";
import { compareResults, entriesOfUnknownSuites } from "./comparison.ts";
import { EXPECTED_FAILURES } from "./expectedFailures.ts";
import { type CaseResult, runCase } from "./suite.ts";
import { SUITES } from "./suites.ts";

/** IBEX_CONFORMANCE_EVERY=1 runs all cases here on one core; `npm run conformance` does so faster. */
const every = process.env["IBEX_CONFORMANCE_EVERY"];

describeWithVectors("conformance, every nth case", () => {
  it.each(SUITES.map((suite) => [suite.name, suite] as const))(
    "matches the vectors: %s",
    async (_, suite) => {
      const cases = suite.cases();
      const stride = every === undefined ? suite.every : Number(every);
      const results: CaseResult[] = [];
      for (let index = 0; index < cases.length; index += stride) {
        const one = cases[index];
        if (one !== undefined) results.push(await runCase(one));
      }
      const ids = cases.map(({ id }) => id);
      expect(compareResults(suite, ids, results, EXPECTED_FAILURES).problems).toEqual([]);
    },
  );

  it("lists only failures of existing suites", () => {
    expect(entriesOfUnknownSuites(SUITES, EXPECTED_FAILURES)).toEqual([]);
  });
});
