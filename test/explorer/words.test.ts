import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

const ACCOUNT = `0x${"ac".repeat(20)}`;
const DELEGATE = `0x${"de".repeat(20)}`;
const NOBODY = `0x${"0".repeat(40)}`;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's pages say", () => {
  afterAll(closeBrowser);

  it("of an account that runs another's code (EIP-7702) that it is an account", async () => {
    const code = `0xef0100${DELEGATE.slice(2)}`;
    const { page, url } = await openScriptedNode({
      ...aTransactionAnswer({ transaction: { type: "0x4" } }),
      eth_getBalance: () => "0x0",
      eth_getTransactionCount: () => "0x2",
      eth_getCode: (address) => (address === ACCOUNT ? code : "0x6000"),
      debug_traceTransaction: () => ({ pre: { [ACCOUNT]: {} }, post: { [ACCOUNT]: { code } } }),
    });
    await page.goto(`${url}/address/${ACCOUNT}`);
    await page.getByText("runs the code of").getByTitle(DELEGATE).waitFor();
    expect(await page.locator(".kicker").textContent()).toBe("Account");
    expect(await page.locator(".figure", { hasText: "Nonce" }).textContent()).toContain("next transaction");
    await page.goto(`${url}/address/${DELEGATE}`);
    await expect.poll(() => page.locator(".kicker").textContent()).toBe("Contract");
    expect(await page.getByText("runs the code of").count()).toBe(0);
    await page.goto(`${url}/tx/${HASH}`);
    await page.getByText("sets code (EIP-7702)").waitFor();
    await page.getByRole("button", { name: "Show what changed" }).click();
    await page.getByText("that of 0xdede…dede").waitFor();
  });

  it("of transactions and of tokens what others call it", async () => {
    const word = (address: string) => `0x${address.slice(2).padStart(64, "0")}`;
    const log = (from: string, to: string) => ({
      address: DELEGATE,
      topics: [TRANSFER, word(from), word(to)],
      data: word("0x5"),
    });
    const { page, url } = await openScriptedNode(
      aTransactionAnswer({ receipt: { logs: [log(NOBODY, ACCOUNT), log(ACCOUNT, NOBODY)] } }),
    );
    await page.goto(`${url}/tx/${HASH}`);
    await page.getByText("dynamic fee (EIP-1559)").waitFor();
    const rows = page.getByRole("region", { name: "Transfers of tokens" }).locator("tbody tr");
    expect(await rows.nth(0).locator("td").first().textContent()).toBe("minted");
    expect(await rows.nth(1).locator("td").nth(1).textContent()).toBe("burned");
  });
});
