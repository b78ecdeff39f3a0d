import type { Page } from "playwright-core";
import { getAddress, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killRunning, until } from "../cluster/harness/nodeProcess.ts";
import { compileTokenContracts } from "../contracts/tokenContracts.ts";
import { IS_THOROUGH } from "../thorough.ts";
import {
  CAN_BROWSE,
  closeBrowser,
  type ExplorerNode,
  figure,
  openPage,
  startExplorerNode,
} from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { HOSTILE_NAME, makeTraffic, openDevWallet, type Traffic } from "./traffic.ts";

/** Owners of a deed each: more than a page has. */
const OWNERS = Array.from(
  { length: 30 },
  (_, index) => `0x${(index + 1).toString(16).padStart(40, "a")}` as Hex,
);

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages of tokens", () => {
  let node: ExplorerNode;
  let traffic: Traffic;
  let tokens: Tokens;

  beforeAll(async () => {
    node = await startExplorerNode();
    traffic = await makeTraffic(node);
    tokens = await makeTokens(node);
    await indexed();
  });

  /** The index follows the head with the lowest priority: on a busy machine it is blocks behind. */
  async function indexed(): Promise<void> {
    const head = Number(await node.rpc("eth_blockNumber"));
    await until(async () => {
      const { lastBlock } = await node.rpc<{ lastBlock: string | null }>("explorer_getIndexStatus");
      return Number(lastBlock) >= head ? true : undefined;
    }, "the index of the head");
  }

  afterAll(closeBrowser);
  afterAll(killRunning);

  async function visit(path: string): Promise<{ page: Page; complaints: string[] }> {
    const watched = await openPage();
    await watched.page.goto(`${node.explorerUrl}${path}`);
    await watched.page.locator("tbody tr").first().waitFor();
    return watched;
  }

  it("show a fungible token, its transfers and the shares of its holders, and are linked", async () => {
    const { page, complaints } = await visit(`/tx/${traffic.tokenTransfer}`);
    await page
      .getByRole("region", { name: "Transfers of tokens" })
      .getByRole("link", { name: "<b>HT</b>" })
      .click();
    await expect
      .poll(() => page.locator("h1 bdi").first().textContent())
      .toBe(HOSTILE_NAME.replace("\u202e", "\ufffd").slice(0, 64));
    expect(await figure(page, "Supply")).toBe("1,000,000");
    await expect.poll(() => cells(page)).toContainEqual(expect.arrayContaining(["minted", "1,000,000"]));
    expect(await cells(page)).toContainEqual(expect.arrayContaining(["12.25"]));
    await page.getByRole("link", { name: "Holders" }).click();
    await expect.poll(() => cells(page)).toContainEqual(expect.arrayContaining(["12.25", "under 0.01 %"]));
    expect(await cells(page)).toContainEqual(expect.arrayContaining(["999,987.75", "99.99 %"]));
    expect((await cells(page))[0]).toContain("999,987.75");
    expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
    expect(await page.locator("main img, main script, main b").count()).toBe(0);
    await page.goto(`${node.explorerUrl}/address/${traffic.token}`);
    await page.getByText("ERC-20 token").waitFor();
    expect(await page.locator(`header a[href="/token/${getAddress(traffic.token)}"]`).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("page through owners and transfers of one-of-a-kind tokens", async () => {
    const { page } = await visit(`/token/${tokens.deeds}/holders`);
    await expect.poll(() => page.locator("tbody tr").count()).toBe(25);
    await page.getByRole("link", { name: "Next" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(5);
    await page.getByRole("link", { name: "First" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(25);
    await page.getByRole("link", { name: "Transfers" }).click();
    await page.getByRole("link", { name: "Older →" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(5);
    expect(await cells(page)).toContainEqual(expect.arrayContaining(["minted", "№ 1"]));
  });

  it("show batches, and a token that lies", async () => {
    const { page } = await visit(`/token/${tokens.stamps}`);
    await expect.poll(() => cells(page)).toContainEqual(expect.arrayContaining(["1 № 1000 and 3 more"]));
    await page.goto(`${node.explorerUrl}/token/${tokens.stamps}/holders`);
    await expect.poll(() => cells(page)).toContainEqual(expect.arrayContaining(["4 № 1003"]));
    await page.goto(`${node.explorerUrl}/token/${tokens.impostor}`);
    await page.getByRole("heading", { name: "Without a name" }).waitFor();
    expect(await figure(page, "Supply")).toBe("–");
    await expect.poll(() => page.locator("td [title]").count()).toBeGreaterThan(0);
  });

  it("show one number of a token: whose it is, who moved it, and its URI as text", async () => {
    const { page, complaints } = await visit(`/token/${tokens.deeds}/holders`);
    const [owner = ""] = OWNERS;
    await page.getByRole("link", { name: "№ 1", exact: true }).click();
    await page.getByRole("heading", { name: "№ 1" }).waitFor();
    await page.getByRole("link", { name: getAddress(owner), exact: true }).waitFor();
    await page.getByText("https://example.org/<img src=x onerror=globalThis.hacked=1>").waitFor();
    await expect.poll(() => cells(page)).toEqual([expect.arrayContaining(["minted", "№ 1"])]);
    expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
    expect(await page.locator("main img, main a[href*='example.org']").count()).toBe(0);
    await page.goto(`${node.explorerUrl}/token/${tokens.deeds}/id/12345`);
    await page.getByText("nobody, as the contract answers").waitFor();
    await page.getByText("No transfer has moved it").waitFor();
    // Of a batch, what was moved of this one; its contract tells no URI.
    await page.goto(`${node.explorerUrl}/token/${tokens.stamps}/id/1003`);
    await page.getByText("the contract tells none").waitFor();
    const moved = page.getByRole("region", { name: "Transfers" }).locator("tbody tr");
    await expect.poll(() => moved.locator("td").last().textContent()).toBe("4 № 1003");
    const holders = page.getByRole("region", { name: "Holders" }).locator("tbody tr");
    await expect.poll(() => holders.locator("td").last().textContent()).toBe("4 № 1003");
    expect(complaints).toEqual([]);
  });

  it("follow the chain, and say what is no token", async () => {
    const { page } = await visit(`/token/${tokens.deeds}`);
    const owner = getAddress(`0x${"b".repeat(40)}`);
    await tokens.mintDeed(owner, 2n ** 200n);
    await expect
      .poll(() => cells(page))
      .toContainEqual(expect.arrayContaining([`${owner.slice(0, 6)}…${owner.slice(-4)}`]));
    await page.goto(`${node.explorerUrl}/token/${traffic.sender}`);
    await page.getByRole("heading", { name: "No token" }).waitFor();
    await page.goto(`${node.explorerUrl}/token/${encodeURIComponent("<b>")}`);
    await page.getByRole("heading", { name: "No such token" }).waitFor();
    await page.goto(`${node.explorerUrl}/token/${tokens.deeds}?after=0xzz`);
    await page.getByRole("alert").waitFor();
  });

  it("have no barrier, and fit a phone", async () => {
    const paths = {
      token20: `/token/${traffic.token}`,
      holders20: `/token/${traffic.token}/holders`,
      token721: `/token/${tokens.deeds}`,
      token1155: `/token/${tokens.stamps}`,
      holders1155: `/token/${tokens.stamps}/holders`,
      id721: `/token/${tokens.deeds}/id/1`,
      id1155: `/token/${tokens.stamps}/id/7`,
      impostor: `/token/${tokens.impostor}`,
    };
    for (const [name, path] of Object.entries(paths)) {
      const { page, complaints } = await visit(path);
      await expectForEverybodyInEachLook(page, name);
      expect(complaints, name).toEqual([]);
      await page.close();
    }
  });
});

interface Tokens {
  readonly deeds: Hex;
  readonly stamps: Hex;
  readonly impostor: Hex;
  mintDeed(to: Hex, id: bigint): Promise<void>;
}

/** Deploys tokens of the later standards, and one whose event has the largest number, and moves them. */
async function makeTokens(node: ExplorerNode): Promise<Tokens> {
  const { account, wallet, mined } = openDevWallet(node);
  const compiled = compileTokenContracts();
  const deploy = async (name: keyof typeof compiled) => {
    const { abi, bytecode } = compiled[name];
    const { contractAddress } = await mined(await wallet.deployContract({ abi, bytecode }));
    return { abi, address: contractAddress ?? "0x" };
  };
  const [deeds, stamps, impostor] = [await deploy("Deeds"), await deploy("Stamps"), await deploy("Impostor")];
  const write = (contract: typeof deeds, functionName: string, args: readonly unknown[]) =>
    wallet.writeContract({ ...contract, functionName, args });
  const sent: Hex[] = [];
  for (const [index, owner] of OWNERS.entries())
    sent.push(await write(deeds, "mint", [owner, BigInt(index + 1)]));
  sent.push(await write(stamps, "mint", [account.address, 7n, 50n]));
  sent.push(await write(stamps, "mintMany", [account.address, 4n]));
  const party = `0x${"0".repeat(24)}${"c".repeat(40)}` as Hex;
  sent.push(await write(impostor, "shout", [party, party, `0x${"0".repeat(64)}`, `0x${"f".repeat(64)}`]));
  for (const hash of sent) await mined(hash);
  return {
    deeds: deeds.address,
    stamps: stamps.address,
    impostor: impostor.address,
    async mintDeed(to, id) {
      await mined(await write(deeds, "mint", [to, id]));
    },
  };
}

function cells(page: Page): Promise<readonly (readonly string[])[]> {
  return page
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map(({ textContent }) => (textContent ?? "").trim())),
    );
}
