import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAN_BROWSE, openBrowser } from "./browser.ts";
import { BREAK, openScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

describe.runIf(CAN_BROWSE)("the connection of the explorer's page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it("sends a call twice at most where its answer breaks the connection", async () => {
    const node = await openScriptedNode(browser, {
      ...aTransactionAnswer(),
      debug_traceTransaction: () => BREAK,
    });
    await node.page.goto(`${node.url}/tx/${HASH}`);
    await node.page.getByText("broke twice").waitFor();
    expect(node.countOf("debug_traceTransaction")).toBe(2);
    // The rest of the page goes on.
    await node.page.getByText("succeeded").waitFor();
    node.addBlock();
    await expect.poll(() => node.countOf("ibft_getRounds 0x3")).toBe(1);
    expect(node.countOf("debug_traceTransaction")).toBe(2);
  });
});
