import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { COUNTER, contractIn, LOGGER } from "../harness/contracts.ts";
import { longestPauseMs, watchingPauses } from "../harness/loopPauses.ts";
import { type NodeProcess, pause, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";

const LOGS = 28_000;
const COUNT = 150_000;
/** Limit on a busy host. On an idle one pauses are 25 ms at most; a trace sent as one text took 480 ms. */
const PAUSE_LIMIT_MS = 300;

interface Receipt {
  readonly blockNumber: string;
}

const pauseFile = join(temporaryFolder(), "pauses.txt");
let node: NodeProcess;
let nonce = 0n;

beforeAll(async () => {
  if (!IS_THOROUGH) return;
  node = await startNodeProcess({
    options: ["--logging=WARN"],
    runtimeOptions: watchingPauses(pauseFile),
  });
});

afterAll(async () => {
  if (IS_THOROUGH) expect(await node.stop()).toBe(0);
});

async function send(to: string, data: string): Promise<[hash: string, receipt: Receipt]> {
  const transaction = aTransaction({
    privateKey: account(1).privateKey,
    nonce: nonce++,
    to: addressFromHex(to),
    value: 0n,
    gasLimit: 60_000_000n,
    data: hexToBytes(data),
  });
  const hash = await node.rpc<string>("eth_sendRawTransaction", [toHex(transaction.raw)]);
  const receipt = await until(
    async () => (await node.rpc<Receipt | null>("eth_getTransactionReceipt", [hash])) ?? undefined,
    "a receipt",
  );
  return [hash, receipt];
}

function word(count: number): string {
  return toHex(bigintToFixedBytes(BigInt(count), 32));
}

interface Received {
  readonly bytes: number;
  readonly digest: string;
}

/** Sends a request over HTTP; hashes the answer without keeping it. */
function askHttp(body: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port: node.httpPort, method: "POST", agent: false },
      (answer) => {
        const hash = createHash("sha256");
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          hash.update(chunk);
          bytes += chunk.length;
        });
        answer.on("error", reject);
        answer.on("end", () => resolve({ bytes, digest: hash.digest("hex") }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function askWebSocket(body: string): Promise<Received> {
  const socket = new WebSocket(node.wsUrl, { maxPayload: 512 * 1024 * 1024 });
  await once(socket, "open");
  socket.send(body);
  const [data] = (await once(socket, "message")) as [Buffer];
  socket.terminate();
  return { bytes: data.length, digest: createHash("sha256").update(data).digest("hex") };
}

describe.runIf(IS_THOROUGH)("a very large answer", () => {
  it("blocks the event loop only briefly, and is the same over HTTP and WebSocket", async () => {
    const [counter, logger] = [await contractIn(node, COUNTER), await contractIn(node, LOGGER)];
    const [counted, { blockNumber: countedIn }] = await send(counter, word(COUNT));
    const [, { blockNumber }] = await send(logger, word(LOGS));
    const hex = (number: number): string => `0x${number.toString(16)}`;
    const wide = { fromBlock: hex(0), toBlock: hex(Number(blockNumber) + 16), address: logger };
    const lean = { disableStack: true, disableMemory: true, disableStorage: true };
    const requests: Readonly<
      Record<string, readonly [method: string, params: readonly unknown[], least: number]>
    > = {
      "a trace of a million steps": ["debug_traceTransaction", [counted, lean], 80_000_000],
      "a vmTrace of a million steps": ["trace_replayBlockTransactions", [countedIn, ["vmTrace"]], 50_000_000],
      "the receipts of a block": ["eth_getBlockReceipts", [blockNumber], 10_000_000],
      "the logs of a block": [
        "eth_getLogs",
        [{ ...wide, fromBlock: blockNumber, toBlock: blockNumber }],
        10_000_000,
      ],
      "a search for logs on a thread": ["eth_getLogs", [wide], 10_000_000],
    };
    const pauses: Record<string, number> = {};
    for (const [name, [method, params, least]] of Object.entries(requests)) {
      // Searches in few blocks run on the main thread; the twenty come while the others are answered.
      if (params[0] === wide)
        await until(
          async () => (Number(await node.rpc("eth_blockNumber")) > 20 ? true : undefined),
          "twenty blocks",
        );
      const single = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      await askHttp(single);
      const ways = { http: () => askHttp(single), webSocket: () => askWebSocket(single) };
      const digests = new Set<string>();
      for (const [way, ask] of Object.entries(ways)) {
        await pause(200);
        const fromMs = Date.now();
        const { bytes, digest } = await ask();
        pauses[`${name}, ${way}`] = longestPauseMs(pauseFile, fromMs, Date.now());
        expect(bytes).toBeGreaterThan(least);
        digests.add(digest);
      }
      expect(digests.size).toBe(1);
    }
    expect(Object.entries(pauses).filter(([, ms]) => ms > PAUSE_LIMIT_MS)).toEqual([]);
  });
});
