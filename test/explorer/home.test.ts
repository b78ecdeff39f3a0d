import type { Page } from "playwright-core";
import { afterAll, describe, expect } from "vitest";
import { killRunning, type NodeProcess, startNodeProcess, until } from "../cluster/harness/nodeProcess.ts";
import { itIfThorough } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser, openPage, seriousBarriers, startExplorerNode } from "./browser.ts";

/** Milliseconds from the start of the navigation to the first text or picture. */
async function firstPaintMs(page: Page): Promise<number> {
  const painted = () =>
    page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  return until(painted, "a first paint");
}

describe.runIf(CAN_BROWSE)("the explorer's overview", () => {
  afterAll(closeBrowser);
  afterAll(killRunning);

  itIfThorough("shows the chain live", async () => {
    const node = await startExplorerNode();
    const { page, complaints } = await openPage();
    await page.goto(node.explorerUrl);
    const height = async (): Promise<number> => Number(await page.locator("h1").textContent());
    await expect.poll(height).toBeGreaterThan(0);
    const before = await height();
    await expect.poll(height).toBeGreaterThan(before);
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(1);
    console.log(`the explorer's first paint: ${Math.round(await firstPaintMs(page))} ms`);
    expect(await seriousBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await node.stop();
  });

  itIfThorough(
    "is painted before the node's first answer, of one text, one script and one style sheet",
    async () => {
      const node = await startExplorerNode();
      const { page, complaints } = await openPage();
      // Nothing that the page asks is answered.
      await page.routeWebSocket(/^ws:/, () => undefined);
      await page.route(/./, (route) => (route.request().method() === "GET" ? route.continue() : undefined));
      const loaded: string[] = [];
      page.on("request", (request) => loaded.push(request.resourceType()));
      await page.goto(node.explorerUrl);
      await firstPaintMs(page);
      expect(await page.locator("nav").count()).toBeGreaterThan(0);
      expect(
        loaded.filter((type) => ["document", "script", "stylesheet", "font"].includes(type)).sort(),
      ).toEqual(["document", "script", "stylesheet"]);
      expect(complaints).toEqual([]);
      await node.stop();
    },
  );

  itIfThorough("goes on after a restart of the node", async () => {
    const node = await startExplorerNode();
    const { page } = await openPage();
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

  itIfThorough(
    "is on another port where a second development network finds the first one's taken",
    async () => {
      // A limit of connections has the explorer on, and leaves its port to the preset.
      const options = ["--explorer-max-active-connections=50"];
      const nodes = [await startNodeProcess({ options }), await startNodeProcess({ options })];
      const linkOf = (node: NodeProcess) => /(http\S+), the chain in your browser/.exec(node.output())?.[1];
      // Printed after the start, which is after the first answer.
      const urls = await Promise.all(
        nodes.map((node) => until(async () => linkOf(node), "the link to the explorer")),
      );
      expect(new Set(urls).size).toBe(2);
      for (const url of urls) expect((await fetch(url)).status).toBe(200);
      for (const node of nodes) await node.stop();
    },
  );
});
