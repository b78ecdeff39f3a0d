import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { returning, word } from "../overriddenCode.ts";
import { type Ask, requesterOf } from "../requester.ts";

const RICH = toHex(account(0).address);
const UNUSED = `0x${"de".repeat(20)}`;
const IDENTITY = `0x${"4".padStart(40, "0")}`;

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: genesisWith({ pragueTime: 0 }) });
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

describe("the instruction 0x44", () => {
  it("is named by its meaning in the block's fork", async () => {
    const firstOf = async (other: Ask) => {
      const trace = (await other("debug_traceCall", { data: "0x4450" }, "latest")) as {
        structLogs: { op: string }[];
      };
      return trace.structLogs[0]?.op;
    };
    expect(await firstOf(ask)).toBe("PREVRANDAO");
    const old = await aChain({ genesis: genesisWith({ shanghaiTime: undefined, cancunTime: undefined }) });
    expect(await firstOf(requesterOf({ ...old, tracer: tracerOf(old.chain, old.spec) }))).toBe("DIFFICULTY");
  });
});

describe("overrides of a traced call", () => {
  const trace = (options: object) =>
    ask("debug_traceCall", { from: RICH, to: UNUSED, data: "0x1234" }, "latest", options);
  const output = async (options: object) =>
    ((await trace({ tracer: "callTracer", ...options })) as { output?: string }).output;

  it("set accounts' code, balance and storage, and change the block", async () => {
    const code = (opcodes: string, more: object = {}) => ({
      stateOverrides: { [UNUSED]: { code: returning(opcodes), ...more } },
    });
    expect(await output({})).toBeUndefined();
    expect(await output(code("602a"))).toBe(word(42));
    expect(await output(code("47", { balance: "0x7" }))).toBe(word(7));
    expect(await output(code("600054", { stateDiff: { [word(0)]: word(3) } }))).toBe(word(3));
    const head = (await ask("eth_getBlockByNumber", "latest", false)) as { hash: string };
    const seen: readonly (readonly [string, object, string])[] = [
      ["43", { number: "0x64" }, word(100)],
      ["42", { time: "0x77777777" }, word(0x77777777)],
      ["41", { feeRecipient: RICH }, word(BigInt(RICH))],
      ["600040", { number: "0x1" }, head.hash],
    ];
    for (const [opcode, blockOverrides, expected] of seen)
      expect(await output({ ...code(opcode), blockOverrides })).toBe(expected);
    const steps = (await trace(code("602a"))) as { structLogs: unknown[]; returnValue: string };
    expect(steps.structLogs.length).toBeGreaterThan(4);
    expect(`0x${steps.returnValue}`).toBe(word(42));
  });

  it("are the state before the call for the prestate tracer", async () => {
    const stateOverrides = { [UNUSED]: { balance: "0x7", nonce: "0x3" } };
    const before = await trace({ tracer: "prestateTracer", stateOverrides });
    expect(before).toMatchObject({ [UNUSED]: { balance: "0x7", nonce: 3 } });
  });

  it("move precompiled contracts, or are refused with the reason", async () => {
    const move = (from: string) => ({ stateOverrides: { [from]: { movePrecompileToAddress: UNUSED } } });
    expect(await output(move(IDENTITY))).toBe("0x1234");
    expect(await trace(move(RICH))).toEqual({ code: -32000, message: `account ${RICH} is not a precompile` });
  });

  it("are refused when they are invalid, and ignored when they are not objects", async () => {
    const invalid = INVALID_PARAMS;
    for (const bad of [{ stateOverrides: { zz: {} } }, { blockOverrides: { number: "-1" } }])
      expect(await trace(bad), JSON.stringify(bad)).toEqual(invalid);
    const unsupported = 'block override "beaconRoot" is not supported for this RPC method';
    expect(await trace({ blockOverrides: { beaconRoot: word(1) } })).toEqual({
      code: -32000,
      message: unsupported,
    });
    for (const ignored of [7, "x", [], null])
      expect(await output({ stateOverrides: ignored, blockOverrides: ignored })).toBeUndefined();
  });
});

describe("a traced call on a chain with a base fee", () => {
  it("costs nothing unless it names a price", async () => {
    const genesis = { ...(JSON.parse(genesisWith({ zeroBaseFee: false })) as object), baseFeePerGas: "0x7" };
    const node = await aChain({ genesis: JSON.stringify(genesis) });
    const paying = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
    const run = (more: object, options: object = {}) =>
      paying("debug_traceCall", { from: UNUSED, to: RICH, ...more }, "latest", options);
    expect(await run({})).toMatchObject({ failed: false, gas: 21_000 });
    expect(await run({}, { tracer: "callTracer" })).toMatchObject({ gasUsed: "0x5208" });
    const { message, data } = (await run({ gasPrice: "0x1" })) as { message: string; data: string };
    expect([message, data]).toEqual(["Internal error", "gasPrice is less than the current BaseFee"]);
    expect(await run({}, { blockOverrides: { baseFeePerGas: "0x7" } })).toMatchObject({ code: -32603 });
  });
});

