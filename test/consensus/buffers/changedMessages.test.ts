import { describe, expect, it } from "vitest";
import { encodeMessage } from "../../../src/ibft/codec/encoding.ts";
import type { Commit, SignedMessage } from "../../../src/ibft/message.ts";
import { recoverSealers } from "../../../src/ibft/sealRules.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { opensMessageStrings } from "../../builders/messageValidator.ts";
import { rlpMutations } from "../../builders/rlpMutations.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  anEdge,
  block,
  bringing,
  commit,
  commitOf,
  countedAt,
  decideX,
  prepare,
  prepared,
  printed,
  proposal,
  roundChange,
  turned,
} from "../edge.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? 20_240_731);

describe("a validator that equivocates", () => {
  it("counts with its first proposal, and is reported", async () => {
    const edge = await anEdge();
    expect(await edge.hear(proposal("a", block("X")))).toBe("accepted");
    const before = printed(edge.state());
    expect(await edge.hear(proposal("a", block("Y")))).toBe("accepted, double vote");
    expect(printed(edge.state())).toBe(before);
    expect(await edge.read("equivocations_total")).toBe(1);
    await decideX(edge);
  });

  it("counts with its first vote, and is reported", async () => {
    const edge = await anEdge();
    const { digest } = block("Y");
    for (const first of [prepare("b", { round: 0 }), commit("b", { round: 0 })]) await edge.hear(first);
    for (const second of [prepare("b", { round: 0, digest }), commit("b", { round: 0, digest })])
      expect(await edge.hear(second)).toBe("accepted, double vote");
    expect(await edge.read("equivocations_total")).toBe(2);
    await decideX(edge);
  });

  it("counts with its first RoundChange", async () => {
    const edge = await anEdge();
    await edge.hear(roundChange("b", 1));
    const before = printed(edge.state());
    expect(await edge.hear(roundChange("b", 1, prepared("acd")))).toBe("accepted");
    expect(printed(edge.state())).toBe(before);
  });

  it("counts once, however it signs one vote", async () => {
    const edge = await anEdge();
    await edge.hear(proposal("a", block("X")));
    await edge.hear(commit("b", { round: 0 }));
    const again = commit("b", { round: 0 });
    expect(await edge.hear({ ...again, signed: turned(again.signed) })).toBe("accepted");
    const sealedAgain = turnedSeal(commit("b", { round: 0 }));
    expect(await edge.hear(sealedAgain)).toBe("accepted");
    expect(edge.state().round?.commits.length).toBe(2);
    expect(edge.disk.heads.length).toBe(1);
    await edge.hear(commit("c", { round: 0 }));
    const [made] = edge.observed.commits;
    expect(made && new Set(recoverSealers(block("X").digest, made.seals).map(String)).size).toBe(3);
  });
});

/** The same Commit with the other seal of its author. */
function turnedSeal({ signed: { payload } }: Commit): Commit {
  const { signature: seal } = turned({ signature: payload.seal });
  return commitOf("b", { ...payload, seal });
}

/** All kinds of messages, with all possible parts. */
const GENUINE: readonly (readonly [name: string, message: () => SignedMessage])[] = [
  ["a proposal", () => proposal("a", block("X"))],
  ["a Prepare", () => prepare("b", { round: 0 })],
  ["a Commit", () => commit("b", { round: 0 })],
  ["a round-change request", () => roundChange("c", 1)],
  ["a round-change request with a prepared block", () => roundChange("c", 1, prepared("abc"))],
  ["a proposal with proof", () => proposal("b", block("X", 1), bringing(prepared("abc")))],
];

describe(`bytes with any part changed (IBEX_SEED=${SEED})`, () => {
  it.each(GENUINE)("are counted, and decoded or without effect: %s", async (_name, message) => {
    const { code, payload } = encodeMessage(message());
    const random = createRandom(SEED);
    let edge = await anEdge();
    let before = printed(edge.state());
    let heard = 0;
    let refused = 0;
    let understood = 0;
    for (const { path, kind, bytes } of rlpMutations(payload, opensMessageStrings, (limit) =>
      random.between(0, limit - 1),
    )) {
      const what = `${kind} at ${path.join("/")}: ${toHex(bytes)}`;
      const outcome = await edge.hear({ code, payload: bytes });
      heard += 1;
      expect(edge.failures, what).toEqual([]);
      if (outcome === "accepted") {
        understood += 1;
        expect((await countedAt(edge)).received, what).toBe(heard);
        edge = await anEdge();
        before = printed(edge.state());
        heard = 0;
        continue;
      }
      refused += 1;
      expect(outcome, what).not.toBe("");
      expect(printed(edge.state()), what).toBe(before);
      expect(edge.observed.messages, what).toEqual([]);
    }
    expect((await countedAt(edge)).received).toBe(heard);
    expect(refused).toBeGreaterThan(50);
    expect(understood).toBeLessThan(refused / 10);
  });
});
