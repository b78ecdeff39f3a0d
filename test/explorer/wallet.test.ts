import type { Page } from "playwright-core";
import { createWalletClient, type Hex, http } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_MNEMONIC } from "../../src/config/devNetwork.ts";
import { killRunning } from "../cluster/harness/nodeProcess.ts";
import { HANG_MS } from "../hang.ts";
import { IS_THOROUGH } from "../thorough.ts";
import {
  CAN_BROWSE,
  closeBrowser,
  type ExplorerNode,
  openPage,
  seriousBarriers,
  startExplorerNode,
} from "./browser.ts";
import { makeTraffic, type Traffic } from "./traffic.ts";

/** A wallet with one account, which announces itself in the page (EIP-6963) and is on another chain at first. */
const WALLET = `
let chainId = "0x1";
const provider = {
  async request({ method, params }) {
    if (method === "eth_requestAccounts") return [await globalThis.testAccount()];
    if (method === "eth_chainId") return chainId;
    if (method === "wallet_switchEthereumChain") { chainId = params[0].chainId; return null; }
    if (method === "eth_sendTransaction") return globalThis.testSend(params[0]);
    throw { code: 4200, message: "not supported: " + method };
  },
};
const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", {
  detail: { info: { uuid: "1", name: "<b>Test wallet</b>", icon: "", rdns: "test" }, provider },
}));
addEventListener("eip6963:requestProvider", announce);
`;

describe.runIf(CAN_BROWSE && IS_THOROUGH)("a contract in the explorer", () => {
  let node: ExplorerNode;
  let traffic: Traffic;

  beforeAll(async () => {
    node = await startExplorerNode();
    traffic = await makeTraffic(node);
  });

  afterAll(closeBrowser);
  afterAll(killRunning);

  async function openContract(): Promise<{ page: Page; complaints: string[] }> {
    const watched = await openPage();
    const { page } = watched;
    const account = mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 2 });
    const wallet = createWalletClient({ account, transport: http(node.httpUrl, { timeout: HANG_MS }) });
    await page.exposeFunction("testAccount", () => account.address);
    await page.exposeFunction("testSend", ({ to, data, value }: { to: Hex; data: Hex; value: Hex }) =>
      wallet.sendTransaction({ to, data, value: BigInt(value), chain: null }),
    );
    await page.addInitScript(WALLET);
    await page.goto(`${node.explorerUrl}/address/${traffic.token}`);
    return watched;
  }

  it("is described by its ABI, asked, and written to by the visitor's wallet", async () => {
    const { page, complaints } = await openContract();
    await page.getByLabel("ABI", { exact: true }).fill("{}");
    await page.getByRole("button", { name: "Use this ABI" }).click();
    await page.getByText("That is no ABI").waitFor();
    await page.getByLabel("Name").fill("My <i>token</i>");
    await page.getByLabel("File").setInputFiles({
      name: "Token.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ contractName: "Token", abi: traffic.tokenAbi })),
    });
    await expect.poll(() => page.getByLabel("ABI", { exact: true }).inputValue()).toContain("contractName");
    await page.getByRole("button", { name: "Use this ABI" }).click();

    const balance = page.locator("details", { hasText: "balanceOf(address)" });
    await balance.locator("summary").click();
    await balance.getByRole("textbox").fill("nobody");
    await balance.getByRole("button", { name: "Ask" }).click();
    await balance.getByText("forty digits").waitFor();
    await balance.getByRole("textbox").fill(traffic.sender);
    await balance.getByRole("button", { name: "Ask" }).click();
    await balance.getByText("999,987,750,000,000,000,000,000").waitFor();

    const note = page.locator("details", { hasText: "setNote(string)" });
    await note.locator("summary").click();
    await note.getByLabel("next string").fill("written from the page");
    await note.getByLabel("Amount").fill("0.25");
    await note.getByRole("button", { name: "Send by the wallet" }).click();
    const link = note.getByRole("link");
    await link.waitFor();
    expect(await seriousBarriers(page)).toEqual([]);
    await link.click();
    await page.getByText("succeeded").waitFor();
    await page.getByText("written from the page").first().waitFor();
    await page.getByText("0.25").first().waitFor();
    // By the name that the visitor gave, as text.
    await page.getByText("My <i>token</i>").first().waitFor();
    await page.getByRole("searchbox").fill("my <i>tok");
    await page.getByRole("searchbox").press("Enter");
    await page.getByRole("link", { name: "My <i>token</i>" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says what the wallet says where it refuses", async () => {
    const { page } = await openContract();
    await page.evaluate(
      `localStorage.setItem("contract:${traffic.token}", ${JSON.stringify(JSON.stringify({ name: "T", abi: traffic.tokenAbi }))})`,
    );
    await page.reload();
    await page.evaluate(
      "globalThis.testSend = async () => { throw { code: 4001, message: 'User <b>rejected</b>' } }",
    );
    const transfer = page.locator("details", { hasText: "transfer(address,uint256)" });
    await transfer.locator("summary").click();
    await transfer.getByLabel("to address").fill(traffic.sender);
    await transfer.getByLabel("value uint256").fill("1");
    await transfer.getByRole("button", { name: "Send by the wallet" }).click();
    await transfer.getByText("User <b>rejected</b>").waitFor();
  });
});
