import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killRunning, until } from "../cluster/harness/nodeProcess.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser, type ExplorerNode, openPage, startExplorerNode } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { rendered } from "./scriptedNode.ts";
import { HOSTILE_NAME, HOSTILE_REASON, makeTraffic, type Traffic } from "./traffic.ts";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages", () => {
  let node: ExplorerNode;
  let traffic: Traffic;

  beforeAll(async () => {
    node = await startExplorerNode();
    traffic = await makeTraffic(node);
    await until(() => isIndexed(node, traffic.reverted), "the index by address");
  });

  afterAll(closeBrowser);
  afterAll(killRunning);

  /** Opens a page and waits until it has all that it asks for. */
  async function visit(path: string): Promise<{ page: Page; complaints: string[] }> {
    const watched = await openPage();
    await watched.page.goto(`${node.explorerUrl}${path}`);
    await watched.page.locator("h1").first().waitFor();
    await expect.poll(() => watched.page.locator(".loading").count()).toBe(0);
    return watched;
  }

  function paths(): Readonly<Record<string, string>> {
    return {
      home: "/",
      blocks: "/blocks",
      block: "/block/1",
      transfer: `/tx/${traffic.transfer}`,
      tokenTransfer: `/tx/${traffic.tokenTransfer}`,
      calls: `/tx/${traffic.calls}`,
      noted: `/tx/${traffic.noted}`,
      refused: `/tx/${traffic.refused}`,
      reverted: `/tx/${traffic.reverted}`,
      creation: `/tx/${traffic.creation}`,
      account: `/address/${traffic.sender}`,
      contract: `/address/${traffic.token}`,
      token: `/token/${traffic.token}`,
      network: "/network",
      nothing: "/nothing/here",
    };
  }

  it("open without an error or a barrier, in each look", async () => {
    for (const [name, path] of Object.entries(paths())) {
      const { page, complaints } = await visit(path);
      await expectForEverybodyInEachLook(page, name);
      expect(complaints, name).toEqual([]);
      await page.close();
    }
  });

  it("show what an account did, and a token with its holders", async () => {
    const { page } = await visit(`/address/${traffic.sender}`);
    const own = page.getByRole("region", { name: "Transactions", exact: true });
    await expect.poll(() => own.locator("tbody tr").count()).toBeGreaterThan(6);
    expect(await own.getByText("failed").count()).toBe(2);
    await page.getByRole("region", { name: "Tokens", exact: true }).getByText("999,987.75").waitFor();
    await page.getByRole("link", { name: "<b>HT</b>" }).first().click();
    await page.getByRole("heading", { level: 1 }).getByText("onerror=").waitFor();
    const transfers = page.getByRole("region", { name: "Transfers" });
    await transfers.getByText("12.25").waitFor();
    expect(await transfers.locator("tbody tr").count()).toBe(2);
    await page.getByRole("link", { name: "Holders" }).click();
    const holders = page.getByRole("region", { name: "Holders" });
    await holders.getByText("12.25").waitFor();
    expect(await holders.locator("tbody tr").count()).toBe(2);
  });

  it("show what the chain says as text", async () => {
    const { page } = await visit(`/tx/${traffic.reverted}`);
    await page.getByText("execution reverted").first().waitFor();
    await expect.poll(() => page.locator("q.text").first().textContent()).toBe(HOSTILE_REASON);
    const described = JSON.stringify({ name: HOSTILE_NAME, abi: traffic.tokenAbi });
    await page.evaluate(`localStorage.setItem("contract:${traffic.token}", ${JSON.stringify(described)})`);
    await page.goto(`${node.explorerUrl}/tx/${traffic.noted}`);
    const shown = HOSTILE_NAME.replace("\u202e", "\ufffd");
    await expect.poll(() => page.locator("q.text").first().textContent()).toBe(shown);
    for (const path of Object.values(paths())) {
      await page.goto(`${node.explorerUrl}${path}`);
      await page.locator("h1").first().waitFor();
      expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
      expect(await page.locator("main img, main script, main b").count()).toBe(0);
    }
  });

  it("answer any text in the place of numbers, hashes and addresses", async () => {
    const { page, complaints } = await visit("/");
    const odd = [
      "",
      "-1",
      "1e9",
      "0x",
      "999999999999999",
      `0x${"f".repeat(64)}`,
      `0x${"0".repeat(40)}`,
      "%3Cscript%3E",
      "%E0%A4%A",
      "..%2f..",
      "a".repeat(2_000),
    ];
    for (const kind of ["block", "tx", "address", "blocks", "search"])
      for (const text of odd) {
        await page.goto(`${node.explorerUrl}/${kind}/${text}`);
        await page.locator("h1").first().waitFor();
        await page.evaluate(GO_TO, `/${kind}?q=${text}&from=${text}&page=${text}`);
        await rendered(page);
        await page.locator("h1").first().waitFor();
      }
    expect(complaints).toEqual([]);
  });
});

/** Goes to another path as a link of the page does, without loading the page again. */
const GO_TO = (path: string): void => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
};

async function isIndexed(node: ExplorerNode, hash: string): Promise<true | undefined> {
  const [{ blockNumber }, { lastBlock }] = await Promise.all([
    node.rpc<{ blockNumber: string }>("eth_getTransactionReceipt", [hash]),
    node.rpc<{ lastBlock: string | null }>("explorer_getIndexStatus"),
  ]);
  return Number(lastBlock ?? -1) >= Number(blockNumber) || undefined;
}
