import { beforeAll, describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { joinPieces } from "../../src/primitives/jsonPieces.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { runTrace } from "../../src/tracers/runTrace.ts";
import type { TraceFilter, TraceJob, TraceResult } from "../../src/tracers/traceJob.ts";
import type { TraceSource } from "../../src/tracers/traceSource.ts";
import { type Block, encodeBlock } from "../../src/types/block.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";

const START_SECONDS = 1_700_000_000;
const CALLER = addressFromHex(`0x${"ca".repeat(20)}`);
const CALLEE = addressFromHex(`0x${"ce".repeat(20)}`);
/** Takes a gigabyte of memory. */
const GREEDY = addressFromHex(`0x${"aa".repeat(20)}`);
const STRUCT_LOGS = {
  kind: "structLogs",
  options: { disableMemory: true, disableStack: true, disableStorage: true },
} as const;
const CALL_TRACER = { kind: "callTracer", config: { onlyTopCall: true, withLog: false } } as const;

let source: TraceSource;
/** Block 1 has a call of CALLER, which calls CALLEE, and a payment; block 2 a creation; block 3 nothing. */
const blocks: Block[] = [];

beforeAll(async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const genesis = JSON.parse(genesisWith({})) as { alloc: object };
  const contracts = {
    [toHex(CALLER)]: { balance: "0x0", code: `0x5f5f5f5f5f73${toHex(CALLEE).slice(2)}61fffff1` },
    [toHex(CALLEE)]: { balance: "0x0", code: "0x00" },
    [toHex(GREEDY)]: { balance: "0x0", code: "0x63400000005ff3" },
  };
  const { chain, spec } = await aChain({
    genesis: JSON.stringify({ ...genesis, alloc: { ...genesis.alloc, ...contracts } }),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const bodies = [
    [aTransaction({ to: CALLER, value: 0n }), aTransaction({ nonce: 1n, to: account(2).address })],
    [aTransaction({ nonce: 2n, to: undefined, value: 0n })],
    [],
  ];
  for (const [index, body] of bodies.entries()) {
    clock.advanceTo((START_SECONDS + index) * 1000);
    blocks.push(await commitBlock(chain, BigInt(START_SECONDS + index), body));
  }
  source = {
    spec,
    gasCap: 0n,
    limitBytes: 1_000_000,
    nowNs: () => 0n,
    stateAt: (number) => chain.stateAt(number),
    hashOf: (number) => chain.headerByNumber(number)?.hash,
    block: (number) => chain.blockByNumber(number),
  };
});

async function tracedBy(job: TraceJob): Promise<unknown> {
  const result = await runTrace(job, source);
  if (result.kind !== "traced") throw new Error(result.kind);
  return JSON.parse(joinPieces(result.pieces));
}

function blockAt(index: number): Block {
  const block = blocks[index];
  if (block === undefined) throw new Error(`there is no block ${index + 1}`);
  return block;
}

describe("the traces of a block", () => {
  it("are those of all its transactions in order; go-ethereum's tracers name each", async () => {
    const debug = (style: typeof STRUCT_LOGS | typeof CALL_TRACER) =>
      tracedBy({ kind: "debugBlock", block: { number: 1n }, style });
    expect(await debug(STRUCT_LOGS)).toMatchObject([
      { failed: false },
      { gas: 21_000, structLogs: [{ op: "STOP" }] },
    ]);
    expect(await debug(CALL_TRACER)).toMatchObject(
      blockAt(0).transactions.map(({ hash, to }) => ({
        txHash: toHex(hash),
        result: { to: toHex(to ?? CALLER) },
      })),
    );
  });

  it("are the same of its bytes, which need not be of the chain", async () => {
    const style = CALL_TRACER;
    const own = await tracedBy({ kind: "debugBlock", block: { number: 1n }, style });
    const raw = encodeBlock(blockAt(0));
    expect(await tracedBy({ kind: "debugBlock", block: { raw }, style })).toEqual(own);
    const block = { raw: encodeBlock({ ...blockAt(0), transactions: blockAt(0).transactions.slice(0, 1) }) };
    expect(await tracedBy({ kind: "debugBlock", block, style })).toHaveLength(1);
  });

  it("begin with the state that the transactions before the traced one left", async () => {
    const types = { trace: false, vmTrace: false, stateDiff: true };
    const second = await tracedBy({ kind: "replay", blockNumber: 1n, index: 1, types });
    expect(second).toMatchObject({
      stateDiff: { [toHex(account(0).address)]: { nonce: { "*": { from: "0x1", to: "0x2" } } } },
    });
  });
});

describe("a trace that cannot be made", () => {
  const style = CALL_TRACER;
  const ofRaw = (block: Block): Promise<TraceResult> =>
    runTrace({ kind: "debugBlock", block: { raw: encodeBlock(block) }, style }, source);

  it("is of a block whose bytes are none, or whose transactions cannot follow", async () => {
    const block = { raw: Uint8Array.of(0xc0) };
    expect(await runTrace({ kind: "debugBlock", block, style }, source)).toMatchObject({
      kind: "blockNotExecutable",
    });
    const [first, second] = blockAt(0).transactions;
    if (first === undefined || second === undefined) throw new Error("there are two transactions");
    expect(await ofRaw({ ...blockAt(0), transactions: [second, first] })).toEqual({
      kind: "blockNotExecutable",
      detail: expect.stringContaining("nonce"),
    });
  });

  it("is of a block that is not there, and of one whose parent's state is not", async () => {
    const unavailable = { kind: "stateUnavailable" };
    expect(await runTrace({ kind: "block", blockNumber: 9n }, source)).toEqual(unavailable);
    const pruned = { ...source, stateAt: () => undefined };
    expect(await runTrace({ kind: "block", blockNumber: 1n }, pruned)).toEqual(unavailable);
    const { header } = blockAt(2);
    expect(await ofRaw({ ...blockAt(2), header: { ...header, number: 9n } })).toEqual(unavailable);
  });

  it("is of a call that takes too much memory, or whose trace does", async () => {
    const call = { to: GREEDY, gasLimit: 2n ** 50n };
    const job: TraceJob = { kind: "debugCall", blockNumber: 3n, call, style };
    expect(await runTrace(job, source)).toEqual({ kind: "tooMuchMemory" });
    const small = { ...source, limitBytes: 500 };
    expect(await runTrace({ ...job, call: { to: CALLER } }, small)).toEqual({ kind: "tooLarge" });
  });

  it("is of a call that is refused, with the reason", async () => {
    const call = { from: CALLEE, to: CALLER, value: 1n };
    expect(await runTrace({ kind: "debugCall", blockNumber: 3n, call, style }, source)).toEqual({
      kind: "refused",
      detail: expect.stringMatching(/balance/i),
    });
  });
});

describe("several calls", () => {
  it("see each what those before changed, and the chain sees nothing of them", async () => {
    const types = { trace: false, vmTrace: false, stateDiff: true };
    const pay = { call: { from: account(0).address, to: CALLEE, value: 1n }, types };
    const balances = async () =>
      ((await tracedBy({ kind: "calls", blockNumber: 3n, calls: [pay, pay] })) as Paid[]).map(
        ({ stateDiff }) => stateDiff[toHex(CALLEE)]?.balance,
      );
    for (let times = 0; times < 2; times++)
      expect(await balances()).toEqual([
        { "*": { from: "0x0", to: "0x1" } },
        { "*": { from: "0x1", to: "0x2" } },
      ]);
  });
});

interface Paid {
  readonly stateDiff: Readonly<Record<string, { readonly balance: object }>>;
}

describe("filtered traces", () => {
  const filtered = async (filter: Partial<TraceFilter>) => {
    const all = {
      fromBlock: 0n,
      toBlock: 3n,
      fromAddresses: [],
      toAddresses: [],
      isUnion: false,
      after: 0,
      count: undefined,
    };
    const traces = (await tracedBy({ kind: "filter", filter: { ...all, ...filter } })) as {
      type: string;
      blockNumber: number;
      traceAddress: readonly number[];
    }[];
    return traces.map(({ type, blockNumber, traceAddress }) =>
      `${blockNumber} ${type} ${traceAddress.join()}`.trim(),
    );
  };
  const ALL = ["1 call", "1 call 0", "1 call", "1 reward", "2 create", "2 reward", "3 reward"];

  it("are those of all transactions and the rewards but for the genesis block's", async () => {
    expect(await filtered({})).toEqual(ALL);
    expect(await filtered({ fromBlock: 2n, toBlock: 2n })).toEqual(["2 create", "2 reward"]);
  });

  it("come in pages that leave out nothing and repeat nothing", async () => {
    for (const count of [1, 2, 3, 7]) {
      const pages: string[] = [];
      for (let after = 0; after < ALL.length; after += count)
        pages.push(...(await filtered({ after, count })));
      expect(pages, String(count)).toEqual(ALL);
    }
    expect(await filtered({ after: 99 })).toEqual([]);
    expect(await filtered({ count: 0 })).toEqual([]);
  });

  it("are between the addresses, without rewards; a creation has no recipient", async () => {
    const { address } = account(0);
    expect(await filtered({ fromAddresses: [address] })).toEqual(["1 call", "1 call", "2 create"]);
    expect(await filtered({ fromAddresses: [CALLER, CALLEE] })).toEqual(["1 call 0"]);
    expect(await filtered({ toAddresses: [CALLER, CALLEE] })).toEqual(["1 call", "1 call 0"]);
    const both = { fromAddresses: [address], toAddresses: [CALLEE] };
    expect(await filtered(both)).toEqual([]);
    expect(await filtered({ ...both, isUnion: true })).toEqual(["1 call", "1 call 0", "1 call", "2 create"]);
  });
});

it("one trace of a transaction is found by its path", async () => {
  const at = (path: readonly number[]) => tracedBy({ kind: "transaction", blockNumber: 1n, index: 0, path });
  expect(await at([])).toMatchObject({ action: { to: toHex(CALLER) } });
  expect(await at([0])).toMatchObject({ action: { to: toHex(CALLEE) } });
  expect(await at([1])).toBeNull();
});
