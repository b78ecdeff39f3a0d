import { afterAll, describe, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the looks of the explorer's pages", () => {
  afterAll(closeBrowser);

  it("have no barrier after one has changed into another", async () => {
    const node = await openScriptedNode(aTransactionAnswer({ transaction: { to: null } }));
    await node.page.goto(`${node.url}/tx/${HASH}`);
    await node.page.getByText("creates a contract").waitFor();
    await expectForEverybodyInEachLook(node.page, "scripted");
  });
});
