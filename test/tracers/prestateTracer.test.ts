import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type PrestateConfig, prestateTracer } from "../../src/tracers/prestateTracer.ts";
import { account } from "../builders/testAccounts.ts";
import { BENEFICIARY } from "../execution/context.ts";
import { CODE, calling, OTHER, REVERTING, storing, THIRD, type Traced, traced, wordJson } from "./traced.ts";

const OFF = { diffMode: false, disableCode: false, disableStorage: false, includeEmpty: false };

async function shown(transaction: Traced, config: Partial<PrestateConfig> = {}): Promise<unknown> {
  const style = { ...OFF, ...config };
  return JSON.parse(
    await traced(
      ({ text }) =>
        (one) =>
          prestateTracer(style, one, text),
      transaction,
    ),
  );
}

const [code, other, third, sender] = [CODE, OTHER, THIRD, account(0).address].map(toHex);
/** Self-destructs in favour of THIRD. */
const ENDING = `0x73${third?.slice(2)}ff`;

describe("go-ethereum's prestateTracer", () => {
  it("shows what the transaction touched, as it was before, read or written", async () => {
    const accounts = [
      [
        CODE,
        {
          code: `0x${storing(1, 2)}60025450${storing(3, 0)}73${other?.slice(2)}3150`,
          storage: { 1: 1n, 2: 7n, 9: 9n },
        },
      ],
      [OTHER, { balance: 5n, nonce: 3n }],
      [THIRD, { balance: 6n }],
    ] as const;
    expect(await shown({ accounts })).toMatchObject({
      [code ?? ""]: {
        storage: { [wordJson(1)]: wordJson(1), [wordJson(2)]: wordJson(7), [wordJson(3)]: wordJson(0) },
      },
      [other ?? ""]: { balance: "0x5", nonce: 3 },
      [sender ?? ""]: { balance: expect.stringMatching(/^0x/) },
    });
    expect(await shown({ accounts })).not.toHaveProperty(third ?? "");
    expect(JSON.stringify(await shown({ accounts }))).not.toContain(wordJson(9));
  });

  it("shows accounts that were empty only when asked", async () => {
    const empty = { balance: "0x0" };
    expect(await shown({ code: calling(OTHER) })).not.toHaveProperty(other ?? "");
    const all = await shown({ code: calling(OTHER) }, { includeEmpty: true });
    expect(all).toMatchObject({ [other ?? ""]: empty, [toHex(BENEFICIARY)]: empty });
  });

  it("shows a slot as it was before, also of an account that is deleted", async () => {
    const accounts = [[OTHER, { code: `0x${storing(1, 2)}${ENDING.slice(2)}`, storage: { 1: 1n } }]] as const;
    const before = await shown({ code: calling(OTHER), accounts, fork: "shanghai" });
    expect(before).toMatchObject({ [other ?? ""]: { storage: { [wordJson(1)]: wordJson(1) } } });
  });

  it("shows the account to which a called one delegates", async () => {
    const accounts = [
      [OTHER, { code: `0xef0100${third?.slice(2)}` }],
      [THIRD, { balance: 6n, code: "0x00" }],
    ] as const;
    const target = { [third ?? ""]: { balance: "0x6" } };
    expect(await shown({ code: calling(OTHER), accounts, fork: "prague" })).toMatchObject(target);
    expect(await shown({ accounts, fork: "prague", transaction: { to: OTHER } })).toMatchObject(target);
  });
});

describe("its difference", () => {
  const difference = async (transaction: Traced) =>
    (await shown(transaction, { diffMode: true })) as Record<"pre" | "post", Record<string, object>>;

  it("has of changed accounts what changed, and a new one after the transaction alone", async () => {
    const accounts = [
      [
        CODE,
        {
          balance: 5n,
          code: `0x${storing(1, 2)}${storing(2, 0)}${storing(3, 3)}${storing(4, 4)}${calling(THIRD, { value: 5 })}`,
          storage: { 1: 1n, 2: 7n, 4: 4n },
        },
      ],
    ] as const;
    const { pre, post } = await difference({ accounts });
    expect(post[code ?? ""]).toEqual({
      balance: "0x0",
      storage: { [wordJson(1)]: wordJson(2), [wordJson(3)]: wordJson(3) },
    });
    expect(pre[code ?? ""]).toMatchObject({
      balance: "0x5",
      storage: { [wordJson(1)]: wordJson(1), [wordJson(2)]: wordJson(7) },
    });
    expect(JSON.stringify(pre)).not.toContain(wordJson(4));
    expect(post[third ?? ""]).toEqual({ balance: "0x5" });
    expect(pre).not.toHaveProperty(third ?? "");
  });

  it("has a deleted account before the transaction alone", async () => {
    const accounts = [[OTHER, { balance: 1n, code: ENDING, storage: { 1: 1n } }]] as const;
    const { pre, post } = await difference({ code: calling(OTHER), accounts, fork: "shanghai" });
    expect(pre[other ?? ""]).toMatchObject({ balance: "0x1", code: ENDING });
    expect(post).not.toHaveProperty(other ?? "");
    // From Cancun on it stays, without its balance.
    const later = await difference({ code: calling(OTHER), accounts });
    expect(later.post[other ?? ""]).toEqual({ balance: "0x0" });
  });

  it("has nothing of what was only read, written back or reverted", async () => {
    const accounts = [
      [
        CODE,
        {
          code: `0x${storing(1, 2)}${storing(1, 1)}${calling(OTHER)}73${third?.slice(2)}3150`,
          storage: { 1: 1n },
        },
      ],
      [OTHER, { balance: 1n, code: `0x${storing(1, 2)}${REVERTING}` }],
      [THIRD, { balance: 6n }],
    ] as const;
    const { pre, post } = await difference({ accounts });
    expect([Object.keys(pre), post]).toEqual([[sender], { [sender ?? ""]: { nonce: 1 } }]);
  });
});
