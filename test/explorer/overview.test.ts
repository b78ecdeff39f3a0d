import { afterAll, describe, expect, it } from "vitest";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode } from "./scriptedNode.ts";

describe.runIf(CAN_BROWSE)("the explorer's overview of validators", () => {
  afterAll(closeBrowser);

  it("counts lost turns by the validators of each block", async () => {
    // The turn that is lost before the one in the middle joins is that of the last.
    const [first, joining, last] = ["11", "22", "33"].map((byte) => `0x${byte.repeat(20)}`);
    const node = await openScriptedNode({
      ibft_getValidatorsByBlockNumber: () => [first, joining, last],
    });
    const two = { validatorCount: "0x2" };
    const three = { validatorCount: "0x3" };
    node.addBlock({ proposer: first, ...two });
    node.addBlock({ proposer: first, round: "0x1", ...two });
    node.addBlock({ proposer: last, ...three });
    node.addBlock({ proposer: last, round: "0x2", ...three });
    await node.page.goto(node.url);
    const noteOf = (position: number) => node.page.locator(".validator").nth(position).textContent();
    await expect.poll(() => node.page.locator(".validator").count()).toBe(3);
    expect(await noteOf(0)).toContain("0 % of the blocks, 1 missed");
    expect(await noteOf(1)).toContain("0 % of the blocks, 1 missed");
    expect(await noteOf(2)).toContain("100 % of the blocks");
    expect(await noteOf(2)).not.toContain("missed");
    // Its newest block was decided before the change.
    expect(await noteOf(0)).toContain("ago");
    expect(await noteOf(1)).toContain("none of the newest");
  });

  it("names each tab by what its page is about", async () => {
    const node = await openScriptedNode({});
    node.addBlock({});
    for (const [path, title] of [
      ["/block/1", "Block 1"],
      [`/tx/0x${"ab".repeat(32)}`, "Transaction 0xabab…abab"],
      [`/address/0x${"12".repeat(20)}`, "Account 0x1212…1212"],
    ] as const) {
      await node.page.goto(`${node.url}${path}`);
      await expect.poll(() => node.page.title()).toBe(`${title} · Ibex explorer`);
    }
  });
});
