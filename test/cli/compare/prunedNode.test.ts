import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import { startToyNode, type ToyNode, toyChain } from "../data/toyNode.ts";
import { ibexHere } from "../program.ts";

const HEAD = 30;
const CHAIN = toyChain(HEAD, { transactions: () => [{}] });
const WORLD_STATE_UNAVAILABLE = { error: { code: -32000, message: "World state unavailable" } };

/** An archive beside a node that has whole blocks from `blocks` on, and states from `states` on, as an Ibex node answers. */
describe("ibex compare, of a node that removes its old blocks and states", () => {
  let archive: ToyNode;
  let pruned: ToyNode;
  let begins = { blocks: 0, states: 0 };

  beforeEach(async () => {
    [archive, pruned] = [await startToyNode(CHAIN), await startToyNode(CHAIN)];
    begins = { blocks: 11, states: 21 };
    pruned.answer = answerOfPruned;
  });
  afterEach(() => {
    archive.close();
    pruned.close();
  });

  function answerOfPruned(method: string, params: readonly unknown[]) {
    const [first, second] = params;
    const { blocks, states } = begins;
    const isBefore = (number: unknown, start: number) => Number(number) > 0 && Number(number) < start;
    if (method === "eth_getBlockByNumber" && isBefore(first, blocks)) return { result: null };
    if (method === "eth_getBlockReceipts" && isBefore(first, blocks))
      return { error: { code: -32000, message: "Block not found" } };
    if (method === "eth_getLogs" && isBefore(fromBlockOf(first), blocks))
      return { error: { code: 4444, message: "Pruned history unavailable" } };
    if (/^(trace_block|debug_trace)/.test(method))
      return Number(first) - 1 < states ? WORLD_STATE_UNAVAILABLE : undefined;
    if (method === "eth_getTransactionCount" && Number(second) < states) return WORLD_STATE_UNAVAILABLE;
    if (method === "eth_call" && Number(second) < states)
      return { error: { code: -32603, message: "Internal error" } };
    if (/^eth_get(Balance|Code)$/.test(method) && Number(second) < states) return { result: null };
    if (method === "eth_getStorageAt" && Number(params[2]) < states) return { result: null };
    return undefined;
  }

  const compare = (...options: readonly string[]) =>
    ibexHere(["compare", `--with=${archive.url}`, `--node=${pruned.url}`, ...options], {
      awaitStop: () => ({ received: new Promise(() => undefined) }),
    });

  it("compares what both have, and says where that begins", async () => {
    const { exitCode, output } = await compare();
    expect(output).toContain(`${pruned.url} only has blocks from 11 on; comparing those\n`);
    expect(output).toMatch(
      /^Compared: 20 blocks, \d+ answers, 0 different, 0 explained, [1-9]\d* not compared$/m,
    );
    for (const method of ["eth_getBalance", "eth_call", "trace_block", "debug_traceBlockByNumber"])
      expect(output).toContain(
        `NOT COMPARED: ${method}, ${pruned.url}: it no longer has the state of that block (first at block 11)`,
      );
    expect(output).not.toMatch(/DIFFERENT|waiting for/);
    expect(exitCode).toBe(4);
    // All of that is there.
    const { exitCode: whole, output: report } = await compare(`--from=${begins.states + 1}`);
    expect([whole, report]).toEqual([0, expect.stringContaining(" 0 not compared")]);
  });

  it("counts blocks that were asked for by number, and are gone, as not compared", async () => {
    const { exitCode, output } = await compare("--from=5", "--to=22");
    expect(output).toContain(
      `NOT COMPARED: blocks 5 to 10, ${pruned.url}: it removes old blocks, or was made from a snapshot\n`,
    );
    expect(output).toContain("Compared: 12 blocks");
    expect(exitCode).toBe(4);
  });

  it("does not wait for blocks that are removed while it compares, nor calls them different", async () => {
    const asked = new Set<unknown>();
    pruned.answer = (method, params) => {
      const [number, isWhole] = params;
      // Blocks are there at first, and gone at the first question about their contents.
      if (method === "eth_getBlockByNumber" && isWhole === true && Number(number) <= 15) asked.add(number);
      if (method !== "eth_getBlockByNumber" && asked.size > 0) begins = { blocks: 16, states: 21 };
      return answerOfPruned(method, params);
    };
    const { exitCode, output } = await compare("--from=11", "--to=18");
    expect(output).not.toMatch(/DIFFERENT|waiting for/);
    expect(output).toMatch(/NOT COMPARED: [a-zA-Z_]+, .*: it no longer has that block/);
    expect(exitCode).toBe(4);
  });

  itIfThorough("tells an answer that a node lacks although it has the block and the state", async () => {
    pruned.answer = (method, params) =>
      method === "eth_getTransactionByHash" ? { result: null } : answerOfPruned(method, params);
    const { exitCode, output } = await compare("--from=25", "--to=25");
    expect(output).toContain("DIFFERENT: block 25, eth_getTransactionByHash");
    expect(exitCode).toBe(3);
    pruned.answer = (method, params) =>
      method === "eth_call"
        ? { error: { code: -32603, message: "Internal error" } }
        : answerOfPruned(method, params);
    expect((await compare("--from=25", "--to=25")).output).toContain("DIFFERENT: block 25, eth_call");
  });
});

function fromBlockOf(filter: unknown): unknown {
  return Object(filter).fromBlock;
}
