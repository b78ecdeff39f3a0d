import { createRpcClient } from "../../httpClient.ts";
import { pause } from "../../pause.ts";
import { senderAddresses } from "../../workload.ts";

/** How often a call is due, whether or not those before are answered. */
const PERIOD_MS = 50;
const CONNECTIONS = 8;

/** A caller who makes small calls during an attack. */
export interface HonestCaller {
  /** Milliseconds from when each call was due until it was answered; infinite for one that was not. */
  end(): Promise<readonly number[]>;
}

export function startHonestCaller(port: number): HonestCaller {
  const client = createRpcClient(port, CONNECTIONS);
  const [holder] = senderAddresses();
  const calls: readonly (readonly [string, readonly unknown[]])[] = [
    ["eth_blockNumber", []],
    ["eth_getBalance", [holder, "latest"]],
    ["eth_call", [{ to: holder }, "latest"]],
    ["eth_getBlockByNumber", ["0x1", false]],
  ];
  const times: number[] = [];
  let turn = 0;
  const timer = setInterval(() => {
    const [method, params] = calls[turn % calls.length] ?? ["eth_blockNumber", []];
    const place = turn++;
    const dueMs = performance.now();
    times[place] = Number.POSITIVE_INFINITY;
    client.call(method, params).then(
      () => {
        times[place] = performance.now() - dueMs;
      },
      () => undefined,
    );
  }, PERIOD_MS);
  return {
    async end() {
      clearInterval(timer);
      await pause(LAST_ANSWERS_MS);
      client.close();
      return times;
    },
  };
}

const LAST_ANSWERS_MS = 2000;
