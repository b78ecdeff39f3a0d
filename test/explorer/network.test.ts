import { getAddress } from "viem";
import { afterAll, describe, expect, onTestFinished } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { freePort, killRunning } from "../cluster/harness/nodeProcess.ts";
import { prepareNetwork } from "../cluster/harness/validatorNetwork.ts";
import { itIfThorough } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser, figure, openPage, seriousBarriers, startExplorerNode } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { aNetworkAnswer } from "./networkAnswers.ts";
import { openScriptedNode, quantity } from "./scriptedNode.ts";

describe.runIf(CAN_BROWSE)("the explorer's page of the network", () => {
  afterAll(closeBrowser);
  afterAll(killRunning);

  itIfThorough("shows a validator alone", async () => {
    const node = await startExplorerNode();
    const { page, complaints } = await openPage();
    await page.goto(`${node.explorerUrl}/network`);
    await expect.poll(() => figure(page, "This node")).toBe("validates");
    await expect.poll(() => figure(page, "Validators heard")).toBe("1 of 1");
    await page.getByRole("img", { name: /^All \d+ blocks were decided in their first round/ }).waitFor();
    expect(await page.getByRole("region", { name: "Peers" }).textContent()).toContain("Peer-to-peer is off");
    expect(await page.getByRole("region", { name: "Versions" }).textContent()).toContain("ibex/v");
    expect(await page.getByRole("region", { name: "Machine" }).textContent()).toContain("Disk free");
    expect(await seriousBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await node.stop();
  });

  itIfThorough(
    "shows the memory that the node alone can give back, and that of mapped files beside it",
    async () => {
      const network = aNetworkAnswer();
      const status = network["explorer_getNodeStatus"]?.() as object;
      const [residentBytes, ownBytes] = [1_500, 850].map((megabytes) => quantity(megabytes * 1024 ** 2));
      const [mappedBytes, limitBytes] = [650, 2_000].map((megabytes) => quantity(megabytes * 1024 ** 2));
      const memory = { residentBytes, ownBytes, mappedBytes, limitBytes };
      const node = await openScriptedNode({
        ...network,
        explorer_getNodeStatus: () => ({ ...status, memory }),
      });
      await node.page.goto(`${node.url}/network`);
      const machine = node.page.getByRole("region", { name: "Machine" });
      await expect.poll(() => machine.textContent()).toMatch(/Memory850[^%]*43 %.*650/);
    },
  );

  itIfThorough("shows lost turns, silence, votes and clocks of a network", async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
    onTestFinished(network.stopAll);
    const explorerPort = await freePort();
    const [first, ...others] = network.members;
    const [away] = others;
    if (first === undefined || away === undefined) throw new Error("there are four");
    const options = ["--explorer-enabled=true", `--explorer-port=${explorerPort}`];
    const [node] = await Promise.all([
      network.start(first, [], options),
      ...others.map((each) => network.start(each)),
    ]);
    const { page, complaints } = await openPage();
    await page.goto(`http://127.0.0.1:${explorerPort}/network`);
    await expect.poll(() => figure(page, "Validators heard")).toBe("4 of 4");
    await expect.poll(() => page.locator(".clocks li").count()).toBe(3);

    const candidate = `0x${"be".repeat(20)}`;
    await node.rpc("ibft_proposeValidatorVote", [candidate, true]);
    await page.getByText("1 of 3 votes").waitFor();
    await away.node?.stop();
    const absent = getAddress(toHex(away.key.address));
    const row = page.getByRole("row", { name: new RegExp(shortOf(absent)) });
    await row.getByText("silent").waitFor();
    const late = page.getByRole("region", { name: "Blocks that took more than one round" });
    await late.waitFor();
    expect(await late.locator("tbody tr").first().textContent()).toContain(shortOf(absent));
    const turns = page.getByRole("img", { name: new RegExp(`^${absent} proposed`) });
    expect(await turns.getAttribute("aria-label")).toMatch(/lost [1-9]\d* turns/);
    expect(await turns.locator(".lost-all").count()).toBeGreaterThan(0);

    await expectForEverybodyInEachLook(page, "network-of-four");
    expect(complaints).toEqual([]);
  });
});

function shortOf(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
