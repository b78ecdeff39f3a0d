import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { toQuantity } from "../../src/primitives/quantity.ts";
import type { CallFramesConfig } from "../../src/tracers/callFrames.ts";
import { callTracer } from "../../src/tracers/callTracer.ts";
import {
  bytesOf,
  CALL_GAS,
  CODE,
  calling,
  creating,
  LOGGING,
  OTHER,
  REVERTING,
  storing,
  THIRD,
  type Traced,
  traced,
} from "./traced.ts";

interface Frame {
  readonly gas: string;
  readonly gasUsed: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
  readonly logs?: readonly { readonly address: string; readonly position: string }[];
}

async function frameOf(
  transaction: Traced,
  config: CallFramesConfig = { onlyTopCall: false, withLog: true },
): Promise<Frame> {
  const json = await traced(
    (output) =>
      ({ gasLimit }) =>
        callTracer(config, { gasLimit, ...output }),
    transaction,
  );
  return JSON.parse(json) as Frame;
}

describe("go-ethereum's callTracer", () => {
  const undoing = [
    [OTHER, { code: `0x${LOGGING}` }],
    [THIRD, { code: `0x${calling(OTHER)}${LOGGING}${REVERTING}` }],
  ] as const;

  it("leaves out the logs of a reverted call, and those of the calls within", async () => {
    const code = calling(OTHER) + LOGGING + calling(THIRD);
    const { logs, calls } = await frameOf({ code, accounts: undoing });
    expect(logs).toMatchObject([{ address: toHex(CODE), position: "0x1" }]);
    expect(calls?.[0]?.logs).toMatchObject([{ address: toHex(OTHER), position: "0x0" }]);
    expect(calls?.[1]).toMatchObject({ error: "execution reverted", calls: [{ to: toHex(OTHER) }] });
    expect(JSON.stringify(calls?.[1])).not.toContain('"logs"');
  });

  it("leaves out a log whose instruction fails", async () => {
    // LOG1 without a topic on the stack.
    const { error, logs } = await frameOf({ code: `${LOGGING}5f5fa1` });
    expect([error, logs]).toEqual(["stack underflow (2 <=> 3)", undefined]);
  });

  it("shows the transaction alone when asked, with its own logs", async () => {
    const code = calling(OTHER) + LOGGING + calling(THIRD);
    const alone = await frameOf({ code, accounts: undoing }, { onlyTopCall: true, withLog: true });
    expect(alone.logs).toMatchObject([{ address: toHex(CODE), position: "0x0" }]);
    expect(alone).not.toHaveProperty("calls");
  });

  it("shows a call and a creation that could not begin, with their reason", async () => {
    const { calls } = await frameOf({ code: `${calling(OTHER, { value: 1 })}5f5f6001f050` });
    const error = "insufficient balance for transfer";
    expect(calls).toMatchObject([
      {
        type: "CALL",
        to: toHex(OTHER),
        value: "0x1",
        gas: toQuantity(CALL_GAS + 2300n),
        gasUsed: "0x0",
        error,
      },
      { type: "CREATE", value: "0x1", gasUsed: "0x0", error },
    ]);
    expect(calls?.[1]).not.toHaveProperty("to");
  });

  it("shows the gas limit of the transaction, and the gas that it pays for after refunds", async () => {
    const accounts = [[CODE, { code: `0x${storing(0, 0)}`, storage: { 0: 1n } }]] as const;
    const { gas, gasUsed } = await frameOf({ accounts });
    expect([BigInt(gas), BigInt(gasUsed)]).toEqual([1_000_000n, 21_000n + 6n + 5_000n - 4_800n]);
  });
});

describe("go-ethereum's name for a failure", () => {
  it.each([
    ["stack underflow (0 <=> 2)", "01"],
    ["stack underflow (1 <=> 7)", "6001f1"],
    ["stack underflow (0 <=> 16)", "8f"],
    ["stack underflow (0 <=> 17)", "9f"],
    ["stack underflow (0 <=> 6)", "a4"],
    ["stack limit reached 1024 (1023)", "5f".repeat(1025)],
    ["invalid jump destination", "5f56"],
    ["invalid opcode: INVALID", "fe"],
    ["invalid opcode: opcode 0xc not defined", "0c"],
    ["return data out of bounds", "60015f5f3e"],
    ["out of gas", "5b5f56"],
    ["max initcode size exceeded", "6200c0015f5ff0"],
    ["execution reverted", REVERTING],
  ])("is %s", async (error, code) => {
    expect(await frameOf({ code })).toMatchObject({ error });
  });

  it("of an instruction that a later fork brings is the same as of none", async () => {
    const error = "invalid opcode: opcode 0x5f not defined";
    expect(await frameOf({ code: "5f", fork: "london" })).toMatchObject({ error });
    expect(await frameOf({ code: "5f", fork: "shanghai" })).not.toHaveProperty("error");
  });

  it.each([
    ["istanbul", "out of gas: not enough gas for reentrancy sentry"],
    ["petersburg", "out of gas"],
  ] as const)("of a store with no more than the stipend is in %s: %s", async (fork, error) => {
    const transaction = { gasLimit: 21_000n + 6n + 2_300n };
    expect(await frameOf({ code: "6000600055", fork, transaction })).toMatchObject({ error });
  });

  it("of a write in a static call is told in the call", async () => {
    const accounts = [[OTHER, { code: `0x${storing(0, 1)}` }]] as const;
    const frame = await frameOf({ code: calling(OTHER, { by: "fa" }), accounts });
    expect(frame).toMatchObject({ calls: [{ type: "STATICCALL", error: "write protection" }] });
    expect(frame).not.toHaveProperty("error");
  });

  it.each([
    ["invalid code: must not begin with 0xef", "60ef5f5360015ff3", 1_000_000n],
    // 24,576 bytes of code at 200 gas each, and one byte more.
    ["contract creation code storage out of gas", "6160005ff3", 1_000_000n],
    ["max code size exceeded", "6160015ff3", 10_000_000n],
  ])("of a creation is %s", async (error, data, gasLimit) => {
    const frame = await frameOf({ transaction: { to: undefined, data: bytesOf(data), gasLimit } });
    expect(frame).toMatchObject({ type: "CREATE", error });
    expect(frame).not.toHaveProperty("to");
  });

  it("of a creation at a used address is a collision", async () => {
    const { calls } = await frameOf({ code: creating(REVERTING, 7) + creating("00", 7) + creating("00", 7) });
    expect(calls?.map(({ error }) => error)).toEqual([
      "execution reverted",
      undefined,
      "contract address collision",
    ]);
  });
});
