import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { FILTER_LIMIT } from "../../../src/rpc/filters/filterTable.ts";
import type { RpcMethod } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcBackend } from "../../../src/rpc/ports.ts";
import { HostShares } from "../../../src/rpc/server/hostShares.ts";
import { createSubscriptionMethods } from "../../../src/rpc/subscriptions/subscriptions.ts";
import { aLogFinder } from "../../builders/aLogFinder.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer } from "./servers.ts";

const modules = new Set(["ETH"] as const);

/** What a caller of these methods finds on a node with the filters of all. */
function aDispatcher(methods: readonly RpcMethod[]) {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const { filters } = aCore({ chain, findLogs: aLogFinder(chain) });
  const backend = { filters } as unknown as RpcBackend;
  return createDispatcher({ methods, modules }, { backend, logger: silentLogger });
}

describe("one address alone", () => {
  it("gets half of the filters over HTTP, the next ones half of what is left", async () => {
    const server = await anHttpServer(aDispatcher(METHODS));
    const body = JSON.stringify(
      Array.from({ length: 1_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_newBlockFilter" })),
    );
    async function install(localAddress: string): Promise<number> {
      const texts: string[] = [];
      for (let n = 0; n < 10; n++) texts.push((await ask(server, { body, localAddress })).body);
      return texts.join("").split('"result"').length - 1;
    }
    expect(await install("127.0.0.2")).toBe(FILTER_LIMIT / 2);
    expect(await install("127.0.0.3")).toBe(FILTER_LIMIT / 4);
    const one = '{"jsonrpc":"2.0","id":1,"method":"eth_newPendingTransactionFilter"}';
    expect((await ask(server, { body: one, localAddress: "127.0.0.4" })).body).toContain('"result"');
    expect((await ask(server, { body: one, localAddress: "127.0.0.2" })).body).toContain('"code":-32005');
  });

  it("gets half of the criteria of subscriptions over WebSocket", async () => {
    const nothing = (): (() => void) => () => undefined;
    const methods = createSubscriptionMethods({
      chain: { onHeadChanged: nothing },
      pool: { onAdded: nothing, onDropped: nothing },
      onSyncChanged: nothing,
      logger: silentLogger,
    });
    const server = await aWebSocketServer(aDispatcher(methods as readonly RpcMethod[]));
    const address = Array.from({ length: 10_000 }, (_, index) => `0x${String(index).padStart(40, "0")}`);
    const request = { jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["logs", { address }] };
    async function subscribe(localAddress: string): Promise<number> {
      const client = await aWebSocketClient(server, { localAddress });
      let subscribed = 0;
      for (;;) {
        client.send(request);
        const { error } = await client.nextJson<{ readonly error?: { readonly code: number } }>();
        if (error === undefined) subscribed++;
        else if (error.code === -32005) return subscribed;
        else throw new Error(`${error.code}`);
      }
    }
    expect(await subscribe("127.0.0.2")).toBe(10);
    expect(await subscribe("127.0.0.3")).toBe(5);
    expect(await subscribe("127.0.0.2")).toBe(0);
  });
});

it("what a host gives back, others may take", () => {
  const shares = new HostShares(8);
  const taken = Array.from({ length: 8 }, () => shares.take("a", 1)).filter((isTaken) => isTaken);
  expect(taken).toHaveLength(4);
  expect([shares.take("b", 2), shares.take("b", 1), shares.take("c", 1)]).toEqual([true, false, true]);
  shares.giveBack("a", 4);
  expect([shares.held, shares.take("b", 2)]).toEqual([3, true]);
});
