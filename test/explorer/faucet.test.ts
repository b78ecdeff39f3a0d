import { afterAll, describe, expect, it } from "vitest";
import { killRunning } from "../cluster/harness/nodeProcess.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser, openPage, seriousBarriers, startExplorerNode } from "./browser.ts";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's faucet", () => {
  afterAll(closeBrowser);
  afterAll(killRunning);

  it("gives to an address that a visitor types, once, and says why it does not give again", async () => {
    const node = await startExplorerNode();
    const { page, complaints } = await openPage();
    await page.goto(node.explorerUrl);
    await page.getByRole("link", { name: "Faucet" }).click();
    const address = `0x${"5a".repeat(20)}`;
    await page.getByLabel("Address", { exact: true }).fill(address);
    await page.getByRole("button", { name: "Ask for coins" }).click();
    await page.getByText("are on their way").waitFor();
    expect(await seriousBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await expect.poll(() => node.rpc("eth_getBalance", [address, "latest"])).toBe("0xde0b6b3a7640000");
    await page.getByRole("button", { name: "Ask for coins" }).click();
    await page.locator(".problem").waitFor();
    await node.stop();
  });
});
