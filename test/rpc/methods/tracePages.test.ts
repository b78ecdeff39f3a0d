import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { runTrace } from "../../../src/tracers/runTrace.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../requester.ts";

const BLOCKS = 6;
const PER_BLOCK = 5;
/** Blocks of transfers with 4 KB of data each, from one sender to one recipient. */
const BODIES = Array.from({ length: BLOCKS }, (_, block) =>
  Array.from({ length: PER_BLOCK }, (__, index) =>
    aTransaction({
      nonce: BigInt(block * PER_BLOCK + index),
      data: new Uint8Array(4096),
      gasLimit: 200_000n,
    }),
  ),
);

let node: TestChain;
let ask: Ask;

beforeAll(async () => {
  node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  for (const raw of (await sealedDevBlocks(BODIES)).slice(1)) {
    const block = decodeBlock(raw);
    if (!block.ok) throw new Error(block.error.message);
    const imported = await node.chain.importBlock(block.value);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

describe("pages of trace_filter", () => {
  const from = toHex(account(0).address);

  it.each([
    { what: "all traces, with rewards", addresses: {}, total: BLOCKS * (PER_BLOCK + 1) },
    { what: "those of a sender", addresses: { fromAddress: [from] }, total: BLOCKS * PER_BLOCK },
  ])("are the whole answer in pieces: $what", async ({ addresses, total }) => {
    const range = { fromBlock: "0x0", toBlock: "latest", ...addresses };
    const whole = (await ask("trace_filter", range)) as readonly unknown[];
    expect(whole).toHaveLength(total);
    const pages: unknown[] = [];
    for (let after = 0; ; after += 4) {
      const page = (await ask("trace_filter", { ...range, after, count: 4 })) as readonly unknown[];
      pages.push(...page);
      if (page.length < 4) break;
    }
    expect(pages).toEqual(whole);
  });

  it("may be asked for with JSON numbers or with hex", async () => {
    const range = { fromBlock: "0x1", toBlock: "0x6", fromAddress: [from] };
    const page = await ask("trace_filter", { ...range, after: 10, count: 3 });
    expect(page).toHaveLength(3);
    expect(await ask("trace_filter", { ...range, after: "0xa", count: "0x3" })).toEqual(page);
    expect(await ask("trace_filter", { ...range, after: 1000 })).toEqual([]);
    expect(await ask("trace_filter", { ...range, count: 0 })).toEqual([]);
    for (const odd of [{ after: -1 }, { count: 1.5 }, { count: "many" }])
      expect(await ask("trace_filter", { ...range, ...odd })).toMatchObject({ code: -32602 });
  });

  it("are of what has one of the addresses or both, as `mode` says, and as Besu has it without", async () => {
    const range = { fromBlock: "0x1", toBlock: "0x6", fromAddress: [from], toAddress: [from] };
    const none = await ask("trace_filter", range);
    expect(none).toEqual([]);
    expect(await ask("trace_filter", { ...range, mode: "intersection" })).toEqual(none);
    const union = { ...range, mode: "union", after: null, count: null };
    expect(await ask("trace_filter", union)).toHaveLength(BLOCKS * PER_BLOCK);
    expect(await ask("trace_filter", { ...union, toAddress: [] })).toHaveLength(BLOCKS * PER_BLOCK);
    for (const mode of ["both", 1, ["union"]])
      expect(await ask("trace_filter", { ...range, mode })).toMatchObject({ code: -32602 });
  });

  it("hold the traces of one block at a time, however long the range", async () => {
    const filter = {
      fromBlock: 1n,
      toBlock: BigInt(BLOCKS),
      fromAddresses: [],
      toAddresses: [],
      isUnion: false,
    };
    const source = {
      spec: node.spec,
      gasCap: 0n,
      // Enough for the traces of two blocks, some 5 KB each, and not for those of six.
      limitBytes: 2 * PER_BLOCK * 6000,
      nowNs: () => 0n,
      stateAt: (number: bigint) => node.chain.stateAt(number),
      hashOf: (number: bigint) => node.chain.headerByNumber(number)?.hash,
      block: (number: bigint) => node.chain.blockByNumber(number),
    };
    const page = { ...filter, after: BLOCKS * (PER_BLOCK + 1) - 1, count: 1 };
    expect(await runTrace({ kind: "filter", filter: page }, source)).toMatchObject({ kind: "traced" });
    const all = { ...filter, after: 0, count: undefined };
    expect(await runTrace({ kind: "filter", filter: all }, source)).toEqual({ kind: "tooLarge" });
  });
});

describe("traces of the genesis block", () => {
  it("are empty lists, except for struct logs, for which Besu answers null", async () => {
    const { hash } = (await ask("eth_getBlockByNumber", "0x0", false)) as { hash: string };
    expect(await ask("trace_block", "0x0")).toEqual([]);
    expect(await ask("trace_replayBlockTransactions", "0x0", ["trace"])).toEqual([]);
    expect(await ask("trace_filter", { fromBlock: "0x0", toBlock: "0x0" })).toEqual([]);
    for (const tracer of ["callTracer", "prestateTracer", "flatCallTracer", "4byteTracer"]) {
      expect(await ask("debug_traceBlockByNumber", "0x0", { tracer })).toEqual([]);
      expect(await ask("debug_traceBlockByHash", hash, { tracer })).toEqual([]);
    }
    expect(await ask("debug_traceBlockByNumber", "0x0")).toBeNull();
    expect(await ask("debug_traceBlockByNumber", "0x99", { tracer: "callTracer" })).toBeNull();
  });
});
