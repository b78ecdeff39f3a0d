import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybody, expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode, type ScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

/** Of EIP-55: one in both cases, and one whose letters are all capital ones. */
const MIXED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const CAPITAL = "0x52908400098527886E0F7030069857D2E4169EE7";
/** A digit of MIXED has changed. */
const MISTYPED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
const LOWER = MIXED.toLowerCase();

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's addresses", () => {
  afterAll(closeBrowser);

  async function openAnswering(path: string): Promise<ScriptedNode> {
    const node = await openScriptedNode({
      ...aTransactionAnswer({ transaction: { from: LOWER, to: CAPITAL.toLowerCase() } }),
      eth_getBalance: () => "0x0",
      eth_getTransactionCount: () => "0x1",
      eth_getCode: () => "0x6000",
    });
    await node.page.goto(`${node.url}${path}`);
    return node;
  }

  it("have their checksum (EIP-55) where they are shown, linked and copied", async () => {
    const { page, url, countOf } = await openAnswering(`/tx/${HASH}`);
    for (const address of [MIXED, CAPITAL]) {
      const link = page.getByRole("link", { name: address, exact: true });
      expect(await link.getAttribute("href")).toBe(`/address/${address}`);
      expect(await link.getAttribute("title")).toBe(address);
    }
    await page.getByRole("link", { name: MIXED }).click();
    await page.getByRole("heading", { level: 1 }).getByText(MIXED).waitFor();
    expect(countOf(`eth_getBalance ${LOWER}`)).toBe(1);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: url });
    await page.getByRole("button", { name: "Copy the address" }).click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(MIXED);
  });

  it("are found in any case, with 0x or without", async () => {
    const { page } = await openAnswering("/");
    for (const text of [
      LOWER,
      MIXED,
      MIXED.slice(2),
      LOWER.toUpperCase(),
      `0x${LOWER.slice(2).toUpperCase()}`,
    ]) {
      await search(page, text);
      await expect.poll(() => new URL(page.url()).pathname, { message: text }).toBe(`/address/${MIXED}`);
      await page.goBack();
    }
  });

  it("are not opened unasked where their checksum says that they are mistyped", async () => {
    const { page, countOf, complaints } = await openAnswering("/");
    await search(page, MISTYPED);
    await page.getByRole("heading", { name: "A mistyped address" }).waitFor();
    await page.getByText(MISTYPED).waitFor();
    expect(countOf("eth_getBalance")).toBe(0);
    await expectForEverybodyInEachLook(page, "mistyped");
    await page.setViewportSize({ width: 320, height: 640 });
    await expectForEverybody(page, "mistyped-narrow");
    await page.getByRole("link", { name: "Show this account all the same" }).click();
    await expect.poll(() => countOf(`eth_getBalance ${MISTYPED.toLowerCase()}`)).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("are not handed to contracts and faucets either when they are mistyped", async () => {
    const { page, url, countOf } = await openAnswering(`/address/${LOWER}`);
    const input = { name: "owner", type: "address" };
    const entry = { type: "function", name: "of", inputs: [input], outputs: [], stateMutability: "view" };
    await page.getByLabel("ABI", { exact: true }).fill(JSON.stringify([entry]));
    await page.getByRole("button", { name: "Use this ABI" }).click();
    await page.getByText("of(address)").click();
    await page.getByLabel("owner").fill(MISTYPED);
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByText("do not fit its digits").waitFor();
    expect(countOf("eth_call")).toBe(0);

    let asked = 0;
    await page.route("**/api/faucet", async (route) => {
      if (route.request().method() === "POST") asked++;
      await route.fulfill({ json: FAUCET_TERMS });
    });
    await page.goto(`${url}/faucet`);
    await page.getByLabel("Address", { exact: true }).fill(MISTYPED);
    await page.getByRole("button", { name: "Ask for coins" }).click();
    await page.getByText("do not fit its digits").waitFor();
    expect(asked).toBe(0);
  });
});

const FAUCET_TERMS = {
  amount: "0x1",
  dailyLimit: "0x2",
  addressCooldownSeconds: 60,
  hostCooldownSeconds: 60,
};

async function search(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await page.getByRole("searchbox").press("Enter");
}
