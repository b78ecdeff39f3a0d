import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { BREAK, openScriptedNode, type ScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the connection of the explorer's page", () => {
  afterAll(closeBrowser);

  it("sends a call twice at most where its answer breaks the connection", async () => {
    const node = await openScriptedNode({
      ...aTransactionAnswer(),
      debug_traceTransaction: () => BREAK,
    });
    await node.page.goto(`${node.url}/tx/${HASH}`);
    await node.page.getByText("broke twice").waitFor();
    expect(node.countOf("debug_traceTransaction")).toBe(2);
    // The rest of the page goes on.
    await node.page.getByText("succeeded").waitFor();
    const looks = node.countOf("eth_blockNumber");
    node.addBlock();
    await expect.poll(() => node.countOf("eth_blockNumber")).toBe(looks + 1);
    expect(node.countOf("debug_traceTransaction")).toBe(2);
  });

  it("subscribes once on each connection, also where one broke before the answer", async () => {
    let broken = 0;
    const node = await openScriptedNode({ eth_subscribe: () => (broken++ === 0 ? BREAK : "0x1") });
    await node.page.goto(node.url);
    await expect.poll(() => node.countOf("eth_subscribe")).toBeGreaterThan(1);
    await heightIs(node, 2);
    node.addBlock();
    await heightIs(node, 3);
    expect(node.countOf("eth_subscribe")).toBe(2);
  });

  it("follows the chain also while it is refused a subscription, and asks for it again", async () => {
    const node = await openScriptedNode({ eth_subscribe: refuse });
    await node.page.goto(node.url);
    await heightIs(node, 2);
    node.addBlock();
    await heightIs(node, 3);
    expect(node.countOf("eth_subscribe")).toBeGreaterThan(1);
    const refused = node.countOf("eth_subscribe");
    node.answer("eth_subscribe", () => "0x1");
    await expect.poll(() => node.countOf("eth_subscribe")).toBeGreaterThan(refused);
    node.addBlock();
    await heightIs(node, 4);
  });
});

function heightIs(node: ScriptedNode, height: number): Promise<void> {
  return expect.poll(() => node.page.locator("h1").textContent()).toBe(`${height}`);
}

function refuse(): never {
  throw new Error("Too many requests");
}
