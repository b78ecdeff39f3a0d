import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode, quantity } from "./scriptedNode.ts";

const SENDER = `0x${"d4".repeat(20)}`;
const TOKEN = `0x${"70".repeat(20)}`;

/** A reason, what the page says of it, and members of the transaction. */
const WAITING: readonly (readonly [reason: string, words: string, members?: object])[] = [
  ["nonceGap", "Nonce 7 of its sender is missing.", { nextNonce: "0x7" }],
  ["belowBaseFee", "less than the base fee of 1,000 wei", { askedPrice: "0x3e8" }],
  ["belowMinGasPrice", "this node asks for 1,000 wei", { askedPrice: "0x3e8" }],
  ["gasAboveBlock", "Its gas limit of 31,000,000 exceeds", { gas: quantity(31_000_000) }],
  ["insufficientBalance", "It may cost 2, and its sender has 0.5."],
  ["earlierNonce", "Earlier transactions of its sender wait as well."],
  ["fullBlock", "The newest block had no room for it."],
  ["unknown", "Validators may ask for more."],
  ["nextBlock", "It waits for the next block.", { to: null }],
];

function aPoolPage(rows = WAITING): object {
  const items = rows.map(([reason, , members], index) => ({
    hash: `0x${index.toString(16).padStart(64, "a")}`,
    from: SENDER,
    to: TOKEN,
    nonce: quantity(index),
    value: "0x1bc16d674ec80000",
    gas: "0x5208",
    selector: "0xa9059cbb",
    isLocal: true,
    since: "0x6553f100",
    price: "0x1f4",
    maxPrice: "0x1f4",
    reason,
    askedPrice: null,
    nextNonce: "0x0",
    cost: "0x1bc16d674ec80000",
    balance: "0x6f05b59d3b20000",
    ...members,
  }));
  return { items, next: null, pending: "0x8", queued: "0x1", minGasPrice: "0x3e8", minPriorityFee: "0x0" };
}

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's page of the pool", () => {
  afterAll(closeBrowser);

  it("says of each transaction at which price it waits, and why", async () => {
    const { page, url, complaints } = await openScriptedNode({ explorer_getPool: () => aPoolPage() });
    await page.goto(`${url}/pool`);
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(WAITING.length);
    for (const [index, [, words]] of WAITING.entries())
      expect(await rows.nth(index).textContent()).toContain(words);
    expect(await rows.nth(0).textContent()).toContain("500 wei");
    expect(await page.title()).toBe("Pool · Ibex explorer");
    await expectForEverybodyInEachLook(page, "pool");
    expect(complaints).toEqual([]);
  });

  it("pages by the node's cursors, from either end, and follows the chain", async () => {
    const node = await openScriptedNode({
      explorer_getPool: (asked) => {
        const { cursor, order } = asked as { readonly cursor: string | null; readonly order: string };
        const page = aPoolPage(WAITING.slice(0, cursor === null ? 3 : 2));
        return { ...page, next: cursor === null ? `0x${order === "oldest" ? "01" : "02"}` : null };
      },
    });
    const { page, url } = node;
    await page.goto(`${url}/pool`);
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole("link", { name: "Later" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("link", { name: "Newest" }).click();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole("link", { name: "Older" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(node.calls.findLast(({ method }) => method === "explorer_getPool")?.params).toEqual([
      { size: 25, order: "newest", cursor: "0x02" },
    ]);
    node.answer("explorer_getPool", () => aPoolPage([]));
    node.addBlock();
    await page.getByText("No transaction waits here.").waitFor();
  });
});
