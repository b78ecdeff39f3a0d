import { describe, expect, it } from "vitest";
import { compareAnswers } from "../../../src/cli/compare/findings.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { encodeRlp, type RlpItem } from "../../../src/primitives/rlp.ts";

const VALIDATOR = new Uint8Array(20).fill(1);
const NOTHING = new Uint8Array();

/** Extra data of one block, as a node keeps it that `seals` signatures reached in `round`. */
function extraData({ seals, round, vanity = 0 }: { seals: number; round: number; vanity?: number }) {
  const signatures = Array.from({ length: seals }, (_, index) => new Uint8Array(65).fill(index + 1, 0, 64));
  const rest = [NOTHING, Uint8Array.of(0, 0, 0, round), signatures];
  return encodeRlp([new Uint8Array(32).fill(vanity), [VALIDATOR], ...rest]);
}

const rawHeader = (extra: Uint8Array): RlpItem => [
  ...Array.from({ length: 12 }, () => NOTHING),
  extra,
  ...Array.from({ length: 3 }, () => NOTHING),
];
const inHeader = (extra: Uint8Array) => ({ number: "0x5", extraData: toHex(extra) });

describe("commit seals and the round, which are each node's own", () => {
  it.each([
    ["eth_getBlockByHash", inHeader],
    ["eth_getHeaderByNumber", inHeader],
    ["eth_getHeaderByHash", inHeader],
    ["erigon_getHeaderByNumber", inHeader],
    ["debug_getRawHeader", (extra: Uint8Array) => toHex(encodeRlp(rawHeader(extra)))],
    ["debug_getRawBlock", (extra: Uint8Array) => toHex(encodeRlp([rawHeader(extra), [], []]))],
  ])("do not make answers of %s different; the vanity does", (method, answerOf) => {
    const compare = (one: Uint8Array, other: Uint8Array) => {
      const [ours, theirs] = [one, other].map(
        (extra) => ({ kind: "answer", result: answerOf(extra), error: undefined }) as const,
      );
      if (ours === undefined || theirs === undefined) throw new Error("two answers");
      return compareAnswers({ method, params: [] }, { ours, theirs }, undefined, undefined).kind;
    };
    const ours = extraData({ seals: 3, round: 0 });
    expect(compare(ours, extraData({ seals: 4, round: 2 }))).toBe("same");
    expect(compare(ours, extraData({ seals: 3, round: 0, vanity: 7 }))).toBe("different");
  });

  it("are not looked for in what is no header", () => {
    for (const result of ["0x", "0xzz", "0xc0", "0x80", 5, null]) {
      const answer = { kind: "answer", result, error: undefined } as const;
      const request = { method: "debug_getRawHeader", params: [] };
      expect(compareAnswers(request, { ours: answer, theirs: answer }, undefined, undefined).kind).toBe(
        "same",
      );
    }
  });
});
