import { afterAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { killRunning, type NodeProcess, pause } from "../cluster/harness/nodeProcess.ts";
import { OwnTime } from "../cluster/harness/ownTime.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser, openPage, startExplorerNode } from "./browser.ts";
import { makeTraffic } from "./traffic.ts";

/** Connections that ask for the costliest things as often as they are answered, and how long they do. */
const VISITORS = 40;
const FLOOD_MS = 12_000;

/** Of the development network. */
const ROUND_SECONDS = 10;

const TRANSFERS_PER_SECOND = 1_000;
const TRANSFER_SECONDS = 6;

describe.runIf(IS_THOROUGH)("visitors", () => {
  afterAll(closeBrowser);
  afterAll(killRunning);

  it("who ask for more than they may have do not hold up blocks, and other visitors are still answered", async () => {
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
    const own = new OwnTime(node);
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
    const { spacings, rounds } = await turnsSince(node, from);
    console.log(
      `${VISITORS} visitors for ${FLOOD_MS / 1000} s: ${counts.answered} answers, ${counts.refused} refusals, ` +
        `blocks at most ${Math.max(...spacings)} s apart`,
    );
    expect(counts.refused).toBeGreaterThan(counts.answered);
    expectOnTime({ spacings, rounds }, own);
    await node.stop();
  });

  it.runIf(CAN_BROWSE)("see 1,000 transfers a second on the open page, and blocks stay on time", async () => {
    const node = await startExplorerNode();
    const sent = Array.from({ length: TRANSFERS_PER_SECOND * TRANSFER_SECONDS }, (_, nonce) =>
      toHex(
        aTransaction({
          chainId: 1337n,
          nonce: BigInt(nonce),
          type: 2,
          maxFeePerGas: 0n,
          maxPriorityFeePerGas: 0n,
          gasLimit: 21_000n,
        }).raw,
      ),
    );
    const { page, complaints } = await openPage();
    await page.goto(node.explorerUrl);
    const figure = page.locator(".figure", { hasText: "Transactions" }).locator(".figure-value");
    await figure.waitFor();
    const from = Number(await node.rpc<string>("eth_blockNumber"));
    const own = new OwnTime(node);
    for (let second = 0; second < TRANSFER_SECONDS; second++) {
      const endMs = performance.now() + 1_000;
      const batch = sent.slice(second * TRANSFERS_PER_SECOND, (second + 1) * TRANSFERS_PER_SECOND);
      const body = JSON.stringify(
        batch.map((raw, id) => ({ jsonrpc: "2.0", id, method: "eth_sendRawTransaction", params: [raw] })),
      );
      await (await fetch(node.httpUrl, { method: "POST", body })).text();
      await pause(Math.max(0, endMs - performance.now()));
    }
    const { spacings, rounds, to } = await turnsSince(node, from);
    await expect
      .poll(async () => Number((await page.locator("h1").textContent())?.replaceAll(",", "")))
      .toBeGreaterThanOrEqual(to);
    console.log(
      `1,000 transfers a second with the page open: blocks at most ${Math.max(...spacings)} s apart, ${await figure.textContent()} a second shown`,
    );
    expectOnTime({ spacings, rounds }, own);
    expect(complaints).toEqual([]);
    await node.stop();
  });
});

/** No block is later, by the timestamps in whole seconds, than the node was kept from a processor. */
function expectOnTime(
  { spacings, rounds }: { readonly spacings: readonly number[]; readonly rounds: readonly number[] },
  own: OwnTime,
): void {
  const waitedSeconds = own.waitedMs / 1000;
  expect(Math.max(...spacings)).toBeLessThanOrEqual(2 + waitedSeconds);
  const roundsLost = rounds.reduce((sum, round) => sum + round, 0);
  expect(roundsLost * ROUND_SECONDS).toBeLessThanOrEqual(waitedSeconds);
}

/** Seconds between the blocks since this one, by their timestamps, and the rounds in which they were decided. */
async function turnsSince(node: NodeProcess, from: number) {
  const to = Number(await node.rpc<string>("eth_blockNumber"));
  const count = `0x${(to - from + 1).toString(16)}`;
  const rows = await node.rpc<{ timestamp: string; round: string }[]>("ibft_getRounds", [
    `0x${to.toString(16)}`,
    count,
  ]);
  const times = rows.map(({ timestamp }) => Number(timestamp));
  return {
    to,
    spacings: times.slice(0, -1).map((time, index) => time - (times[index + 1] ?? time)),
    rounds: rows.map(({ round }) => Number(round)),
  };
}
