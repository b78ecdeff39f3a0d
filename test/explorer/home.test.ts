import type { Browser } from "playwright-core";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { killRunning } from "../cluster/nodeProcess.ts";
import { itIfThorough } from "../thorough.ts";
import { CAN_BROWSE, openBrowser, openPage, seriousBarriers, startExplorerNode } from "./browser.ts";

describe.runIf(CAN_BROWSE)("the explorer's overview", () => {
  let browser: Browser | undefined;
  afterAll(async () => {
    await browser?.close();
    killRunning();
  });

  it("shows the chain live", async () => {
    const node = await startExplorerNode();
    browser = await openBrowser();
    const { page, complaints } = await openPage(browser);
    onTestFinished(() => page.close());
    await page.goto(node.explorerUrl);
    const height = async (): Promise<number> => Number(await page.locator("h1").textContent());
    await expect.poll(height).toBeGreaterThan(0);
    const before = await height();
    await expect.poll(height).toBeGreaterThan(before);
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(1);
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    );
    console.log(`the explorer's first paint: ${Math.round(paintMs)} ms`);
    expect(await seriousBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await node.stop();
  });

  itIfThorough("goes on after a restart of the node", async () => {
    const node = await startExplorerNode();
    browser ??= await openBrowser();
    const { page } = await openPage(browser);
    onTestFinished(() => page.close());
    await page.goto(node.explorerUrl);
    const height = async (): Promise<number> => Number(await page.locator("h1").textContent());
    await expect.poll(height).toBeGreaterThan(0);
    await node.stop();
    await page.getByText("The node does not answer").waitFor();
    const old = await height();
    const again = await startExplorerNode({
      dataPath: node.dataPath,
      explorerPort: Number(new URL(node.explorerUrl).port),
    });
    await expect.poll(height).toBeGreaterThan(old);
    await page.getByText("The node does not answer").waitFor({ state: "detached" });
    await again.stop();
  });
});
