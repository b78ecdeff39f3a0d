import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode, type ScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH, TRACE } from "./transactionAnswers.ts";

const CONTRACT = `0x${"c0".repeat(20)}`;

/** As compilers wrote it before they named the mutability of a state. */
const OLD_ABI = [
  { type: "function", name: "count", constant: true, inputs: [], outputs: [{ name: "", type: "uint256" }] },
  {
    type: "function",
    name: "add",
    constant: false,
    payable: true,
    inputs: [{ name: "by", type: "uint256" }],
  },
  { type: "function", name: "reset" },
  { type: "event", name: "Added", inputs: [{ name: "by", type: "uint256", indexed: false }] },
];

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the description of a contract", () => {
  afterAll(closeBrowser);

  async function openContract(): Promise<ScriptedNode> {
    const node = await openScriptedNode({
      eth_getBalance: () => "0x0",
      eth_getTransactionCount: () => "0x1",
      eth_getCode: () => "0x6000",
    });
    await node.page.goto(`${node.url}/address/${CONTRACT}`);
    return node;
  }

  async function describeBy({ page }: ScriptedNode, text: string): Promise<void> {
    await page.getByLabel("ABI", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Use this ABI" }).click();
  }

  it("is refused with a reason where it is none, too long, or finds no room", async () => {
    const node = await openContract();
    const { page } = node;
    const entry = { type: "function", name: "f", inputs: [] };
    const none = [
      "{}",
      "[]",
      "[1]",
      '[{"type":"function"}]',
      JSON.stringify([{ ...entry, inputs: [{ name: "a" }] }]),
      JSON.stringify([{ ...entry, inputs: [{ type: "tuple", components: 1 }] }]),
      JSON.stringify([{ ...entry, outputs: "none" }]),
    ];
    for (const text of none) {
      await describeBy(node, text);
      await page.getByText("That is no ABI").waitFor();
    }
    await describeBy(node, JSON.stringify(Array(2_001).fill(entry)));
    await page.getByText("has more than 2,000 entries").waitFor();
    await describeBy(node, JSON.stringify([entry]).padEnd(2_000_001));
    const tooLong = page.getByText("longer than the 2,000,000 characters");
    await tooLong.waitFor();
    await page.getByLabel("ABI", { exact: true }).fill("");
    await tooLong.waitFor({ state: "detached" });
    const file = { name: "Big.json", mimeType: "application/json", buffer: Buffer.alloc(2_000_001, "[") };
    await page.getByLabel("File").setInputFiles(file);
    await tooLong.waitFor();
    await page.evaluate(
      "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }",
    );
    await describeBy(node, JSON.stringify([entry]));
    await page.getByText("no room").waitFor();
    expect(node.complaints).toEqual([]);
  });

  it("is taken as old compilers wrote it, and divided into what reads and what writes", async () => {
    const node = await openContract();
    await describeBy(node, JSON.stringify(OLD_ABI));
    const functionsOf = (name: string) =>
      node.page.getByRole("region", { name }).locator("summary code").allTextContents();
    await expect.poll(() => functionsOf("Read the contract")).toEqual(["count()"]);
    expect(await functionsOf("Write to the contract")).toEqual(["add(uint256)", "reset()"]);
    expect(node.complaints).toEqual([]);
  });

  it("is read from the browser's storage once, for all that it names on a page", async () => {
    const log = { address: CONTRACT, topics: [`0x${"11".repeat(32)}`], data: "0x" };
    const node = await openScriptedNode({
      ...aTransactionAnswer({ transaction: { to: CONTRACT }, receipt: { logs: Array(15).fill(log) } }),
      debug_traceTransaction: () => ({ ...TRACE, calls: Array(15).fill({ ...TRACE, to: CONTRACT }) }),
    });
    const kept = JSON.stringify({ name: "Counter", abi: OLD_ABI });
    await node.page.addInitScript(`
      localStorage.setItem("contract:${CONTRACT}", ${JSON.stringify(kept)});
      globalThis.parsed = 0;
      const parse = JSON.parse;
      JSON.parse = (text) => { if (text.includes('"Counter"')) parsed++; return parse(text); };
    `);
    await node.page.goto(`${node.url}/tx/${HASH}`);
    const logs = node.page.getByRole("region", { name: "Logs" });
    await expect.poll(() => logs.getByText("Counter").count()).toBe(15);
    expect(await node.page.evaluate("parsed")).toBe(1);
  });

  it("is that of another tab as soon as it has changed there", async () => {
    const node = await openContract();
    await describeBy(node, JSON.stringify(OLD_ABI));
    await node.page.getByRole("button", { name: "Forget Contract" }).waitFor();
    await node.page.evaluate("localStorage.clear(); dispatchEvent(new StorageEvent('storage'))");
    await node.page.getByRole("button", { name: "Use this ABI" }).waitFor();
  });
});
