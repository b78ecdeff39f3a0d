import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { ACCOUNT, IN_TROUBLE, longAnswers, TOKEN } from "./longAnswers.ts";
import { LOOKS, misfits } from "./looks.ts";
import { aNetworkAnswer, VALIDATORS } from "./networkAnswers.ts";
import { openScriptedNode, quantity, type ScriptedNode } from "./scriptedNode.ts";
import { HASH } from "./transactionAnswers.ts";

const NOWHERE = `0x${"9".repeat(64)}`;

/** Pages, and a text that each has once all of it is there. */
const PAGES: readonly (readonly [name: string, path: string, text: string])[] = [
  ["transaction", `/tx/${HASH}`, "Internal calls"],
  ["no transaction", `/tx/${NOWHERE}`, "No such transaction"],
  ["network", "/network", "Transactions that no block takes"],
  ["faucet", "/faucet", "Coins for an account"],
];

const MORE_PAGES: typeof PAGES = [
  ["overview", "/", "Newest transactions"],
  ["blocks", "/blocks", "Proposer"],
  ["block", "/block/1", "Transactions"],
  ["no block", `/block/${NOWHERE}`, "No such block"],
  ["account", `/address/${ACCOUNT}`, "Transfers of tokens"],
  ["no address", `/address/0x${"9".repeat(63)}`, "No such account"],
  ["mistyped address", `/address/0x${"aB".repeat(20)}`, "A mistyped address"],
  ["token", `/token/${TOKEN}`, "Transfers"],
  ["holders", `/token/${TOKEN}/holders`, "Balance"],
  ["search", `/search?q=${"x".repeat(100)}`, "Nothing found"],
  ["nothing", `/${"y".repeat(300)}`, "Nothing here"],
];

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages fit a phone and a screen", () => {
  afterAll(closeBrowser);

  async function openLongNode(): Promise<ScriptedNode> {
    const network = aNetworkAnswer();
    const status = network["explorer_getNodeStatus"]?.() as object;
    const node = await openScriptedNode({
      ...longAnswers(),
      ...network,
      explorer_getNodeStatus: () => ({ ...status, ...IN_TROUBLE }),
    });
    const { answer } = node;
    const known = longAnswers()["eth_getTransactionByHash"];
    answer("eth_getTransactionByHash", (hash) => (hash === NOWHERE ? null : known?.(hash)));
    for (let index = 0; index < 60; index++)
      node.addBlock({
        proposer: VALIDATORS[index % VALIDATORS.length],
        validatorCount: "0x4",
        round: index % 7 === 0 ? "0x1" : "0x0",
        gasUsed: quantity(20_000_000 + 100_000 * index),
      });
    await node.page.route("**/api/faucet", (route) =>
      route.fulfill({
        json: {
          amount: "0xde0b6b3a7640000",
          dailyLimit: "0x56bc75e2d63100000",
          addressCooldownSeconds: 86_400,
          hostCooldownSeconds: 3_600,
        },
      }),
    );
    return node;
  }

  it("whole, however long their texts are", async () => {
    const node = await openLongNode();
    const { page } = node;
    const cut: Record<string, readonly string[]> = {};
    for (const [name, path, text] of IS_THOROUGH ? [...PAGES, ...MORE_PAGES] : PAGES) {
      await page.goto(`${node.url}${path}`);
      await page.getByText(text, { exact: true }).first().waitFor();
      const changes = page.getByRole("button", { name: "Show what changed" });
      if (await changes.isVisible()) await changes.click();
      await expect.poll(() => page.locator(".loading").count()).toBe(0);
      for (const look of ["phone", "light"] as const) {
        await page.setViewportSize(LOOKS[look].viewport);
        const found = await misfits(page, `${name.replaceAll(" ", "-")}-${look}`);
        if (found.length > 0) cut[`${name}, ${look}`] = found;
      }
    }
    expect(cut).toEqual({});
    expect(node.complaints).toEqual([]);
  });

  it("with a table that scrolls by an arrow, which goes at its end", async () => {
    const node = await openLongNode();
    const { page } = node;
    await page.setViewportSize(LOOKS.phone.viewport);
    await page.goto(`${node.url}/blocks`);
    const right = page.getByRole("button", { name: "Scroll right" });
    const left = page.getByRole("button", { name: "Scroll left" });
    await right.click();
    await left.waitFor();
    await page.locator(".scroll").evaluate((box) => box.scrollTo({ left: box.scrollWidth }));
    await right.waitFor({ state: "detached" });
    await page.setViewportSize(LOOKS.light.viewport);
    await left.waitFor({ state: "detached" });
  });

  it("with charts whose labels are whole", async () => {
    const node = await openLongNode();
    const { page } = node;
    await page.addInitScript(NOTE_LABELS);
    for (const look of ["phone", "light"] as const) {
      await page.setViewportSize(LOOKS[look].viewport);
      await page.goto(`${node.url}/network`);
      await expect
        .poll(() => page.evaluate("labels.filter(({ text }) => text === '60').length"))
        .toBeGreaterThan(0);
      expect(
        await page.evaluate("labels.filter(({ left, right, width }) => left < 0 || right > width)"),
      ).toEqual([]);
    }
  });
});

/** Notes where a canvas has its texts, in its pixels. */
const NOTE_LABELS = `
globalThis.labels = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const { width } = this.measureText(text);
  const at = this.getTransform().transformPoint({ x, y }).x;
  const share = { center: 0.5, right: 1, end: 1 }[this.textAlign] ?? 0;
  labels.push({ text, left: at - share * width, right: at + (1 - share) * width, width: this.canvas.width });
  fill.call(this, text, x, y);
};
`;
