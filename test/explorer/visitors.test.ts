import { afterAll, describe, expect, it } from "vitest";
import { killRunning, pause } from "../cluster/nodeProcess.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { startExplorerNode } from "./browser.ts";
import { makeTraffic } from "./traffic.ts";

/** Connections that ask for the costliest things as often as they are answered, and how long they do. */
const VISITORS = 40;
const FLOOD_MS = 15_000;

describe.runIf(IS_THOROUGH)("visitors who ask for more than they may have", IN_REAL_TIME, () => {
  afterAll(killRunning);

  it("do not hold up blocks, and other visitors are still answered", async () => {
    const node = await startExplorerNode({ options: ["--rpc-proxy-addresses=none"] });
    const { calls, token } = await makeTraffic(node);
    const endless = { to: token, data: `0x${"ff".repeat(2_000)}` };
    const asks = [
      { method: "debug_traceTransaction", params: [calls, { tracer: "callTracer" }] },
      { method: "eth_call", params: [endless, "latest"] },
      { method: "ibft_getRounds", params: ["latest", "0x3e8"] },
      { method: "explorer_getTransactionsOf", params: [token, { size: 100 }] },
    ];
    const batch = JSON.stringify(
      Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, ...asks[id % asks.length] })),
    );
    const endMs = performance.now() + FLOOD_MS;
    const counts = { answered: 0, refused: 0 };
    const flood = async (): Promise<void> => {
      while (performance.now() < endMs) {
        const response = await fetch(node.explorerUrl, { method: "POST", body: batch }).catch(
          () => undefined,
        );
        const text = (await response?.text().catch(() => "")) ?? "";
        counts.answered += text.split('"result"').length - 1;
        counts.refused += text.split("-32005").length - 1;
      }
    };
    const from = Number(await node.rpc<string>("eth_blockNumber"));
    const flooding = Promise.all(Array.from({ length: VISITORS }, flood));
    await pause(FLOOD_MS / 2);
    expect((await fetch(`${node.explorerUrl}/block/1`)).status).toBe(200);
    await flooding;
    const to = Number(await node.rpc<string>("eth_blockNumber"));
    const rows = await node.rpc<{ timestamp: string; round: string }[]>("ibft_getRounds", [
      `0x${to.toString(16)}`,
      `0x${(to - from + 1).toString(16)}`,
    ]);
    const times = rows.map(({ timestamp }) => Number(timestamp));
    const spacings = times.slice(0, -1).map((time, index) => time - (times[index + 1] ?? time));
    console.log(
      `${VISITORS} visitors for ${FLOOD_MS / 1000} s: ${counts.answered} answers, ${counts.refused} refusals, ` +
        `blocks at most ${Math.max(...spacings)} s apart`,
    );
    expect(counts.refused).toBeGreaterThan(counts.answered);
    // By timestamps, in whole seconds.
    expect(Math.max(...spacings)).toBeLessThanOrEqual(2);
    expect(rows.every(({ round }) => Number(round) === 0)).toBe(true);
    await node.stop();
  }, 120_000);
});