describe("a tracer that the node does not have", () => {
  const trace = (options: object) =>
    ask("debug_traceCall", { from: RICH, to: UNUSED, data: "0x1234" }, "latest", options);
  const there = "there are callTracer, flatCallTracer, prestateTracer, 4byteTracer";

  it("is refused by its name, in place of struct logs", async () => {
    for (const tracer of ["muxTracer", "noopTracer", "keccak256PreimageTracer"])
      expect(await trace({ tracer })).toEqual({
        code: -32000,
        message: `the tracer ${tracer} is not supported; ${there}`,
      });
    expect(await trace({ tracer: "{step: function() {}, result: function() {}}" })).toEqual({
      code: -32000,
      message: `a tracer in JavaScript is not supported; ${there}`,
    });
  });

  it("is refused by the methods for transactions and blocks, too", async () => {
    const refusal = { code: -32000, message: `the tracer muxTracer is not supported; ${there}` };
    expect(await ask("debug_traceTransaction", word(1), { tracer: "muxTracer" })).toEqual(refusal);
    expect(await ask("debug_traceBlockByNumber", "latest", { tracer: "muxTracer" })).toEqual(refusal);
  });

  it("is not repeated at length", async () => {
    const { message } = (await trace({ tracer: "x".repeat(10_000) })) as { message: string };
    expect(message.length).toBeLessThan(200);
  });

  it("means struct logs when it is empty, or no text", async () => {
    for (const tracer of ["", null, 7]) expect(await trace({ tracer })).toHaveProperty("structLogs");
  });
});

describe("a precompiled contract that fails", () => {
  const field = (value: bigint | number): string => value.toString(16).padStart(128, "0");
  const zeros = (bytes: number): string => "00".repeat(bytes);
  const contract = (number: number): string => `0x${number.toString(16).padStart(40, "0")}`;
  const tracer = "callTracer";

  /** On the curve, but of order 3. */
  const strayG1 = field(0) + field(2);
  const strayG2 =
    field(2) +
    field(0) +
    field(
      0x13a59858b6809fca4d9a3b6539246a70051a3c88899964a42bc9a69cf9acdd9dd387cfa9086b894185b9a46a402be73n,
    ) +
    field(0x2d27e0ec3356299a346a09ad7dc4ef68a483c3aed53f9139d2f929a3eecebf72082e5e58c6da24ee32e03040c406d4fn);
  const infinityCommitment = `c0${zeros(47)}`;
  const commitmentHash = createHash("sha256").update(Buffer.from(infinityCommitment, "hex")).digest("hex");
  const claim = (z: string, y: string): string =>
    `01${commitmentHash.slice(2)}${z}${y}${infinityCommitment}${infinityCommitment}`;
  const one = zeros(31).concat("01");
  const encoding = "invalid fp.Element encoding";
  const offCurve = "invalid point: not on curve";

  it.each<readonly [number, string, string]>([
    [0x06, "ff".repeat(32), encoding],
    [0x07, one + one, "point is not on curve"],
    [0x08, "00", "bad elliptic curve pairing size"],
    [0x08, zeros(64) + one + zeros(96), "point is not on curve"],
    [0x09, "", "invalid input length"],
    [0x09, `${zeros(212)}02`, "invalid final flag"],
    [0x0a, "00", "invalid input length"],
    [0x0a, zeros(192), "mismatched versioned hash"],
    [0x0a, claim(zeros(32), one), "error verifying kzg proof: can't verify opening proof"],
    [
      0x0a,
      claim("ff".repeat(32), one),
      "error verifying kzg proof: scalar is not canonical when interpreted as a big integer in big-endian",
    ],
    [0x0b, "00", "invalid input length"],
    [0x0b, `01${zeros(255)}`, "invalid field element top bytes"],
    [0x0b, `${zeros(16)}${"ff".repeat(48)}${zeros(192)}`, encoding],
    [0x0c, strayG1 + zeros(32), "g1 point is not on correct subgroup"],
    [0x0d, field(1) + zeros(448), offCurve],
    [0x0e, strayG2 + zeros(32), "g2 point is not on correct subgroup"],
    [0x0f, strayG1 + zeros(256), "g1 point is not on correct subgroup"],
    [0x0f, zeros(128) + strayG2, "g2 point is not on correct subgroup"],
    [0x10, `${zeros(16)}${"ff".repeat(48)}`, encoding],
    [0x11, "", "invalid input length"],
  ])("shows the reason: %i", async (number, data, error) => {
    const call = { to: contract(number), data: `0x${data}`, gas: "0xf4240" };
    const trace = await ask("debug_traceCall", call, "latest", { tracer });
    expect(trace).toMatchObject({ error, type: "CALL", gasUsed: "0xf4240" });
    expect(trace).not.toHaveProperty("output");
  });

  it("shows the reason in the caller's trace, also after it was moved", async () => {
    // STATICCALL(gas, 0xc4…, nothing), then STOP.
    const elsewhere = `0x${"c4".repeat(20)}`;
    const code = `0x600060006000600073${"c4".repeat(20)}620186a0fa00`;
    const stateOverrides = {
      [UNUSED]: { code },
      [contract(9)]: { movePrecompileToAddress: elsewhere },
    };
    const options = { tracer, stateOverrides };
    const trace = await ask("debug_traceCall", { to: UNUSED }, "latest", options);
    const failed = { to: elsewhere, error: "invalid input length", gasUsed: "0x186a0" };
    expect(trace).toMatchObject({ to: UNUSED, calls: [failed] });
    expect(trace).not.toHaveProperty("error");
  });

  it("shows out of gas when it had too little", async () => {
    const call = { to: contract(8), data: `0x${zeros(192)}`, gas: "0x7530" };
    expect(await ask("debug_traceCall", call, "latest", { tracer })).toMatchObject({ error: "out of gas" });
  });
});
