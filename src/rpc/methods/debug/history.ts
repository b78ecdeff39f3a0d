import type { ChainReader } from "../../../chain/chain.ts";
import type { Result } from "../../../primitives/result.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, type NumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import type { HistoryErrorCode } from "../../ports.ts";
import { NUMBER_OR_TAG, TEXT } from "../../schemas.ts";

/** The way back (json-rpc.md#debug). Where it could do harm it is refused with the reason. */

const BLOCK = required("block", decodeNumberOrTag, NUMBER_OR_TAG);
const RESULT = { name: "success", schema: TEXT };
const SUCCESS = "Success";

export const debugSetHead = defineMethod({
  name: "debug_setHead",
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Takes away every block above the one named. Peers may bring them back.",
  parameters: [BLOCK],
  result: RESULT,
  async run([choice], { backend: { chain, history } }) {
    const number = knownNumber(chain, choice);
    return number === undefined ? ERRORS.unknownBlock : answer(await history.setHead(number));
  },
});

export const debugReplayBlock = defineMethod({
  name: "debug_replayBlock",
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Goes back to before a block, and imports it again by every rule.",
  parameters: [BLOCK],
  result: RESULT,
  async run([choice], { backend: { chain, history } }) {
    const number = knownNumber(chain, choice);
    // There is nothing before the first one.
    if (number === undefined || number === 0n) return ERRORS.unknownBlock;
    return answer(await history.replayBlock(number));
  },
});

export const debugResyncWorldState = defineMethod({
  name: "debug_resyncWorldState",
  aliases: ["debug_resyncWorldstate"],
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Writes the newest state anew from its tries, and keeps the blocks.",
  parameters: [],
  result: RESULT,
  run: async (_, { backend: { history } }) => answer(await history.resyncWorldState()),
});

/** Undefined for what the chain does not have. */
function knownNumber(chain: ChainReader, choice: NumberOrTag): bigint | undefined {
  const number = numberOf(chain, choice);
  return number >= 0n && number <= chain.head.header.number ? number : undefined;
}

function answer(outcome: Result<void, HistoryErrorCode>): string | RpcError {
  if (outcome.ok) return SUCCESS;
  const { code, message } = outcome.error;
  return code === "notReplayed" ? ERRORS.internalError : new RpcError(REFUSED, `Refused: ${message}`);
}

const REFUSED = -32000;
