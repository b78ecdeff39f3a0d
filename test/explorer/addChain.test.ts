import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH, itIfThorough } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { aNetworkAnswer } from "./networkAnswers.ts";
import { openScriptedNode } from "./scriptedNode.ts";

const CONTRACT = `0x${"c0".repeat(20)}`;
const ACCOUNT = `0x${"a0".repeat(20)}`;
const SENT = `0x${"5e".repeat(32)}`;
const ABI = [{ type: "function", name: "poke", inputs: [], outputs: [], stateMutability: "nonpayable" }];

/** A wallet (EIP-1193) that knows chain 1 alone, and says so by this error. What it was asked stays in `asked`. */
function walletThatSays(error: object): string {
  return `
globalThis.asked = [];
let chainId = "0x1";
const known = new Set(["0x1"]);
globalThis.ethereum = {
  async request({ method, params }) {
    asked.push({ method, params });
    if (method === "eth_requestAccounts") return ["${ACCOUNT}"];
    if (method === "eth_chainId") return chainId;
    if (method === "wallet_addEthereumChain") { known.add(params[0].chainId); return null; }
    if (method === "wallet_switchEthereumChain") {
      if (!known.has(params[0].chainId)) throw ${JSON.stringify(error)};
      chainId = params[0].chainId;
      return null;
    }
    if (method === "eth_sendTransaction" && chainId === "0x539") return "${SENT}";
    throw { code: 4200, message: "not supported" };
  },
};
localStorage.setItem("contract:${CONTRACT}", ${JSON.stringify(JSON.stringify({ name: "Toy", abi: ABI }))});
`;
}

interface Rpc {
  readonly port: string;
  readonly isSecure: boolean;
  readonly isLocal: boolean;
}

const RPC: Rpc = { port: "0x2161", isSecure: false, isLocal: true };

describe.runIf(CAN_BROWSE && IS_THOROUGH)("a wallet that writes from the explorer's page", () => {
  afterAll(closeBrowser);

  async function poke(
    error: object,
    walletRpc: Rpc | null = RPC,
    beforeLoading?: (page: Page) => Promise<void>,
  ) {
    const network = aNetworkAnswer();
    const status = network["explorer_getNodeStatus"]?.() as object;
    const node = await openScriptedNode({
      ...network,
      explorer_getNodeStatus: () => ({ ...status, walletRpc }),
      eth_getBalance: () => "0x0",
      eth_getTransactionCount: () => "0x1",
      eth_getCode: () => "0x6000",
    });
    const { page } = node;
    await page.addInitScript(walletThatSays(error));
    await beforeLoading?.(page);
    await page.goto(`${node.url}/address/${CONTRACT}`);
    const form = page.locator("details", { hasText: "poke()" });
    await form.locator("summary").click();
    await form.getByRole("button", { name: "Send by the wallet" }).click();
    return { page, form, url: node.url };
  }

  const asked = (page: Page) =>
    page.evaluate<readonly { method: string; params?: readonly unknown[] }[]>("asked");
  const methods = async (page: Page) => (await asked(page)).map(({ method }) => method);

  const words: readonly (readonly [string, object, typeof it | typeof itIfThorough])[] = [
    ["by its code", { code: 4902, message: "?" }, it],
    [
      "within another error, as MetaMask on phones does",
      { code: -32603, data: { originalError: { code: 4902 } } },
      itIfThorough,
    ],
    ["in words", { code: -32603, message: 'Unrecognized chain ID "0x539".' }, itIfThorough],
  ];
  for (const [where, error, test] of words)
    test(`is offered the chain that it says ${where} that it lacks, and sends there`, async () => {
      const { page, form, url } = await poke(error);
      await form.getByText("Sent:").waitFor();
      const offers = (await asked(page)).filter(({ method }) => method === "wallet_addEthereumChain");
      expect(offers).toEqual([
        {
          method: "wallet_addEthereumChain",
          params: [
            {
              chainId: "0x539",
              chainName: "Chain 1337",
              nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
              rpcUrls: ["http://127.0.0.1:8545"],
              blockExplorerUrls: [url],
            },
          ],
        },
      ]);
      expect((await methods(page)).slice(-3)).toEqual([
        "eth_chainId",
        "wallet_switchEthereumChain",
        "eth_sendTransaction",
      ]);
    });

  it("is asked once the page can encode the call: its button is not clicked in vain before", async () => {
    let isDisabled: boolean | undefined;
    const { form } = await poke({ code: 4902, message: "?" }, RPC, async (page) => {
      await page.route("**/decoding*.js", async (route) => {
        const button = page.getByRole("button", { name: "Send by the wallet", includeHidden: true });
        await button.waitFor({ state: "attached" });
        isDisabled = await button.isDisabled();
        await route.continue();
      });
    });
    await form.getByText("Sent:").waitFor();
    expect(isDisabled).toBe(true);
  });

  it("is offered nothing where its owner refuses to switch, or there is no JSON-RPC for it", async () => {
    const refusing = await poke({ code: 4001, message: "User rejected" });
    await refusing.form.getByText("User rejected").waitFor();
    expect(await methods(refusing.page)).not.toContain("wallet_addEthereumChain");
    const without = await poke({ code: 4902, message: "?" }, null);
    await without.form.getByText("does not know chain 1337").waitFor();
    expect(await methods(without.page)).not.toContain("wallet_addEthereumChain");
  });
});
