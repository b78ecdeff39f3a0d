import { beforeAll, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { aChain } from "../builders/aChain.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { account } from "../builders/testAccounts.ts";
import { tracerOf } from "../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../rpc/requester.ts";

/** How Besu's vmTrace shows the results of calls, from Besu's code where no recording has the case. */

const RICH = toHex(account(0).address);
const CALLER = `0x${"ca".repeat(20)}`;
const OUTER = `0x${"c0".repeat(20)}`;
const UNUSED = `0x${"de".repeat(20)}`;

const CALL_GAS = 0xffff;
const push = (address: string): string => `73${address.slice(2)}`;
/** Four zeros for memory, a value if the call has one, the address, the gas; ignores the result. */
const call = (opcode: string, to: string, value = ""): string =>
  `5f5f5f5f${value}${to}61${CALL_GAS.toString(16)}${opcode}50`;
/** Creates a contract with the two bytes of code 5f5f, always with the same salt. */
const CREATE2 = "615f5f5f5260076002601e5ff550";

/** Calls by their kind of result. */
const CALLS: readonly (readonly [what: string, code: string])[] = [
  ["a call that is denied", call("f1", push(UNUSED), "6001")],
  ["a call without code", call("f1", push(UNUSED), "5f")],
  ["a static call without code", call("fa", push(UNUSED))],
  ["a delegate call without code", call("f4", push(UNUSED))],
  ["a call code without code", call("f2", push(UNUSED), "5f")],
  ["a call of a precompiled contract", call("f1", "6004", "5f")],
  ["a creation of empty code", "5f5f5ff050"],
  ["a creation that is denied", "5f5f6001f050"],
  ["a creation", CREATE2],
  ["a creation at a used address", CREATE2],
];
const CALLER_CODE = `0x${CALLS.map(([, code]) => code).join("")}`;

interface Op {
  readonly cost: number;
  readonly pc: number;
  readonly sub: { readonly code: string; readonly ops: readonly Op[] } | null;
  readonly ex: { readonly used: number; readonly mem: object | null } | null;
}

let ask: Ask;

beforeAll(async () => {
  const genesis = JSON.parse(genesisWith({})) as { alloc: object };
  const contracts = {
    [CALLER]: { balance: "0x0", code: CALLER_CODE },
    [OUTER]: { balance: "0x0", code: `0x5f5f5f5f5f${push(CALLER)}62fffffff150` },
  };
  const node = await aChain({
    genesis: JSON.stringify({ ...genesis, alloc: { ...genesis.alloc, ...contracts } }),
  });
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

async function traceOf(call: object): Promise<readonly Op[]> {
  const traced = (await ask("trace_call", { from: RICH, ...call }, ["vmTrace"])) as {
    vmTrace: { ops: Op[] };
  };
  return traced.vmTrace.ops;
}

/** The cost of each of CALLS, with the code and the number of instructions inside. */
function shownOf(ops: readonly Op[]): readonly (readonly [string, number, string])[] {
  let end = 0;
  return CALLS.map(([what, code]) => {
    end += code.length / 2;
    const op = ops.find(({ pc }) => pc === end - 2);
    const sub = op?.sub;
    return [what, op?.cost ?? -1, sub ? `${sub.code} ${sub.ops.length}` : String(sub)] as const;
  });
}

it("shows calls without instructions differently at the top level and in a called contract", async () => {
  const outer = await traceOf({ to: OUTER });
  const inner = outer.find(({ sub }) => sub !== null)?.sub?.ops ?? [];
  const [top, deep] = [shownOf(await traceOf({ to: CALLER })), shownOf(inner)];
  const cold = 2600;
  const same = (shown: typeof top) => [
    ["a call without code", 100 + CALL_GAS, "0x 0"],
    ["a static call without code", 100 + CALL_GAS, "0x 0"],
    ["a delegate call without code", 100, "0x 0"],
    ["a call code without code", 100, "0x 0"],
    ["a call of a precompiled contract", 100 + 15, "0x 0"],
    ["a creation of empty code", 32_000, "0x 0"],
    shown[7],
    ["a creation", expect.any(Number), "0x5f5f 2"],
    shown[9],
  ];
  expect(top.slice(1)).toEqual(same(top));
  expect(deep.slice(1)).toEqual(same(deep));
  const created = 32_000 + 6 + 2;
  expect([top[0], top[7], top[9]]).toEqual([
    ["a call that is denied", cold + 9000 + 25_000 - 2300, `${CALLER_CODE} 0`],
    ["a creation that is denied", 32_000, `${CALLER_CODE} 0`],
    ["a creation at a used address", expect.any(Number), "0x5f5f 0"],
  ]);
  expect([deep[0], deep[7], deep[9]]).toEqual([
    ["a call that is denied", cold + 9000 + 25_000, "null"],
    ["a creation that is denied", 32_000, "null"],
    ["a creation at a used address", created, "null"],
  ]);
  expect(top[9]?.[1]).toBeGreaterThan(created);
});

it("does not show memory written by MCOPY", async () => {
  const ops = await traceOf({ data: "0x60ff5f5260205f60205e" });
  const mem = ops.map(({ ex }) => ex?.mem);
  expect(mem.at(-1)).toBeNull();
  expect(mem.filter((each) => each !== null)).toHaveLength(1);
});
