import { describe, expect, it } from "vitest";
import { anEdge, asking, block, commit, prepare, proposal, roundChange } from "./edge.ts";

const roundOf = (edge: Awaited<ReturnType<typeof anEdge>>): number | undefined => edge.state().round?.number;

describe("messages that arrive while a validator is paused", () => {
  it("count when it takes part again, though they are sent only once", async () => {
    const edge = await anEdge();
    await edge.pause();
    expect(await edge.hear(roundChange("b", 3))).toBe("accepted");
    expect(await edge.hear(roundChange("c", 3))).toBe("accepted");
    expect(roundOf(edge)).toBeUndefined();
    await edge.resume();
    expect(roundOf(edge)).toBe(3);
    expect(edge.observed.messages.map(({ signed }) => signed.payload.round)).toEqual([3]);
  });

  it("count together with earlier ones", async () => {
    const edge = await anEdge();
    await edge.hear(roundChange("b", 3));
    await edge.pause();
    await edge.hear(roundChange("c", 3));
    await edge.resume();
    expect(roundOf(edge)).toBe(3);
  });

  it("decide a block that was sealed in the meantime", async () => {
    const edge = await anEdge();
    await edge.pause();
    await edge.hear(proposal("a", block("X")));
    await edge.hear(prepare("b", { round: 0 }));
    await edge.hear(commit("a", { round: 0 }));
    await edge.hear(commit("b", { round: 0 }));
    await edge.resume();
    await edge.runFor(50);
    expect(edge.disk.heads[1]?.hash).toEqual(block("X").hash);
  });

  it("count in the round that both had requested before", async () => {
    const edge = await anEdge();
    for (const by of ["b", "c"]) await edge.hear(roundChange(by, 1));
    expect(roundOf(edge)).toBe(1);
    await edge.pause();
    const certificate = asking("abc", 1);
    await edge.hear(proposal("b", block("X", 1, "b"), certificate));
    for (const by of ["a", "c"])
      await edge.hear(prepare(by, { round: 1, digest: block("X", 1, "b").digest }));
    await edge.resume();
    await edge.runFor(50);
    expect([roundOf(edge), edge.state().round?.phase]).toEqual([1, "prepared"]);
    expect(edge.failures).toEqual([]);
  });

  it("count after every further pause", async () => {
    const edge = await anEdge();
    await edge.pause();
    await edge.hear(roundChange("b", 3));
    await edge.resume();
    await edge.pause();
    await edge.hear(roundChange("c", 3));
    await edge.resume();
    expect(roundOf(edge)).toBe(3);
  });

  it("cannot be displaced by forged variants", async () => {
    const edge = await anEdge();
    await edge.pause();
    for (const by of ["b", "c"]) {
      await edge.hear({ ...roundChange(by, 3), candidate: block("Y") } as ReturnType<typeof roundChange>);
      await edge.hear(roundChange(by, 3));
    }
    await edge.resume();
    expect(roundOf(edge)).toBe(3);
  });

  it("cannot move it to the last encodable round", async () => {
    const edge = await anEdge();
    for (const by of ["b", "c"])
      expect(await edge.hear(roundChange(by, 2 ** 32 - 1))).toBe("accepted, roundOutOfReach");
    expect(roundOf(edge)).toBe(0);
    await edge.pause();
    await edge.resume();
    expect(edge.failures).toEqual([]);
  });
});
