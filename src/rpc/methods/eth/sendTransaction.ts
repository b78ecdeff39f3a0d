import { ERRORS } from "../../errors/errors.ts";
import { defineMethod } from "../../method.ts";
import { HASH } from "../../schemas.ts";

export const ethSendTransaction = defineMethod({
  name: "eth_sendTransaction",
  namespace: "ETH",
  summary: "Always refused: the node holds no accounts and signs nothing.",
  parameters: [],
  result: { name: "hash", schema: HASH },
  run: () => ERRORS.sendTransactionUnsupported,
});
