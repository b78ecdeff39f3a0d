import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode, rendered } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages follow the chain", () => {
  afterAll(closeBrowser);

  it("to a transaction that was unknown at first, and no further than its block", async () => {
    const node = await openScriptedNode({
      eth_getTransactionByHash: () => null,
      eth_getTransactionReceipt: () => null,
    });
    const lookUps = () => node.countOf("eth_getTransactionByHash");
    await node.page.goto(`${node.url}/tx/${HASH}`);
    await node.page.getByRole("heading", { name: "No such transaction" }).waitFor();
    expect(lookUps()).toBe(1);
    const answers = aTransactionAnswer();
    for (const [method, answering] of Object.entries(answers)) node.answer(method, answering);
    node.answer("eth_getTransactionReceipt", () => null);
    node.addBlock();
    await node.page.getByText("waits in the pool").waitFor();
    expect(lookUps()).toBe(2);
    node.answer("eth_getTransactionReceipt", answers["eth_getTransactionReceipt"] ?? (() => null));
    node.addBlock();
    await node.page.getByText("succeeded").waitFor();
    expect(lookUps()).toBe(3);
    const looks = node.countOf("eth_blockNumber");
    node.addBlock();
    await expect.poll(() => node.countOf("eth_blockNumber")).toBe(looks + 1);
    await node.page.getByText("succeeded").waitFor();
    expect(lookUps()).toBe(3);
    expect(node.countOf("debug_traceTransaction")).toBe(1);
  });

  it("without asking twice at the start", async () => {
    for (const [path, asked] of [
      [`/address/0x${"11".repeat(20)}`, "eth_getBalance"],
      ["/", "txpool_status"],
      [`/tx/${HASH}`, "eth_getTransactionByHash"],
      [`/token/0x${"11".repeat(20)}`, "explorer_getToken"],
    ] as const) {
      const node = await openScriptedNode({
        eth_getBalance: () => "0x0",
        eth_getTransactionCount: () => "0x0",
        eth_getCode: () => "0x",
      });
      await node.page.goto(`${node.url}${path}`);
      await expect.poll(() => node.countOf(asked), { message: path }).toBeGreaterThan(0);
      const counted = () => node.countOf("eth_getBlockTransactionCountByNumber");
      // Blocks are loaded where they are shown; other pages follow the height alone.
      await expect.poll(counted, { message: path }).toBe(path === "/" ? 1 + node.head : 0);
      await rendered(node.page);
      expect(node.countOf(asked), path).toBe(1);
      node.addBlock();
      await expect.poll(() => node.countOf(asked), { message: path }).toBe(2);
      if (path === "/") await expect.poll(counted, { message: path }).toBeGreaterThan(node.head);
      else expect(counted(), path).toBe(0);
    }
  });
});
