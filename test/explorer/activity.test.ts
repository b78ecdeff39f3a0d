import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook, LOOKS, misfits } from "./looks.ts";
import { openScriptedNode, quantity } from "./scriptedNode.ts";
import { aTransactionAnswer } from "./transactionAnswers.ts";

const ACCOUNT = `0x${"d4".repeat(20)}`;
const TOKEN = `0x${"70".repeat(20)}`;
const word = (index: number): string => `0x${index.toString(16).padStart(64, "0")}`;

/** An account of some transactions and one transfer, on a node that is busy at its second page. */
function anActiveAccount(count = 240) {
  let hasRefused = false;
  return {
    ...aTransactionAnswer(),
    eth_getBalance: () => "0xde0b6b3a7640000",
    eth_getTransactionCount: () => "0x1",
    eth_getCode: () => "0x",
    explorer_getNodeStatus: () => ({
      coinSymbol: "ACME",
      walletRpc: null,
      blockHistory: { firstBlock: "0x0" },
    }),
    explorer_getToken: () => ({
      standard: "ERC-20",
      symbol: '=CMD("x")',
      decimals: "0x2",
      totalSupply: null,
    }),
    explorer_getTransactionsOf: (_account: unknown, page: unknown) => {
      const { size, cursor } = page as { readonly size: number; readonly cursor: string | null };
      const from = Number(cursor ?? "0x0");
      if (from === 100 && !hasRefused) {
        hasRefused = true;
        throw new Error("Too many requests");
      }
      const items = Array.from({ length: Math.min(size, count - from) }, (_, index) => ({
        blockNumber: quantity(count + 260 - from - index),
        timestamp: quantity(1_700_000_000 - from - index),
        transactionHash: word(from + index),
        from: ACCOUNT,
        to: TOKEN,
        created: null,
        value: "0x14d1120d7b160000",
        selector: "0xa9059cbb",
        hasFailed: index === 0,
        gasUsed: "0x5208",
        fee: "0x1",
      }));
      const next = from + size < count ? quantity(from + size) : null;
      return { items, next, firstBlock: "0x1" };
    },
    explorer_getTokensOf: () => ({
      items: [{ token: TOKEN, tokenId: null, balance: `0x${(10n ** 23n - 1n).toString(16)}` }],
      next: null,
      firstBlock: "0x1",
    }),
    explorer_getTokenTransfers: () => ({
      items: [
        {
          blockNumber: "0x1",
          timestamp: "0x6553f100",
          transactionHash: word(7),
          logIndex: "0x0",
          token: TOKEN,
          standard: "ERC-20",
          from: ACCOUNT,
          to: TOKEN,
          amounts: [{ tokenId: null, value: quantity(123_456) }],
          isCut: false,
        },
      ],
      next: null,
      firstBlock: "0x1",
    }),
  };
}

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's page of an account", () => {
  afterAll(closeBrowser);

  it("filters its lists by what stands in its address, and says what cannot be read", async () => {
    const node = await openScriptedNode(anActiveAccount());
    const { page, url } = node;
    await page.goto(`${url}/address/${ACCOUNT}`);
    await expect.poll(() => page.getByText("ACME").count()).toBeGreaterThan(0);
    await page.getByText("Filter what the account did").click();
    await page.getByLabel("Direction").selectOption("out");
    await page.getByLabel("From", { exact: true }).fill("2026-11-01");
    await page.getByLabel("To", { exact: true }).fill("500");
    await page.getByLabel("Token", { exact: true }).fill(TOKEN);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    const asked = () =>
      node.calls.findLast(({ method }) => method === "explorer_getTransactionsOf")?.params[2];
    const filter = { direction: "out", token: TOKEN, fromTime: 1_793_491_200, toBlock: 500 };
    await expect.poll(asked).toEqual(filter);
    expect(node.calls.findLast(({ method }) => method === "explorer_getTokenTransfers")?.params[2]).toEqual(
      filter,
    );
    await page.getByRole("region", { name: "Transactions" }).getByRole("link", { name: "Older" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("direction")).toBe("out");
    await expect.poll(asked).toEqual(filter);
    await expectForEverybodyInEachLook(page, "account-filtered");
    await page.getByLabel("From", { exact: true }).fill("yesterday");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("A time is a date").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
  });

  it("names a token as soon as the node's index knows it", async () => {
    let isIndexed = false;
    const { explorer_getToken, ...others } = anActiveAccount();
    const node = await openScriptedNode({
      ...others,
      explorer_getToken: () => (isIndexed ? explorer_getToken() : null),
    });
    const { page, url } = node;
    await page.goto(`${url}/address/${ACCOUNT}`);
    const name = page.getByRole("region", { name: "Transfers of tokens" }).locator("tbody bdi");
    await expect.poll(() => name.first().textContent()).toBe("0x7070…7070");
    await expect.poll(() => node.countOf("explorer_getToken")).toBeGreaterThan(0);
    isIndexed = true;
    await expect
      .poll(() => {
        node.addBlock();
        return name.first().textContent();
      })
      .toBe('=CMD("x")');
  });

  it("saves its lists as files, page by page, and waits for a node that is busy", async () => {
    const { page, url, complaints } = await openScriptedNode(anActiveAccount());
    await page.goto(`${url}/address/${ACCOUNT}`);
    const fileOf = async (region: string): Promise<readonly string[]> => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("region", { name: region }).getByRole("button", { name: "CSV" }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^(transactions|transfers)-0xd4d4d4d4\.csv$/);
      return readFileSync(await download.path(), "utf8")
        .trimEnd()
        .split("\r\n");
    };
    const transactions = await fileOf("Transactions");
    expect(transactions).toHaveLength(241);
    expect(transactions[0]).toBe("block,time,transaction,from,to,created,selector,value,fee,gas,failed");
    expect(transactions[1]).toBe(
      `500,2023-11-14T22:13:20.000Z,${word(0)},${ACCOUNT},${TOKEN},,0xa9059cbb,1.5,0.000000000000000001,21000,yes`,
    );
    await page.getByText("240 rows").waitFor();
    const transfers = await fileOf("Transfers of tokens");
    expect(transfers[1]).toBe(
      `1,2023-11-14T22:13:20.000Z,${word(7)},0,${TOKEN},ERC-20,${ACCOUNT},${TOKEN},,1234.56,1`,
    );
    expect(transfers.join()).not.toContain("CMD");
    expect(complaints).toEqual([]);
  });

  it("does not ask for each row for a token that the node does not know", async () => {
    const { explorer_getTokenTransfers, ...others } = anActiveAccount();
    const [transfer] = explorer_getTokenTransfers().items;
    const node = await openScriptedNode({
      ...others,
      explorer_getToken: () => null,
      explorer_getTokenTransfers: () => ({
        items: Array.from({ length: 100 }, () => transfer),
        next: null,
        firstBlock: "0x1",
      }),
    });
    const { page, url } = node;
    await page.goto(`${url}/address/${ACCOUNT}`);
    await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("region", { name: "Transfers of tokens" }).getByRole("button", { name: "CSV" }).click(),
    ]);
    expect(node.countOf("explorer_getToken")).toBeLessThan(20);
  });

  it("saves the newest 20,000 rows of a longer list, and says how to get the others", async () => {
    const { page, url, complaints } = await openScriptedNode(anActiveAccount(20_050));
    await page.goto(`${url}/address/${ACCOUNT}`);
    const list = page.getByRole("region", { name: "Transactions" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      list.getByRole("button", { name: "CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines).toHaveLength(20_001);
    expect(new Set(lines)).toHaveProperty("size", 20_001);
    expect(lines.at(-1)).toMatch(/^311,/);
    await list.getByText("the newest 20,000 rows; for older ones filter to block 311").waitFor();
    await page.setViewportSize(LOOKS.phone.viewport);
    expect(await misfits(page, "account-csv")).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("shows what it has of a token on one line each, on a phone as well", async () => {
    const { page, url } = await openScriptedNode(anActiveAccount());
    for (const { viewport } of [LOOKS.light, LOOKS.phone]) {
      await page.setViewportSize(viewport);
      await page.goto(`${url}/address/${ACCOUNT}`);
      const tokens = page.getByRole("region", { name: "Tokens", exact: true });
      await tokens.getByText("999,999,999,999,999,999,999.99").waitFor();
      const heights = tokens
        .locator("li > *")
        .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().height));
      for (const height of await heights) expect(height).toBeLessThan(30);
    }
  });
});
