import { describe, expect, it } from "vitest";
import { type ExpectedFailure, judge, strays } from "./judgement.ts";
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
  it("has nothing to say when everything passes", () => {
    expect(judge(SUITE, IDS, IDS.map(passed), [])).toEqual({
      passed: 3,
      expectedFailures: 0,
      unexpectedFailures: 0,
      repaired: 0,
      problems: [],
    });
  });

  it("has nothing to say when just the listed cases fail, by name or by the beginning of it", () => {
    const results = [failed("a 1"), failed("a 2"), failed("b 1")];
    expect(judge(SUITE, IDS, results, [listed("a *"), listed("b 1")])).toMatchObject({
      passed: 0,
      expectedFailures: 3,
      problems: [],
    });
  });

  it("reports a failure that is not listed", () => {
    const judgement = judge(SUITE, IDS, [failed("a 1"), passed("a 2"), passed("b 1")], []);
    expect(judgement).toMatchObject({ unexpectedFailures: 1, problems: ["fails: toy: a 1: wrong root"] });
  });

  it("reports a listed case that fails for another reason", () => {
    const judgement = judge(SUITE, IDS, [failed("a 1", "wrong logs")], [listed("a 1")]);
    expect(judgement.problems).toEqual(["fails: toy: a 1: wrong logs"]);
  });

  it("reports a listed case that passes", () => {
    const judgement = judge(SUITE, IDS, [failed("a 1"), passed("a 2")], [listed("a *")]);
    expect(judgement).toMatchObject({
      expectedFailures: 1,
      repaired: 1,
      problems: ["passes now, so take it off the list: toy: a 2"],
    });
  });

  it("reports a listed case that is gone, and says nothing of one that was merely not run", () => {
    const judgement = judge(SUITE, IDS, [], [listed("a 1"), listed("c 1")]);
    expect(judgement.problems).toEqual(["listed, but there is no such case: toy: c 1"]);
  });

  it("reports a suite that has lost cases, or has two of one name", () => {
    expect(judge(SUITE, ["a 1", "a 2"], [], []).problems).toEqual([
      "toy: 3 cases are pinned, but there are 2",
    ]);
    expect(judge(SUITE, ["a 1", "a 1", "b 1"], [], []).problems).toEqual(["two cases of one name: toy: a 1"]);
  });

  it("reports entries of a suite that does not exist", () => {
    const suites = [{ name: "other" } as Suite];
    expect(strays(suites, [listed("a 1")])).toEqual(["listed, but there is no such suite: toy: a 1"]);
  });
});

describe("a case", () => {
  it("fails with what it says, or with what it throws", async () => {
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
