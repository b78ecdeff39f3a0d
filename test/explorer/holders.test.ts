import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode, quantity, type ScriptedNode } from "./scriptedNode.ts";

const TOKEN = `0x${"70".repeat(20)}`;

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's list of the holders of a token", () => {
  afterAll(closeBrowser);

  /** A token that so many accounts hold, the first by address the least. */
  async function openHolders(count: number): Promise<ScriptedNode> {
    const node = await openScriptedNode({
      explorer_getToken: () => ({ ...FACTS, totalSupply: quantity(10_000) }),
      explorer_getTokenHolders: (_, page) => {
        const { size, cursor } = page as { size: number; cursor: string | null };
        const from = Number(cursor ?? 0);
        const until = Math.min(count, from + size);
        const items = Array.from({ length: until - from }, (_item, index) => holderAt(from + index));
        return { items, next: until < count ? quantity(until) : null, firstBlock: "0x1" };
      },
    });
    await node.page.goto(`${node.url}/token/${TOKEN}/holders`);
    return node;
  }

  const balances = ({ page }: ScriptedNode) => page.locator("tbody td:nth-child(2)").allTextContents();

  it("has the largest first, whatever their addresses, page by page", async () => {
    const node = await openHolders(130);
    await expect.poll(async () => (await balances(node)).slice(0, 2)).toEqual(["130", "129"]);
    expect(node.countOf("explorer_getTokenHolders")).toBe(2);
    await node.page.getByRole("link", { name: "Next" }).click();
    await expect.poll(async () => (await balances(node))[0]).toBe("105");
    expect(await node.page.getByText("compares").count()).toBe(0);
    expect(node.complaints).toEqual([]);
  });

  it("compares a bounded number, says so, and leads to all by address", async () => {
    const node = await openHolders(2_000);
    await node.page.getByText("more than the 1,000 holders that this page compares").waitFor();
    expect((await balances(node))[0]).toBe("1,000");
    expect(node.countOf("explorer_getTokenHolders")).toBe(10);
    await node.page.getByRole("link", { name: "All, by address" }).click();
    await expect.poll(async () => (await balances(node))[0]).toBe("1");
    await node.page.getByRole("link", { name: "Next" }).click();
    await expect.poll(async () => (await balances(node))[0]).toBe("26");
  });
});

const FACTS = { standard: "ERC-20", name: "Coin", symbol: "COIN", decimals: "0x0", totalSupply: null };

function holderAt(index: number): object {
  const holder = `0x${(index + 1).toString(16).padStart(40, "0")}`;
  return { holder, standard: "ERC-20", tokenId: null, balance: quantity(index + 1) };
}
