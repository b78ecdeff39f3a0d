import { describe, expect, it } from "vitest";
import { prepareQuorum, proposerOf, quorum, tolerableFaults } from "../../src/ibft/validatorSet.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface Vectors {
  readonly proposer: readonly {
    readonly test: string;
    readonly previousProposer: string;
    readonly validators: readonly string[];
    readonly changeEachBlock: boolean;
    readonly round: number;
    readonly expected: string;
  }[];
  readonly quorum: readonly { readonly validators: number; readonly required: number }[];
}

describeWithVectors("Besu's tables", () => {
  const vectors = readVectorJson<Vectors>("ibft2", "proposer-and-quorum.json");
  const rotating = vectors.proposer.filter(({ changeEachBlock }) => changeEachBlock);

  it.each(rotating)(
    "name the proposer that we name: $test",
    ({ validators, previousProposer, round, expected }) => {
      const proposer = proposerOf(validators.map(addressFromHex), addressFromHex(previousProposer), round);
      expect(toHex(proposer)).toBe(expected);
    },
  );

  it.each(vectors.quorum)("require $required of $validators validators", ({ validators, required }) => {
    expect(quorum(validators)).toBe(required);
  });
});

describe("the size of quorums", () => {
  it("gives any two quorums a common honest member, and makes the honest validators a quorum, for up to 100 validators", () => {
    for (let n = 1; n <= 100; n++) {
      expect(2 * quorum(n) - n).toBeGreaterThan(tolerableFaults(n));
      expect(n - tolerableFaults(n)).toBeGreaterThanOrEqual(quorum(n));
      expect(prepareQuorum(n)).toBe(quorum(n) - 1);
    }
  });
});
