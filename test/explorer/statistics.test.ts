import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode, quantity } from "./scriptedNode.ts";
import { aTransactionAnswer } from "./transactionAnswers.ts";

const HOSTILE = "<img src=x onerror=globalThis.hacked=1>";
const TOKENS = ["Wrapped Coin", "Bridged Dollar", "Deeds of the valley", HOSTILE].map((name, index) => ({
  token: `0x${`${index + 1}`.repeat(40)}`,
  standard: index === 2 ? "ERC-721" : "ERC-20",
  name,
  symbol: name.slice(0, 3).toUpperCase(),
  transfers: quantity(40_000 - 9_000 * index),
  accounts: index === 0 ? "0xc8" : quantity(90 - index),
  hasMoreAccounts: index === 0,
  firstBlock: "0x1",
  lastBlock: quantity(120 - index),
}));

/** What a node with an index answers about tokens. */
const ANSWERS = {
  explorer_getTokens: (asked: unknown, text: unknown) => {
    const { cursor } = asked as { readonly cursor?: string | null };
    const found = TOKENS.filter(({ name }) => name.toLowerCase().includes(String(text).toLowerCase()));
    const isFirst = cursor === null || cursor === undefined;
    return {
      items: isFirst ? found.slice(0, 4) : found.slice(0, 1),
      next: isFirst && text === "" ? "0x01" : null,
      isCut: false,
      firstBlock: "0x1",
      lastBlock: "0x78",
    };
  },
  explorer_getToken: (address: unknown) => ({
    ...TOKENS.find(({ token }) => token === address),
    decimals: "0x12",
    totalSupply: quantity(2 ** 52),
  }),
};

