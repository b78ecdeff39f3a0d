import { describe, expect, it } from "vitest";
import { compareResults, type ExpectedFailure, entriesOfUnknownSuites } from "./comparison.ts";
import { runCase, type Suite } from "./suite.ts";

const SUITE = { name: "toy", total: 3 };
const IDS = ["a 1", "a 2", "b 1"];
const passed = (id: string) => ({ id, seconds: 0 });
const failed = (id: string, failure = "wrong root") => ({ id, failure, seconds: 0 });
const listed = (id: string, says = "root"): ExpectedFailure => ({
  suite: "toy",
  case: id,
  says,
  reason: "by choice",
});

describe("the comparison with the expected failures", () => {
  it("reports nothing when everything passes", () => {
    expect(compareResults(SUITE, IDS, IDS.map(passed), [])).toEqual({
      passed: 3,
      expectedFailures: 0,
      unexpectedFailures: 0,
      repaired: 0,
      problems: [],
    });
  });

  it("reports nothing when only the listed cases fail, listed by id or by prefix", () => {
    const results = [failed("a 1"), failed("a 2"), failed("b 1")];
    expect(compareResults(SUITE, IDS, results, [listed("a *"), listed("b 1")])).toMatchObject({
      passed: 0,
      expectedFailures: 3,
      problems: [],
    });
  });

  it("reports a failure that is not listed", () => {
    const comparison = compareResults(SUITE, IDS, [failed("a 1"), passed("a 2"), passed("b 1")], []);
    expect(comparison).toMatchObject({ unexpectedFailures: 1, problems: ["fails: toy: a 1: wrong root"] });
  });

  it("reports a listed case that fails for another reason", () => {
    const comparison = compareResults(SUITE, IDS, [failed("a 1", "wrong logs")], [listed("a 1")]);
    expect(comparison.problems).toEqual(["fails: toy: a 1: wrong logs"]);
  });

  it("reports a listed case that passes", () => {
    const comparison = compareResults(SUITE, IDS, [failed("a 1"), passed("a 2")], [listed("a *")]);
    expect(comparison).toMatchObject({
      expectedFailures: 1,
      repaired: 1,
      problems: ["passes now, so take it off the list: toy: a 2"],
    });
  });

  it("reports a listed case that no longer exists, but not one that was not run", () => {
    const comparison = compareResults(SUITE, IDS, [], [listed("a 1"), listed("c 1")]);
    expect(comparison.problems).toEqual(["listed, but there is no such case: toy: c 1"]);
  });

  it("reports a suite that has lost cases, or has two with the same id", () => {
    expect(compareResults(SUITE, ["a 1", "a 2"], [], []).problems).toEqual([
      "toy: 3 cases are pinned, but there are 2",
    ]);
    expect(compareResults(SUITE, ["a 1", "a 1", "b 1"], [], []).problems).toEqual([
      "two cases of one name: toy: a 1",
    ]);
  });

  it("reports entries of a suite that does not exist", () => {
    const suites = [{ name: "other" } as Suite];
    expect(entriesOfUnknownSuites(suites, [listed("a 1")])).toEqual([
      "listed, but there is no such suite: toy: a 1",
    ]);
  });
});

describe("a case", () => {
  it("fails with the returned text or with the exception", async () => {
    expect(await runCase({ id: "a", run: () => undefined })).toEqual({
      id: "a",
      seconds: expect.any(Number),
    });
    expect(await runCase({ id: "a", run: async () => "wrong" })).toMatchObject({ failure: "wrong" });
    const thrown = await runCase({
      id: "a",
      run: () => {
        throw new RangeError("no such item");
      },
    });
    expect(thrown.failure).toBe("threw RangeError: no such item");
  });
});
