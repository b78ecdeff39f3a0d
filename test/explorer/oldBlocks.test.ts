import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { aNetworkAnswer } from "./networkAnswers.ts";
import { type Answering, openScriptedNode } from "./scriptedNode.ts";

const ACCOUNT = `0x${"ac".repeat(20)}`;
const HASH = `0x${"0123456789abcdef".repeat(4)}`;

/** A node that has whole blocks from 2 on, and states from 3 on. */
function aPrunedNode(): Readonly<Record<string, Answering>> {
  const network = aNetworkAnswer();
  const status = network["explorer_getNodeStatus"]?.() as object;
  return {
    ...network,
    explorer_getNodeStatus: () => ({
      ...status,
      blockHistory: { firstBlock: "0x2", keptBlocks: "0x400", blocksToRemove: "0x190" },
      stateHistory: { firstBlock: "0x3", keptBlocks: "0x80", blocksToRemove: "0x0" },
    }),
    eth_getBlockByNumber: () => null,
    eth_getBlockByHash: () => null,
    eth_getTransactionByHash: () => null,
    eth_getTransactionReceipt: () => null,
    eth_getBlockTransactionCountByNumber: (number) => (Number(number) === 1 ? null : "0x5"),
    eth_getBalance: () => "0x0",
    eth_getTransactionCount: () => "0x0",
    eth_getCode: () => "0x",
    explorer_getTransactionsOf: () => ({ items: [], next: null, firstBlock: "0x2", lastBlock: "0x2" }),
  };
}

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the pages of a node that has removed old blocks", () => {
  afterAll(closeBrowser);

  it("show what the header tells of such a block, and say what is missing", async () => {
    const { page, url, complaints } = await openScriptedNode(aPrunedNode());
    await page.goto(`${url}/block/1`);
    await page.getByText("This node has whole blocks from 2 on").waitFor();
    const header = page.getByRole("region", { name: "Header" });
    await header.getByText(`0x${"1".padStart(64, "0")}`).waitFor();
    expect(await header.textContent()).toContain("in round 0 of 1 validators");
    await page.goto(`${url}/block/99`);
    await page.getByText("This chain has no block 99 yet.").waitFor();
    await page.goto(`${url}/blocks`);
    // Below the headings and block 2.
    await page.getByRole("row").nth(2).getByText("–").waitFor();
    expect(complaints).toEqual([]);
  });

  it("say that a hash which they do not find may be of an older block", async () => {
    const { page, url } = await openScriptedNode(aPrunedNode());
    const note = page.getByText("This node has whole blocks from 2 on");
    for (const [path, title] of [
      [`/block/${HASH}`, "No such block"],
      [`/tx/${HASH}`, "No such transaction"],
      [`/search?q=${HASH}`, "Nothing found"],
    ]) {
      await page.goto(`${url}${path}`);
      await page.getByRole("heading", { name: title ?? "" }).waitFor();
      await note.waitFor();
    }
    await page.goto(`${url}/search?q=nonsense`);
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    expect(await note.count()).toBe(0);
  });

  it("say since when an account's transactions are listed, and what the node keeps", async () => {
    const { page, url } = await openScriptedNode(aPrunedNode());
    await page.goto(`${url}/address/${ACCOUNT}`);
    await page.getByText("No transaction since block 2 has named this account.").waitFor();
    await page.goto(`${url}/network`);
    const machine = page.getByRole("region", { name: "Machine" });
    await expect
      .poll(() => machine.textContent())
      .toMatch(/Whole blocksfrom 2 on 1,024 below the head are kept 400 are being removed.*Statesfrom 3 on/);
  });

  it("say none of that where the node has all", async () => {
    const { page, url } = await openScriptedNode({ ...aPrunedNode(), ...aNetworkAnswer() });
    await page.goto(`${url}/tx/${HASH}`);
    await page.getByRole("heading", { name: "No such transaction" }).waitFor();
    await page.goto(`${url}/block/1`);
    await page.getByText("This chain has no block 1 yet.").waitFor();
    await page.goto(`${url}/network`);
    const machine = page.getByRole("region", { name: "Machine" });
    await expect.poll(() => machine.textContent()).toMatch(/Whole blocksall.*Statesall/);
    expect(await page.getByText("This node has whole blocks").count()).toBe(0);
  });
});
