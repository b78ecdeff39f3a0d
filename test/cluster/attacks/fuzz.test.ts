import { describe, expect, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { createChance, mutatedRequests, type ValidRequest } from "../../rpc/mutations.ts";
import { itIfThorough } from "../../thorough.ts";
import { beginHistory, extendHistory, requestsAbout } from "../harness/history.ts";
import { type LiveMemory, liveMemoryOf, MEASURABLE } from "../harness/liveMemory.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { openRequestSender } from "../harness/requestSender.ts";

/** In the daily run; 20,000 in the long run (`npm run test:long`). */
const REQUESTS = Number(process.env["IBEX_FUZZ"] ?? 200);
const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
/** In-flight requests. */
const ROUND = 50;
const ROUNDS = Math.ceil(REQUESTS / ROUND);
const ROUNDS_PER_CONNECTION = 10;
/**
 * Memory that half of the requests may add: 600 bytes a request and more are found in the long run. Installed filters stay for ten
 * minutes by design, some hundred bytes for one request in thirty; besides, three threads still load and compile code, the later the
 * busier the host is.
 */
const GROWTH_LIMIT_MB = { heap: 10, resident: 48 };
/** Halves after the first one. Code is compiled once, so that one of them is flat; what leaks grows in each. */
const MOST_HALVES = 3;

describe("mutated requests", () => {
  itIfThorough(
    `are answered, ${REQUESTS} of them, by a node whose memory stays flat (IBEX_SEED=${SEED})`,
    async () => {
      const node = await startNodeProcess({ ...MEASURABLE, options: ["--logging=WARN"] });
      onTestFinished(() => node.kill());
      const requests = mutatedRequests(SEED, await validRequests(node));
      const chance = createChance(SEED);
      const sender = await openRequestSender(node, () => chance.below(1000) / 1000);
      onTestFinished(() => sender.close());
      const headBefore = await headOf(node);
      const [startedAtMs, own] = [performance.now(), new OwnTime(node)];

      const memory: LiveMemory[] = [];
      const sendRounds = async (first: number, last: number): Promise<void> => {
        for (let round = first; round <= last; round++) {
          await sender.sendRound(Array.from({ length: ROUND }, () => requests.next().value));
          if (round % ROUNDS_PER_CONNECTION === 0) await sender.renewConnections();
        }
        memory.push(await liveMemoryOf(node));
      };
      const half = Math.ceil(ROUNDS / 2);
      await sendRounds(1, 1);
      await sendRounds(2, half);
      await sendRounds(half + 1, ROUNDS);

      const [tookMs, least] = [performance.now() - startedAtMs, own.leastBlocks()];
      const blocks = (await headOf(node)) - headBefore;
      console.log(figures(tookMs, memory, blocks));
      expect(blocks).toBeGreaterThanOrEqual(least);
      const next = headBefore + blocks + 2;
      await until(async () => ((await headOf(node)) >= next ? next : undefined), "two more blocks");
      expect(node.child.exitCode).toBeNull();
      expect(warningsOf(node)).toEqual([]);
      for (let more = 1; more < MOST_HALVES && !isFlat(memory); more++) await sendRounds(1, half);
      expectFlat(memory);
      expect(await node.stop()).toBe(0);
    },
    TEST_HANG_MS + REQUESTS * 20,
  );
});

/** Requests for existing data, so that not all mutations lead to errors. */
async function validRequests({ httpUrl }: NodeProcess): Promise<readonly ValidRequest[]> {
  const history = await beginHistory(httpUrl);
  await extendHistory(httpUrl, history);
  const sent = ([0, 1, 2, 3, 4] as const).map((type) => toHex(aTransaction({ type, nonce: 3n }).raw));
  return [
    ...(await requestsAbout(httpUrl, history)),
    ...sent.map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] })),
  ];
}

async function headOf(node: NodeProcess): Promise<number> {
  return Number(await node.rpc<string>("eth_blockNumber"));
}

/** Warnings and errors of the node, which no request must cause. Any transaction is slow where the machine stands still. */
function warningsOf(node: NodeProcess): readonly string[] {
  return node
    .output()
    .split("\n")
    .filter((line) => /\b(WARN|ERROR)\b/.test(line) && !line.includes("too slow to build a block with"));
}

/** Whether the heap is flat over the last half of the requests. */
function isFlat(memory: readonly LiveMemory[]): boolean {
  const [warm, ended] = memory.slice(-2);
  return warm !== undefined && ended !== undefined && ended.heapMb - warm.heapMb < GROWTH_LIMIT_MB.heap;
}

function expectFlat(memory: readonly LiveMemory[]): void {
  const [warm, ended] = memory.slice(-2);
  if (warm === undefined || ended === undefined) throw new Error("the memory was not measured");
  expect(ended.heapMb - warm.heapMb).toBeLessThan(GROWTH_LIMIT_MB.heap);
  if (warm.residentMb === undefined || ended.residentMb === undefined)
    console.log("resident memory is not checked: there is no /proc here");
  else expect(ended.residentMb - warm.residentMb).toBeLessThan(GROWTH_LIMIT_MB.resident);
}

function figures(tookMs: number, memory: readonly LiveMemory[], blocks: number): string {
  const [started, warm, ended] = memory.map(
    ({ heapMb, residentMb }) => `${heapMb.toFixed(1)}/${residentMb?.toFixed(0) ?? "?"} MB`,
  );
  return (
    `${REQUESTS} mutated requests in ${(tookMs / 1000).toFixed(1)} s ` +
    `(${Math.round((REQUESTS * 1000) / tookMs)}/s), ${blocks} blocks meanwhile; ` +
    `live heap/resident at first ${started}, after half ${warm}, at the end ${ended}`
  );
}
