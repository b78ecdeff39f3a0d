import { getAddress } from "viem";
import { afterAll, describe, expect, it } from "vitest";
import { tokenTransferOf } from "../../src/accounts/tokenTransfers.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { hashFromHex, keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { bytesToBigint } from "../../src/primitives/quantity.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { CAN_BROWSE, closeBrowser } from "./browser.ts";
import { openScriptedNode } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

const TOKEN = `0x${"70".repeat(20)}`;
const TRANSFER = eventHash("Transfer(address,address,uint256)");
const SINGLE = eventHash("TransferSingle(address,address,address,uint256,uint256)");
const BATCH = eventHash("TransferBatch(address,address,address,uint256[],uint256[])");
const APPROVAL = eventHash("Approval(address,address,uint256)");

/** What logs are like in their topics after the event, beside the sender and the receiver, and in their data. */
const LOGS: readonly {
  readonly event: string;
  readonly parties?: number;
  readonly id?: number;
  readonly data: string;
}[] = [
  { event: TRANSFER, data: words(5) },
  { event: TRANSFER, data: words(5).slice(2) },
  { event: TRANSFER, data: `${words(5)}00` },
  { event: TRANSFER, data: words(5, 6) },
  { event: TRANSFER, data: "" },
  { event: TRANSFER, parties: 1, data: words(5) },
  { event: TRANSFER, id: 8, data: "" },
  { event: TRANSFER, id: 8, data: "00" },
  { event: TRANSFER, id: 8, data: words(1) },
  { event: APPROVAL, data: words(5) },
  { event: SINGLE, data: words(7, 2) },
  { event: SINGLE, data: `${words(7, 2)}00` },
  { event: SINGLE, data: words(7, 2).slice(2) },
  { event: SINGLE, data: words(7, 2, 3) },
  { event: SINGLE, parties: 1, data: words(7, 2) },
  { event: BATCH, data: words(64, 160, 2, 7, 8, 2, 1, 3) },
  { event: BATCH, data: `${words(64, 160, 2, 7, 8, 2, 1, 3)}ff` },
  { event: BATCH, data: `${words(65, 129)}00${words(1, 7, 1, 9)}` },
  { event: BATCH, data: words(64, 64, 1, 7) },
  { event: BATCH, data: words(0, 0) },
  { event: BATCH, data: words(64, 64, 0) },
  { event: BATCH, data: words(64, 128, 1, 7, 2, 1, 1) },
  { event: BATCH, data: words(64, 128, 1, 7, 1) },
  { event: BATCH, data: words(64, 2 ** 40, 1, 7) },
  { event: BATCH, data: words(64, 64, 2 ** 40, 7) },
  { event: BATCH, data: words(64) },
  { event: BATCH, data: words(64, 64, 101, ...Array<number>(101).fill(4)) },
];

describe.runIf(CAN_BROWSE && IS_THOROUGH)("the explorer's page of a transaction", () => {
  afterAll(closeBrowser);

  it("takes the same logs for transfers of tokens as the index does", async () => {
    const logs = LOGS.map(({ event, parties = 2, id, data }, index) => ({
      address: TOKEN,
      topics: [
        `0x${event}`,
        ...(event === SINGLE || event === BATCH ? [`0x${words(1)}`] : []),
        ...[index + 1, 2].slice(0, parties).map((party) => `0x${words(party)}`),
        ...(id === undefined ? [] : [`0x${words(id)}`]),
      ],
      data: `0x${data}`,
    }));
    const node = await openScriptedNode(aTransactionAnswer({ receipt: { logs } }));
    await node.page.goto(`${node.url}/tx/${HASH}`);
    const transfers = node.page.getByRole("region", { name: "Transfers of tokens" });
    await transfers.waitFor();
    const shown = await transfers
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector("a")?.getAttribute("title"),
          row.querySelector("td:last-child")?.textContent,
        ]),
      );
    expect(shown).toEqual(logs.flatMap(rowOf));
  });
});

interface LogInHex {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Sender and amount of the transfer for which the index takes the log. */
function rowOf({ address, topics, data }: LogInHex): readonly (readonly string[])[] {
  const transfer = tokenTransferOf({
    address: addressFromHex(address),
    topics: topics.map(hashFromHex),
    data: hexToBytes(data),
  });
  if (transfer === undefined) return [];
  const { from, amounts, isCut } = transfer;
  const [first] = amounts;
  const id = first?.tokenId && ` № ${bytesToBigint(first.tokenId)}`;
  const more = isCut ? " and many more" : amounts.length > 1 ? ` and ${amounts.length - 1} more` : "";
  return [[getAddress(toHex(from)), `${first?.value ?? ""}${id ?? ""}${more}`]];
}

function words(...numbers: readonly number[]): string {
  return numbers.map((number) => number.toString(16).padStart(64, "0")).join("");
}

function eventHash(signature: string): string {
  return toDigits(keccak256(new TextEncoder().encode(signature)));
}
