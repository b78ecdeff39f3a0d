import type { RewindErrorCode } from "../../../chain/rewindAndReplay.ts";
import type { Result } from "../../../primitives/result.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag } from "../../parameters/blockParameter.ts";
import { NUMBER_OR_TAG, TEXT } from "../../schemas.ts";

/** Rewinding and replaying the chain (json-rpc.md#debug). Refused with a reason where it could do harm. */

const BLOCK = required("block", decodeNumberOrTag, NUMBER_OR_TAG);
const RESULT = { name: "success", schema: TEXT };
const SUCCESS = "Success";

export const debugSetHead = defineMethod({
  name: "debug_setHead",
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Removes every block above the given one. The node may fetch them from peers again.",
  parameters: [BLOCK],
  result: RESULT,
  ports: ["history"],
  run: async ([block], context) => answer(await context.backend.history.setHead(block, context)),
});

export const debugReplayBlock = defineMethod({
  name: "debug_replayBlock",
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Rewinds to the parent of a block, and imports the block again with full validation.",
  parameters: [BLOCK],
  result: RESULT,
  ports: ["history"],
  run: async ([block], context) => answer(await context.backend.history.replayBlock(block, context)),
});

export const debugResyncWorldState = defineMethod({
  name: "debug_resyncWorldState",
  aliases: ["debug_resyncWorldstate"],
  namespace: "DEBUG",
  isGuarded: true,
  summary: "Rebuilds the newest state from its tries, and keeps the blocks.",
  parameters: [],
  result: RESULT,
  ports: ["history"],
  run: async (_, context) => answer(await context.backend.history.resyncWorldState(context)),
});

function answer(result: Result<void, RewindErrorCode> | "unknownBlock"): string | RpcError {
  if (result === "unknownBlock") return ERRORS.unknownBlock;
  if (result.ok) return SUCCESS;
  const { code, message } = result.error;
  return code === "notReplayed" ? ERRORS.internalError : new RpcError(REFUSED, `Refused: ${message}`);
}

const REFUSED = -32000;
