import { describe, expect, it } from "vitest";
import type { HeadChange } from "../../../src/chain/onNewHead.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { BACKLOG_LIMIT_BYTES } from "../../../src/rpc/server/limits.ts";
import { createSubscriptionMethods } from "../../../src/rpc/subscriptions/subscriptions.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import type { Log } from "../../../src/types/log.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { itIfThorough } from "../../thorough.ts";
import { aWebSocketClient, aWebSocketServer } from "./servers.ts";

const TRANSACTION = aTransaction();
const LOGS_PER_BLOCK = 1_000;
const LOG: Log = { address: account(3).address, topics: [TRANSACTION.hash], data: new Uint8Array(300) };

/** A block with a thousand logs, of some 1.1 MB of notifications. */
function blockOf(number: number): StoredBlock {
  const logs = Array.from({ length: LOGS_PER_BLOCK }, () => LOG);
  return aStoredBlock({ number, transactions: [TRANSACTION], logs: [logs] });
}

/** A WebSocket server with subscriptions to blocks and logs. */
async function aLoggingServer(maxConnections: number) {
  const listeners = new Set<(change: HeadChange) => void>();
  const methods = createSubscriptionMethods({
    chain: {
      onHeadChanged(_row, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    pool: { onAdded: () => () => undefined, onDropped: () => () => undefined },
    onSyncChanged: () => () => undefined,
    logger: silentLogger,
  });
  const dispatcher = createDispatcher({ methods, modules: new Set() }, { backend: {}, logger: silentLogger });
  const server = await aWebSocketServer(dispatcher, { maxConnections });
  return {
    server,
    move(block: StoredBlock): void {
      for (const listener of listeners) listener({ head: block, added: [block], removed: [] });
    },
    /** A client that has subscribed to every log, and to blocks. */
    async subscriber() {
      const client = await aWebSocketClient(server);
      for (const params of [
        ["logs", {}],
        ["newHeads", { includeTransactions: true }],
      ]) {
        client.send({ id: 1, method: "eth_subscribe", params });
        await client.next();
      }
      return client;
    },
  };
}

/** Heap and external memory of this process, bytes. */
function memoryBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("a subscriber that never reads", () => {
  it("is cut off, and one that reads gets everything in order", async () => {
    const { server, move, subscriber } = await aLoggingServer(80);
    const [reader, stalledClient] = [await subscriber(), await subscriber()];
    stalledClient.socket.pause();
    let blocks = 0;
    let logsInOrder = 0;
    let receivedLength = 0;
    while (server.connectionCount === 2 && blocks < 100) {
      move(blockOf(++blocks));
      for (let log = 0; log < LOGS_PER_BLOCK; log++) {
        const text = await reader.next();
        receivedLength += text.length;
        const { params } = JSON.parse(text) as {
          params: { result: { blockNumber: string; logIndex: string } };
        };
        if (Number(params.result.blockNumber) === blocks && Number(params.result.logIndex) === log)
          logsInOrder++;
      }
      expect(await reader.next()).toContain(`"number":"0x${blocks.toString(16)}"`);
    }
    expect(logsInOrder).toBe(blocks * LOGS_PER_BLOCK);
    // Bytes in the kernel's buffers do not count as waiting.
    expect(receivedLength).toBeLessThan(MORE_THAN_KERNELS_TAKE + BACKLOG_LIMIT_BYTES);
    stalledClient.socket.resume();
    expect(await stalledClient.closed).toBe(1006);
    expect(reader.socket.readyState).toBe(reader.socket.OPEN);
  });

  itIfThorough("takes a bounded amount of the node's memory, even many of them", async () => {
    const { server, move, subscriber } = await aLoggingServer(200);
    const stalledClients = await Promise.all(Array.from({ length: 50 }, subscriber));
    for (const { socket } of stalledClients) socket.pause();
    const before = memoryBytes();
    let most = 0;
    for (let number = 1; number <= 40; number++) move(blockOf(number));
    for (let slice = 0; server.connectionCount > 0; slice++) {
      await new Promise(setImmediate);
      if (slice % 100 === 0) most = Math.max(most, memoryBytes() - before);
    }
    expect(most).toBeLessThan(500 * 1024 * 1024);
  });
});
