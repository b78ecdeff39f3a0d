import { expect, it } from "vitest";
import { emptyBodyOf, linkHeaders, matchBodies } from "../../src/sync/segment.ts";
import { recordedChain } from "../builders/recordedChain.ts";
import { describeWithVectors } from "../vectors.ts";

describeWithVectors("a run of headers and its bodies", () => {
  const { blocks } = recordedChain("net2");
  const headers = blocks.slice(1).map(({ header }) => header);
  const genesis = blocks[0];
  if (genesis === undefined) throw new Error("a chain has a genesis block");

  it("has the chain's hashes, which exclude seals and rounds", () => {
    const linked = linkHeaders(genesis, headers);
    expect(linked).toMatchObject({ ok: true, value: blocks.slice(1).map(({ hash }) => ({ hash })) });
  });

  it("is refused when it starts elsewhere, or has a break", () => {
    const code = (run: typeof headers): string | undefined => {
      const linked = linkHeaders(genesis, run);
      return linked.ok ? undefined : linked.error.code;
    };
    const [first, second] = headers;
    if (first === undefined || second === undefined) throw new Error("two headers");
    expect(code([])).toBeUndefined();
    expect(code([second])).toBe("brokenChain");
    expect(code([{ ...first, parentHash: second.stateRoot }])).toBe("otherBranch");
    expect(code([first, { ...second, parentHash: first.parentHash }])).toBe("brokenChain");
    expect(code([first, { ...second, extraData: new Uint8Array(40) }])).toBe("brokenChain");
  });

  it("needs bodies only for non-empty blocks, and finds them by root", async () => {
    const linked = linkHeaders(genesis, headers);
    if (!linked.ok) throw new Error(linked.error.message);
    const full = linked.value.filter(({ header }) => emptyBodyOf(header) === undefined);
    const bodies = blocks.filter(({ transactions }) => transactions.length > 0);
    expect(full).toHaveLength(bodies.length);
    expect(await matchBodies(full, [...bodies].reverse())).toMatchObject({ value: { size: bodies.length } });
    expect(await matchBodies(full.slice(1), bodies)).toMatchObject({ error: { code: "foreignBody" } });
  });
});
