import { zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hashAuthorization } from "viem/utils";
import { afterAll, describe, expect, it } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { expectForEverybodyInEachLook } from "./looks.ts";
import { openScriptedNode, quantity } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

const SIGNER = privateKeyToAccount(`0x${"5a".repeat(32)}`);
const DELEGATE = `0x${"de".repeat(20)}` as const;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's page of a transaction lists", () => {
  afterAll(closeBrowser);

  it("authorizations with who signed them (EIP-7702), and the access list", async () => {
    const own = await anAuthorization({ chainId: 1337, contractAddress: DELEGATE, nonce: 300 });
    const ending = await anAuthorization({ chainId: 0, contractAddress: zeroAddress, nonce: 0 });
    const other = await anAuthorization({ chainId: 1, contractAddress: DELEGATE, nonce: 5 });
    const signed = [own, ending, other];
    const twin = { ...own.answer, s: quantityOf(ORDER - BigInt(own.answer.s)) };
    const unsigned = { ...own.answer, r: quantityOf(7n) };
    const key = `0x${"ab".repeat(32)}`;
    const { page, url, complaints, countOf } = await openScriptedNode({
      ...aTransactionAnswer({
        transaction: {
          type: "0x4",
          authorizationList: [...signed.map(({ answer }) => answer), twin, unsigned],
          accessList: [
            { address: DELEGATE, storageKeys: [key] },
            { address: SIGNER.address.toLowerCase(), storageKeys: [] },
          ],
        },
      }),
      eth_call: (call) => {
        const { to, data } = call as { to: string; data: string };
        const isSigned = BigInt(to) === 1n && signed.some(({ recovery }) => recovery === data);
        return isSigned ? `0x${SIGNER.address.slice(2).toLowerCase().padStart(64, "0")}` : "0x";
      },
    });
    await page.goto(`${url}/tx/${HASH}`);
    const rows = page.getByRole("region", { name: "Authorizations" }).locator("tbody tr");
    const shown = () =>
      rows.evaluateAll((all) =>
        all.map((row) => [...row.children].map(({ textContent }) => (textContent ?? "").trim())),
      );
    const signer = `${SIGNER.address.slice(0, 6)}…${SIGNER.address.slice(-4)}`;
    await expect.poll(shown).toEqual([
      [signer, expect.stringMatching(/^0xdede/i), "300", "1337"],
      [signer, "nobody any more", "0", "any"],
      [signer, expect.stringMatching(/^0xdede/i), "5", "another 1"],
      ["no valid signature", expect.anything(), "300", "1337"],
      ["no valid signature", expect.anything(), "300", "1337"],
    ]);
    expect(countOf("eth_call")).toBe(4);
    const list = page.getByRole("region", { name: "Access list" });
    expect(await list.textContent()).toContain("2 accounts, 1 slot");
    await list.getByText(key).waitFor();
    await list.getByRole("link", { name: SIGNER.address }).waitFor();
    await expectForEverybodyInEachLook(page, "authorizations");
    expect(complaints).toEqual([]);
  });

  it("no more authorizations at once than it asks the node about", async () => {
    const { answer } = await anAuthorization({ chainId: 0, contractAddress: DELEGATE, nonce: 1 });
    const node = await openScriptedNode({
      ...aTransactionAnswer({ transaction: { type: "0x4", authorizationList: Array(25).fill(answer) } }),
      eth_call: () => "0x",
    });
    await node.page.goto(`${node.url}/tx/${HASH}`);
    const region = node.page.getByRole("region", { name: "Authorizations" });
    await expect.poll(() => region.getByText("no valid signature").count()).toBe(10);
    expect(node.countOf("eth_call")).toBe(10);
    await region.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => region.getByText("no valid signature").count()).toBe(20);
    expect(await region.locator(".aside").textContent()).toBe("25");
  });
});

/** An authorization as eth_getTransactionByHash answers it, and what the node is given to recover its signer. */
async function anAuthorization(what: Parameters<typeof SIGNER.signAuthorization>[0] & { chainId: number }) {
  const { address, chainId, nonce, r, s, yParity } = await SIGNER.signAuthorization(what);
  const parity = yParity ?? 0;
  const words = [27n + BigInt(parity), BigInt(r), BigInt(s)].map((word) =>
    word.toString(16).padStart(64, "0"),
  );
  const answer = {
    chainId: quantity(chainId),
    address,
    nonce: quantity(nonce),
    yParity: quantity(parity),
    r: quantityOf(BigInt(r)),
    s: quantityOf(BigInt(s)),
  };
  return { answer, recovery: hashAuthorization({ address, chainId, nonce }) + words.join("") };
}

function quantityOf(number: bigint): string {
  return `0x${number.toString(16)}`;
}
