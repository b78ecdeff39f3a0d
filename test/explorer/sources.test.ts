import { afterAll, describe, expect, it } from "vitest";
import { highlight } from "../../src/explorer/page/chain/highlight.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode } from "./scriptedNode.ts";

const CONTRACT = `0x${"c3".repeat(20)}`;
const HOSTILE = "<img src=x onerror=globalThis.hacked=1>";
const SOURCE = `// SPDX-License-Identifier: MIT ${HOSTILE}
pragma solidity ^0.8.24;

/* ${"long ".repeat(40)} */
contract Coin {
    uint256 public supply = 1_000_000;
    string public name = "</pre><script>globalThis.hacked=1</script>";

    function mint(address to, uint256 value) external returns (bool) {
        supply += value; // to whom it may concern
        return to != address(0);
    }
}`;
const ABI = [
  {
    type: "function",
    name: "supply",
    inputs: [],
    outputs: [{ name: "", type: "uint256" }],
    stateMutability: "view",
  },
];
const CODE = JSON.stringify({
  language: "Solidity",
  settings: {},
  sources: { "src/Coin.sol": { content: SOURCE }, [HOSTILE]: { content: "contract A {}" } },
});

describe("a source with highlighting", () => {
  it("keeps every character but those that cannot be seen, and finds comments, texts, words and numbers", () => {
    const pieces = highlight(SOURCE);
    expect(pieces.map(({ text }) => text).join("")).toBe(SOURCE);
    for (const [kind, text] of [
      ["comment", "// to whom it may concern"],
      ["string", '"</pre><script>globalThis.hacked=1</script>"'],
      ["word", "uint256"],
      ["digits", "1_000_000"],
    ])
      expect(pieces).toContainEqual({ kind, text });
    expect(highlight("a\u202eb")[0]?.text).toBe("a\ufffdb");
    expect(highlight("/* never ends")).toEqual([{ kind: "comment", text: "/* never ends" }]);
    expect(highlight(`"${"\\".repeat(100_000)}`)).toHaveLength(1);
  });
});

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's page of a verified contract", () => {
  afterAll(closeBrowser);

  async function openContract(isVerified: boolean) {
    const node = await openScriptedNode({
      eth_getBalance: () => "0x0",
      eth_getTransactionCount: () => "0x1",
      eth_getCode: () => "0x6000",
      eth_call: () => `0x${"0".repeat(62)}2a`,
      explorer_getTransactionsOf: () => ({ items: [], next: null, firstBlock: "0x1" }),
    });
    const sent: string[] = [];
    let hasIt = isVerified;
    await node.page.route(/\/api(\?.*)?$/, async (route) => {
      const request = route.request();
      const body = new URLSearchParams(request.postData() ?? request.url().split("?")[1]);
      const answer = (result: unknown) => route.fulfill({ json: { status: "1", message: "OK", result } });
      if (body.get("action") === "getcompilers") return answer(["v0.8.24+commit.e11b9ed9"]);
      if (body.get("action") === "verifysourcecode") {
        sent.push(`${body.get("contractname")} ${body.get("compilerversion")}`);
        return answer("7");
      }
      if (body.get("action") === "checkverifystatus") {
        hasIt = true;
        return answer("Pass - Verified");
      }
      if (body.get("action") === "getcontract")
        return hasIt
          ? answer({ abi: ABI, name: "Coin", compiler: "v0.8.24+commit.e11b9ed9", match: "exact" })
          : route.fulfill({ json: { status: "0", message: "NOTOK", result: "not verified" } });
      return answer([{ SourceCode: `{${CODE}}` }]);
    });
    await node.page.goto(`${node.url}/address/${CONTRACT}`);
    return { ...node, sent };
  }

  it("shows its sources as text, and asks it by its ABI", async () => {
    const { page, complaints } = await openContract(true);
    await page.getByText("src/Coin.sol").click();
    await page.getByText("to whom it may concern").waitFor();
    await page.getByText("exact match").waitFor();
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    await page.getByText("supply()").waitFor();
    await expectForEverybodyInEachLook(page, "verified");
    expect(complaints).toEqual([]);
  });

  it("sends a build file to be verified, and shows the sources once they are", async () => {
    const { page, sent } = await openContract(false);
    const build = {
      solcLongVersion: "0.8.24+commit.e11b9ed9",
      input: JSON.parse(CODE),
      output: { contracts: { "src/Coin.sol": { Coin: {} } } },
    };
    await page
      .getByRole("region", { name: "Verify the sources" })
      .getByLabel("File")
      .setInputFiles({
        name: "build.json",
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(build)),
      });
    await page.getByLabel("Compiler").waitFor();
    await expectForEverybodyInEachLook(page, "verify");
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await page.getByText("exact match").waitFor();
    expect(sent).toEqual(["src/Coin.sol:Coin v0.8.24+commit.e11b9ed9"]);
  });
});
