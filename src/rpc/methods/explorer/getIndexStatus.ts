import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

export const explorerGetIndexStatus = defineMethod({
  name: "explorer_getIndexStatus",
  namespace: "EXPLORER",
  summary: "Which blocks the index by address covers, and how large it is.",
  parameters: [],
  result: { name: "status", schema: OBJECT },
  ports: ["chain", "accounts"],
  async run(_, { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    const { first, last } = await accounts.read(chain, async (view) => view);
    const head = Number(chain.head.header.number);
    return {
      firstBlock: last === undefined ? null : toQuantity(first),
      lastBlock: quantityOrNull(last),
      headBlock: toQuantity(head),
      isCatchingUp: head - (last ?? 0) > FEW_BLOCKS,
      bytes: toQuantity(await accounts.bytes()),
      maxBytes: toQuantity(accounts.maxBytes),
    };
  },
});

/** Following the head, the index is at most so far behind. */
const FEW_BLOCKS = 5;
