import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { aNetworkAnswer, VALIDATORS } from "./networkAnswers.ts";
import { openScriptedNode, rendered, type ScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH, TRACE } from "./transactionAnswers.ts";

/** Counts what a page starts and draws. */
const COUNTING = `
globalThis.intervals = 0;
globalThis.drawn = 0;
const start = setInterval;
globalThis.setInterval = (...args) => { intervals++; return start(...args); };
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...args) { drawn++; clear.apply(this, args); };
`;

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages draw what has changed", () => {
  afterAll(closeBrowser);

  async function openCounting(path: string): Promise<ScriptedNode> {
    const node = await openScriptedNode(aNetworkAnswer());
    for (let index = 0; index < 20; index++)
      node.addBlock({ proposer: VALIDATORS[index % VALIDATORS.length], validatorCount: "0x4" });
    await node.page.addInitScript(COUNTING);
    await node.page.goto(`${node.url}${path}`);
    return node;
  }

  it("with one clock for the ages of all blocks", async () => {
    const node = await openCounting("/blocks");
    node.addBlock({ timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}` });
    await node.page.reload();
    const age = () => node.page.locator("tbody time").first().textContent();
    await expect.poll(age).toMatch(/^\d+ s ago$/);
    const first = await age();
    await expect.poll(age).not.toBe(first);
    expect(await node.page.locator("tbody time").count()).toBeGreaterThan(20);
    expect(await node.page.evaluate("intervals")).toBe(1);
  });

  it("and trace a failed transaction once, for its reason and its calls", async () => {
    const node = await openScriptedNode({
      ...aTransactionAnswer({ receipt: { status: "0x0" } }),
      debug_traceTransaction: () => ({ ...TRACE, error: "out of gas", calls: [TRACE] }),
    });
    await node.page.goto(`${node.url}/tx/${HASH}`);
    await node.page.getByText("out of gas").first().waitFor();
    await node.page.getByRole("region", { name: "Internal calls" }).waitFor();
    expect(node.countOf("debug_traceTransaction")).toBe(1);
  });

  it("and draw the network's blocks anew with a block, not with each answer about the node", async () => {
    const node = await openCounting("/network");
    const drawn = () => node.page.evaluate<number>("drawn");
    const answers = () => node.countOf("explorer_getNodeStatus");
    await expect.poll(answers).toBeGreaterThan(1);
    await expect.poll(drawn).toBeGreaterThan(0);
    await rendered(node.page);
    const before = { drawn: await drawn(), answers: answers() };
    await expect.poll(answers).toBeGreaterThan(before.answers + 1);
    expect(await drawn()).toBe(before.drawn);
    node.addBlock({ validatorCount: "0x4" });
    await expect.poll(drawn).toBeGreaterThan(before.drawn);
  });
});
