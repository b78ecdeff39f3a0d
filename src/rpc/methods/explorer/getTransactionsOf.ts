import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { transactionAt } from "../../../types/block.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { defineMethod, type Json, optional, required } from "../../method.ts";
import { decodeListPage, FIRST_PAGE } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { indexedBlocks } from "../../results/indexedBlocks.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { pageAnswer, placesOnPage } from "./listPages.ts";

export const explorerGetTransactionsOf = defineMethod({
  name: "explorer_getTransactionsOf",
  namespace: "EXPLORER",
  summary: "Hashes of the transactions in which an account took part, internal calls included.",
  parameters: [required("account", decodeAddress, ADDRESS), optional("page", decodeListPage, LIST_PAGE)],
  result: { name: "transactions", schema: OBJECT },
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  async run([account, page = FIRST_PAGE], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    const found = await accounts.read(chain, (view) => placesOnPage(view, "participation", account, page));
    if (found === undefined) return invalidParams("the cursor is not one of this list");
    const items: Json[] = [];
    for await (const { block, places } of indexedBlocks(chain, found.found))
      for (const { position } of places) {
        const transaction = transactionAt(block, position);
        if (transaction === undefined) continue;
        items.push({
          blockNumber: toQuantity(block.header.number),
          timestamp: toQuantity(block.header.timestamp),
          transactionHash: toHex(transaction.hash),
          transactionIndex: toQuantity(position),
        });
      }
    return pageAnswer(items, found);
  },
});