afterAll(closeBrowser);

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages of what the index counts", () => {
  it("list tokens with names as text, and page through them", async () => {
    const { page, url, complaints } = await openScriptedNode(ANSWERS);
    await page.goto(`${url}/tokens`);
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(4);
    expect(await rows.first().textContent()).toContain("Wrapped Coin");
    expect(await rows.first().textContent()).toContain("200+");
    expect(await rows.nth(3).textContent()).toContain(HOSTILE.slice(0, 32));
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await page.title()).toBe("Tokens · Ibex explorer");
    await expectForEverybodyInEachLook(page, "tokens");
    await page.getByRole("link", { name: "Next" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("find tokens by a part of a name, on their page and in the header", async () => {
    const { page, url } = await openScriptedNode(ANSWERS);
    await page.goto(`${url}/tokens`);
    const field = page.getByLabel("Search tokens by name or symbol");
    await field.fill("dollar");
    await field.press("Enter");
    await page.getByRole("heading", { name: "Tokens named “dollar”" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    const header = page.getByLabel("Search by block number, hash, address or token");
    await header.fill("valley");
    await header.press("Enter");
    await page.getByRole("region", { name: "Tokens" }).getByText("Deeds of the valley").waitFor();
    await header.fill("nowhere");
    await header.press("Enter");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
    await page.getByText("nor part of the name of a token").waitFor();
  });

  it("draw each day, also those without a block", async () => {
    const today = Math.floor(Date.now() / 86_400_000);
    const days = Array.from({ length: 30 }, (_, back) => back)
      .filter((back) => back !== 11)
      .map((back) => ({
        day: quantity(today - back),
        firstBlock: "0x1",
        lastBlock: quantity(17_280),
        transactions: quantity(4_000 + 2_500 * (back % 7)),
        gasUsed: quantity(900_000_000 + 70_000_000 * ((back * 5) % 11)),
        fees: `0x${(10n ** 17n * BigInt(3 + (back % 5))).toString(16)}`,
        newAccounts: quantity(12 + ((back * 3) % 17)),
        spacing: quantity(86_400 + 300 * (back % 9)),
        longestSpacing: "0x5",
      }));
    const { page, url, complaints } = await openScriptedNode({
      explorer_getDays: (count) => ({
        days: days.slice(0, Number(count)),
        firstBlock: "0x1",
        lastBlock: "0x2",
      }),
    });
    await page.goto(`${url}/charts`);
    await page.getByRole("img", { name: "Transactions on each of 30 days: at most 19K" }).waitFor();
    await expect.poll(() => page.locator(".plot canvas").count()).toBe(5);
    await page.getByRole("img", { name: /Time between blocks on each of 30 days/ }).waitFor();
    await expectForEverybodyInEachLook(page, "charts");
    await page.getByRole("link", { name: "A year" }).click();
    await page.getByRole("link", { name: "A year", exact: true, includeHidden: false }).waitFor();
    expect(new URL(page.url()).search).toBe("?days=365");
    expect(complaints).toEqual([]);
  });

  it("name the only day of a new chain", async () => {
    const day = Date.UTC(2026, 10, 30) / 86_400_000;
    const one = {
      day: quantity(day),
      firstBlock: "0x1",
      lastBlock: "0x39",
      spacing: "0x3a",
      longestSpacing: "0x5",
    };
    const counted = { transactions: "0x14", gasUsed: "0x5208", fees: "0x0", newAccounts: "0x2" };
    const { page, url } = await openScriptedNode({
      explorer_getDays: () => ({ days: [{ ...one, ...counted }], firstBlock: "0x1", lastBlock: "0x39" }),
    });
    await page.addInitScript(NOTE_LABELS);
    await page.goto(`${url}/charts`);
    await expect
      .poll(() => page.evaluate("labels.filter((text) => text === '30 Nov').length"))
      .toBeGreaterThanOrEqual(5);
  });

  it("say so where the node keeps no index", async () => {
    const off = (): never => {
      throw new Error("The index by address is off.");
    };
    const { page, url } = await openScriptedNode({ explorer_getTokens: off, explorer_getDays: off });
    for (const path of ["/tokens", "/charts"]) {
      await page.goto(`${url}${path}`);
      await page.getByText("a node that keeps an index by address, which this one does not").waitFor();
    }
  });
});

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's tables of transactions", () => {
  it("name the function that each calls: a common one, one of an ABI that is known, or its selector", async () => {
    const inputs = ["0xa9059cbb", "0xac9650d8", "0x12345678", "0x", "0x"];
    const answers = aTransactionAnswer();
    const contract = `0x${"c3".repeat(20)}`;
    const { page, url } = await openScriptedNode({
      ...answers,
      eth_getBlockByNumber: () => ({
        ...BLOCK,
        transactions: inputs.map((_, index) => `0x${`${index + 1}`.repeat(64)}`),
      }),
      eth_getTransactionByHash: (hash) => {
        const index = Number(String(hash).slice(2, 3)) - 1;
        const transaction = answers["eth_getTransactionByHash"]?.() as object;
        const to = index === 4 ? null : contract;
        return { ...transaction, hash, to, input: inputs[index] };
      },
    });
    await page.goto(`${url}/block/1`);
    const names = () => page.locator("tbody td:nth-child(2)").allTextContents();
    await expect.poll(names).toEqual(["transfer", "multicall", "0x12345678", "payment", "creation"]);
    const abi = [
      { type: "function", name: "doubleIt", inputs: [{ name: "x", type: "uint256" }], outputs: [] },
    ];
    await page.evaluate(
      ([key, text]) => localStorage.setItem(key ?? "", text ?? ""),
      [`contract:${contract}`, JSON.stringify({ name: "Mine", abi })],
    );
    inputs[2] = "0x782ec2bc";
    await page.reload();
    await expect.poll(names).toEqual(["transfer", "multicall", "doubleIt", "payment", "creation"]);
  });
});

const BLOCK = {
  number: "0x1",
  hash: `0x${"1".repeat(64)}`,
  parentHash: `0x${"0".repeat(64)}`,
  timestamp: "0x6553f100",
  miner: `0x${"a1".repeat(20)}`,
  gasUsed: "0x0",
  gasLimit: "0x1c9c380",
  size: "0x220",
  stateRoot: `0x${"2".repeat(64)}`,
};

/** Notes the texts of the page's charts. */
const NOTE_LABELS = `
globalThis.labels = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  labels.push(text);
  fill.call(this, text, ...place);
};
`;
